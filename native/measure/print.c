/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a measurement as one line of JSON; see print.h. */
#include "print.h"

#include "base/json.h"

#include <sys/wait.h>

static void print_memory(struct okosu_json *json, const struct okosu_memory *memory)
{
    okosu_json_unsigned(json, "rss_kb", memory->rss_kb);
    okosu_json_unsigned(json, "anon_kb", memory->anon_kb);
    okosu_json_unsigned(json, "anon_huge_kb", memory->anon_huge_kb);
    okosu_json_unsigned(json, "hugetlb_kb", memory->hugetlb_kb);
}

static void print_names(struct okosu_json *json, const char *name, const struct okosu_names *names)
{
    okosu_json_open(json, name, '[');
    for (size_t i = 0; i < names->count; i++)
        okosu_json_string(json, NULL, names->items[i]);
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

void okosu_measure_print(FILE *file, const struct okosu_measure_result *result)
{
    const struct okosu_table *table = &result->table;
    struct okosu_json json = {.out = file, .replace = true};

    okosu_json_open(&json, NULL, '{');
    okosu_json_unsigned(&json, "wall_ns", result->wall_ns);
    okosu_json_unsigned(&json, "stopped_ns", result->stopped_ns);
    print_usage(&json, &result->usage);
    print_status(&json, result->wait_status);
    okosu_json_bool(&json, "timed_out", result->timed_out);
    okosu_json_bool(&json, "traced", result->traced);
    okosu_json_string(&json, "why_untraced", result->why_untraced);
    okosu_json_unsigned(&json, "processes", table->ended);
    okosu_json_unsigned(&json, "forks", table->forks);
    okosu_json_unsigned(&json, "threads", result->threads);
    okosu_json_unsigned(&json, "left", result->left);
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
    okosu_json_close(&json, '}');
    putc('\n', file);
}
