/* SPDX-License-Identifier: Apache-2.0 */
/* Collapse: which chunks are worth it is read from smaps and pagemap, so sparse memory stays as
 * small as it is. */
#include "collapse.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define CHUNK (UINT64_C(2) << 20)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

struct mapping {
    uint64_t start, end;
    bool private_anonymous;
    uint64_t rss_kb, huge_kb;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Slot of the address in the table: its own, or the empty one where it would go. */
static size_t slot_of(const uint64_t *table, size_t room, uint64_t address)
{
    size_t slot = (address / CHUNK * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

    while (table[slot] && table[slot] != address)
        slot = (slot + 1) & (room - 1);
    return slot;
}

static bool was_hopeless(const struct okosu_collapse *state, uint64_t address)
{
    return state->tried_room &&
           state->tried[slot_of(state->tried, state->tried_room, address)] == address;
}

/* A table that cannot grow only means that the chunk is tried again. */
static void mark_hopeless(struct okosu_collapse *state, uint64_t address)
{
    if (2 * (state->tried_count + 1) > state->tried_room) {
        size_t room = state->tried_room ? 2 * state->tried_room : 1024;
        uint64_t *table = calloc(room, sizeof(*table));

        if (!table)
            return;
        for (size_t i = 0; i < state->tried_room; i++) {
            if (state->tried[i])
                table[slot_of(table, room, state->tried[i])] = state->tried[i];
        }
        free(state->tried);
        state->tried = table;
        state->tried_room = room;
    }
    state->tried[slot_of(state->tried, state->tried_room, address)] = address;
    state->tried_count++;
}

static void count_failure(struct okosu_collapse *state, int error)
{
    for (size_t i = 0; i < OKOSU_COLLAPSE_KINDS; i++) {
        if (state->failed[i].error == 0)
            state->failed[i].error = error;
        if (state->failed[i].error == error) {
            state->failed[i].count++;
            return;
        }
    }
}

static unsigned resident_percent(int pagemap, uint64_t chunk, size_t page)
{
    uint64_t entries[CHUNK / 4096];
    size_t count = CHUNK / page, present = 0;
    ssize_t got =
        pread(pagemap, entries, count * sizeof(*entries), (off_t)(chunk / page * sizeof(*entries)));

    if (got != (ssize_t)(count * sizeof(*entries)))
        return 0;
    for (size_t i = 0; i < count; i++)
        present += (entries[i] & PAGEMAP_PRESENT) != 0;
    return (unsigned)(100 * present / count);
}

/* IDLE: go on; else what ends the pass. */
static enum okosu_collapse_result collapse_chunk(struct okosu_collapse *state, uint64_t chunk)
{
    /* The address is the other process's; it is a number here. */
    struct iovec range = {.iov_base = (void *)(uintptr_t)chunk, .iov_len = CHUNK};

    if (syscall(SYS_process_madvise, state->pidfd, &range, 1UL, MADV_COLLAPSE, 0U) >= 0) {
        state->collapsed++;
        return OKOSU_COLLAPSE_IDLE;
    }
    if (errno == ESRCH)
        return OKOSU_COLLAPSE_GONE;
    count_failure(state, errno);
    switch (errno) {
    case EPERM:
        return OKOSU_COLLAPSE_GONE;
    case EAGAIN:
    case EBUSY:
    case ENOMEM:
        return OKOSU_COLLAPSE_PAUSE;
    default:
        mark_hopeless(state, chunk);
        return OKOSU_COLLAPSE_IDLE;
    }
}

static enum okosu_collapse_result collapse_mapping(struct okosu_collapse *state,
                                                   const struct mapping *mapping, int pagemap,
                                                   uint64_t deadline)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t chunk = (mapping->start + CHUNK - 1) / CHUNK * CHUNK;

    for (; chunk + CHUNK <= mapping->end; chunk += CHUNK) {
        enum okosu_collapse_result result;

        if (chunk < state->next || was_hopeless(state, chunk))
            continue;
        if (now_ns() >= deadline) {
            state->next = chunk;
            return OKOSU_COLLAPSE_MORE;
        }
        if (resident_percent(pagemap, chunk, page) < state->density) {
            state->sparse++;
            continue;
        }
        result = collapse_chunk(state, chunk);
        if (result != OKOSU_COLLAPSE_IDLE) {
            state->next = chunk + CHUNK;
            return result;
        }
    }
    return OKOSU_COLLAPSE_IDLE;
}

/* "START-END PERMS OFFSET DEV INODE PATH": inode 0 is anonymous; the stack and the vdso have names
 * of their own. */
static bool read_header(const char *line, struct mapping *mapping)
{
    char perms[5], path[16] = "";
    unsigned long inode;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %lu %15s", &mapping->start,
               &mapping->end, perms, &inode, path) < 4)
        return false;
    mapping->private_anonymous =
        inode == 0 && perms[3] == 'p' && perms[1] == 'w' &&
        (!path[0] || strcmp(path, "[heap]") == 0 || strncmp(path, "[anon:", 6) == 0);
    mapping->rss_kb = mapping->huge_kb = 0;
    return true;
}

