/* SPDX-License-Identifier: Apache-2.0 */
/* zero_pool: large blocks that are clean when they are taken, because a thread of lowest priority
 * has cleared them before, on a CPU that had nothing else to do.
 *
 * A first touch of fresh memory costs a page fault and the clearing of the page, on the program's
 * own CPU and while it waits. Here both happened ahead: the pages are there, and zero. What is
 * given back is cleared behind the program's back and can be taken again.
 *
 * The pool is made of units (2 MiB unless told otherwise). Each is in one state:
 *
 *     ABSENT --populate--> CLEAN --take--> HELD --give--> DIRTY --an engine--> ZEROING --> CLEAN
 *       ^------------------- drop -----------'               (a unit given back as clean: CLEAN)
 *
 * A unit is CLEAN only after its clearing has ended; a clearing that failed leaves it DIRTY. A
 * block is a run of neighbouring units. All functions may be called from any thread.
 *
 * fork: the memory is private, so a child has copies of the blocks that were held, as of any other
 * memory. The pool itself stays the parent's: in a child take returns NULL, give hands the pages
 * back to the kernel, and close unmaps. With OKOSU_POOL_HUGETLB a child that writes to a block
 * needs another huge page, and is ended by SIGBUS where there is none: not for programs that
 * fork. */
#ifndef OKOSU_ZERO_POOL_H
#define OKOSU_ZERO_POOL_H

#include <okosu/api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct okosu_zero_pool;

enum okosu_pool_backing {
    OKOSU_POOL_AUTO,    /* HUGETLB where `may_hugetlb` and the kernel's pool has pages, else THP */
    OKOSU_POOL_THP,     /* transparent huge pages where the kernel gives them, else base pages */
    OKOSU_POOL_HUGETLB, /* pages of the kernel's own pool, of its default size */
};

/* All members but `cap` may be 0 (or NULL), which is a good default. */
struct okosu_zero_pool_options {
    size_t cap;  /* bytes of address space, and the most memory it ever holds; at least a unit */
    size_t unit; /* bytes: a power of two, at least a huge page; 0: 2 MiB */
    /* How many bytes of clean units the worker keeps ready by populating new ones: it begins below
     * `low` and ends at `high`. Units that were given back are cleared regardless of these. 0: no
     * unit is populated ahead. low <= high <= cap. */
    size_t low, high;
    /* For callers of okosu_zero_pool_take_any(). `reuse`: a unit that was given back stays as it is
     * and counts as ready, except that the worker keeps `clean` bytes of such units cleared.
     * `fresh`: where no run is long enough, units that are not in memory yet are handed out, too:
     * they read as zero, and the kernel provides them at their first touch (not with
     * OKOSU_POOL_HUGETLB). */
    bool reuse, fresh;
    size_t clean;
    /* Clean units beyond this many bytes are handed back to the kernel; 0: none are. >= high. */
    size_t keep;
    uint64_t rate;      /* bytes that the worker clears in a second at most; 0: no limit */
    int node;           /* NUMA node of new units, counted from 1; 0: wherever the kernel likes */
    const char *engine; /* of okosu_zero_engines(); NULL: the first that can run here */
    enum okosu_pool_backing backing;
    /* The socket of an okosu-zerod. Units then come from that daemon, are cleared by it and go back
     * to it, where they stay clean for the next program; while the daemon has none or is gone, they
     * come from the kernel as usual. The daemon's units are shared memory that a child of fork does
     * not have: touching one there raises SIGSEGV. Not for programs that fork, except to execute
     * another program. NULL: no daemon. */
    const char *broker;
    bool may_hugetlb; /* the caller asserts that the program does not fork (AUTO only) */
    bool no_worker;   /* no thread: only okosu_zero_pool_work() clears and populates */
    /* Run a worker only while there is something to do and a CPU idles: take and give start it, and
     * it ends for a while, longer each time, when it or the program's own thread has to wait for a
     * CPU. The reason: while a thread of lowest priority gets no CPU, others wait for the kernel
     * locks that it holds, and the end of the process waits for it. */
    bool stand_back;
};

/* Values are in bytes unless stated otherwise. clean + held + dirty + zeroing + absent == cap. */
struct okosu_zero_pool_stats {
    size_t cap, unit;
    size_t clean, held, dirty, zeroing, absent;
    size_t brokered;                      /* of these bytes, those in units of the daemon */
    uint64_t takes, misses, gives;        /* calls; a miss is a take that found no clean run */
    uint64_t cleared, populated, dropped; /* in all, since the pool was opened */
    uint64_t failures;                    /* attempts to clear or populate a unit that failed */
    uint64_t waits;                       /* times the worker stood back because no CPU idled */
    bool hugetlb;
    const char *engine;
};

