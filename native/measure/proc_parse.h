/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of what the kernel tells about a process in /proc, given as text buffers. Pure functions
 * of (text, length): no system call, no NUL expected, any bytes accepted, so that they can be
 * fuzzed and tested with captured files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    /* Nodes and CPUs beyond these are left out of a proof; larger than any machine Linux runs
     * on. */
    OKOSU_NODES = 256,
    OKOSU_CPUS = 8192,
    OKOSU_COMM = 64,
    /* A CPU list of 8192 CPUs of which every other one is allowed is longer; it is cut at a
     * comma. */
    OKOSU_LIST = 4096,
    OKOSU_POLICIES = 16,
    OKOSU_POLICY = 128,
};

/* Kibibytes; hugetlb is not part of rss, as in the kernel. Of shared memory shmem_kb is this
 * process's share, and shmem_huge_kb all that it maps by huge entries. */
struct okosu_memory {
    uint64_t rss_kb, anon_kb, anon_huge_kb, file_huge_kb, hugetlb_kb, shmem_kb, shmem_huge_kb;
};

/* What glibc's malloc reserved for the arenas of threads: each heap is a mapping of 64 MiB at a
 * multiple of 64 MiB (HEAP_MAX_SIZE), of which the front can be read and written and the rest cannot be
 * touched yet. A heap that is full is not counted, for it looks like any other memory. */
struct okosu_proc_heaps {
    uint64_t count, kb; /* kb: of their fronts */
};

struct okosu_proc_status {
    char state; /* R S D T t Z X I */
    pid_t tgid, ppid, tracer;
    uint64_t hwm_kb;
    unsigned threads;
    int thp_enabled; /* 1 where the kernel does not say */
    char cpus_allowed[OKOSU_LIST];
};

struct okosu_proc_stat {
    char comm[OKOSU_COMM];
    char state;
    pid_t ppid;
    uint64_t flags;   /* PF_* */
    uint64_t pending; /* signals pending for this thread alone, bit n-1 for signal n */
    uint64_t start;   /* in ticks since boot, by which two processes of one number differ */
    int cpu;          /* where it ran last, -1 unknown */
};

/* Base pages per node of anonymous and hugetlb mappings; the policies of all mappings. */
struct okosu_proc_numa {
    uint64_t pages[OKOSU_NODES];
    char policies[OKOSU_POLICIES][OKOSU_POLICY];
    size_t policy_count;
};

/* What the scheduler did to one thread since it began. */
struct okosu_proc_sched {
    uint64_t delay_ns;   /* ready to run, and waiting for a CPU */
    uint64_t migrations; /* moves from one CPU to another */
};

/* Each returns 0, or -EINVAL when the text lacks what the file always has; *out is then zeroed or
 * partly filled. */
int okosu_proc_parse_rollup(const char *text, size_t length, struct okosu_memory *out);
int okosu_proc_parse_status(const char *text, size_t length, struct okosu_proc_status *out);
int okosu_proc_parse_stat(const char *text, size_t length, struct okosu_proc_stat *out);

/* From schedstat, and from sched; each sets its own field of *out. */
int okosu_proc_parse_delay(const char *text, size_t length, struct okosu_proc_sched *out);
int okosu_proc_parse_migrations(const char *text, size_t length, struct okosu_proc_sched *out);

/* `page_kb` is the base page size. Lines that make no sense are skipped. */
void okosu_proc_parse_numa_maps(const char *text, size_t length, unsigned page_kb,
                                struct okosu_proc_numa *out);

/* The next mapping of a file in maps: *text moves behind its line, and *name and *length tell its
 * name inside the text, as the kernel writes it: a newline in it is \012, and " (deleted)" follows
 * the name of a file that has none any more. False: there is none. A line without a newline, as
 * where the text was cut, is left out. */
bool okosu_proc_next_file(const char **text, const char *end, const char **name, size_t *length);

/* The heaps in maps. */
void okosu_proc_parse_heaps(const char *text, size_t length, struct okosu_proc_heaps *out);

/* The number after "KEY" at the start of a line ("MemAvailable:"); false if there is none. */
bool okosu_proc_parse_key(const char *text, size_t length, const char *key, uint64_t *out);
