/* SPDX-License-Identifier: Apache-2.0 */
/* place_tool: calls okosu/place.h as its arguments say and prints what came back as one JSON line.
 *
 *   place_tool [--deny=CALL,... | --hide=CALL,...] COMMAND
 *     list ROOT | check ROOT NODES | pin CPUS | affinity
 *     alloc POLICY NODES BYTES FLAGS [TOUCHING_CPU,...]   NODES "": none are named
 *     bind NODES FLAGS | broken | exec PROGRAM [ARGUMENT...]
 * --deny has a seccomp filter answer EPERM, --hide ENOSYS. */
#include <okosu/place.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void filter(const char *names, unsigned error)
{
    static const struct {
        const char *name;
        unsigned number;
    } calls[] = {{"mbind", SYS_mbind},
                 {"move_pages", SYS_move_pages},
                 {"sched_setaffinity", SYS_sched_setaffinity},
                 {"sched_getaffinity", SYS_sched_getaffinity}};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        exit(99);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

        if (strstr(names, calls[i].name) && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            exit(99);
    }
}

/* Whoever calls this has printed the opening brace. */
static int finish(int rc)
{
    printf("\"rc\": %d, \"reason\": \"%s\"}\n", rc, okosu_place_reason());
    return 0;
}

static void print_set(const char *name, const struct okosu_cpuset *set)
{
    static char text[65536];

    okosu_cpulist_format(set, text, sizeof(text));
    printf("\"%s\": \"%s\"", name, text);
}

static struct okosu_cpuset parse(const char *text)
{
    struct okosu_cpuset set;

    if (okosu_cpulist_parse_set(text, &set))
        exit(98);
    return set;
}

static int list(const char *root)
{
    struct okosu_place_machine machine;
    int rc = okosu_place_list(root, &machine);

    printf("{");
    if (rc)
        return finish(rc);
    printf("\"numa\": %s, ", machine.numa ? "true" : "false");
    print_set("cpus_set", &machine.cpus_set);
    printf(", ");
    print_set("mask", &machine.mask);
    printf(", \"cpus\": [");
    for (size_t i = 0; i < machine.cpu_count; i++) {
        const struct okosu_topo_cpu *cpu = &machine.cpus[i];

        printf("%s[%u, %u, %u, %u, %u]", i ? ", " : "", cpu->cpu, cpu->package, cpu->node, cpu->l3,
               cpu->core);
    }
    printf("], \"nodes\": [");
    for (size_t i = 0; i < machine.node_count; i++) {
        const struct okosu_place_node *node = &machine.nodes[i];

        if (okosu_place_find(&machine, node->number) != i)
            exit(97);
        printf("%s{\"number\": %u, \"usable\": %s, \"total\": %llu, \"avail\": %llu, ",
               i ? ", " : "", node->number, node->usable ? "true" : "false",
               (unsigned long long)node->total, (unsigned long long)node->avail);
        print_set("cpus", &node->cpus);
        printf(", \"distances\": [");
        for (size_t to = 0; to < machine.node_count; to++)
            printf("%s%u", to ? ", " : "", machine.distances[i * machine.node_count + to]);
        printf("]}");
    }
    printf("], \"caches\": [");
    for (size_t i = 0; i < machine.cache_count; i++) {
        const struct okosu_place_cache *cache = &machine.caches[i];

        printf("%s{\"level\": %u, \"kind\": \"%c\", \"bytes\": %zu, \"line\": %u, \"ways\": %u, "
               "\"sets\": %u, ",
               i ? ", " : "", cache->level, cache->kind, cache->bytes, cache->line, cache->ways,
               cache->sets);
        print_set("cpus", &cache->cpus);
        printf("}");
    }
    printf("], ");
    okosu_place_drop(&machine);
    return finish(rc);
}

/* The mask as the kernel tells it in /proc, not as the system call does. */
static void print_status(const char *name)
{
    char line[4096], *value = NULL;
    FILE *status = fopen("/proc/thread-self/status", "r");

    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, "Cpus_allowed_list:\t", 19) == 0) {
            value = line + 19;
            value[strcspn(value, "\n")] = '\0';
            break;
        }
    }
    printf("\"%s\": \"%s\", ", name, value ? value : "?");
    if (status)
        fclose(status);
}

