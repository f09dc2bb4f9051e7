/* SPDX-License-Identifier: Apache-2.0 */
/* options: one table from which both the parser and the help text are made. */
#include "options.h"

#include "listen.h"

#include "base/message.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define HUGE_PAGE (2 * MIB)

enum form { SWITCH, BYTES, COUNT, TEXT, USER, BACKING };

struct row {
    const char *name, *parameter, *doc;
    enum form form;
    size_t at; /* of its field */
    uint64_t least, most;
};

#define AT(field) offsetof(struct zerod_options, field)

static const struct row rows[] = {
    {"socket", "PATH", "serve programs there (default: $XDG_RUNTIME_DIR/okosu-zerod)", TEXT,
     AT(socket), 0, 0},
    {"ring", "SLOTS", "serve the kernel's ring, too, so many pages at a time (needs CAP_SYS_ADMIN)",
     COUNT, AT(ring), 0, 64},
    {"engine", "NAME", "what clears (default: the first of --list that proves itself)", TEXT,
     AT(engine), 0, 0},
    {"cap", "BYTES", "the most memory that is kept, of all users together (default 512M)", BYTES,
     AT(limits.cap), HUGE_PAGE, (uint64_t)1 << 46},
    {"low", "BYTES", "fewer clean bytes than that are added to ... (default: a quarter of the cap)",
     BYTES, AT(limits.low), 0, (uint64_t)1 << 46},
    {"high", "BYTES", "... until there are so many (default: half of the cap)", BYTES,
     AT(limits.high), 0, (uint64_t)1 << 46},
    {"keep", "BYTES", "clean bytes beyond that go back to the kernel (default: none do)", BYTES,
     AT(limits.keep), 0, (uint64_t)1 << 46},
    {"client-cap", "BYTES", "the most that one program may hold (default: the cap)", BYTES,
     AT(limits.client_cap), HUGE_PAGE, (uint64_t)1 << 46},
    {"user-cap", "BYTES", "the most that one user's programs may hold (default: an equal share)",
     BYTES, AT(limits.user_cap), HUGE_PAGE, (uint64_t)1 << 46},
    {"clients", "NUMBER", "programs at a time (default 64)", COUNT, AT(clients), 1, 4096},
    {"user-clients", "NUMBER", "programs of one user at a time (default: an equal share)", COUNT,
     AT(user_clients), 1, 4096},
    {"greeting", "MS", "a program that has not said hello by then is disconnected (default 5000)",
     COUNT, AT(greeting_ms), 1, 3600000},
    {"rate", "BYTES", "cleared in a second at most (default: any number)", BYTES, AT(limits.rate),
     1, (uint64_t)1 << 46},
    {"unit", "BYTES", "of one piece, as the programs' pools have it (default 2M)", BYTES,
     AT(limits.unit), HUGE_PAGE, (uint64_t)1 << 40},
    {"backing", "thp|hugetlb", "pages of the kernel's pool of huge pages, or any (default thp)",
     BACKING, AT(limits.hugetlb), 0, 0},
    {"node", "NUMBER", "take memory from this NUMA node where it has some", COUNT, AT(limits.node),
     0, 1023},
    {"allow", "UID", "let programs of this user in, too; may be repeated", USER, 0, 0, 0},
    {"chunk", "BYTES", "memory is pinned for a GPU by so much at a time (default: as it can)",
     BYTES, AT(chunk), HUGE_PAGE, (uint64_t)1 << 46},
    {"timeout", "MS", "an engine that takes longer for a unit is used no more (default 10000)",
     COUNT, AT(limits.patience_ms), 1, 3600000},
    {"list", NULL, "the engines, and for each that does not serve here: why", SWITCH, AT(list), 0,
     0},
    {"once", NULL, "clear memory of --high bytes once, look at every byte, print the speed", SWITCH,
     AT(once), 0, 0},
    {"status", NULL, "ask the daemon at --socket what it has, as JSON", SWITCH, AT(status), 0, 0},
    {"verbose", NULL, "say on stderr what happens", SWITCH, AT(verbose), 0, 0},
    {"version", NULL, "print the version", SWITCH, AT(version), 0, 0},
    {"help", NULL, "print this text", SWITCH, AT(help), 0, 0},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int complain(const char *what, const char *why, const char *fix)
{
    okosu_message(what, why, fix);
    return -EINVAL;
}

/* Reads a number; a number of bytes may end in K, M or G. */
static bool read_number(const char *text, bool bytes, uint64_t *number)
{
    const char *units = "KMG";
    char *end;
    const char *unit;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (errno)
        return false;
    unit = *end && bytes ? strchr(units, *end) : NULL;
    if (unit) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);

        if (*number > UINT64_MAX >> shift)
            return false;
        *number <<= shift;
        end++;
    }
    return !*end;
}

/* Sets the option's field; returns NULL, or the error in the value. */
static const char *set(struct zerod_options *options, const struct row *row, const char *value)
{
    char *field = (char *)options + row->at;
    uint64_t number;

    if (row->form == TEXT) {
        *(const char **)(void *)field = value;
        return *value ? NULL : "it is empty";
    }
    if (row->form == BACKING) {
        *(bool *)field = strcmp(value, "hugetlb") == 0;
        return *(bool *)field || strcmp(value, "thp") == 0 ? NULL : "it is thp or hugetlb";
    }
    if (!read_number(value, row->form == BYTES, &number))
        return row->form == BYTES ? "it is a number of bytes, K, M or G" : "it is a number";
    if (row->form == USER) {
        if (number >= UINT32_MAX || options->allowed_count == ZEROD_ALLOWED)
            return "no such user can be, or there are too many";
        options->allowed[options->allowed_count++] = (uid_t)number;
        return NULL;
    }
    if (number < row->least || number > row->most)
        return "it is out of range";
    if (row->at == AT(limits.node))
        options->limits.node = (int)number + 1;
    else if (row->at == AT(limits.patience_ms))
        options->limits.patience_ms = (unsigned)number;
    else
        *(size_t *)(void *)field = number;
    return NULL;
}

