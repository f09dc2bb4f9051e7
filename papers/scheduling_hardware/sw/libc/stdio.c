/* SPDX-License-Identifier: Apache-2.0 */
/* Printing. The output of one call stays together; there is no buffer and nothing to flush. */
#include <stdio.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "backend.h"
#include "console.h"
#include "format.h"

struct okosu_file {
    struct sink sink;
    enum console_stream stream;
};

static IN_LIB void put_console(struct sink *sink, char byte)
{
    console_put(((struct okosu_file *)sink)->stream, byte);
    sink->written++;
}

static struct okosu_file output = {{put_console, 0}, CONSOLE_OUTPUT};
static struct okosu_file errors = {{put_console, 0}, CONSOLE_ERROR};
FILE *const okosu_stdout = &output, *const okosu_stderr = &errors;

static struct lock lock;

/* Returns how much was written before. */
static IN_LIB unsigned long begin(const FILE *file)
{
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
    return file->sink.written;
}

static IN_LIB int end(const FILE *file, unsigned long before)
{
    int written = (int)(file->sink.written - before);

    lock_release(&lock);
    return written;
}

IN_LIB int vfprintf(FILE *restrict file, const char *restrict text, va_list list)
{
    unsigned long before = begin(file);

    format(&file->sink, text, list);
    return end(file, before);
}

IN_LIB int vprintf(const char *restrict text, va_list list)
{
    return vfprintf(stdout, text, list);
}

IN_LIB int printf(const char *restrict text, ...)
{
    va_list list;
    int written;

    va_start(list, text);
    written = vfprintf(stdout, text, list);
    va_end(list);
    return written;
}

IN_LIB int fprintf(FILE *restrict file, const char *restrict text, ...)
{
    va_list list;
    int written;

    va_start(list, text);
    written = vfprintf(file, text, list);
    va_end(list);
    return written;
}

struct string_sink {
    struct sink sink;
    char *to;
    size_t size;
};

static IN_LIB void put_string(struct sink *sink, char byte)
{
    struct string_sink *string = (struct string_sink *)sink;

    if (sink->written + 1 < string->size)
        string->to[sink->written] = byte;
    sink->written++;
}

IN_LIB int vsnprintf(char *restrict to, size_t size, const char *restrict text, va_list list)
{
    struct string_sink string = {{put_string, 0}, to, size};

    format(&string.sink, text, list);
    if (size > 0)
        to[string.sink.written < size ? string.sink.written : size - 1] = '\0';
    return (int)string.sink.written;
}

IN_LIB int snprintf(char *restrict to, size_t size, const char *restrict text, ...)
{
    va_list list;
    int written;

    va_start(list, text);
    written = vsnprintf(to, size, text, list);
    va_end(list);
    return written;
}

IN_LIB int vsprintf(char *restrict to, const char *restrict text, va_list list)
{
    return vsnprintf(to, SIZE_MAX, text, list);
}

IN_LIB int sprintf(char *restrict to, const char *restrict text, ...)
{
    va_list list;
    int written;

    va_start(list, text);
    written = vsprintf(to, text, list);
    va_end(list);
    return written;
}

IN_LIB size_t fwrite(const void *restrict from, size_t size, size_t count, FILE *restrict file)
{
    const char *bytes = from;
    unsigned long before = begin(file);

    for (size_t at = 0; at < size * count; at++)
        file->sink.put(&file->sink, bytes[at]);
    end(file, before);
    return count;
}

IN_LIB int fputs(const char *restrict text, FILE *restrict file)
{
    fwrite(text, 1, strlen(text), file);
    return 0;
}

IN_LIB int puts(const char *text)
{
    return printf("%s\n", text);
}

IN_LIB int fputc(int byte, FILE *file)
{
    char one = (char)byte;

    fwrite(&one, 1, 1, file);
    return (unsigned char)byte;
}

IN_LIB int putchar(int byte)
{
    return fputc(byte, stdout);
}

IN_LIB int fflush(FILE *file)
{
    (void)file;
    return 0;
}

IN_LIB int ferror(FILE *file)
{
    (void)file;
    return 0;
}

IN_LIB void perror(const char *text)
{
    fprintf(stderr, "%s: %s\n", text, strerror(errno));
}
