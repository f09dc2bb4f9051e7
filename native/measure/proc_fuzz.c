/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds the /proc parsers and the JSON writer with mutated and random bytes, each in a block of its
 * exact size, under the sanitizers. usage: measure-fuzz [COUNT [SEED]]; prints what it did, aborts
 * on the first violated property. */
#include "proc_parse.h"
#include "seen.h"

#include "base/fuzz.h"
#include "base/json.h"

#include <errno.h>
#include <string.h>

static const char *const seeds[] = {
    "563ad2039000-7fff1738f000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:                1756 kB\nPss:                 309 kB\nAnonymous:           112 kB\n"
    "AnonHugePages:      2048 kB\nFilePmdMapped:      8192 kB\nShared_Hugetlb:     2048 "
    "kB\nPrivate_Hugetlb:    4096 kB\nPss_Shmem:          5000 kB\nShmemPmdMapped:     4096 kB\n",
    "Name:\tcat\nUmask:\t0022\nState:\tt (tracing stop)\nTgid:\t7901\nPid:\t7901\nPPid:\t7894\n"
    "TracerPid:\t1\nVmHWM:\t    3292 kB\nThreads:\t2\nTHP_enabled:\t1\nSeccomp:\t2\n"
    "Cpus_allowed_list:\t0-1,4,6-7\n",
    "7901 (a) b(c) R 7894 7894 2844 0 -1 4194308 103 0 0 0 0 0 0 0 20 0 1 0 179837 3133440 388 "
    "18446744073709551615 94635941945344 94635941965225 140723277980896 0 0 256 0 0 0 0 0 0 17 1 0 "
    "0 0 0 0 94635941981232 94635941982848 94636428587008 0 0 0 0 0\n",
    "55e43bc41000 default file=/usr/bin/head mapped=2 N0=2 kernelpagesize_kB=4\n"
    "7f0000000000 bind:0 anon=512 dirty=512 N0=512 kernelpagesize_kB=4\n"
    "7f1000000000 prefer (many):0-1 heap anon=1 N1=1 N255=7 N256=1 kernelpagesize_kB=4\n"
    "7f2000000000 weighted interleave:0-1 file=/anon_hugepage\\040(deleted) huge dirty=3 N0=3 "
    "kernelpagesize_kB=2048\n7f3000000000 bind=static:0 stack\n",
    "8712345678 1342305 42\n",
    "cat (23563, #threads: 1)\n-----------------------------------------------------------------\n"
    "se.exec_start                                :      38903233.125741\n"
    "se.nr_migrations                             :                   17\n",
    "563ad2039000-563ad203a000 r--p 00000000 fe:00 4660                       /usr/bin/cat\n"
    "563ad203a000-563ad203c000 r-xp 00001000 fe:00 4660                       /usr/bin/cat\n"
    "563ad3000000-563ad3021000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
    "7f0000001000-7f0000002000 rw-p 00000000 00:00 0                          [anon:/usr/a b]\n"
    "7f0000002000-7f0000003000 r--s 00000000 fe:00 18446744073709551615       /tmp/a\\012b  c \n"
    "7f0000003000-7f0000004000 rw-s 00000000 00:01 4                          /memfd:x (deleted)\n"
    "7fff00000000-7fff00001000 rw-s 00000000 00:0f 77 anon_inode:[perf_event]\n"
    "7fff00001000-7fff00002000 r-xp 00000000 fe:00 4660                       /cut",
    /* A heap; one behind a full one, which is not counted; then no heaps: one with a file's name, at
     * no multiple of 64 MiB, ending before one, with a gap, without a front, and one that is cut. */
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
    "7f0000021000-7f0004000000 ---p 00000000 00:00 0 \n"
    "7f0008000000-7f000c400000 rw-p 00000000 00:00 0 \n"
    "7f000c400000-7f0010000000 ---p 00000000 00:00 0 \n"
    "7f0014000000-7f0014021000 rw-p 00000000 fe:00 4660                       /a\n"
    "7f0014021000-7f0018000000 ---p 00000000 00:00 0 \n"
    "7f001c001000-7f001c021000 rw-p 00000000 00:00 0 \n"
    "7f001c021000-7f0020000000 ---p 00000000 00:00 0 \n"
    "7f0024000000-7f0024021000 rw-p 00000000 00:00 0 \n"
    "7f0024021000-7f0027fff000 ---p 00000000 00:00 0 \n"
    "7f002c000000-7f002c021000 rw-p 00000000 00:00 0 \n"
    "7f002c022000-7f0030000000 ---p 00000000 00:00 0 \n"
    "7f0034000000-7f0038000000 ---p 00000000 00:00 0 \n"
    "7f0038000000-7f0038021000 rw-p 00000000 00:00 0 \n"
    "7f0038021000-7f003c000000 ---p",
    "\xf0\x9f\x8c\x85 \xe3\x81\x8a \xc3\xa9 \xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80 \"\\\x01\x7f",
};

