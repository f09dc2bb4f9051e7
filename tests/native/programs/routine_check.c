/* SPDX-License-Identifier: Apache-2.0 */
/* routine_check: every variant and entry of an area (copy, zero) against a loop over bytes.
 *
 *   copy-check            all checks but the long one; 0: right, 1: wrong
 *   copy-check --broken   the same checks must refuse every broken routine
 *   copy-check --show     the choice as it is, one line a class: USE UP-TO VARIANT; then the state
 *   copy-check --profile FILE...   for each file, what is said of it, and the choice then
 *   copy-check --plan FEATURES L1D L2 L3   the automatic choice of such a machine
 *   copy-check --large    each variant once over more than 2^31 bytes */
#include "routine_check.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool usable(const struct okosu_variant *row)
{
    return okosu_variant_runs(row, okosu_cpu_features());
}

static bool report(const struct subject *subject)
{
    bool right = area.check(subject);

    printf("%s: %s\n", right ? "ok" : "WRONG", subject->name);
    return right;
}

static bool check_all(void)
{
    struct subject subjects[2];
    const struct okosu_variant *row;
    bool right = true;

    for (size_t i = 0; (row = area.row(i, subjects)) != NULL; i++) {
        if (!usable(row)) {
            printf("skipped: %s: this CPU lacks what it needs\n", row->name);
            continue;
        }
        for (size_t k = 0; k < 2 && subjects[k].name; k++)
            right = report(&subjects[k]) && right;
    }
    for (const struct subject *entry = area.entries; entry->name; entry++)
        right = report(entry) && right;
    return right;
}

/* Whether the entry is right about n bytes between two that must stay. */
static bool entry_works(const struct subject *entry, unsigned turn, size_t n)
{
    enum { MOST = 9002 };
    static _Thread_local unsigned char from[MOST], to[MOST], want[MOST];
    int byte = (int)(turn & 255);

    for (size_t i = 0; i < MOST; i++)
        from[i] = (unsigned char)(pattern(i) + turn);
    memset(to, byte ^ 255, MOST);
    memset(want, byte ^ 255, MOST);
    call_bytes(entry, want + 1, from, byte, n);
    return call(entry, to + 1, from, byte, n) == to + 1 && memcmp(to, want, MOST) == 0;
}

/* Each name can be forced, is then chosen for every use and all sizes that a choice is made for,
 * and works; a wrong one changes nothing. What is chosen for no bytes can run here too. */
static bool check_force(void)
{
    struct subject subjects[2];
    const struct okosu_variant *row;
    bool right = true;

    for (size_t i = 0; (row = area.row(i, subjects)) != NULL; i++) {
        int got = area.force(row->name);

        if (!usable(row)) {
            right = right && got == -ENOTSUP;
            continue;
        }
        right = right && got == 0;
        for (size_t use = 0; area.uses[use]; use++) {
            right = right && usable(area.chosen(use, 0));
            for (size_t n = 1025; n < 1000000; n = n * 3 + 1)
                right = right && area.chosen(use, n) == row;
        }
        for (const struct subject *entry = area.entries; entry->name; entry++)
            right = right && entry_works(entry, 9, 5000);
        right = right && area.force("no-such") == -ENOENT && area.chosen(0, 7777) == row;
    }
    right = right && area.force(NULL) == 0;
    printf("%s: force\n", right ? "ok" : "WRONG");
    return right;
}

enum { THREADS = 3, TURNS = 300 };
static _Atomic bool threads_wrong, threads_stop;

static void *use_entries(void *arg)
{
    size_t entries = 0;

    while (area.entries[entries].name)
        entries++;
    for (unsigned turn = (unsigned)(uintptr_t)arg; !threads_stop; turn++)
        if (!entry_works(&area.entries[turn % entries], turn, turn * 977 % 9000))
            threads_wrong = true;
    return NULL;
}

/* The choice changes under threads that use it. */
static bool check_threads(void)
{
    struct subject subjects[2];
    const struct okosu_variant *row;
    pthread_t threads[THREADS];
    size_t started = 0;

    for (; started < THREADS; started++)
        if (pthread_create(&threads[started], NULL, use_entries, (void *)(uintptr_t)started))
            break;
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; (row = area.row(i, subjects)) != NULL; i++)
            area.force(row->name);
        area.force(NULL);
    }
    threads_stop = true;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bool right = started == THREADS && !threads_wrong;
    printf("%s: threads\n", right ? "ok" : "WRONG");
    return right;
}