/* A method of clearing memory that is not in a cache. */
struct okosu_zero_engine {
    const char *name, *doc;
    bool (*possible)(void);
    /* Clear `bytes` at `at` (both multiples of 4096) and return when that is done. 0 or -errno. */
    int (*clear)(void *at, size_t bytes);
    bool whole; /* it is given whole units only, however little of them is dirty */
};
/* Every engine that was built, ended by NULL; the best first. */
OKOSU_API const struct okosu_zero_engine *const *okosu_zero_engines(void);

/* Make a pool. 0; -EINVAL: the options (a cap below one unit, a unit that is no power of two or
 * smaller than a huge page of the backing, watermarks out of order); -ENOENT: no such engine;
 * -ENOTSUP: this machine lacks what the engine or HUGETLB needs, or (node) a kernel without NUMA;
 * -ENODEV: no such node; -ENOMEM: no address space or no thread. An engine clears a page of 0xa5
 * here before it may serve; one that leaves a byte of it is -EIO. With `broker`: as connect() has
 * it (-ENOENT, -ECONNREFUSED); -EACCES: the daemon is neither root's nor this user's; -EPROTO: it
 * is none, refuses this user, speaks another version, or has units of another size. */
OKOSU_API int okosu_zero_pool_open(struct okosu_zero_pool **pool,
                                   const struct okosu_zero_pool_options *options);

/* A clean block of at least `bytes`, aligned to a unit, or NULL where no run of clean units is that
 * long, or another thread took some of it at this moment: the caller then asks the kernel as usual.
 * Never waits, neither for a clearing nor for a lock, because a worker of lowest priority could
 * hold a lock for long on a busy machine. bytes 0: NULL. */
OKOSU_API void *okosu_zero_pool_take(struct okosu_zero_pool *pool, size_t bytes);

/* What is known of a block from okosu_zero_pool_take_any(). */
struct okosu_zero_found {
    size_t dirty; /* so many of its first bytes may hold anything; the others are zero */
    size_t there; /* so many of its bytes are in memory: touching them causes no page fault */
};

/* As okosu_zero_pool_take(), but from units still to be cleared, or else from those and clean ones,
 * or else (`fresh`) also from units that are not in memory. For a caller that does not need zeros,
 * or clears them faster than the kernel would provide fresh pages. *found is all 0 where it returns
 * NULL. */
OKOSU_API void *okosu_zero_pool_take_any(struct okosu_zero_pool *pool, size_t bytes,
                                         struct okosu_zero_found *found);

/* Extend a held block to at least `bytes` where it lies. Only the first *dirty bytes, counted from
 * the block's start, of what was added may be other than zero. 0; -EAGAIN: the units behind it are
 * not free; -EINVAL: `block` is not a held block. */
OKOSU_API int okosu_zero_pool_extend(struct okosu_zero_pool *pool, void *block, size_t bytes,
                                     size_t *dirty);

/* Give a block back. `dirty` is how many of its first bytes may be other than zero; the bytes
 * beyond are taken to be zero (SIZE_MAX: all may be dirty). Never waits. 0; -EINVAL: `block` is not
 * a held block. */
OKOSU_API int okosu_zero_pool_give(struct okosu_zero_pool *pool, void *block, size_t dirty);

/* Give a block back whose pages the program may have replaced, protected or locked: its addresses
 * are mapped anew, nothing is written to them, and nothing of the block stays in memory. 0; -EINVAL
 * as above; -ENOMEM: the kernel refused the new mapping: the block stays held and unused. */
OKOSU_API int okosu_zero_pool_renew(struct okosu_zero_pool *pool, void *block);

/* Move the watermarks: keep `ready` bytes ready from now on and (`reuse`) `clean` bytes of them
 * clean; rounded up to units, at most the cap. Never waits. */
OKOSU_API void okosu_zero_pool_want(struct okosu_zero_pool *pool, size_t ready, size_t clean);

/* Whether an address lies in the pool; and the size in bytes of the held block that begins there,
 * or 0. */
OKOSU_API void *okosu_zero_pool_base(const struct okosu_zero_pool *pool); /* its lowest address */
OKOSU_API bool okosu_zero_pool_owns(const struct okosu_zero_pool *pool, const void *at);
OKOSU_API size_t okosu_zero_pool_size(struct okosu_zero_pool *pool, const void *block);

/* Clear and populate up to `bytes` in the calling thread, as the worker would. Returns how many
 * bytes became clean; 0 where nothing was to be done. */
OKOSU_API size_t okosu_zero_pool_work(struct okosu_zero_pool *pool, size_t bytes);

OKOSU_API void okosu_zero_pool_stats(struct okosu_zero_pool *pool,
                                     struct okosu_zero_pool_stats *stats);

/* Ends the worker and unmaps all, blocks that are held included. NULL is allowed. */
OKOSU_API void okosu_zero_pool_close(struct okosu_zero_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
