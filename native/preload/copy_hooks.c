/* SPDX-License-Identifier: Apache-2.0 */
/* libokosu-copy.so: memcpy, memmove, memset and related functions by okosu's routines.
 *
 * 1. The loader and other libraries call these functions before anything is initialised: until
 * begin() they are plain loops that need nothing.
 *
 * 2. A call costs one indirect jump more than okosu_copy() itself, and if a proof was asked for the
 * counting, until enough is counted. With OKOSU_COPY_LIBC libc's own routines serve, and are timed
 * if a proof was asked for.
 *
 * 3. memcpy is memmove: programs linked before 2011 call it so (memcpy@GLIBC_2.2.5 is memmove by
 * ABI), and glibc's memcpy can do it on x86-64. Ranges that do not overlap pay two comparisons for
 * it, and only above the sizes that the entry serves itself.
 *
 * 4. Where a _FORTIFY_SOURCE form detects an overflow, libc's own __chk_fail reports it. */
#include "companion.h"
#include "copy_count.h"
#include "proof.h"

#include "base/now.h"
#include "choose/libc.h"

#include <okosu/copy.h>
#include <okosu/zero.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void *mover(void *dst, const void *src, size_t n);
typedef void *setter(void *p, int byte, size_t n);

static void *early_move(void *dst, const void *src, size_t n)
{
    const char *from = src;
    char *to = dst;

    /* One comparison: below src the difference wraps. */
    if ((uintptr_t)dst - (uintptr_t)src >= n) {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
        return dst;
    }
    while (n--)
        to[n] = from[n];
    return dst;
}

static void *early_set(void *p, int byte, size_t n)
{
    char *to = p;

    for (size_t i = 0; i < n; i++)
        to[i] = (char)byte;
    return p;
}

/* What stands behind these hooks, libc's or another library's. */
static mover *next_move;
static setter *next_set;

static __attribute__((noinline)) void count_no_more(void);

/* A thread's first call is apart, so that the others need not keep what okosu_count_take() would
 * change: a short copy takes two nanoseconds in all. */
static __attribute__((noinline)) void *first_move(void *dst, const void *src, size_t n)
{
    okosu_count_note(okosu_count_take(), OKOSU_COUNT_COPY, n);
    return okosu_copy_move(dst, src, n);
}

static void *counted_move(void *dst, const void *src, size_t n)
{
    if (__builtin_expect(!okosu_count_mine, 0))
        return first_move(dst, src, n);
    if (__builtin_expect(
            okosu_count_note(okosu_count_mine, OKOSU_COUNT_COPY, n) == OKOSU_COUNT_ENOUGH, 0))
        count_no_more();
    return okosu_copy_move(dst, src, n);
}

static __attribute__((noinline)) void *first_set(void *p, int byte, size_t n)
{
    okosu_count_note(okosu_count_take(), OKOSU_COUNT_SET, n);
    return okosu_set(p, byte, n);
}

static void *counted_set(void *p, int byte, size_t n)
{
    if (__builtin_expect(!okosu_count_mine, 0))
        return first_set(p, byte, n);
    if (__builtin_expect(
            okosu_count_note(okosu_count_mine, OKOSU_COUNT_SET, n) == OKOSU_COUNT_ENOUGH, 0))
        count_no_more();
    return okosu_set(p, byte, n);
}

static struct okosu_count_slot *own_slot(void)
{
    return okosu_count_mine ? okosu_count_mine : okosu_count_take();
}

static void *timed_move(void *dst, const void *src, size_t n)
{
    struct okosu_count_slot *slot = own_slot();
    uint64_t begun;

    okosu_count_note(slot, OKOSU_COUNT_COPY, n);
    if (n <= OKOSU_COUNT_TIMED_ABOVE)
        return next_move(dst, src, n);
    begun = okosu_now();
    next_move(dst, src, n);
    okosu_count_time(slot, okosu_now() - begun);
    return dst;
}

static void *timed_set(void *p, int byte, size_t n)
{
    struct okosu_count_slot *slot = own_slot();
    uint64_t begun;

    okosu_count_note(slot, OKOSU_COUNT_SET, n);
    if (n <= OKOSU_COUNT_TIMED_ABOVE)
        return next_set(p, byte, n);
    begun = okosu_now();
    next_set(p, byte, n);
    okosu_count_time(slot, okosu_now() - begun);
    return p;
}

static _Atomic(mover *) move_route = early_move;
static _Atomic(setter *) set_route = early_set;

static void route(mover *move, setter *set)
{
    atomic_store_explicit(&move_route, move, memory_order_relaxed);
    atomic_store_explicit(&set_route, set, memory_order_relaxed);
}

/* Whether okosu's routines serve uncounted after they were counted. */
static atomic_bool counted_enough;

static void serve_uncounted(void)
{
    route(okosu_copy_move, okosu_set);
}

static void count_no_more(void)
{
    atomic_store(&counted_enough, true);
    serve_uncounted();
}

OKOSU_EXPORT void *memcpy(void *dst, const void *src, size_t n)
{
    return atomic_load_explicit(&move_route, memory_order_relaxed)(dst, src, n);
}

OKOSU_EXPORT void *memmove(void *dst, const void *src, size_t n)
{
    return atomic_load_explicit(&move_route, memory_order_relaxed)(dst, src, n);
}