static void show_classes(const char *use, const struct okosu_sizeclass *classes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s %zu %s\n", use, classes[i].up_to, classes[i].variant->name);
}

static void show_choice(void)
{
    struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES];

    for (size_t use = 0; area.uses[use]; use++)
        show_classes(area.uses[use], classes, area.choice(use, classes));
}

static void show_reason(const struct okosu_reason *reason)
{
    printf("what %s\nwhy %s\nfix %s\n", reason->what, reason->why, reason->fix);
}

static int show(void)
{
    struct okosu_reason reason;

    /* The first call of the program makes the choice. */
    errno = 4711;
    if (!entry_works(&area.entries[0], 1, 3000) || errno != 4711)
        return 1;
    show_choice();
    int state = area.state(&reason);
    printf("state %d\n", state);
    if (state)
        show_reason(&reason);
    return 0;
}

static int show_profiles(char **paths)
{
    struct okosu_reason reason;

    for (; *paths; paths++) {
        int error = area.force(NULL);

        if (!error)
            error = area.profile(*paths, &reason);
        printf("profile %d\n", error);
        if (error)
            show_reason(&reason);
        show_choice();
    }
    return 0;
}

/* What a machine would choose that is not this one. */
static int show_plan(char **argv)
{
    struct okosu_sizeclasses choices[OKOSU_CHOOSE_USES];
    struct okosu_caches caches = {
        .l1d = strtoul(argv[1], NULL, 0),
        .l2 = strtoul(argv[2], NULL, 0),
        .l3 = strtoul(argv[3], NULL, 0),
    };

    memset(choices, 0, sizeof(choices));
    area.automatic(strtoull(argv[0], NULL, 0), &caches, choices);
    for (size_t use = 0; area.uses[use]; use++)
        show_classes(area.uses[use], choices[use].at, choices[use].count);
    return 0;
}

static int check_broken(void)
{
    int accepted = 0;

    for (const struct subject *subject = area.broken; subject->name; subject++)
        if (area.check(subject)) {
            printf("ACCEPTED: %s\n", subject->name);
            accepted = 1;
        }
    return accepted;
}

/* Each works over more bytes than 31 bits count: a copy of words of which no two places hold the
 * same, a set of 0 or of another byte. */
static int check_large(void)
{
    size_t n = (UINT64_C(1) << 31) + 4097, room = n + 8192;
    struct subject subjects[2];
    const struct okosu_variant *row;
    int wrong = 0;
    unsigned char *from = mmap(NULL, 2 * room, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *to = from + room;

    if (from == MAP_FAILED) {
        perror("4 GiB");
        return 2;
    }
    madvise(from, 2 * room, MADV_HUGEPAGE);
    for (size_t i = 0; (row = area.row(i, subjects)) != NULL; i++) {
        const struct subject *subject = &subjects[0];
        int byte = i & 1 ? 0 : 0xa5;

        if (!usable(row))
            continue;
        /* A set needs no source, and half of the memory. */
        for (uint64_t k = 0; i == 0 && subject->copy && k < room / 8; k++)
            memcpy(from + 8 * k, &(uint64_t){k * UINT64_C(0x9e3779b97f4a7c15)}, 8);
        memset(to, 0x5a, room);
        bool right =
            call(subject, to + 3, from + 8, byte, n) == to + 3 && all_are(to, 3, 0x5a) &&
            (subject->copy ? memcmp(to + 3, from + 8, n) == 0 : all_are(to + 3, n, byte)) &&
            all_are(to + 3 + n, room - n - 3, 0x5a);
        printf("%s: %s over %zu bytes\n", right ? "ok" : "WRONG", row->name, n);
        wrong |= !right;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--broken") == 0)
        return check_broken();
    if (argc == 2 && strcmp(argv[1], "--show") == 0)
        return show();
    if (argc == 2 && strcmp(argv[1], "--large") == 0)
        return check_large();
    if (argc >= 3 && strcmp(argv[1], "--profile") == 0)
        return show_profiles(argv + 2);
    if (argc == 6 && strcmp(argv[1], "--plan") == 0)
        return show_plan(argv + 2);
    if (argc != 1)
        return 2;
    bool right = check_all();
    right = (!area.check_more || area.check_more()) && right;
    right = check_force() && right;
    right = check_threads() && right;
    return !right;
}