static int pin(const char *cpus)
{
    struct okosu_cpuset wanted = parse(cpus), before;
    char reason[512];
    int rc, back = 0;

    printf("{");
    print_status("before");
    rc = okosu_place_pin(&wanted, &before);
    snprintf(reason, sizeof(reason), "%s", okosu_place_reason());
    print_status("pinned");
    if (!rc) {
        print_set("returned", &before);
        printf(", ");
        back = okosu_place_unpin(&before);
    }
    print_status("after");
    printf("\"back\": %d, \"rc\": %d, \"reason\": \"%s\"}\n", back, rc, reason);
    return 0;
}

static int affinity(void)
{
    struct okosu_cpuset mask;
    int rc = okosu_place_mask(&mask);

    printf("{");
    if (!rc) {
        print_set("mask", &mask);
        printf(", ");
    }
    return finish(rc);
}

/* The line of numa_maps for the mapping at an address, and its smaps entry's AnonHugePages. */
static void print_maps(const void *at)
{
    char line[4096], key[32];
    FILE *maps = fopen("/proc/self/numa_maps", "r");

    snprintf(key, sizeof(key), "%llx ", (unsigned long long)(uintptr_t)at);
    while (maps && fgets(line, sizeof(line), maps)) {
        line[strcspn(line, "\n")] = '\0';
        /* "file=/anon_hugepage\040(deleted)" is no JSON. */
        for (char *c = line; *c; c++)
            *c = *c == '\\' ? '/' : *c;
        if (strncmp(line, key, strlen(key)) == 0)
            printf("\"numa_maps\": \"%s\", ", line);
    }
    if (maps)
        fclose(maps);
    snprintf(key, sizeof(key), "%llx-", (unsigned long long)(uintptr_t)at);
    maps = fopen("/proc/self/smaps", "r");
    for (int inside = 0; maps && fgets(line, sizeof(line), maps);) {
        unsigned long long from, to, kib;

        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            inside = strncmp(line, key, strlen(key)) == 0;
        else if (inside && sscanf(line, "AnonHugePages: %llu kB", &kib) == 1)
            printf("\"huge\": %llu, ", kib * 1024);
    }
    if (maps)
        fclose(maps);
}

static int print_memory(struct okosu_place_memory *memory)
{
    static struct okosu_place_count count;
    const unsigned char *bytes = memory->at;
    size_t nonzero = 0;
    int rc = okosu_place_verify(memory->at, memory->bytes, &count);

    printf("\"at\": %llu, \"bytes\": %zu, \"mapped\": %zu, \"page\": %zu, \"base\": %ld, ",
           (unsigned long long)(uintptr_t)memory->at, memory->bytes, memory->mapped, memory->page,
           sysconf(_SC_PAGESIZE));
    print_maps(memory->at);
    printf("\"pages\": %zu, \"absent\": %zu, \"on\": {", count.pages, count.absent);
    for (size_t node = 0, shown = 0; node < OKOSU_PLACE_NODES; node++) {
        if (count.on[node])
            printf("%s\"%zu\": %zu", shown++ ? ", " : "", node, count.on[node]);
    }
    for (size_t i = 0; i < memory->bytes; i++)
        nonzero += bytes[i] != 0;
    printf("}, \"nonzero\": %zu, ", nonzero);
    return rc;
}

/* Pages of address space that this process has. */
static unsigned long address_space(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (!statm || fscanf(statm, "%lu", &pages) != 1)
        exit(93);
    fclose(statm);
    return pages;
}

/* Allocate and free, or fail to, again and again: nothing may stay mapped. */
static void print_growth(size_t bytes, enum okosu_place_policy policy,
                         const struct okosu_cpuset *nodes, unsigned flags)
{
    struct okosu_place_memory memory;
    unsigned long before = 0;

    for (int i = 0; i < 18; i++) {
        if (i == 2)
            before = address_space();
        if (okosu_place_alloc(&memory, bytes, policy, nodes, flags) == 0)
            okosu_place_free(&memory);
    }
    printf("\"grown\": %ld, ", (long)(address_space() - before));
}

static int alloc(char **arguments)
{
    struct okosu_place_memory memory = {0};
    struct okosu_cpuset nodes = parse(arguments[1]);
    enum okosu_place_policy policy = (enum okosu_place_policy)atoi(arguments[0]);
    size_t bytes = strtoull(arguments[2], NULL, 0);
    unsigned flags = (unsigned)atoi(arguments[3]);
    int rc;

    printf("{");
    print_growth(bytes, policy, *arguments[1] ? &nodes : NULL, flags);
    rc = okosu_place_alloc(&memory, bytes, policy, *arguments[1] ? &nodes : NULL, flags);
    if (!rc && arguments[4]) {
        unsigned cpus[64];
        long count = okosu_cpulist_parse(arguments[4], cpus, 64);

        rc = okosu_place_touch(&memory, cpus, (size_t)count);
    }
    if (!rc)
        rc = print_memory(&memory);
    else if (memory.at)
        printf("\"left\": true, ");
    finish(rc);
    return okosu_place_free(&memory) || memory.at ? 96 : 0;
}

