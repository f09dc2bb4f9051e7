/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zero_pool: large blocks that are clean when they are taken, because a thread of lowest priority
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

/* All 0 (or NULL) is a good choice, but for `cap`. */
struct okosu_zero_pool_options {
    size_t cap;  /* bytes of address space, and the most memory it ever holds; at least a unit */
    size_t unit; /* bytes: a power of two, at least a huge page; 0: 2 MiB */
    /* How many bytes of clean units the worker keeps ready by populating new ones: it begins below
     * `low` and ends at `high`. Units that were given back are cleared whatever these say. 0: no
     * unit is populated ahead. low <= high <= cap. */
    size_t low, high;
    /* For callers of okosu_zero_pool_take_any(). `reuse`: what was given back stays as it is and
     * counts as ready, but for `clean` bytes of it that are cleared. `fresh`: where no run is long
     * enough, units that are not in memory yet are handed out, too: they are zero, and the kernel
     * brings them at their first touch (not with OKOSU_POOL_HUGETLB). */
    bool reuse, fresh;
    size_t clean;
    /* Clean units beyond this many bytes are handed back to the kernel; 0: none are. >= high. */
    size_t keep;
    uint64_t rate;      /* bytes that the worker clears in a second at most; 0: no limit */
    int node;           /* NUMA node of new units, counted from 1; 0: wherever the kernel likes */
    const char *engine; /* a name of okosu_zero_engines(); NULL: the first that is possible here */
    enum okosu_pool_backing backing;
    /* Units come from, are cleared by and go back to the okosu-zerod that serves this socket, where
     * they stay clean for the next program; from the kernel as ever while it has none or is gone.
     * They are shared memory: in a child of fork they are not there, and touching one ends it by
     * SIGSEGV. Not for programs that fork, but to execute another. NULL: no daemon. */
    const char *broker;
    bool may_hugetlb; /* the caller's word that the program does not fork (AUTO only) */
    bool no_worker;   /* no thread: only okosu_zero_pool_work() clears and populates */
    /* There is a worker only while there is something to do and a CPU idles: it is started by take
     * and give, and ends for a while, longer and longer, when it, or the program's own thread, has
     * to wait for a CPU. For a thread of lowest priority that is put off keeps others waiting: who
     * needs what it has of the kernel's locks, and at last the end of the process. */
    bool stand_back;
};

/* Bytes, unless it says otherwise. clean + held + dirty + zeroing + absent == cap. */
struct okosu_zero_pool_stats {
    size_t cap, unit;
    size_t clean, held, dirty, zeroing, absent;
    size_t brokered;                      /* of these: the daemon's */
    uint64_t takes, misses, gives;        /* calls; a miss is a take that found no clean run */
    uint64_t cleared, populated, dropped; /* in all, since the pool was opened */
    uint64_t failures; /* units that could not be cleared or populated: how often that was tried */
    uint64_t waits;    /* how often the worker stood back because no CPU idled */
    bool hugetlb;
    const char *engine;
};

/* A way to clear memory that is not in a cache. */
struct okosu_zero_engine {
    const char *name, *doc;
    bool (*possible)(void);
    /* Clear `bytes` at `at` (both multiples of 4096) and return when that is done. 0 or -errno. */
    int (*clear)(void *at, size_t bytes);
    bool whole; /* it is asked for whole units only, however little of them is dirty */
};
/* Every engine that was built, ended by NULL; the best first. */
OKOSU_API const struct okosu_zero_engine *const *okosu_zero_engines(void);

/*
 * Make a pool. 0; -EINVAL: the options (a cap below one unit, a unit that is no power of two or
 * smaller than a huge page of the backing, watermarks out of order); -ENOENT: no such engine;
 * -ENOTSUP: this machine lacks what the engine or HUGETLB needs, or (node) a kernel without NUMA;
 * -ENODEV: no such node; -ENOMEM: no address space or no thread. An engine clears a page of 0xa5
 * here before it may serve; one that leaves a byte of it is -EIO. With `broker`: as connect() has
 * it (-ENOENT, -ECONNREFUSED); -EACCES: the daemon is neither root's nor this user's; -EPROTO: it
 * is none, refuses this user, speaks another version, or has units of another size. */
OKOSU_API int okosu_zero_pool_open(struct okosu_zero_pool **pool,
                                   const struct okosu_zero_pool_options *options);

/*
 * A clean block of at least `bytes`, aligned to a unit, or NULL where no run of clean units is that
 * long, or another thread took some of it at this moment: the caller then asks the kernel as ever.
 * Never waits, neither for a clearing nor for a lock: there is none that a worker of lowest
 * priority could hold for long on a busy machine. bytes 0: NULL. */
OKOSU_API void *okosu_zero_pool_take(struct okosu_zero_pool *pool, size_t bytes);

/* What is known of a block of okosu_zero_pool_take_any(). */
struct okosu_zero_found {
    size_t dirty; /* its first bytes that may be anything that was given back; others are zero */
    size_t there; /* how many of its bytes are in memory: their first touch is no page fault */
};

/*
 * The same of what is still to be cleared, or else of that and of what is clean, or else (`fresh`)
 * of what is not in memory either. For a caller that does not need zeros, or clears them faster
 * than the kernel would bring fresh pages. *found is all 0 where it returns NULL. */
OKOSU_API void *okosu_zero_pool_take_any(struct okosu_zero_pool *pool, size_t bytes,
                                         struct okosu_zero_found *found);

/*
 * Have a held block be at least `bytes` long where it lies. Of what came to it nothing beyond
 * *dirty, counted from the block's start, is other than zero. 0; -EAGAIN: what lies behind it is
 * not free; -EINVAL: `block` is no block that is held. */
OKOSU_API int okosu_zero_pool_extend(struct okosu_zero_pool *pool, void *block, size_t bytes,
                                     size_t *dirty);

/*
 * Give a block back. `dirty` is how many of its first bytes may be other than zero; what lies
 * beyond is believed to be clean (SIZE_MAX: all may be dirty). Never waits. 0; -EINVAL: `block` is
 * no block that is held. */
OKOSU_API int okosu_zero_pool_give(struct okosu_zero_pool *pool, void *block, size_t dirty);

/*
 * Give a block back whose pages may be anybody's by now (mapped over, protected, locked): its
 * addresses are mapped anew, nothing of it is written to, and nothing of it is in memory. 0;
 * -EINVAL as above; -ENOMEM: the kernel would not map it anew: the block stays held, and out of
 * use. */
OKOSU_API int okosu_zero_pool_renew(struct okosu_zero_pool *pool, void *block);

/* Move the watermarks: keep `ready` bytes ready from now on and (`reuse`) `clean` bytes of them
 * clean; rounded up to units, at most the cap. Never waits. */
OKOSU_API void okosu_zero_pool_want(struct okosu_zero_pool *pool, size_t ready, size_t clean);

/* Whether an address lies in the pool; and the bytes of the held block that begins there, or 0. */
OKOSU_API void *okosu_zero_pool_base(const struct okosu_zero_pool *pool); /* its lowest address */
OKOSU_API bool okosu_zero_pool_owns(const struct okosu_zero_pool *pool, const void *at);
OKOSU_API size_t okosu_zero_pool_size(struct okosu_zero_pool *pool, const void *block);

/*
 * Clear and populate up to `bytes` in the calling thread, as the worker would. Returns how many
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
