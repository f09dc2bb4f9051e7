/* SPDX-License-Identifier: Apache-2.0 */
/* options: the table of them, and what they are together. */
#include "options.h"

#include "listen.h"

#include "base/message.h"
#include "base/option.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define HUGE_PAGE (2 * MIB)

/* No number of bytes may be larger. */
#define MOST ((uint64_t)1 << 46)

static const char *set_backing(void *field, const char *value)
{
    bool *hugetlb = field;

    *hugetlb = strcmp(value, "hugetlb") == 0;
    return *hugetlb || strcmp(value, "thp") == 0 ? NULL : "it is thp or hugetlb";
}

static const char *set_node(void *field, const char *value)
{
    uint64_t number;

    if (!okosu_option_number(value, &number) || number > 1023)
        return "it is the number of a NUMA node";
    *(int *)field = (int)number + 1;
    return NULL;
}

static const char *set_user(void *field, const char *value)
{
    struct zerod_options *options = field;
    uint64_t number;

    if (!okosu_option_number(value, &number) || number >= UINT32_MAX ||
        options->allowed_count == ZEROD_ALLOWED)
        return "it is the number of a user, and there are not too many";
    options->allowed[options->allowed_count++] = (uid_t)number;
    return NULL;
}

#define SWITCH(field) OKOSU_SWITCH(struct zerod_options, field)
#define TEXT(field) OKOSU_TEXT(struct zerod_options, field)
#define SET(field, set) OKOSU_SET(struct zerod_options, field, set)
#define NUMBER(field, least, most) OKOSU_NUMBER(struct zerod_options, field, least, most)
#define BYTES(field, least, most) OKOSU_BYTES(struct zerod_options, field, least, most)

static const struct okosu_option rows[] = {
    {"socket", "PATH", "serve programs there (default: $XDG_RUNTIME_DIR/okosu-zerod)",
     TEXT(socket)},
    {"ring", "SLOTS", "serve the kernel's ring, too, so many pages at a time (needs CAP_SYS_ADMIN)",
     NUMBER(ring, 0, 64)},
    {"engine", "NAME", "what clears (default: the first of --list that proves itself)",
     TEXT(engine)},
    {"cap", "BYTES", "the most memory that is kept, of all users together (default 512M)",
     BYTES(limits.cap, HUGE_PAGE, MOST)},
    {"low", "BYTES", "fewer clean bytes than that are added to ... (default: a quarter of the cap)",
     BYTES(limits.low, 0, MOST)},
    {"high", "BYTES", "... until there are so many (default: half of the cap)",
     BYTES(limits.high, 0, MOST)},
    {"keep", "BYTES", "clean bytes beyond that go back to the kernel (default: none do)",
     BYTES(limits.keep, 0, MOST)},
    {"client-cap", "BYTES", "the most that one program may hold (default: the cap)",
     BYTES(limits.client_cap, HUGE_PAGE, MOST)},
    {"user-cap", "BYTES", "the most that one user's programs may hold (default: an equal share)",
     BYTES(limits.user_cap, HUGE_PAGE, MOST)},
    {"clients", "NUMBER", "programs at a time (default 64)", NUMBER(clients, 1, 4096)},
    {"user-clients", "NUMBER", "programs of one user at a time (default: an equal share)",
     NUMBER(user_clients, 1, 4096)},
    {"greeting", "MS", "a program that has not said hello by then is disconnected (default 5000)",
     NUMBER(greeting_ms, 1, 3600000)},
    {"rate", "BYTES", "cleared in a second at most (default: any number)",
     BYTES(limits.rate, 1, MOST)},
    {"unit", "BYTES", "of one piece, as the programs' pools have it (default 2M)",
     BYTES(limits.unit, HUGE_PAGE, (uint64_t)1 << 40)},
    {"backing", "thp|hugetlb", "pages of the kernel's pool of huge pages, or any (default thp)",
     SET(limits.hugetlb, set_backing)},
    {"node", "NUMBER", "take memory from this NUMA node where it has some",
     SET(limits.node, set_node)},
    {"allow", "UID", "let programs of this user in, too; may be repeated", OKOSU_SET_ANY(set_user)},
    {"chunk", "BYTES", "memory is pinned for a GPU by so much at a time (default: as it can)",
     BYTES(chunk, HUGE_PAGE, MOST)},
    {"timeout", "MS", "an engine that takes longer for a unit is used no more (default 10000)",
     NUMBER(limits.patience_ms, 1, 3600000)},
    {"list", NULL, "the engines, and for each that does not serve here: why", SWITCH(list)},
    {"once", NULL, "clear memory of --high bytes once, look at every byte, print the speed",
     SWITCH(once)},
    {"status", NULL, "ask the daemon at --socket what it has, as JSON", SWITCH(status)},
    {"verbose", NULL, "say on stderr what happens", SWITCH(verbose)},
    {"version", NULL, "print the version", SWITCH(version)},
    {"help", NULL, "print this text", SWITCH(help)},
    {.name = NULL},
};

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
        return okosu_complain(-EINVAL, "no --socket, and XDG_RUNTIME_DIR is not set",
                              "--socket=PATH", "there is nowhere to serve programs");
    if (l->unit & (l->unit - 1) || l->cap < l->unit || l->cap / l->unit > UINT32_MAX)
        return okosu_complain(-EINVAL, "it is a power of two, and not above the cap", "--unit=2M",
                              "--unit does not fit");
    if (options->chunk && options->chunk < l->unit)
        return okosu_complain(-EINVAL, "it is a unit at least", "leave it out",
                              "--chunk does not fit");
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
        return okosu_complain(-EINVAL, "they are: a unit <= low <= high <= cap, and high <= keep",
                              "leave some of them out: okosu-zerod --help has their defaults",
                              "the watermarks are out of order");
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
    for (int i = 1, used; i < argc; i += used) {
        used = okosu_option_read(rows, NULL, options, argv + i);
        if (used < 0)
            return used;
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
    okosu_option_help(stdout, rows);
    fputs("\nExit status: 0 ended by SIGTERM or SIGINT, or done; 1 it failed; 2 wrong usage.\n",
          stdout);
}
