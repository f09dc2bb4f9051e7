/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zero_check: every variant and entry of zero against a loop over bytes.
 *
 *   zero-check            all checks but the long one; 0: right, 1: wrong
 *   zero-check --broken   the same checks must refuse every broken routine
 *   zero-check --show     the choice as it is, one line a class: USE UP-TO VARIANT; then the state
 *   zero-check --profile FILE   the same after okosu_zero_profile(FILE)
 *   zero-check --large    each variant once over more than 2^31 bytes
 */
#include "zero_check.h"

#include <okosu/cpu.h>
#include <okosu/zero.h>

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *zero(void *p, int byte, size_t n)
{
    return okosu_zero(p, n);
}

static void *zero_near(void *p, int byte, size_t n)
{
    return okosu_zero_near(p, n);
}

static void *zero_far(void *p, int byte, size_t n)
{
    return okosu_zero_far(p, n);
}

static const struct subject entries[] = {
    {"okosu_set", okosu_set, true},         {"okosu_set_near", okosu_set_near, true},
    {"okosu_set_far", okosu_set_far, true}, {"okosu_zero", zero, false},
    {"okosu_zero_near", zero_near, false},  {"okosu_zero_far", zero_far, false},
};

static bool check_subject(const struct subject *subject)
{
    return check_offsets(subject) && check_bytes(subject) && check_thresholds(subject) &&
           check_guards(subject);
}

static bool usable(const struct okosu_zero_variant *row)
{
    return !(row->about.needs & ~okosu_cpu_features());
}

static bool check_all(void)
{
    const struct okosu_zero_variant *const *table = okosu_zero_table();
    bool right = true;

    for (size_t i = 0; table[i]; i++) {
        struct subject subject = {table[i]->about.name, table[i]->set, true};
        if (!usable(table[i])) {
            printf("skipped: %s: this CPU lacks what it needs\n", subject.name);
            continue;
        }
        bool ok = check_subject(&subject);
        printf("%s: %s\n", ok ? "ok" : "WRONG", subject.name);
        right = right && ok;
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        bool ok = check_subject(&entries[i]);
        printf("%s: %s\n", ok ? "ok" : "WRONG", entries[i].name);
        right = right && ok;
    }
    return right;
}

/* 4 KiB and 2 MiB become zero, and nothing beyond them. */
static bool check_page(size_t bytes)
{
    unsigned char *memory = aligned_alloc(4096, bytes + 8192);
    bool right = memory != NULL;

    for (size_t i = 0; right && i < bytes + 8192; i++)
        memory[i] = (unsigned char)(i * 7 | 1);
    if (right)
        okosu_zero_page(memory + 4096, bytes);
    for (size_t i = 0; right && i < bytes + 8192; i++) {
        bool inside = i >= 4096 && i < 4096 + bytes;
        right = memory[i] == (inside ? 0 : (unsigned char)(i * 7 | 1));
    }
    printf("%s: page of %zu bytes\n", right ? "ok" : "WRONG", bytes);
    free(memory);
    return right;
}

/* Each name can be forced and is then chosen for every use and all sizes that a choice is made for;
 * a wrong one changes nothing. */
static bool check_force(void)
{
    const struct okosu_zero_variant *const *table = okosu_zero_table();
    static unsigned char memory[5000];
    bool right = true;

    for (size_t i = 0; table[i]; i++) {
        int got = okosu_zero_force(table[i]->about.name);
        if (!usable(table[i])) {
            right = right && got == -ENOTSUP;
            continue;
        }
        right = right && got == 0;
        for (int use = 0; use < OKOSU_ZERO_USES; use++)
            for (size_t n = 513; n < 1000000; n = n * 3 + 1)
                right = right && okosu_zero_chosen((enum okosu_zero_use)use, n) == table[i];
        right = right && okosu_set(memory, 9, sizeof(memory)) == memory;
        for (size_t k = 0; k < sizeof(memory); k++)
            right = right && memory[k] == 9;
        memory[0] = 1;
        right = right && okosu_zero_force("no-such") == -ENOENT &&
                okosu_zero_chosen(OKOSU_ZERO_ANY, 7777) == table[i];
    }
    right = right && okosu_zero_force(NULL) == 0;
    printf("%s: force\n", right ? "ok" : "WRONG");
    return right;
}

enum { THREADS = 3, TURNS = 300 };
static _Atomic bool threads_wrong, threads_stop;