static bool ended(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static struct okosu_seen seen;
static struct okosu_seen_bits shown;

static void take_files(const char *text, size_t length)
{
    const char *at = text, *end = text + length, *name;
    size_t size;

    while (okosu_proc_next_file(&at, end, &name, &size)) {
        require(name > text && size > 0 && name + size < at && at <= end, "name outside");
        require(*name == '/' && !memchr(name, '\n', size), "no name of a file");
        okosu_seen_add(&seen, &shown, name, size);
    }
    require(at == end, "text left over");
}

static void check_files(void)
{
    static const char *const names[] = {"/usr/bin/cat", "/tmp/a\\012b  c ", "/memfd:x (deleted)"};
    size_t count = sizeof(names) / sizeof(names[0]);

    take_files(seeds[6], strlen(seeds[6]));
    require(seen.count == count, "files miscounted");
    for (size_t i = 0; i < count; i++)
        require(okosu_seen_has(&shown, i) && !strcmp(seen.items[i], names[i]), "file misread");
}

static void check_heaps(void)
{
    struct okosu_proc_heaps heaps;

    okosu_proc_parse_heaps(seeds[7], strlen(seeds[7]), &heaps);
    require(heaps.count == 2 && heaps.kb == 0x21000 / 1024 + 4096, "heaps miscounted");
}

/* The values of the unmodified seeds, worked out by hand. */
static void check_seeds(void)
{
    struct okosu_memory memory;
    struct okosu_proc_status status;
    struct okosu_proc_stat stat;
    static struct okosu_proc_numa numa;
    struct okosu_proc_sched sched;

    require(!okosu_proc_parse_delay(seeds[4], strlen(seeds[4]), &sched) &&
                sched.delay_ns == 1342305,
            "schedstat misread");
    require(!okosu_proc_parse_migrations(seeds[5], strlen(seeds[5]), &sched) &&
                sched.migrations == 17,
            "sched misread");
    require(okosu_proc_parse_migrations(seeds[4], strlen(seeds[4]), &sched) == -EINVAL,
            "migrations found where there are none");
    require(!okosu_proc_parse_rollup(seeds[0], strlen(seeds[0]), &memory) &&
                memory.rss_kb == 1756 && memory.anon_kb == 112 && memory.anon_huge_kb == 2048 &&
                memory.file_huge_kb == 8192 && memory.hugetlb_kb == 6144 &&
                memory.shmem_kb == 5000 && memory.shmem_huge_kb == 4096,
            "smaps_rollup misread");
    require(!okosu_proc_parse_status(seeds[1], strlen(seeds[1]), &status) && status.state == 't' &&
                status.tgid == 7901 && status.ppid == 7894 && status.tracer == 1 &&
                status.hwm_kb == 3292 && status.threads == 2 && status.thp_enabled == 1 &&
                !strcmp(status.cpus_allowed, "0-1,4,6-7"),
            "status misread");
    require(!okosu_proc_parse_stat(seeds[2], strlen(seeds[2]), &stat) &&
                !strcmp(stat.comm, "a) b(c") && stat.state == 'R' && stat.ppid == 7894 &&
                stat.flags == 4194308 && stat.start == 179837 && stat.pending == 256 &&
                stat.cpu == 1,
            "stat misread");
    okosu_proc_parse_numa_maps(seeds[3], strlen(seeds[3]), 4, &numa);
    require(numa.pages[0] == 512 + 3 * 512 && numa.pages[1] == 1 && numa.pages[255] == 7 &&
                numa.policy_count == 5 && !strcmp(numa.policies[0], "default") &&
                !strcmp(numa.policies[2], "prefer (many):0-1") &&
                !strcmp(numa.policies[3], "weighted interleave:0-1") &&
                !strcmp(numa.policies[4], "bind=static:0"),
            "numa_maps misread");
    require(okosu_proc_parse_rollup("", 0, &memory) && okosu_proc_parse_status("", 0, &status) &&
                okosu_proc_parse_stat("1 (x", 4, &stat),
            "empty text accepted");
}

/* Seed text with bytes replaced, cut, doubled or inserted; sometimes nothing but noise. */
static size_t mutate(char *text, size_t room)
{
    const char *seed = seeds[next_random(sizeof(seeds) / sizeof(seeds[0]))];
    size_t length = strlen(seed);
    unsigned changes = next_random(12);

    if (next_random(16) == 0) {
        length = next_random(256);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)next_random(256);
        return length;
    }
    memcpy(text, seed, length);
    while (changes-- > 0 && length > 0) {
        size_t at = next_random(length), some = 1 + next_random(40);
        if (some > length - at)
            some = length - at;
        switch (next_random(5)) {
        case 0:
            text[at] = (char)next_random(256);
            break;
        case 1:
            text[at] = "0123456789 \t\n:=()N,-"[next_random(20)];
            break;
        case 2:
            length = at;
            break;
        case 3:
            if (length + some <= room) {
                memmove(text + at + some, text + at, length - at);
                length += some;
            }
            break;
        default:
            memmove(text + at, text + at + some, length - at - some);
            length -= some;
        }
    }
    return length;
}

