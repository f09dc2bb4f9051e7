/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a measurement as one line of JSON; see print.h. */
#include "print.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

static void print_memory(struct okosu_json *json, const struct okosu_memory *memory)
{
    okosu_json_unsigned(json, "rss_kb", memory->rss_kb);
    okosu_json_unsigned(json, "anon_kb", memory->anon_kb);
    okosu_json_unsigned(json, "anon_huge_kb", memory->anon_huge_kb);
    okosu_json_unsigned(json, "file_huge_kb", memory->file_huge_kb);
    okosu_json_unsigned(json, "hugetlb_kb", memory->hugetlb_kb);
    okosu_json_unsigned(json, "shmem_kb", memory->shmem_kb);
    okosu_json_unsigned(json, "shmem_huge_kb", memory->shmem_huge_kb);
}

static void print_names(struct okosu_json *json, const char *name, const struct okosu_names *names)
{
    okosu_json_open(json, name, '[');
    for (size_t i = 0; i < names->count; i++)
        okosu_json_string(json, NULL, names->items[i]);
    okosu_json_close(json, ']');
}

static void print_seen(struct okosu_json *json, const char *name, const struct okosu_seen *seen,
                       const struct okosu_seen_bits *ended)
{
    okosu_json_open(json, name, '[');
    for (size_t i = 0; i < seen->count; i++) {
        if (okosu_seen_has(ended, i))
            okosu_json_string(json, NULL, seen->items[i]);
    }
    okosu_json_close(json, ']');
}

static void print_process(struct okosu_json *json, const struct okosu_process *process)
{
    okosu_json_open(json, NULL, '{');
    okosu_json_int(json, "pid", process->pid);
    okosu_json_string(json, "comm", process->comm);
    print_memory(json, &process->memory);
    okosu_json_unsigned(json, "hwm_kb", process->hwm_kb);
    okosu_json_string(json, "cpus_allowed", process->cpus_allowed ? process->cpus_allowed : "");
    okosu_json_open(json, "cpus_used", '[');
    for (unsigned cpu = 0; cpu < OKOSU_CPUS; cpu++) {
        if (process->cpus[cpu / 64] & (UINT64_C(1) << (cpu % 64)))
            okosu_json_unsigned(json, NULL, cpu);
    }
    okosu_json_close(json, ']');
    print_names(json, "thread_masks", &process->masks);
    okosu_json_int(json, "thp_enabled", process->thp_enabled);
    okosu_json_open(json, "numa", '{');
    for (unsigned node = 0; node < OKOSU_NODES; node++) {
        char name[12];

        snprintf(name, sizeof(name), "%u", node);
        if (process->pages[node])
            okosu_json_unsigned(json, name, process->pages[node]);
    }
    okosu_json_close(json, '}');
    print_names(json, "policies", &process->policies);
    okosu_json_close(json, '}');
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

static void print_usage(struct okosu_json *json, const struct rusage *usage)
{
    okosu_json_unsigned(json, "user_ns", nanoseconds(usage->ru_utime));
    okosu_json_unsigned(json, "sys_ns", nanoseconds(usage->ru_stime));
    okosu_json_int(json, "maxrss_kb", usage->ru_maxrss);
    okosu_json_int(json, "minflt", usage->ru_minflt);
    okosu_json_int(json, "majflt", usage->ru_majflt);
    okosu_json_int(json, "nvcsw", usage->ru_nvcsw);
    okosu_json_int(json, "nivcsw", usage->ru_nivcsw);
}

static void print_status(struct okosu_json *json, int status)
{
    if (WIFSIGNALED(status)) {
        okosu_json_string(json, "status", NULL);
        okosu_json_int(json, "signal", WTERMSIG(status));
    } else {
        okosu_json_int(json, "status", WEXITSTATUS(status));
        okosu_json_string(json, "signal", NULL);
    }
}

static const char *why_uncounted(int error)
{
    switch (error) {
    case 0:
        return "";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "the processor shows none, as in many virtual machines";
    case EACCES:
    case EPERM:
        return "the kernel does not allow it (kernel.perf_event_paranoid, or a container)";
    default:
        return strerror(error);
    }
}

static void print_counters(struct okosu_json *json, const struct okosu_counters *counters)
{
    okosu_json_open(json, "counters", '{');
    for (int i = 0; i < OKOSU_COUNTERS; i++) {
        if (counters->counted[i])
            okosu_json_unsigned(json, okosu_counter_names[i], counters->values[i]);
    }
    okosu_json_close(json, '}');
    okosu_json_string(json, "why_uncounted", why_uncounted(counters->error));
}

void okosu_measure_print(FILE *file, const struct okosu_measure_options *options,
                         const struct okosu_measure_result *result)
{
    char digest[20];
    const struct okosu_table *table = &result->table;
    struct okosu_json json = okosu_json_begin(file);

    json.replace = true;
    okosu_json_unsigned(&json, "wall_ns", result->wall_ns);
    okosu_json_unsigned(&json, "stopped_ns", result->stopped_ns);
    print_usage(&json, &result->usage);
    if (table->scheduled) {
        okosu_json_unsigned(&json, "delay_ns", table->sched.delay_ns);
        okosu_json_unsigned(&json, "migrations", table->sched.migrations);
    } else {
        okosu_json_string(&json, "delay_ns", NULL);
        okosu_json_string(&json, "migrations", NULL);
    }
    print_status(&json, result->wait_status);
    okosu_json_bool(&json, "timed_out", result->timed_out);
    if (result->asked)
        okosu_json_unsigned(&json, "stop_ns", result->stop_ns);
    else
        okosu_json_string(&json, "stop_ns", NULL);
    okosu_json_bool(&json, "traced", result->traced);
    okosu_json_string(&json, "why_untraced", result->why_untraced);
    okosu_json_unsigned(&json, "processes", table->ended);
    okosu_json_unsigned(&json, "forks", table->forks);
    okosu_json_unsigned(&json, "at_once", table->at_once);
    okosu_json_unsigned(&json, "threads", result->threads);
    okosu_json_unsigned(&json, "left", result->left);
    okosu_json_unsigned(&json, "out_bytes", result->out_bytes);
    snprintf(digest, sizeof(digest), "%016" PRIx64, result->out_digest);
    okosu_json_string(&json, "out_digest", options->digest ? digest : "");
    if (options->counters)
        print_counters(&json, &result->counters);
    okosu_json_open(&json, "exit", '{');
    print_memory(&json, &table->exit);
    okosu_json_close(&json, '}');
    if (result->sampled) {
        okosu_json_open(&json, "peak", '{');
        print_memory(&json, &result->peak);
        okosu_json_close(&json, '}');
    } else {
        okosu_json_string(&json, "peak", NULL);
    }
    okosu_json_open(&json, "procs", '[');
    for (size_t i = 0; i < table->largest_count; i++)
        print_process(&json, table->largest[i]);
    okosu_json_close(&json, ']');
    if (options->files) {
        print_seen(&json, "files", &table->files, &table->ended_files);
        okosu_json_unsigned(&json, "heaps", table->heaps.count);
        okosu_json_unsigned(&json, "heaps_kb", table->heaps.kb);
    }
    if (options->threads)
        print_seen(&json, "thread_names", &table->thread_names, &table->ended_thread_names);
    okosu_json_bool(&json, "names_cut", table->files.cut || table->thread_names.cut);
    okosu_json_end(&json);
}
