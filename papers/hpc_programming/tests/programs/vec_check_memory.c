/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded memory, faults and failures of vec_check. */
#include "vec_check.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct vec_context vec_now;

static void describe(void)
{
    fprintf(stderr, "vec_check: %s %s n=%zu %s x+%d y+%d: ", vec_now.row, vec_now.routine,
            vec_now.n, vec_now.layout ? vec_now.layout : "", vec_now.x_shift, vec_now.y_shift);
}

void vec_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    describe();
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

/* stdio after a fault in a vector routine, which holds no lock of it, is safe enough for a test. */
static void fault(int signal_number, siginfo_t *info, void *context)
{
    describe();
    fprintf(stderr, "fault at %p\n", info->si_addr);
    _exit(1);
}

void vec_catch_faults(void)
{
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

bool vec_guards_readable;

struct vec_guarded vec_guarded_new(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t length = VEC_BODY < page ? page : VEC_BODY;
    unsigned char *all = mmap(NULL, length + 2 * page, vec_guards_readable ? PROT_READ : PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || mprotect(all + page, length, PROT_READ | PROT_WRITE) != 0)
        vec_fail("no memory");
    /* Where pages are larger than the body, it ends at the guard and what is before it is spare. */
    struct vec_guarded memory = {.body = all + page + length - VEC_BODY, .image = malloc(VEC_BODY)};
    if (memory.image == NULL)
        vec_fail("no memory");
    vec_guarded_clear(&memory);
    return memory;
}

void vec_guarded_clear(const struct vec_guarded *memory)
{
    memset(memory->body, 0xff, VEC_BODY);
    memset(memory->image, 0xff, VEC_BODY);
}

void vec_guarded_put(const struct vec_guarded *memory, unsigned char *where, const void *from,
                     size_t bytes)
{
    memcpy(where, from, bytes);
    memcpy(memory->image + (where - memory->body), from, bytes);
}

void vec_guarded_compare(const struct vec_guarded *memory, const unsigned char *where,
                         const void *expected, size_t bytes)
{
    size_t before = (size_t)(where - memory->body), after = before + bytes;
    const unsigned char *inside = expected ? expected : memory->image + before;

    if (memcmp(memory->body, memory->image, before) != 0)
        vec_fail("bytes before the array changed");
    if (memcmp(memory->body + after, memory->image + after, VEC_BODY - after) != 0)
        vec_fail("bytes after the array changed");
    for (size_t i = 0; memcmp(where, inside, bytes) != 0 && i < bytes; i++)
        if (where[i] != inside[i])
            vec_fail("byte %zu of the array is wrong", i);
}

/* xorshift64*: the same numbers in every run. */
uint64_t vec_random(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;

    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
}