static void check_parsers(const char *text, size_t length)
{
    struct okosu_memory memory;
    struct okosu_proc_status status;
    struct okosu_proc_stat stat;
    static struct okosu_proc_numa numa;
    struct okosu_proc_sched sched;
    struct okosu_proc_heaps heaps;
    uint64_t value;

    okosu_proc_parse_delay(text, length, &sched);
    okosu_proc_parse_migrations(text, length, &sched);
    okosu_proc_parse_rollup(text, length, &memory);
    okosu_proc_parse_status(text, length, &status);
    require(ended(status.cpus_allowed, sizeof(status.cpus_allowed)), "CPU list without an end");
    require(status.tgid >= 0 && status.ppid >= 0 && status.tracer >= 0, "negative pid");
    okosu_proc_parse_stat(text, length, &stat);
    require(ended(stat.comm, sizeof(stat.comm)), "name without an end");
    require(stat.cpu >= -1 && stat.cpu < OKOSU_CPUS, "CPU out of range");
    okosu_proc_parse_numa_maps(text, length, 4, &numa);
    require(numa.policy_count <= OKOSU_POLICIES, "too many policies");
    for (size_t i = 0; i < numa.policy_count; i++)
        require(ended(numa.policies[i], OKOSU_POLICY), "policy without an end");
    take_files(text, length);
    require(seen.count <= OKOSU_SEEN_LIMIT, "too many names");
    okosu_proc_parse_heaps(text, length, &heaps);
    require(heaps.kb <= heaps.count << 16, "heaps larger than they can be");
    okosu_proc_parse_key(text, length, "MemAvailable:", &value);
}

/* Any input must come out as one printable JSON string. */
static void check_json(const char *text, size_t length)
{
    char *out = NULL, *given = strndup(text, length);
    size_t size = 0;
    struct okosu_json json = {.out = open_memstream(&out, &size), .replace = true};

    require(json.out && given, "no memory");
    okosu_json_string(&json, NULL, given);
    fclose(json.out);
    free(given);
    require(size >= 2 && out[0] == '"' && out[size - 1] == '"', "string without quotes");
    for (size_t i = 1; i + 1 < size; i++) {
        require((unsigned char)out[i] >= 0x20 && out[i] != 0x7f, "raw control character");
        if (out[i] == '\\') {
            i++;
            require(i + 1 < size && strchr("\"\\u", out[i]), "unknown escape");
        } else {
            require(out[i] != '"', "quote inside");
        }
    }
    free(out);
}

int main(int argc, char **argv)
{
    size_t count = fuzz_begin("measure-fuzz", argc, argv, 50000);
    static char text[8192];

    check_seeds();
    check_files();
    check_heaps();
    for (size_t i = 0; i < count; i++) {
        size_t length = mutate(text, sizeof(text));
        char *exact = malloc(length ? length : 1);
        require(exact != NULL, "no memory");
        memcpy(exact, text, length);
        check_parsers(exact, length);
        check_json(exact, length);
        free(exact);
    }
    okosu_seen_clear(&seen);
    printf("measure-fuzz: %zu inputs\n", count);
    return 0;
}
