/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library did, for the effect proof: counters, reasons, and the line at the end.
 *
 * 1. Counters are relaxed atomics: any thread, any time, no lock.
 * 2. Each refusal counts under at least one reason; nothing is refused silently.
 * 3. The line is written at most once for a process, by the process the counters belong to (a child
 *    of vfork shares them and writes nothing), with one write() and without allocating.
 * 4. A process that is killed by a signal other than OKOSU_PROOF_SIGNAL, or replaces itself by exec,
 * leaves no line. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum okosu_reason {
    OKOSU_WHY_BAD_VALUE,
    OKOSU_WHY_PAGE_SIZE,
    OKOSU_WHY_NO_KERNEL_THP,
    OKOSU_WHY_THP_NEVER,
    OKOSU_WHY_THP_DISABLED,
    OKOSU_WHY_ADVICE_FAILED,
    OKOSU_WHY_SMALL_PAGES,
    OKOSU_WHY_NO_POPULATE,
    OKOSU_WHY_POPULATE_FAILED,
    OKOSU_WHY_BACKOFF,
    OKOSU_WHY_BUDGET,
    OKOSU_WHY_HUGETLB_EMPTY,
    OKOSU_WHY_HUGETLB_POPULATE,
    OKOSU_WHY_HUGETLB_FORKED,
    OKOSU_WHY_NO_REGION,
    OKOSU_WHY_REGION_FULL,
    OKOSU_WHY_REGION_CUT,
    OKOSU_WHY_COMMIT_FAILED,
    OKOSU_WHY_MAP_UNALIGNED,
    OKOSU_WHY_MAP_TABLE,
    OKOSU_WHY_RESERVATION,
    OKOSU_WHY_CHANGED,
    OKOSU_WHY_BAD_FREE,
    OKOSU_WHY_PIN_FAILED,
    OKOSU_WHY_DEEPBIND,
    OKOSU_WHY_COUNT
};

struct okosu_counters {
    atomic_size_t blocks, mmaps;
    atomic_size_t advised, advised_peak, advised_total; /* bytes */
    atomic_size_t huge_first_chunks, populated;         /* chunks; bytes */
    atomic_size_t retained_hits;
    atomic_size_t threads_pinned;
    atomic_bool forked;
};

extern struct okosu_counters okosu_counters;

void okosu_reason_add(enum okosu_reason why);
size_t okosu_reason_count(enum okosu_reason why);

static inline void okosu_count(atomic_size_t *counter, size_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* `by` bytes were put on huge pages, and `advised` includes them already: update the peak and the
 * total. */
void okosu_evidence_advised(size_t by);

/* A thread was pinned to `cpu`. */
void okosu_evidence_pinned(unsigned cpu);

/* Have the line written when config's signal is about to end the process. A program that sets a
 * handler of its own replaces ours. */
void okosu_evidence_at_signal(void);

/* From now on the counters are this process's own (called in the constructor and in the child of
 * fork). */
void okosu_evidence_own(void);

/* Restart the counts in the child of a fork; memory that is advised now stays counted. */
void okosu_evidence_restart(void);

/* Writes the line to OKOSU_PROOF, and a summary to stderr if asked. Async-signal-safe. */
void okosu_evidence_write(void);

/* The program is about to have the kernel filter its system calls: from now on the evidence makes
 * none. A child of fork then leaves no line, and the summary speaks of what was until now. */
void okosu_evidence_seal(void);