static int bind(const char *list_of_nodes, unsigned flags)
{
    struct okosu_cpuset nodes = parse(list_of_nodes);
    struct okosu_place_memory memory = {.bytes = 1000000, .mapped = 1003520, .page = 4096};
    int rc;

    memory.at =
        mmap(NULL, memory.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory.at, 0, memory.bytes / 2);
    rc = okosu_place_bind(memory.at, memory.mapped, OKOSU_PLACE_BIND, &nodes, flags);
    printf("{");
    if (!rc)
        rc = print_memory(&memory);
    return finish(rc);
}

/* Mistakes that must be errors and no more. */
static int broken(void)
{
    static struct okosu_place_count count;
    struct okosu_place_memory memory;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *hole = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct okosu_cpuset nobody = {0}, beyond = {0};

    munmap(hole + page, page);
    printf("{\"verify hole\": %d, ", okosu_place_verify(hole, 3 * page, &count));
    printf("\"verify wrap\": %d, ", okosu_place_verify(hole, SIZE_MAX, &count));
    printf("\"verify nothing\": %d, ", okosu_place_verify(hole, 0, &count));
    /* A page that was only read is the page of zeros, which lies on no node in particular. */
    printf("\"read\": %d, ", *(volatile char *)hole);
    printf("\"verify read\": %d, ", okosu_place_verify(hole, page, &count));
    printf("\"absent\": %zu, ", count.absent);
    printf("\"verify one\": %d, ", okosu_place_verify(hole + page - 1, 1, &count));
    printf("\"pages\": %zu, ", count.pages);
    printf("\"bind hole\": %d, ", okosu_place_bind(hole, 3 * page, OKOSU_PLACE_BIND, NULL, 0));
    printf("\"bind odd\": %d, ", okosu_place_bind(hole + 1, page, OKOSU_PLACE_BIND, NULL, 0));
    printf("\"bind policy\": %d, ",
           okosu_place_bind(hole, page, (enum okosu_place_policy)7, NULL, 0));
    printf("\"bind flags\": %d, ",
           okosu_place_bind(hole, page, OKOSU_PLACE_BIND, NULL, OKOSU_PLACE_TOUCH));
    printf("\"bind nobody\": %d, ", okosu_place_bind(hole, page, OKOSU_PLACE_BIND, &nobody, 0));
    okosu_cpuset_add(&beyond, OKOSU_PLACE_NODES);
    printf("\"bind beyond\": %d, ", okosu_place_bind(hole, page, OKOSU_PLACE_BIND, &beyond, 0));
    printf("\"alloc beyond\": %d, ", okosu_place_alloc_on(&memory, 1, OKOSU_PLACE_NODES, 0));
    printf("\"pin beyond\": %d, ", okosu_place_pin_cpu(OKOSU_CPU_LIMIT, NULL));
    printf("\"pin nobody\": %d, ", okosu_place_pin(&nobody, NULL));
    return finish(0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "--deny=", 7) == 0) {
        filter(argv[1] + 7, EPERM);
        argv++, argc--;
    } else if (argc > 1 && strncmp(argv[1], "--hide=", 7) == 0) {
        filter(argv[1] + 7, ENOSYS);
        argv++, argc--;
    }
    if (argc == 3 && strcmp(argv[1], "list") == 0)
        return list(argv[2]);
    if (argc == 4 && strcmp(argv[1], "check") == 0) {
        struct okosu_cpuset nodes = parse(argv[3]);
        int rc = okosu_place_check(argv[2], &nodes);

        printf("{");
        return finish(rc);
    }
    if (argc == 3 && strcmp(argv[1], "pin") == 0)
        return pin(argv[2]);
    if (argc == 2 && strcmp(argv[1], "affinity") == 0)
        return affinity();
    if (argc >= 6 && strcmp(argv[1], "alloc") == 0)
        return alloc(argv + 2);
    if (argc == 4 && strcmp(argv[1], "bind") == 0)
        return bind(argv[2], (unsigned)atoi(argv[3]));
    if (argc >= 3 && strcmp(argv[1], "exec") == 0) {
        execv(argv[2], argv + 2);
        return 94;
    }
    return argc == 2 && strcmp(argv[1], "broken") == 0 ? broken() : 95;
}
