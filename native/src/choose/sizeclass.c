/* SPDX-License-Identifier: Apache-2.0 */
/* sizeclass: publishing a choice, and reading profiles. */
#include "choose/sizeclass.h"
#include "choose/routine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest profile: OKOSU_SIZECLASS_MOST lines for each of a few entries take a tenth of it. */
enum { PROFILE_ROOM = 16384 };

/* Written from the last class to the first: a reader that a bound sends on to the next class finds
 * that class written. */
void okosu_sizeclass_publish(struct okosu_sizeclass_live *live,
                             const struct okosu_sizeclasses *classes)
{
    for (size_t i = OKOSU_SIZECLASS_MOST; i-- > 0;) {
        const struct okosu_sizeclass *from =
            &classes->at[i < classes->count ? i : classes->count - 1];
        atomic_store_explicit(&live->at[i].variant, from->variant, memory_order_release);
        atomic_store_explicit(&live->at[i].up_to, from->up_to, memory_order_release);
    }
}

void okosu_sizeclass_add(struct okosu_sizeclasses *classes, size_t up_to,
                         const struct okosu_variant *variant)
{
    if (classes->count == OKOSU_SIZECLASS_MOST ||
        (classes->count && classes->at[classes->count - 1].up_to >= up_to))
        return;
    classes->at[classes->count++] = (struct okosu_sizeclass){up_to, variant};
}

/* Reads a file into text and ends it with NUL. Its length, or -errno; -EFBIG: it is larger. */
static ssize_t slurp(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t n;

    if (fd < 0)
        return -errno;
    do {
        n = read(fd, text + length, size - length);
        if (n > 0)
            length += (size_t)n;
    } while ((n > 0 && length < size) || (n < 0 && errno == EINTR));
    int error = n < 0 ? -errno : length == size ? -EFBIG : 0;
    close(fd);
    if (error)
        return error;
    text[length] = '\0';
    return (ssize_t)length;
}

/* The state of the parser. */
struct parser {
    const struct okosu_sizeclass_routine *routine;
    const char *path;
    struct okosu_sizeclasses *choices;
    struct okosu_reason *reason;
    size_t section;
    unsigned line;
};

static int refuse(const struct parser *parser, const char *why)
{
    struct okosu_reason *reason = parser->reason;

    OKOSU_SAY(reason, what, "%.240s: line %u", parser->path, parser->line);
    OKOSU_SAY(reason, why, "%s", why);
    OKOSU_SAY(reason, fix,
              "lines `UP-TO VARIANT`, UP-TO in bytes and rising, the last one `max VARIANT`");
    return -EINVAL;
}

static int begin_section(struct parser *parser, char *line)
{
    char *end = strchr(line, ']');

    if (!end || end[1 + strspn(end + 1, " \t")])
        return refuse(parser, "a section is [NAME]");
    *end = '\0';
    for (size_t i = 1; parser->routine->sections[i]; i++) {
        if (strcmp(parser->routine->sections[i], line + 1) != 0)
            continue;
        if (parser->choices[i].count)
            return refuse(parser, "the section is there twice");
        parser->section = i;
        return 0;
    }
    return refuse(parser, "there is no such section");
}

/* Reads a bound: "4096" or "max". */
static int read_bound(const char *word, size_t *bound)
{
    char *end;

    if (strcmp(word, "max") == 0) {
        *bound = SIZE_MAX;
        return 0;
    }
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (errno || *end || word[0] < '0' || word[0] > '9' || value >= SIZE_MAX)
        return -EINVAL;
    *bound = (size_t)value;
    return 0;
}

static int read_class(struct parser *parser, char *line)
{
    struct okosu_reason *reason = parser->reason;
    struct okosu_sizeclasses *choice = &parser->choices[parser->section];
    char *save, *bound = strtok_r(line, " \t", &save), *name = strtok_r(NULL, " \t", &save);
    struct okosu_sizeclass class;

    if (!name || strtok_r(NULL, " \t", &save))
        return refuse(parser, "two words are wanted");
    if (read_bound(bound, &class.up_to))
        return refuse(parser, "the first word is no number of bytes, nor max");
    if (choice->count && choice->at[choice->count - 1].up_to >= class.up_to)
        return refuse(parser, "the sizes do not rise");
    if (choice->count == OKOSU_SIZECLASS_MOST)
        return refuse(parser, "there are more than 16 classes");
    int error = okosu_variant_named(parser->routine->table, parser->routine->features, name,
                                    &class.variant, reason);
    if (error) {
        OKOSU_SAY(reason, what, "%.200s: line %u: %.64s", parser->path, parser->line, name);
        return error;
    }
    choice->at[choice->count++] = class;
    return 0;
}

int okosu_sizeclass_parse(const struct okosu_sizeclass_routine *routine, const char *path,
                          char *text, struct okosu_sizeclasses *choices,
                          struct okosu_reason *reason)
{
    struct parser parser = {routine, path, choices, reason, 0, 0};
    size_t lines = 0;
    int error = 0;

    for (size_t i = 0; routine->sections[i]; i++)
        choices[i].count = 0;
    while (text && !error) {
        char *next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        parser.line++;
        text[strcspn(text, "#\r")] = '\0';
        text += strspn(text, " \t");
        if (*text == '[')
            error = begin_section(&parser, text);
        else if (*text && !(error = read_class(&parser, text)))
            lines++;
        text = next;
    }
    for (size_t i = 0; !error && routine->sections[i]; i++)
        if (choices[i].count && choices[i].at[choices[i].count - 1].up_to != SIZE_MAX)
            error = refuse(&parser, "the last line of a section begins with max");
    if (!error && !lines)
        error = refuse(&parser, "it holds no size class");
    return error;
}

int okosu_sizeclass_profile(const struct okosu_sizeclass_routine *routine, const char *path,
                            struct okosu_sizeclasses *choices, struct okosu_reason *reason)
{
    char text[PROFILE_ROOM];
    ssize_t length = slurp(path, text, sizeof(text));

    if (length < 0) {
        OKOSU_SAY(reason, what, "%.300s cannot be read", path);
        OKOSU_SAY(reason, why, "%s", strerror((int)-length));
        OKOSU_SAY(reason, fix, "name a file that `okosu bench --profile FILE` wrote");
        return (int)length;
    }
    if (memchr(text, '\0', (size_t)length)) {
        struct parser parser = {routine, path, choices, reason, 0, 0};
        return refuse(&parser, "it is not text");
    }
    return okosu_sizeclass_parse(routine, path, text, choices, reason);
}
