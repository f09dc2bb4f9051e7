/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of the tree; see table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static struct okosu_task **bucket_of(struct okosu_table *table, pid_t tid)
{
    return &table->buckets[(unsigned)tid % OKOSU_TASK_BUCKETS];
}

struct okosu_task *okosu_table_find(struct okosu_table *table, pid_t tid)
{
    for (struct okosu_task *task = *bucket_of(table, tid); task; task = task->next) {
        if (task->tid == tid)
            return task;
    }
    return NULL;
}

struct okosu_task *okosu_table_task(struct okosu_table *table, struct okosu_process *process,
                                    pid_t tid)
{
    struct okosu_task *task = okosu_table_find(table, tid), **bucket = bucket_of(table, tid);

    if (!task) {
        task = calloc(1, sizeof(*task));
        if (!task)
            return NULL;
        task->tid = tid;
        task->next = *bucket;
        *bucket = task;
    }
    task->process = process;
    return task;
}

static void count_at_once(struct okosu_table *table)
{
    uint64_t alive = 0;

    for (struct okosu_process *process = table->processes; process; process = process->next)
        alive += !process->launcher;
    if (alive > table->at_once)
        table->at_once = alive;
}

struct okosu_process *okosu_table_process(struct okosu_table *table, pid_t pid)
{
    struct okosu_task *task = okosu_table_find(table, pid);

    if (task && task->process->pid == pid)
        return task->process;
    struct okosu_process *process = calloc(1, sizeof(*process));
    if (!process)
        return NULL;
    if (!okosu_table_task(table, process, pid)) {
        free(process);
        return NULL;
    }
    process->pid = pid;
    process->thp_enabled = 1;
    process->next = table->processes;
    if (process->next)
        process->next->previous = process;
    table->processes = process;
    count_at_once(table);
    return process;
}

void okosu_table_drop(struct okosu_table *table, pid_t tid)
{
    for (struct okosu_task **link = bucket_of(table, tid); *link; link = &(*link)->next) {
        struct okosu_task *task = *link;
        if (task->tid == tid) {
            *link = task->next;
            free(task);
            return;
        }
    }
}

/* Drop the tasks of a process, but for `keep` (0: none is kept). */
static void drop_tasks(struct okosu_table *table, const struct okosu_process *process, pid_t keep)
{
    for (size_t i = 0; i < OKOSU_TASK_BUCKETS; i++) {
        struct okosu_task **link = &table->buckets[i];
        while (*link) {
            struct okosu_task *task = *link;
            if (task->process == process && task->tid != keep) {
                *link = task->next;
                free(task);
            } else {
                link = &task->next;
            }
        }
    }
}

void okosu_table_drop_others(struct okosu_table *table, const struct okosu_process *process)
{
    drop_tasks(table, process, process->pid);
}

static void clear_names(struct okosu_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    memset(names, 0, sizeof(*names));
}

void okosu_process_reset(struct okosu_process *process)
{
    clear_names(&process->masks);
    clear_names(&process->policies);
    free(process->cpus_allowed);
    process->cpus_allowed = NULL;
    memset(&process->live, 0, sizeof(process->live));
    memset(&process->memory, 0, sizeof(process->memory));
    memset(process->cpus, 0, sizeof(process->cpus));
    memset(process->pages, 0, sizeof(process->pages));
    memset(&process->files, 0, sizeof(process->files));
    memset(&process->thread_names, 0, sizeof(process->thread_names));
    memset(&process->heaps, 0, sizeof(process->heaps));
    process->hwm_kb = 0;
    process->leaderless = process->final = process->shared = false;
}

static void free_process(struct okosu_process *process)
{
    okosu_process_reset(process);
    free(process);
}

/* Insert into the table of the largest, or free. */
static void keep_if_large(struct okosu_table *table, struct okosu_process *process)
{
    size_t at = table->largest_count;

    while (at > 0 && table->largest[at - 1]->memory.rss_kb < process->memory.rss_kb)
        at--;
    if (at == OKOSU_LARGEST) {
        free_process(process);
        return;
    }
    if (table->largest_count == OKOSU_LARGEST)
        free_process(table->largest[--table->largest_count]);
    memmove(&table->largest[at + 1], &table->largest[at],
            (table->largest_count - at) * sizeof(table->largest[0]));
    table->largest[at] = process;
    table->largest_count++;
}

