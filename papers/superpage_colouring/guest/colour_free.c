/* SPDX-License-Identifier: Apache-2.0 */
/* colour_free: prints where the machine's memory is, in pages, as one line of JSON:
 *
 *   free       in the page allocator, as it says (nr_free_pages)
 *   percpu     in the CPUs' lists of free pages
 *   buddy      in the page allocator, as each page's flags say (/proc/kpageflags)
 *   used       of programs, files, slabs, page tables and stacks, as the kernel says
 *   managed    all that the page allocator ever had
 *
 * What is managed and in none of the others, the kernel uses without saying for what: a leak of
 * pages shows there. Needs root.
 *
 * Looking through all pages takes long enough for a CPU to give back what its lists hold, behind the
 * place that was reached or before it, which counts it not at all or twice. So it is done again until
 * the sum is the same twice. */
#include "work.h"

#include <stdint.h>
#include <stdlib.h>

/* Counters of /proc/vmstat, in pages. */
static const char *const users[] = {
    "nr_inactive_anon", "nr_active_anon",      "nr_inactive_file",      "nr_active_file",
    "nr_unevictable",   "nr_slab_reclaimable", "nr_slab_unreclaimable", "nr_page_table_pages",
};

#define KPF_BUDDY 10

static FILE *opened(const char *path)
{
    FILE *file = fopen(path, "re");

    if (!file)
        work_fail(path);
    return file;
}

static long vmstat(const char *wanted)
{
    FILE *file = opened("/proc/vmstat");
    char name[64];
    long value, found = -1;

    while (fscanf(file, "%63s %ld", name, &value) == 2)
        if (!strcmp(name, wanted))
            found = value;
    fclose(file);
    if (found < 0) {
        fprintf(stderr, "/proc/vmstat has no %s\n", wanted);
        exit(1);
    }
    return found;
}

/* Add up the numbers behind a word of /proc/zoneinfo, over all zones. */
static long zones(const char *wanted)
{
    FILE *file = opened("/proc/zoneinfo");
    char line[256], format[32];
    long sum = 0, value;

    snprintf(format, sizeof(format), " %s %%ld", wanted);
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, format, &value) == 1)
            sum += value;
    fclose(file);
    return sum;
}

static long buddies(void)
{
    int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
    uint64_t flags[512];
    long found = 0;
    ssize_t got;

    if (fd < 0)
        work_fail("/proc/kpageflags");
    while ((got = read(fd, flags, sizeof(flags))) > 0)
        for (size_t page = 0; page < (size_t)got / sizeof(*flags); page++)
            found += flags[page] >> KPF_BUDDY & 1;
    close(fd);
    return found;
}

/* Make each CPU add its counters to the sums now, which it otherwise does from time to time. */
static void settle(void)
{
    int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, "1", 1) != 1)
        work_fail("/proc/sys/vm/stat_refresh");
    close(fd);
}

/* All but the pages' flags. */
struct counters {
    long free, percpu, used;
};

static struct counters counters(void)
{
    struct counters now = {0};

    settle();
    for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
        now.used += vmstat(users[i]);
    /* This counter is in KiB, unlike the others. */
    now.used += vmstat("nr_kernel_stack") / 4;
    now.free = vmstat("nr_free_pages");
    now.percpu = zones("count:");
    return now;
}

/* What a kernel takes and gives back at any time. */
#define ALIKE 8
#define MOST_TURNS 60

int main(void)
{
    long buddy, sum = 0, before;
    struct counters now;
    int turns = 0;

    do {
        if (turns++ == MOST_TURNS) {
            fprintf(stderr, "the sum of all pages is never the same twice\n");
            return 1;
        }
        before = sum;
        buddy = buddies();
        now = counters();
        sum = buddy + now.percpu + now.used;
    } while (labs(sum - before) > ALIKE);
    printf("{\"free\": %ld, \"percpu\": %ld, \"buddy\": %ld, \"used\": %ld, \"managed\": %ld}\n",
           now.free, now.percpu, buddy, now.used, zones("managed"));
    return fflush(stdout) ? 1 : 0;
}
