/* SPDX-License-Identifier: Apache-2.0 */
/* Option: what is refused is said with the nearest name there is, or the values there are. */
#include "base/option.h"

#include "base/message.h"

#include <errno.h>
#include <string.h>

/* Most names among which the nearest is looked for. */
#define NAMES_LIMIT 128

bool okosu_option_number(const char *text, uint64_t *number)
{
    uint64_t value = 0;

    if (!*text)
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');

        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return true;
}

/* A number of bytes, which may end in K, M or G. */
static bool read_bytes(const char *text, uint64_t *number)
{
    static const char units[] = "KMG";
    char digits[32];
    size_t length = strlen(text);
    const char *unit = length ? strchr(units, text[length - 1]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

    length -= unit != NULL;
    if (!length || length >= sizeof(digits))
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!okosu_option_number(digits, number) || *number > UINT64_MAX >> shift)
        return false;
    *number <<= shift;
    return true;
}

/* Sets the field. NULL, or what is wrong with the value, which may be in `why`. */
static const char *set(const struct okosu_option *row, void *field, const char *value, char *why,
                       size_t room)
{
    bool bytes = row->form == OKOSU_OPTION_BYTES;
    uint64_t number;

    if (row->form == OKOSU_OPTION_OWN)
        return row->set(field, value);
    if (row->form == OKOSU_OPTION_TEXT) {
        *(const char **)field = value;
        return *value ? NULL : "it is empty";
    }
    if (!(bytes ? read_bytes(value, &number) : okosu_option_number(value, &number)) ||
        number < row->least || number > row->most) {
        snprintf(why, room, "it is a whole number%s from %llu to %llu",
                 bytes ? " of bytes, K, M or G," : "", (unsigned long long)row->least,
                 (unsigned long long)row->most);
        return why;
    }
    if (row->size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
    return NULL;
}

static int unknown(const struct okosu_option *rows, const char *const *more, const char *argument)
{
    const char *names[NAMES_LIMIT], *name = argument + strspn(argument, "-"), *near;
    char typed[64], fix[128];
    size_t count = 0;

    while (more && *more && count < NAMES_LIMIT)
        names[count++] = *more++;
    for (; rows->name && count < NAMES_LIMIT; rows++)
        names[count++] = rows->name;
    snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(name, "="), name);
    near = okosu_message_nearest(typed, names, count);
    snprintf(fix, sizeof(fix), near ? "did you mean --%s?" : "see %s --help",
             near ? near : program_invocation_short_name);
    return okosu_complain(-EINVAL, "it is none of the options' names", fix, "there is no option %s",
                          argument);
}

int okosu_option_read(const struct okosu_option *rows, const char *const *more, void *fields,
                      char *const *argv)
{
    const char *name = strncmp(argv[0], "--", 2) == 0 ? argv[0] + 2 : "", *value, *wrong;
    const struct okosu_option *row = rows;
    size_t length = strcspn(name, "=");
    char why[120], fix[80];
    int used = 1;

    while (row->name && (strncmp(row->name, name, length) != 0 || row->name[length]))
        row++;
    if (!row->name)
        return unknown(rows, more, argv[0]);
    value = name[length] ? name + length + 1 : NULL;
    snprintf(fix, sizeof(fix), "--%s%s%s", row->name, row->parameter ? "=" : "",
             row->parameter ? row->parameter : "");
    if (!row->parameter) {
        if (value)
            return okosu_complain(-EINVAL, "it is there or not", fix, "--%s takes no value",
                                  row->name);
        *((bool *)fields + row->at) = true;
        return used;
    }
    if (!value && argv[1] && strncmp(argv[1], "--", 2) != 0)
        value = argv[used++];
    if (!value)
        return okosu_complain(-EINVAL, "nothing follows it", fix, "--%s needs a value", row->name);
    wrong = set(row, (char *)fields + row->at, value, why, sizeof(why));
    if (wrong)
        return okosu_complain(-EINVAL, wrong, fix, "--%s=%s not accepted", row->name, value);
    return used;
}

void okosu_option_help(FILE *out, const struct okosu_option *rows)
{
    for (; rows->name; rows++) {
        char name[60];

        snprintf(name, sizeof(name), "--%s%s%s", rows->name, rows->parameter ? "=" : "",
                 rows->parameter ? rows->parameter : "");
        fprintf(out, "  %-22s %s\n", name, rows->doc);
    }
}