static void *use_entries(void *arg)
{
    unsigned char memory[9000];
    unsigned turn = (unsigned)(uintptr_t)arg;

    while (!threads_stop) {
        size_t n = turn * 977 % sizeof(memory), last = n ? n - 1 : 0;
        int byte = (int)(turn++ & 255);
        memset(memory, byte ^ 255, sizeof(memory));
        okosu_set(memory, byte, n);
        for (size_t i = 0; i < sizeof(memory); i += 1 + i % 61)
            if (memory[i] != (i < n ? byte : (byte ^ 255)))
                threads_wrong = true;
        if (n && memory[last] != byte)
            threads_wrong = true;
    }
    return NULL;
}

/* The choice changes under threads that use it. */
static bool check_threads(void)
{
    const struct okosu_zero_variant *const *table = okosu_zero_table();
    pthread_t threads[THREADS];
    size_t started = 0;

    for (; started < THREADS; started++)
        if (pthread_create(&threads[started], NULL, use_entries, (void *)(uintptr_t)started))
            break;
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; table[i]; i++)
            okosu_zero_force(table[i]->about.name);
        okosu_zero_force(NULL);
    }
    threads_stop = true;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bool right = started == THREADS && !threads_wrong;
    printf("%s: threads\n", right ? "ok" : "WRONG");
    return right;
}

static int show(void)
{
    static const char *const uses[] = {"any", "near", "far", "page"};
    struct okosu_zero_class classes[OKOSU_ZERO_CLASSES];
    struct okosu_reason reason;
    char byte = 1;

    /* The first call of the program makes the choice. */
    errno = 4711;
    okosu_set(&byte, 0, 1);
    if (errno != 4711 || byte)
        return 1;
    for (int use = 0; use < OKOSU_ZERO_USES; use++) {
        size_t count = okosu_zero_choice((enum okosu_zero_use)use, classes);
        for (size_t i = 0; i < count; i++)
            printf("%s %zu %s\n", uses[use], classes[i].up_to, classes[i].variant->about.name);
    }
    int state = okosu_zero_state(&reason);
    printf("state %d\n", state);
    if (state)
        printf("what %s\nwhy %s\nfix %s\n", reason.what, reason.why, reason.fix);
    return 0;
}

static int show_profile(const char *path)
{
    struct okosu_reason reason;
    int error = okosu_zero_profile_explained(path, &reason);

    printf("profile %d\n", error);
    if (error)
        printf("what %s\nwhy %s\nfix %s\n", reason.what, reason.why, reason.fix);
    return show();
}

static int check_broken(void)
{
    int accepted = 0;

    for (const struct broken *row = broken_table; row->name; row++) {
        struct subject subject = {row->name, row->set, true};
        if (check_subject(&subject)) {
            printf("ACCEPTED: %s\n", row->name);
            accepted = 1;
        }
    }
    return accepted;
}

/* Whether count bytes from p are all `byte`: by words, from a copy of the byte, not by memcmp with
 * a neighbour, which would not see that the first is wrong too. */
static bool all_are(const unsigned char *p, size_t count, int byte)
{
    uint64_t want = UINT64_C(0x0101010101010101) * (unsigned char)byte, word, differ = 0;
    size_t i = 0;

    for (; i + 8 <= count; i += 8) {
        memcpy(&word, p + i, 8);
        differ |= word ^ want;
    }
    for (; i < count; i++)
        differ |= (uint64_t)(p[i] ^ (unsigned char)byte);
    return !differ;
}

static int check_large(void)
{
    const struct okosu_zero_variant *const *table = okosu_zero_table();
    size_t n = (UINT64_C(1) << 31) + 4097, room = n + 8192;
    unsigned char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int wrong = 0;

    if (memory == MAP_FAILED) {
        perror("zero-check: 2 GiB");
        return 2;
    }
    madvise(memory, room, MADV_HUGEPAGE);
    for (size_t i = 0; table[i]; i++) {
        if (!usable(table[i]))
            continue;
        int byte = i & 1 ? 0 : 0xa5;
        memset(memory, 0x5a, room);
        bool right = table[i]->set(memory + 3, byte, n) == memory + 3 && all_are(memory, 3, 0x5a) &&
                     all_are(memory + 3, n, byte) && all_are(memory + 3 + n, room - n - 3, 0x5a);
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
    if (argc == 3 && strcmp(argv[1], "--profile") == 0)
        return show_profile(argv[2]);
    if (argc != 1)
        return 2;
    bool right = check_all();
    right = check_page(4096) && right;
    right = check_page(2 << 20) && right;
    right = check_force() && right;
    right = check_threads() && right;
    return !right;
}
