/* SPDX-License-Identifier: Apache-2.0 */
/* Collapse: smaps and pagemap show which chunks are dense enough, so that sparse memory does not
 * grow. */
#include "collapse.h"

#include "base/json.h"
#include "base/now.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define CHUNK (UINT64_C(2) << 20)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

enum mark { NONE, HUGE, HOPELESS, STALE };

struct mapping {
    uint64_t first, end; /* the first whole chunk */
    bool private_anonymous;
    uint64_t rss_kb, huge_kb;
};

/* Slot of the chunk in the table: its own, or the empty one where it would go. */
static size_t slot_of(const uint64_t *table, size_t room, uint64_t chunk)
{
    size_t slot = (chunk / CHUNK * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

    while (table[slot] && table[slot] / CHUNK != chunk / CHUNK)
        slot = (slot + 1) & (room - 1);
    return slot;
}

static enum mark mark_of(const struct okosu_collapse *state, uint64_t chunk)
{
    if (!state->mark_room)
        return NONE;
    return (enum mark)(state->marks[slot_of(state->marks, state->mark_room, chunk)] % CHUNK);
}

/* A table that cannot grow only means that the chunk is tried again. */
static void set_mark(struct okosu_collapse *state, uint64_t chunk, enum mark mark)
{
    uint64_t *slot;

    if (2 * (state->mark_count + 1) > state->mark_room) {
        size_t room = state->mark_room ? 2 * state->mark_room : 1024;
        uint64_t *table = calloc(room, sizeof(*table));

        if (!table)
            return;
        for (size_t i = 0; i < state->mark_room; i++) {
            if (state->marks[i])
                table[slot_of(table, room, state->marks[i])] = state->marks[i];
        }
        free(state->marks);
        state->marks = table;
        state->mark_room = room;
    }
    slot = &state->marks[slot_of(state->marks, state->mark_room, chunk)];
    state->mark_count += *slot == 0;
    *slot = chunk | mark;
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

/* Returns OKOSU_COLLAPSE_IDLE when the pass may go on, else the reason for which it ends. */
static enum okosu_collapse_result collapse_chunk(struct okosu_collapse *state, uint64_t chunk,
                                                 uint64_t *done)
{
    /* The address is the other process's; it is a number here. */
    struct iovec range = {.iov_base = (void *)(uintptr_t)chunk, .iov_len = CHUNK};

    if (syscall(SYS_process_madvise, state->pidfd, &range, 1UL, MADV_COLLAPSE, 0U) >= 0) {
        set_mark(state, chunk, HUGE);
        ++*done;
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
        set_mark(state, chunk, HOPELESS);
        return OKOSU_COLLAPSE_IDLE;
    }
}

static enum okosu_collapse_result collapse_chunks(struct okosu_collapse *state,
                                                  const struct mapping *mapping, int pagemap,
                                                  uint64_t deadline, uint64_t *done)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (uint64_t chunk = mapping->first; chunk + CHUNK <= mapping->end; chunk += CHUNK) {
        enum mark mark = mark_of(state, chunk);
        enum okosu_collapse_result result;

        if (chunk < state->next || mark == HUGE || mark == HOPELESS)
            continue;
        if (okosu_now() >= deadline) {
            state->next = chunk;
            return OKOSU_COLLAPSE_MORE;
        }
        if (resident_percent(pagemap, chunk, page) < state->density) {
            state->sparse++;
            continue;
        }
        result = collapse_chunk(state, chunk, done);
        if (result != OKOSU_COLLAPSE_IDLE) {
            state->next = chunk + CHUNK;
            return result;
        }
    }
    return OKOSU_COLLAPSE_IDLE;
}

/* smaps tells how much of a mapping is huge, not which chunks. While it shows at least the amount
 * that was collapsed here, the marks are valid; if it shows less, some of it was freed or split
 * since, and the whole mapping is examined anew. If it shows more, the program has huge pages that
 * are not the helper's work, and they are not counted as such. */
static enum okosu_collapse_result collapse_mapping(struct okosu_collapse *state,
                                                   const struct mapping *mapping, int pagemap,
                                                   uint64_t deadline)
{
    uint64_t huge = mapping->huge_kb / (CHUNK / 1024), marked = 0, others, done = 0;
    enum okosu_collapse_result result;

    for (uint64_t chunk = mapping->first; chunk + CHUNK <= mapping->end; chunk += CHUNK)
        marked += mark_of(state, chunk) == HUGE;
    for (uint64_t chunk = mapping->first; huge < marked && chunk + CHUNK <= mapping->end;
         chunk += CHUNK) {
        if (mark_of(state, chunk) == HUGE)
            set_mark(state, chunk, STALE);
    }
    others = huge > marked ? huge - marked : 0;
    result = collapse_chunks(state, mapping, pagemap, deadline, &done);
    state->collapsed += done > others ? done - others : 0;
    return result;
}

/* "START-END PERMS OFFSET DEV INODE PATH": inode 0 is anonymous; the stack and the vdso have names
 * of their own. */
static bool read_header(const char *line, struct mapping *mapping)
{
    char perms[5], path[16] = "";
    uint64_t start, end;
    unsigned long inode;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %lu %15s", &start, &end, perms,
               &inode, path) < 4)
        return false;
    *mapping = (struct mapping){.first = (start + CHUNK - 1) / CHUNK * CHUNK, .end = end};
    mapping->private_anonymous =
        inode == 0 && perms[3] == 'p' && perms[1] == 'w' &&
        (!path[0] || strcmp(path, "[heap]") == 0 || strncmp(path, "[anon:", 6) == 0);
    return true;
}

static bool is_candidate(const struct okosu_collapse *state, const struct mapping *mapping)
{
    return mapping->private_anonymous && mapping->first + CHUNK <= mapping->end &&
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
    deadline = okosu_now() + budget_ns;
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
    struct okosu_json json = okosu_json_begin(out);
    uint64_t failed = 0;

    for (size_t i = 0; i < OKOSU_COLLAPSE_KINDS; i++)
        failed += state->failed[i].count;
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
    okosu_json_end(&json);
}

void okosu_collapse_free(struct okosu_collapse *state)
{
    free(state->marks);
    state->marks = NULL;
}
