/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a measurement as one line of JSON; see json.h. */
#include "json.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

/* The length of the well-formed UTF-8 sequence at `text` (RFC 3629: no surrogates, nothing
 * overlong), 0 if none. */
static size_t sequence_length(const unsigned char *text, size_t left)
{
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t length;
    } rows[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (text[0] < rows[i].first || text[0] > rows[i].last)
            continue;
        if (rows[i].length > left)
            return 0;
        if (rows[i].length > 1 && (text[1] < rows[i].second_first || text[1] > rows[i].second_last))
            return 0;
        for (size_t j = 2; j < rows[i].length; j++) {
            if ((text[j] & 0xc0) != 0x80)
                return 0;
        }
        return rows[i].length;
    }
    return 0;
}

void okosu_json_string(FILE *file, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;

    putc('"', file);
    while (at < end) {
        size_t bytes = sequence_length(at, (size_t)(end - at));
        if (bytes == 0) {
            fputs("\\ufffd", file);
            at++;
        } else if (bytes == 1 && (*at < 0x20 || *at == 0x7f)) {
            fprintf(file, "\\u%04x", *at++);
        } else {
            if (*at == '"' || *at == '\\')
                putc('\\', file);
            fwrite(at, 1, bytes, file);
            at += bytes;
        }
    }
    putc('"', file);
}

static void print_text(FILE *file, const char *text)
{
    okosu_json_string(file, text ? text : "", text ? strlen(text) : 0);
}

static void print_bool(FILE *file, const char *name, bool value)
{
    fprintf(file, "\"%s\": %s, ", name, value ? "true" : "false");
}

static void print_memory(FILE *file, const struct okosu_memory *memory)
{
    fprintf(file,
            "\"rss_kb\": %" PRIu64 ", \"anon_kb\": %" PRIu64 ", \"anon_huge_kb\": %" PRIu64
            ", \"hugetlb_kb\": %" PRIu64,
            memory->rss_kb, memory->anon_kb, memory->anon_huge_kb, memory->hugetlb_kb);
}

static void print_names(FILE *file, const char *name, const struct okosu_names *names)
{
    fprintf(file, ", \"%s\": [", name);
    for (size_t i = 0; i < names->count; i++) {
        fputs(i ? ", " : "", file);
        print_text(file, names->items[i]);
    }
    putc(']', file);
}

static void print_process(FILE *file, const struct okosu_process *process)
{
    const char *comma = "";

    fprintf(file, "{\"pid\": %d, \"comm\": ", (int)process->pid);
    print_text(file, process->comm);
    fputs(", ", file);
    print_memory(file, &process->memory);
    fprintf(file, ", \"hwm_kb\": %" PRIu64 ", \"cpus_allowed\": ", process->hwm_kb);
    print_text(file, process->cpus_allowed);
    fputs(", \"cpus_used\": [", file);
    for (unsigned cpu = 0; cpu < OKOSU_CPUS; cpu++) {
        if (process->cpus[cpu / 64] & (UINT64_C(1) << (cpu % 64))) {
            fprintf(file, "%s%u", comma, cpu);
            comma = ", ";
        }
    }
    putc(']', file);
    print_names(file, "thread_masks", &process->masks);
    fprintf(file, ", \"thp_enabled\": %d, \"numa\": {", process->thp_enabled);
    comma = "";
    for (unsigned node = 0; node < OKOSU_NODES; node++) {
        if (process->pages[node]) {
            fprintf(file, "%s\"%u\": %" PRIu64, comma, node, process->pages[node]);
            comma = ", ";
        }
    }
    putc('}', file);
    print_names(file, "policies", &process->policies);
    putc('}', file);
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

static void print_usage(FILE *file, const struct rusage *usage)
{
    fprintf(file, "\"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 ", ",
            nanoseconds(usage->ru_utime), nanoseconds(usage->ru_stime));
    fprintf(file,
            "\"maxrss_kb\": %ld, \"minflt\": %ld, \"majflt\": %ld, \"nvcsw\": %ld, "
            "\"nivcsw\": %ld, ",
            usage->ru_maxrss, usage->ru_minflt, usage->ru_majflt, usage->ru_nvcsw,
            usage->ru_nivcsw);
}

static void print_status(FILE *file, int status)
{
    if (WIFSIGNALED(status))
        fprintf(file, "\"status\": null, \"signal\": %d, ", WTERMSIG(status));
    else
        fprintf(file, "\"status\": %d, \"signal\": null, ", WEXITSTATUS(status));
}

void okosu_json_measurement(FILE *file, const struct okosu_measure_result *result)
{
    const struct okosu_table *table = &result->table;

    fprintf(file, "{\"wall_ns\": %" PRIu64 ", \"stopped_ns\": %" PRIu64 ", ", result->wall_ns,
            result->stopped_ns);
    print_usage(file, &result->usage);
    print_status(file, result->wait_status);
    print_bool(file, "timed_out", result->timed_out);
    print_bool(file, "traced", result->traced);
    fputs("\"why_untraced\": ", file);
    print_text(file, result->why_untraced);
    fprintf(file,
            ", \"processes\": %" PRIu64 ", \"forks\": %" PRIu64 ", \"threads\": %" PRIu64
            ", \"left\": %u, \"exit\": {",
            table->ended, table->forks, result->threads, result->left);
    print_memory(file, &table->exit);
    fputs("}, \"peak\": ", file);
    if (result->sampled) {
        putc('{', file);
        print_memory(file, &result->peak);
        putc('}', file);
    } else {
        fputs("null", file);
    }
    fputs(", \"procs\": [", file);
    for (size_t i = 0; i < table->largest_count; i++) {
        fputs(i ? ", " : "", file);
        print_process(file, table->largest[i]);
    }
    fputs("]}\n", file);
}
