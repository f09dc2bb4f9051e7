/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_check: every variant and entry of copy against a loop over bytes.
 *
 *   copy-check            all checks but the long one; 0: right, 1: wrong
 *   copy-check --broken   the same checks must refuse every broken routine
 *   copy-check --show     the choice as it is, one line a class: USE UP-TO VARIANT; then the state
 *   copy-check --profile FILE...   for each file, what okosu_copy_profile_explained() says of it,
 *                         and the choice then
 *   copy-check --plan FEATURES L1D L2 L3   the automatic choice of such a machine
 *   copy-check --large    each variant once over more than 2^31 bytes
 */
#include "copy/select.h"

#include "copy_check.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct subject entries[] = {
    {"okosu_copy", okosu_copy, false},
    {"okosu_copy_near", okosu_copy_near, false},
    {"okosu_copy_far", okosu_copy_far, false},
    {"okosu_copy_move", okosu_copy_move, true},
};

static const char *const uses[OKOSU_COPY_USES] = {"any", "near", "far"};

size_t thresholds(size_t sizes[THRESHOLDS])
{
    static const size_t always[] = {513, 768, 1024, 2048, 4096, 65536, 262144};
    struct okosu_copy_class classes[OKOSU_COPY_CLASSES];
    size_t count = sizeof(always) / sizeof(always[0]);

    memcpy(sizes, always, sizeof(always));
    for (int use = 0; use < OKOSU_COPY_USES; use++) {
        size_t found = okosu_copy_choice((enum okosu_copy_use)use, classes);
        for (size_t i = 0; i < found && count < THRESHOLDS; i++)
            if (classes[i].up_to < 64 << 20)
                sizes[count++] = classes[i].up_to;
    }
    /* The caller takes the last one for the largest. */
    for (size_t i = 0; i + 1 < count; i++)
        if (sizes[i] > sizes[count - 1]) {
            size_t other = sizes[i];
            sizes[i] = sizes[count - 1];
            sizes[count - 1] = other;
        }
    return count;
}

static bool check_subject(const struct subject *subject)
{
    bool right = check_offsets(subject) && check_pairs(subject) && check_thresholds(subject) &&
                 check_guards(subject) && check_nothing(subject);

    if (right && subject->overlaps)
        right = check_overlap(subject) && check_large_overlap(subject);
    return right;
}

static bool report(const struct subject *subject, const char *what)
{
    bool right = check_subject(subject);

    printf("%s: %s%s\n", right ? "ok" : "WRONG", subject->name, what);
    return right;
}

static bool usable(const struct okosu_copy_variant *row)
{
    return !(row->about.needs & ~okosu_cpu_features());
}

static bool check_all(void)
{
    const struct okosu_copy_variant *const *table = okosu_copy_table();
    bool right = true;

    for (size_t i = 0; table[i]; i++) {
        struct subject copy = {table[i]->about.name, table[i]->copy, false};
        struct subject move = {table[i]->about.name, table[i]->move, true};
        if (!usable(table[i])) {
            printf("skipped: %s: this CPU lacks what it needs\n", copy.name);
            continue;
        }
        right = report(&copy, "") && right;
        right = report(&move, " (move)") && right;
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        right = report(&entries[i], "") && right;
    return right;
}

/* Each name can be forced, is then chosen for every use and all sizes that a choice is made for,
 * and copies; a wrong one changes nothing. */
static bool check_force(void)
{
    const struct okosu_copy_variant *const *table = okosu_copy_table();
    static unsigned char from[5000], to[5000];
    bool right = true;

    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = pattern(i);
    for (size_t i = 0; table[i]; i++) {
        int got = okosu_copy_force(table[i]->about.name);
        if (!usable(table[i])) {
            right = right && got == -ENOTSUP;
            continue;
        }
        right = right && got == 0;
        for (int use = 0; use < OKOSU_COPY_USES; use++)
            for (size_t n = 513; n < 1000000; n = n * 3 + 1)
                right = right && okosu_copy_chosen((enum okosu_copy_use)use, n) == table[i];
        for (size_t e = 0; e < sizeof(entries) / sizeof(entries[0]); e++) {
            memset(to, 0, sizeof(to));
            right = right && entries[e].copy(to, from, sizeof(to)) == to &&
                    memcmp(to, from, sizeof(to)) == 0;
        }
        right = right && okosu_copy_force("no-such") == -ENOENT &&
                okosu_copy_chosen(OKOSU_COPY_ANY, 7777) == table[i];
    }
    right = right && okosu_copy_force(NULL) == 0;
    printf("%s: force\n", right ? "ok" : "WRONG");
    return right;
}

enum { THREADS = 3, TURNS = 300, TRIED = 9000 };
static _Atomic bool threads_wrong, threads_stop;

static void *use_entries(void *arg)
{
    unsigned char from[TRIED], to[TRIED];
    unsigned turn = (unsigned)(uintptr_t)arg;

    while (!threads_stop) {
        size_t n = turn * 977 % TRIED;
        for (size_t i = 0; i < TRIED; i++)
            from[i] = (unsigned char)(pattern(i) + turn);
        turn++;
        memset(to, 0xee, sizeof(to));
        entries[turn % 4].copy(to, from, n);
        if (memcmp(to, from, n) || (n < TRIED && to[n] != 0xee))
            threads_wrong = true;
    }
    return NULL;
}

/* The choice changes under threads that use it. */
static bool check_threads(void)
{
    const struct okosu_copy_variant *const *table = okosu_copy_table();
    pthread_t threads[THREADS];
    size_t started = 0;

    for (; started < THREADS; started++)
        if (pthread_create(&threads[started], NULL, use_entries, (void *)(uintptr_t)started))
            break;
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; table[i]; i++)
            okosu_copy_force(table[i]->about.name);
        okosu_copy_force(NULL);
    }
    threads_stop = true;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bool right = started == THREADS && !threads_wrong;
    printf("%s: threads\n", right ? "ok" : "WRONG");
    return right;
}