void okosu_table_end(struct okosu_table *table, struct okosu_process *process)
{
    drop_tasks(table, process, 0);
    if (process->previous)
        process->previous->next = process->next;
    else
        table->processes = process->next;
    if (process->next)
        process->next->previous = process->previous;
    process->next = process->previous = NULL;
    if (process->launcher) {
        free_process(process);
        return;
    }
    table->ended++;
    table->sched.delay_ns += process->sched.delay_ns;
    table->sched.migrations += process->sched.migrations;
    table->scheduled |= process->scheduled;
    if (process->forked)
        table->forks++;
    if (process->shared) {
        free_process(process);
        return;
    }
    okosu_seen_merge(&table->ended_files, &process->files);
    okosu_seen_merge(&table->ended_thread_names, &process->thread_names);
    table->heaps.count += process->heaps.count;
    table->heaps.kb += process->heaps.kb;
    okosu_memory_add(&table->exit, &process->memory);
    keep_if_large(table, process);
}

void okosu_table_end_all(struct okosu_table *table)
{
    while (table->processes)
        okosu_table_end(table, table->processes);
}

void okosu_table_clear(struct okosu_table *table)
{
    okosu_table_end_all(table);
    for (size_t i = 0; i < table->largest_count; i++)
        free_process(table->largest[i]);
    table->largest_count = 0;
    okosu_seen_clear(&table->files);
    okosu_seen_clear(&table->thread_names);
}

void okosu_names_add(struct okosu_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0)
            return;
    }
    if (names->count == OKOSU_NAMES_LIMIT)
        return;
    char **items = realloc(names->items, (names->count + 1) * sizeof(*items));
    if (!items)
        return;
    names->items = items;
    items[names->count] = strdup(name);
    if (items[names->count])
        names->count++;
}

void okosu_memory_add(struct okosu_memory *sum, const struct okosu_memory *more)
{
    sum->rss_kb += more->rss_kb;
    sum->anon_kb += more->anon_kb;
    sum->anon_huge_kb += more->anon_huge_kb;
    sum->file_huge_kb += more->file_huge_kb;
    sum->shmem_kb += more->shmem_kb;
    sum->shmem_huge_kb += more->shmem_huge_kb;
    sum->hugetlb_kb += more->hugetlb_kb;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void okosu_memory_raise(struct okosu_memory *highest, const struct okosu_memory *other)
{
    highest->rss_kb = larger(highest->rss_kb, other->rss_kb);
    highest->anon_kb = larger(highest->anon_kb, other->anon_kb);
    highest->anon_huge_kb = larger(highest->anon_huge_kb, other->anon_huge_kb);
    highest->file_huge_kb = larger(highest->file_huge_kb, other->file_huge_kb);
    highest->shmem_kb = larger(highest->shmem_kb, other->shmem_kb);
    highest->shmem_huge_kb = larger(highest->shmem_huge_kb, other->shmem_huge_kb);
    highest->hugetlb_kb = larger(highest->hugetlb_kb, other->hugetlb_kb);
}

void okosu_process_take_cpu(struct okosu_process *process, int cpu, const char *mask)
{
    if (cpu >= 0 && cpu < OKOSU_CPUS)
        process->cpus[cpu / 64] |= UINT64_C(1) << (cpu % 64);
    if (mask && mask[0])
        okosu_names_add(&process->masks, mask);
}

void okosu_process_take_numa(struct okosu_process *process, const struct okosu_proc_numa *numa)
{
    uint64_t had = 0, has = 0;

    for (size_t i = 0; i < OKOSU_NODES; i++) {
        had += process->pages[i];
        has += numa->pages[i];
    }
    /* Of several readings the one with the most pages is kept, because a program may free its
     * memory before it ends. */
    if (has >= had)
        memcpy(process->pages, numa->pages, sizeof(process->pages));
    for (size_t i = 0; i < numa->policy_count; i++)
        okosu_names_add(&process->policies, numa->policies[i]);
}

/* The first heap of an arena stays until the end; what is more may be given back before. */
void okosu_process_take_heaps(struct okosu_process *process, const struct okosu_proc_heaps *heaps)
{
    if (heaps->count > process->heaps.count)
        process->heaps.count = heaps->count;
    if (heaps->kb > process->heaps.kb)
        process->heaps.kb = heaps->kb;
}

void okosu_process_take_sched(struct okosu_process *process, const struct okosu_proc_sched *sched)
{
    process->sched.delay_ns += sched->delay_ns;
    process->sched.migrations += sched->migrations;
    process->scheduled = true;
}