static int read_one(struct zerod_options *options, const char *argument)
{
    const char *name = strncmp(argument, "--", 2) == 0 ? argument + 2 : "", *names[ROWS];
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL, *wrong;
    char what[160], given[64];

    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];

        names[i] = row->name;
        if (!length || strncmp(name, row->name, length) != 0 || row->name[length])
            continue;
        if (!row->parameter == !!value) {
            snprintf(what, sizeof(what), "--%s %s", row->name,
                     value ? "takes no value" : "needs a value");
            snprintf(given, sizeof(given), "--%s%s%s", row->name, value ? "" : "=",
                     value ? "" : row->parameter);
            return complain(what, NULL, given);
        }
        if (!value) {
            *(bool *)((char *)options + row->at) = true;
            return 0;
        }
        wrong = set(options, row, value);
        snprintf(what, sizeof(what), "--%s=%.80s is not possible", row->name, value);
        return wrong ? complain(what, wrong, "see okosu-zerod --help") : 0;
    }
    snprintf(what, sizeof(what), "there is no option %.100s", argument);
    snprintf(given, sizeof(given), "%.*s", (int)(length < 60 ? length : 60), name);
    wrong = okosu_message_nearest(given, names, ROWS);
    snprintf(given, sizeof(given), "did you mean --%s?", wrong ? wrong : "help");
    return complain(what, NULL, given);
}

/* The socket in a folder of the user's own, or NULL: in /tmp another user could create it first. */
static const char *usual_socket(void)
{
    static char path[200];
    const char *folder = getenv("XDG_RUNTIME_DIR");
    int length = folder && *folder ? snprintf(path, sizeof(path), "%s/okosu-zerod", folder) : 0;

    return length > 0 && (size_t)length < sizeof(path) ? path : NULL;
}

/* No user, nor several of them together, can take from the others what is an equal share of all. */
static void share(struct zerod_options *options)
{
    struct zerod_limits *l = &options->limits;
    size_t users = 1 + options->allowed_count;

    if (!l->user_cap)
        l->user_cap = l->cap / users < l->unit ? l->unit : l->cap / users;
    if (!options->user_clients)
        options->user_clients = options->clients < users ? 1 : options->clients / users;
}

static int check(struct zerod_options *options)
{
    struct zerod_limits *l = &options->limits;

    if (options->help || options->version || options->list)
        return 0;
    if (zerod_listen_passed() && !options->status)
        options->socket = zerod_listen_passed();
    if (!options->socket)
        options->socket = usual_socket();
    if (!options->socket && !options->once && !options->ring)
        return complain("there is nowhere to serve programs",
                        "no --socket, and XDG_RUNTIME_DIR is not set", "--socket=PATH");
    if (l->unit & (l->unit - 1) || l->cap < l->unit || l->cap / l->unit > UINT32_MAX)
        return complain("--unit does not fit", "it is a power of two, and not above the cap",
                        "--unit=2M");
    if (options->chunk && options->chunk < l->unit)
        return complain("--chunk does not fit", "it is a unit at least", "leave it out");
    l->cap -= l->cap % l->unit;
    if (l->high == SIZE_MAX)
        l->high = l->cap / 2 < l->unit ? l->unit : l->cap / 2;
    if (l->low == SIZE_MAX)
        l->low = l->high / 2 < l->unit ? l->unit : l->high / 2;
    if (!l->client_cap)
        l->client_cap = l->cap;
    share(options);
    if (l->low > l->high || l->high > l->cap || (l->keep && l->keep < l->high) ||
        l->low < l->unit || l->client_cap < l->unit || l->user_cap < l->unit)
        return complain("the watermarks are out of order",
                        "they are: a unit <= low <= high <= cap, and high <= keep",
                        "leave some of them out: okosu-zerod --help has their defaults");
    return 0;
}

int zerod_options_read(struct zerod_options *options, int argc, char **argv)
{
    *options = (struct zerod_options){.clients = 64, .greeting_ms = 5000};
    options->limits = (struct zerod_limits){.unit = HUGE_PAGE,
                                            .cap = 512 * MIB,
                                            .low = SIZE_MAX,
                                            .high = SIZE_MAX,
                                            .patience_ms = 10000};
    for (int i = 1; i < argc; i++) {
        if (read_one(options, argv[i]))
            return -EINVAL;
    }
    return check(options);
}

void zerod_options_help(void)
{
    fputs("Keep clean huge pages ready for programs, cleared ahead by hardware that idles.\n\n"
          "  okosu-zerod --socket=/run/user/1000/okosu-zerod --cap=2G &\n"
          "  okosu run --prezero=broker:/run/user/1000/okosu-zerod --no-fork -- ./app\n\n"
          "usage: okosu-zerod [OPTION...]\n\noptions:\n",
          stdout);
    for (size_t i = 0; i < ROWS; i++) {
        char name[40];

        snprintf(name, sizeof(name), "--%s%s%s", rows[i].name, rows[i].parameter ? "=" : "",
                 rows[i].parameter ? rows[i].parameter : "");
        printf("  %-22s %s\n", name, rows[i].doc);
    }
    fputs("\nExit status: 0 ended by SIGTERM or SIGINT, or done; 1 it failed; 2 wrong usage.\n",
          stdout);
}