static void show_choice(void)
{
    struct okosu_copy_class classes[OKOSU_COPY_CLASSES];

    for (int use = 0; use < OKOSU_COPY_USES; use++) {
        size_t count = okosu_copy_choice((enum okosu_copy_use)use, classes);
        for (size_t i = 0; i < count; i++)
            printf("%s %zu %s\n", uses[use], classes[i].up_to, classes[i].variant->about.name);
    }
}

static void show_reason(const struct okosu_reason *reason)
{
    printf("what %s\nwhy %s\nfix %s\n", reason->what, reason->why, reason->fix);
}

static int show(void)
{
    static unsigned char from[3000] = {1, 2, 3}, to[3000];
    struct okosu_reason reason;

    /* The first call of the program makes the choice. */
    errno = 4711;
    okosu_copy(to, from, sizeof(to));
    if (errno != 4711 || memcmp(from, to, sizeof(to)))
        return 1;
    show_choice();
    int state = okosu_copy_state(&reason);
    printf("state %d\n", state);
    if (state)
        show_reason(&reason);
    return 0;
}

static int show_profiles(char **paths)
{
    struct okosu_reason reason;

    for (; *paths; paths++) {
        int error = okosu_copy_force(NULL);
        if (!error)
            error = okosu_copy_profile_explained(*paths, &reason);
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
    struct okosu_sizeclasses choices[OKOSU_COPY_USES];
    struct okosu_caches caches = {
        .l1d = strtoul(argv[1], NULL, 0),
        .l2 = strtoul(argv[2], NULL, 0),
        .l3 = strtoul(argv[3], NULL, 0),
    };

    okosu_copy_automatic(strtoull(argv[0], NULL, 0), &caches, choices);
    for (int use = 0; use < OKOSU_COPY_USES; use++)
        for (size_t i = 0; i < choices[use].count; i++)
            printf("%s %zu %s\n", uses[use], choices[use].at[i].up_to,
                   choices[use].at[i].variant->name);
    return 0;
}

static int check_broken(void)
{
    int accepted = 0;

    for (const struct broken *row = broken_table; row->name; row++) {
        struct subject subject = {row->name, row->copy, row->overlaps};
        if (check_subject(&subject)) {
            printf("ACCEPTED: %s\n", row->name);
            accepted = 1;
        }
    }
    return accepted;
}

/* Each copies a pattern of words that no two places share over more than 31 bits of bytes. */
static int check_large(void)
{
    const struct okosu_copy_variant *const *table = okosu_copy_table();
    size_t n = (UINT64_C(1) << 31) + 4097, room = n + 8192;
    int wrong = 0;
    unsigned char *from = mmap(NULL, 2 * room, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *to = from + room;

    if (from == MAP_FAILED) {
        perror("copy-check: 4 GiB");
        return 2;
    }
    madvise(from, 2 * room, MADV_HUGEPAGE);
    for (uint64_t i = 0; i < room / 8; i++)
        memcpy(from + 8 * i, &(uint64_t){i * UINT64_C(0x9e3779b97f4a7c15)}, 8);
    for (size_t i = 0; table[i]; i++) {
        if (!usable(table[i]))
            continue;
        memset(to, 0x5a, room);
        bool right = table[i]->copy(to + 3, from + 8, n) == to + 3 && memcmp(to, "ZZZ", 3) == 0 &&
                     memcmp(to + 3, from + 8, n) == 0 && to[n + 3] == 0x5a && to[room - 1] == 0x5a;
        printf("%s: %s over %zu bytes\n", right ? "ok" : "WRONG", table[i]->about.name, n);
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
    right = check_force() && right;
    right = check_threads() && right;
    return !right;
}