OKOSU_EXPORT void *memset(void *p, int byte, size_t n)
{
    return atomic_load_explicit(&set_route, memory_order_relaxed)(p, byte, n);
}

OKOSU_EXPORT void *mempcpy(void *dst, const void *src, size_t n)
{
    return (char *)memcpy(dst, src, n) + n;
}

/* libc exports these without declaring them. */
_Noreturn void __chk_fail(void);
void *__memcpy_chk(void *dst, const void *src, size_t n, size_t room);
void *__memmove_chk(void *dst, const void *src, size_t n, size_t room);
void *__memset_chk(void *p, int byte, size_t n, size_t room);
void *__mempcpy_chk(void *dst, const void *src, size_t n, size_t room);

OKOSU_EXPORT void *__memcpy_chk(void *dst, const void *src, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return memcpy(dst, src, n);
}

OKOSU_EXPORT void *__memmove_chk(void *dst, const void *src, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return memmove(dst, src, n);
}

OKOSU_EXPORT void *__memset_chk(void *p, int byte, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return memset(p, byte, n);
}

OKOSU_EXPORT void *__mempcpy_chk(void *dst, const void *src, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return mempcpy(dst, src, n);
}

/* Whether the variable is set and not empty; `name` ends in "=". getenv may be the program's own. */
static bool is_set(const char *name)
{
    for (char **entry = environ; *entry; entry++) {
        size_t i = 0;

        while (name[i] && (*entry)[i] == name[i])
            i++;
        if (!name[i])
            return (*entry)[i] != '\0';
    }
    return false;
}

static bool by_libc;

/* Makes the choice and routes the calls; does nothing the second time. Reads environ, which must be
 * set. Counts from here on where OKOSU_PROOF is set. */
static void begin(void)
{
    static atomic_bool begun;

    if (!environ || atomic_exchange(&begun, true))
        return;
    /* Not in the child of a fork, where another thread may have left the loader's lock taken. ISO C
     * does not convert between object and function pointers; POSIX documents this way. */
    *(void **)&next_move = dlsym(RTLD_NEXT, "memmove");
    *(void **)&next_set = dlsym(RTLD_NEXT, "memset");
    okosu_libc = (struct okosu_libc){
        .copy = next_move ? next_move : early_move,
        .move = next_move ? next_move : early_move,
        .set = next_set ? next_set : early_set,
    };
    by_libc = is_set("OKOSU_COPY_LIBC=") && next_move && next_set;
    if (by_libc) {
        if (is_set("OKOSU_PROOF="))
            route(timed_move, timed_set);
        else
            route(next_move, next_set);
        return;
    }
    /* The choice reads files and the environment with functions that copy: meanwhile the plain
     * loops serve those. */
    okosu_copy_chosen(OKOSU_COPY_ANY, 1);
    okosu_zero_chosen(OKOSU_ZERO_ANY, 1);
    if (is_set("OKOSU_PROOF="))
        route(counted_move, counted_set);
    else
        serve_uncounted();
}

__attribute__((constructor)) static void enter(void)
{
    begin();
}

/* A process that is excluded passes its calls to libc from now on. */
static void forked(bool inert)
{
    bool enough = atomic_exchange(&counted_enough, false);

    okosu_count_restart();
    if (inert && next_move && next_set)
        route(next_move, next_set);
    else if (enough)
        route(counted_move, counted_set);
}

/* "avx512 to 32768, rep-movsb" */
static void put_choice(struct okosu_json *json)
{
    struct okosu_copy_class classes[OKOSU_COPY_CLASSES];
    size_t count = okosu_copy_choice(OKOSU_COPY_ANY, classes);
    static char text[1024];
    struct okosu_line l = OKOSU_LINE(text);

    for (size_t i = 0; i < count; i++) {
        okosu_put(&l, i ? ", " : "");
        okosu_put(&l, classes[i].variant->about.name);
        if (classes[i].up_to != SIZE_MAX) {
            okosu_put(&l, " to ");
            okosu_put_number(&l, classes[i].up_to);
        }
    }
    okosu_put_char(&l, '\0');
    text[sizeof(text) - 1] = '\0';
    okosu_json_string(json, "choice", text);
}

static void evidence(struct okosu_proof *proof)
{
    static char text[8192];
    struct okosu_line l = OKOSU_LINE(text);
    struct okosu_json json = {.line = &l};

    okosu_proof_open(&json, proof);
    okosu_json_string(&json, "by", "copy");
    if (by_libc)
        okosu_json_string(&json, "choice", "libc");
    else
        put_choice(&json);
    /* False where a profile or a name was unusable and the automatic choice stayed. */
    okosu_json_bool(&json, "as_asked",
                    by_libc || (okosu_copy_state(NULL) == 0 && okosu_zero_state(NULL) == 0));
    okosu_json_bool(&json, "counted_all", !atomic_load(&counted_enough));
    okosu_count_put(&json, by_libc);
    okosu_proof_close(&json, proof);
}

OKOSU_EXPORT const struct okosu_companion okosu_companion_copy = {
    .library = "libokosu-copy.so",
    .begin = begin,
    .forked = forked,
    .evidence = evidence,
};
