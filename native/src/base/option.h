/* SPDX-License-Identifier: Apache-2.0 */
/* Option: the options of a program as one table, from which both the parser and the help text are
 * made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the option's field is: a bool, a const char *, an integer of 32 or 64 bits (for BYTES the
 * value may end in K, M or G), or what `set` makes of it. */
enum okosu_option_form {
    OKOSU_OPTION_SWITCH,
    OKOSU_OPTION_TEXT,
    OKOSU_OPTION_NUMBER,
    OKOSU_OPTION_BYTES,
    OKOSU_OPTION_OWN
};

struct okosu_option {
    const char *name, *parameter, *doc; /* no parameter: a switch */
    enum okosu_option_form form;
    size_t at, size;      /* of the field in the program's structure of options */
    uint64_t least, most; /* of a number */
    /* NULL, or what is wrong with the value. */
    const char *(*set)(void *field, const char *value);
};

/* What a row says of its field, behind name, parameter and doc. */
#define OKOSU_OPTION(form, type, field)                                                            \
    OKOSU_OPTION_##form, offsetof(type, field), sizeof(((type *)0)->field)
#define OKOSU_SWITCH(type, field) OKOSU_OPTION(SWITCH, type, field), 0, 0, NULL
#define OKOSU_TEXT(type, field) OKOSU_OPTION(TEXT, type, field), 0, 0, NULL
#define OKOSU_NUMBER(type, field, least, most) OKOSU_OPTION(NUMBER, type, field), least, most, NULL
#define OKOSU_BYTES(type, field, least, most) OKOSU_OPTION(BYTES, type, field), least, most, NULL
#define OKOSU_SET(type, field, set) OKOSU_OPTION(OWN, type, field), 0, 0, set
/* `set` gets the whole structure. */
#define OKOSU_SET_ANY(set) OKOSU_OPTION_OWN, 0, 0, 0, 0, set

/* Decimal digits alone: strtoull would take signs, spaces and a hexadecimal's prefix. */
bool okosu_option_number(const char *text, uint64_t *number);

/* Reads "--NAME=VALUE", or "--NAME VALUE" where the value does not begin with two dashes. The rows
 * end with a NULL name. Returns how many arguments that were, or -EINVAL after a message; `more`:
 * names, ended by NULL, that the program takes besides. */
int okosu_option_read(const struct okosu_option *rows, const char *const *more, void *fields,
                      char *const *argv);

/* Prints a line for each row. */
void okosu_option_help(FILE *out, const struct okosu_option *rows);
