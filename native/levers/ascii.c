/* SPDX-License-Identifier: Apache-2.0 */
/* Ascii: in a language's UTF-8 locale libc compares and matches strings by tables of all of Unicode,
 * though most of them are plain ASCII. */
#include "lever.h"

#include <errno.h>
#include <string.h>

#define LIBRARY "libokosu-ascii.so"

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    int rc;

    if (strcmp(value, "on"))
        return okosu_plan_refuse(plan, -EINVAL, "there is no such choice", "see okosu-run --help");
    rc = okosu_plan_needs_preload(plan, context, "build it as a dynamic glibc program");
    return rc ? rc : okosu_plan_beside(plan, context, LIBRARY);
}

static const struct okosu_value values[] = {
    {.value = "on",
     .doc = "strings of ASCII by ranks and bytes; libc has all others",
     .preload = true},
    {0},
};

const struct okosu_lever okosu_lever_ascii = {
    .name = "ascii",
    .doc = "strcoll and regular expressions on ASCII text without Unicode's tables, same outcome",
    .default_value = "on",
    .values = values,
    .library = LIBRARY,
    .apply = apply,
};
