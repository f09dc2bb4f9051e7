/* SPDX-License-Identifier: Apache-2.0 */
/* Printing to the console; nothing can be read. */
#ifndef STDIO_H
#define STDIO_H

#include <stdarg.h>
#include <stddef.h>

typedef struct okosu_file FILE;

extern FILE *const okosu_stdout, *const okosu_stderr;
#define stdout okosu_stdout
#define stderr okosu_stderr
#define EOF (-1)

int printf(const char *restrict format, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *restrict file, const char *restrict format, ...)
    __attribute__((format(printf, 2, 3)));
int snprintf(char *restrict to, size_t size, const char *restrict format, ...)
    __attribute__((format(printf, 3, 4)));
/* Without a bound for `to`. */
int sprintf(char *restrict to, const char *restrict format, ...)
    __attribute__((format(printf, 2, 3)));
int vsprintf(char *restrict to, const char *restrict format, va_list list);
int vprintf(const char *restrict format, va_list list);
int vfprintf(FILE *restrict file, const char *restrict format, va_list list);
int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list list);
int puts(const char *text);
int putchar(int byte);
int fputs(const char *restrict text, FILE *restrict file);
int fputc(int byte, FILE *file);
#define putc fputc
size_t fwrite(const void *restrict from, size_t size, size_t count, FILE *restrict file);
int fflush(FILE *file);
int ferror(FILE *file);
void perror(const char *text);

#endif
