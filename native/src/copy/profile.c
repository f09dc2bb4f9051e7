/* SPDX-License-Identifier: Apache-2.0 */
/* profile: a choice that was measured and written to a file. */
#include "copy/select.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Longer than any profile: every use, every class, each with a comment of a line. */
enum { PROFILE_BYTES = 16384 };

#define FIX_LINE "write `UP-TO VARIANT` with UP-TO in bytes, rising, the last one `max`"

struct word {
    const char *text;
    size_t length;
};

struct reader {
    const char *path;
    unsigned line;
    uint64_t features;
    enum okosu_copy_use use;
    bool given[OKOSU_COPY_USES]; /* uses that the file names */
    struct okosu_copy_plan *plan;
    struct okosu_copy_reason *reason;
};

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && !memcmp(word.text, text, word.length);
}

/* The next word of [*at, end) between blanks; of length 0 at the end or before a comment. */
static struct word next_word(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    struct word word = {*at, 0};
    while (*at < end && **at != ' ' && **at != '\t' && **at != '#')
        ++*at;
    word.length = (size_t)(*at - word.text);
    return word;
}

static bool number(struct word word, size_t *value)
{
    if (is(word, "max")) {
        *value = SIZE_MAX;
        return true;
    }
    *value = 0;
    for (size_t i = 0; i < word.length; i++) {
        unsigned digit = (unsigned)(word.text[i] - '0');
        if (digit > 9 || *value > (SIZE_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return word.length && *value;
}

static int refuse(const struct reader *r, const char *why, const char *fix)
{
    return okosu_copy_refuse(r->reason, -EINVAL, why, fix, "copy profile %.200s, line %u", r->path,
                             r->line);
}

static int open_section(struct reader *r, struct word name)
{
    static const char *const sections[OKOSU_COPY_USES] = {
        [OKOSU_COPY_ANY] = "[any]", [OKOSU_COPY_NEAR] = "[near]", [OKOSU_COPY_FAR] = "[far]"};
    for (enum okosu_copy_use use = 0; use < OKOSU_COPY_USES; use++) {
        if (!is(name, sections[use]))
            continue;
        if (r->given[use])
            return refuse(r, "this section was there before", "name each section once");
        r->use = use;
        r->given[use] = true;
        r->plan->count[use] = 0;
        return 0;
    }
    return refuse(r, "no such section", "the sections are [any], [near] and [far]");
}

static int add_class(struct reader *r, struct word bytes, struct word name)
{
    const struct okosu_copy_variant *variant;
    size_t up_to, *count = &r->plan->count[r->use];
    struct okosu_copy_class *classes = r->plan->classes[r->use];
    if (!r->given[r->use]) {
        r->given[r->use] = true;
        *count = 0;
    }
    if (!number(bytes, &up_to))
        return refuse(r, "the size is neither a number of bytes nor `max`", FIX_LINE);
    if (*count && classes[*count - 1].up_to >= up_to)
        return refuse(r, "the size is not above that of the line before", FIX_LINE);
    if (*count == OKOSU_COPY_CLASSES)
        return refuse(r, "more size classes than there is room for", "merge some of them");
    int status = okosu_copy_named(name.text, name.length, r->features, &variant, r->reason);
    if (status)
        return status;
    classes[(*count)++] = (struct okosu_copy_class){up_to, variant};
    return 0;
}

static int read_line(struct reader *r, const char *at, const char *end)
{
    struct word first = next_word(&at, end), second = next_word(&at, end);
    struct word third = next_word(&at, end);
    if (!first.length)
        return 0;
    if (first.text[0] == '[' && !second.length)
        return open_section(r, first);
    if (!second.length)
        return refuse(r, "a size without a variant", FIX_LINE);
    if (third.length)
        return refuse(r, "more than a size and a variant", FIX_LINE);
    return add_class(r, first, second);
}

int okosu_copy_plan_parse(struct okosu_copy_plan *plan, const char *path, const char *text,
                          size_t length, uint64_t features, struct okosu_copy_reason *reason)
{
    struct reader r = {.path = path, .features = features, .plan = plan, .reason = reason};
    const char *end = text + length;
    bool any = false;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        r.line++;
        int status = read_line(&r, at, stop ? stop : end);
        if (status)
            return status;
        at = stop ? stop + 1 : end;
    }
    for (enum okosu_copy_use use = 0; use < OKOSU_COPY_USES; use++) {
        any |= r.given[use];
        if (r.given[use] &&
            (!plan->count[use] || plan->classes[use][plan->count[use] - 1].up_to != SIZE_MAX))
            return refuse(&r, "a section that does not end with `max`", FIX_LINE);
    }
    return any ? 0 : refuse(&r, "nothing is chosen", FIX_LINE);
}

int okosu_copy_plan_read(struct okosu_copy_plan *plan, const char *path, uint64_t features,
                         struct okosu_copy_reason *reason)
{
    char text[PROFILE_BYTES];
    size_t length = 0;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        while ((got = read(fd, text + length, sizeof(text) - length)) > 0)
            length += (size_t)got;
    }
    int failed = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (failed) {
        /* strerror() would translate, and may allocate. */
        const char *why = strerrordesc_np(failed);
        return okosu_copy_refuse(reason, -failed, why ? why : "an unknown error",
                                 "name a file that `okosu bench copy --profile FILE` wrote",
                                 "copy profile %.200s cannot be read", path);
    }
    if (length == sizeof(text))
        return okosu_copy_refuse(reason, -EINVAL, "it is longer than any profile",
                                 "name a file that `okosu bench copy --profile FILE` wrote",
                                 "copy profile %.200s", path);
    return okosu_copy_plan_parse(plan, path, text, length, features, reason);
}