static bool is_candidate(const struct okosu_collapse *state, const struct mapping *mapping)
{
    return mapping->private_anonymous && mapping->end - mapping->start >= CHUNK &&
           mapping->end > state->next &&
           mapping->rss_kb >= mapping->huge_kb + CHUNK / 1024 * state->density / 100;
}

enum okosu_collapse_result okosu_collapse_pass(struct okosu_collapse *state, uint64_t budget_ns)
{
    enum okosu_collapse_result result = OKOSU_COLLAPSE_GONE;
    struct mapping mapping = {0};
    char name[64], line[512];
    uint64_t deadline;
    FILE *smaps;
    int pagemap;

    snprintf(name, sizeof(name), "/proc/%d/pagemap", (int)state->pid);
    pagemap = open(name, O_RDONLY | O_CLOEXEC);
    snprintf(name, sizeof(name), "/proc/%d/smaps", (int)state->pid);
    smaps = fopen(name, "re");
    if (!smaps || pagemap < 0) {
        count_failure(state, errno);
        goto out;
    }
    result = OKOSU_COLLAPSE_IDLE;
    if (state->next == 0)
        state->sparse = 0;
    deadline = now_ns() + budget_ns;
    while (result == OKOSU_COLLAPSE_IDLE && fgets(line, sizeof(line), smaps)) {
        if (read_header(line, &mapping))
            continue;
        if (sscanf(line, "Rss: %" SCNu64, &mapping.rss_kb) == 1)
            continue;
        if (sscanf(line, "AnonHugePages: %" SCNu64, &mapping.huge_kb) == 1 &&
            is_candidate(state, &mapping))
            result = collapse_mapping(state, &mapping, pagemap, deadline);
    }
    if (result == OKOSU_COLLAPSE_IDLE)
        state->next = 0;
out:
    if (smaps)
        fclose(smaps);
    if (pagemap >= 0)
        close(pagemap);
    return result;
}

static const char *reason_of(int error)
{
    switch (error) {
    case ENOMEM:
        return "no free 2 MiB page, or the memory limit of the cgroup";
    case EAGAIN:
        return "pages were locked or in use by the kernel";
    case EBUSY:
        return "pages were being compacted or migrated";
    case EINVAL:
        return "the mapping cannot hold huge pages, or has no pages there";
    case EPERM:
        return "the process may not be advised: CAP_SYS_NICE lost, or it gained privileges";
    case EACCES:
        return "the process may not be read: it gained privileges";
    default:
        return strerror(error);
    }
}

void okosu_collapse_report(const struct okosu_collapse *state, FILE *out)
{
    struct okosu_json json = {.out = out};
    uint64_t failed = 0;

    for (size_t i = 0; i < OKOSU_COLLAPSE_KINDS; i++)
        failed += state->failed[i].count;
    okosu_json_open(&json, NULL, '{');
    okosu_json_int(&json, "pid", state->pid);
    okosu_json_string(&json, "by", "collapse");
    okosu_json_int(&json, "collapsed", (long long)state->collapsed);
    okosu_json_int(&json, "failed", (long long)failed);
    okosu_json_int(&json, "sparse", (long long)state->sparse);
    okosu_json_open(&json, "reasons", '[');
    for (size_t i = 0; i < OKOSU_COLLAPSE_KINDS && state->failed[i].count; i++) {
        okosu_json_open(&json, NULL, '{');
        okosu_json_string(&json, "error", strerrorname_np(state->failed[i].error));
        okosu_json_int(&json, "count", (long long)state->failed[i].count);
        okosu_json_string(&json, "why", reason_of(state->failed[i].error));
        okosu_json_close(&json, '}');
    }
    okosu_json_close(&json, ']');
    okosu_json_close(&json, '}');
    putc('\n', out);
}

void okosu_collapse_free(struct okosu_collapse *state)
{
    free(state->tried);
    state->tried = NULL;
}
