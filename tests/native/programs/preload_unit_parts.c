/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests: environment, configuration, memory limits, the evidence line. */
#include "base/avail.h"
#include "environ.h"
#include "preload_unit.h"

#include <sys/stat.h>
#include <unistd.h>

enum { ENV_MAX = 8 };

static char env_text[ENV_MAX][300];
static char *env[ENV_MAX + 1];

static void set_env(const char *const *strings)
{
    int i;

    for (i = 0; strings[i]; i++) {
        CHECK(i < ENV_MAX);
        snprintf(env_text[i], sizeof env_text[i], "%s", strings[i]);
        env[i] = env_text[i];
    }
    env[i] = NULL;
}

#define ENV(...) set_env((const char *const[]){__VA_ARGS__, NULL})

static void expect_env(const char *const *strings)
{
    int i;

    for (i = 0; strings[i]; i++)
        CHECK(env[i] && strcmp(env[i], strings[i]) == 0);
    CHECK(!env[i]);
}

static const char *const libraries[] = {"libokosu-preload.so", "libokosu-copy.so", NULL};

#define CLEANED(...)                                                                               \
    do {                                                                                           \
        okosu_environ_clean(env, libraries);                                                       \
        expect_env((const char *const[]){__VA_ARGS__, NULL});                                      \
    } while (0)

static void environ_is_cleaned(void)
{
    ENV("A=1", "LD_PRELOAD=/x/libokosu-preload.so", "OKOSU_PIN=0", "OKOSU_PAD=xxx", "B=2");
    CLEANED("A=1", "B=2");
    ENV("LD_PRELOAD=a.so:/x/libokosu-preload.so:/b.so");
    CLEANED("LD_PRELOAD=a.so:/b.so");
    ENV("LD_PRELOAD=/x/libokosu-preload.so a.so");
    CLEANED("LD_PRELOAD=a.so");
    ENV("LD_PRELOAD=a.so b.so libokosu-preload.so");
    CLEANED("LD_PRELOAD=a.so b.so");
    ENV("LD_PRELOAD=/x/notlibokosu-preload.so", "NOT_OKOSU_PIN=1");
    CLEANED("LD_PRELOAD=/x/notlibokosu-preload.so", "NOT_OKOSU_PIN=1");
    ENV("LD_PRELOAD=/x/libokosu-preload.so:/x/libokosu-copy.so:/x/libokosu-cblas.so");
    CLEANED("LD_PRELOAD=/x/libokosu-cblas.so");
    ENV("PATH=/bin");
    CLEANED("PATH=/bin");
}

static void tunables_are_cleaned(void)
{
    ENV("GLIBC_TUNABLES=glibc.malloc.hugetlb=1", "OKOSU_TUNABLES=glibc.malloc.hugetlb=1");
    CLEANED(NULL);
    ENV("GLIBC_TUNABLES=glibc.malloc.check=1:glibc.malloc.hugetlb=1",
        "OKOSU_TUNABLES=glibc.malloc.hugetlb=1");
    CLEANED("GLIBC_TUNABLES=glibc.malloc.check=1");
    ENV("OKOSU_TUNABLES=a=1:b=2", "GLIBC_TUNABLES=a=1:c=3:b=2:a=12");
    CLEANED("GLIBC_TUNABLES=c=3:a=12");
    ENV("GLIBC_TUNABLES=user=2");
    CLEANED("GLIBC_TUNABLES=user=2");
}

static void config_reads_values(void)
{
    char root[40];

    snprintf(root, sizeof root, "OKOSU_ROOT_PID=%d", (int)getpid());
    ENV("OKOSU_SUPERPAGE=hugetlb", "OKOSU_RETAIN=1", "OKOSU_PIN=3,0,8191", root, "OKOSU_BUDGET=0",
        "OKOSU_DENSITY=100", "OKOSU_CHILDREN=0", "OKOSU_PROOF=/tmp/x");
    okosu_config_read(env);
    CHECK(okosu_config.tier == OKOSU_TIER_HUGETLB && okosu_config.retain && okosu_config.is_root);
    CHECK(okosu_config.pin_count == 3 && okosu_config.pin_list[2] == 8191);
    CHECK(okosu_config.budget_given && okosu_config.budget == 0 && okosu_config.density == 100);
    CHECK(!okosu_config.children && strcmp(okosu_config.proof, "/tmp/x") == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_BAD_VALUE) == 0);
}

static void config_defaults(void)
{
    ENV("A=1", "OKOSU_BUDGET=", "OKOSU_PIN=", "OKOSU_SUPERPAGE=");
    okosu_config_read(env);
    CHECK(okosu_config.tier == OKOSU_TIER_NONE && !okosu_config.retain && !okosu_config.is_root);
    CHECK(okosu_config.children && !okosu_config.pin_count && !okosu_config.budget_given);
    CHECK(okosu_config.density == 75 && !okosu_config.proof[0]);
    CHECK(okosu_reason_count(OKOSU_WHY_BAD_VALUE) == 0);
}

static void config_ignores_nonsense(void)
{
    static const char *const bad[] = {
        "OKOSU_SUPERPAGE=big",
        "OKOSU_RETAIN=yes",
        "OKOSU_PIN=0,x",
        "OKOSU_PIN=0,,1",
        "OKOSU_PIN=0,",
        "OKOSU_PIN=8192",
        "OKOSU_BUDGET=1G",
        "OKOSU_BUDGET=-1",
        "OKOSU_DENSITY=0",
        "OKOSU_DENSITY=101",
        "OKOSU_ROOT_PID=0",
        "OKOSU_CHILDREN=2",
        "OKOSU_BUDGET=99999999999999999999999999",
        "OKOSU_VERBOSE=on",
    };
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        ENV(bad[i]);
        okosu_config_read(env);
        CHECK(okosu_reason_count(OKOSU_WHY_BAD_VALUE) == i + 1);
        CHECK(okosu_config.tier == OKOSU_TIER_NONE && !okosu_config.pin_count);
        CHECK(!okosu_config.budget_given && okosu_config.density == 75 && okosu_config.children);
    }
}

static void children_zero_is_for_the_root_only(void)
{
    ENV("OKOSU_SUPERPAGE=thp", "OKOSU_RETAIN=1", "OKOSU_CHILDREN=0", "OKOSU_ROOT_PID=1");
    okosu_config_read(env);
    CHECK(okosu_config.tier == OKOSU_TIER_NONE && !okosu_config.retain);
}

static char root_dir[] = "/tmp/okosu-unit-XXXXXX";

static void put_file(const char *path, const char *text)
{
    char full[400], *slash;
    FILE *f;

    snprintf(full, sizeof full, "%s%s", root_dir, path);
    for (slash = strchr(full + strlen(root_dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    f = fopen(full, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void available_follows_the_least_limit(void)
{
    char command[100];

    CHECK(mkdtemp(root_dir));
    CHECK(okosu_avail_bytes(root_dir) == SIZE_MAX);
    put_file("/proc/meminfo", "MemTotal:  900 kB\nMemFree: 1 kB\nMemAvailable:    800 kB\n");
    CHECK(okosu_avail_bytes(root_dir) == 800 * 1024);

    /* Version 2: the parent's limit counts, and page cache that can be dropped is no usage. */
    put_file("/proc/self/cgroup", "1:name=systemd:/\n0::/a/b\n");
    put_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put_file("/sys/fs/cgroup/a/memory.max", "500000\n");
    put_file("/sys/fs/cgroup/a/memory.current", "450000\n");
    CHECK(okosu_avail_bytes(root_dir) == 50000);
    put_file("/sys/fs/cgroup/a/memory.stat", "anon 1\nfile 2\ninactive_file 30000\nx 1\n");
    CHECK(okosu_avail_bytes(root_dir) == 80000);
    put_file("/sys/fs/cgroup/a/b/memory.max", "200\n");
    put_file("/sys/fs/cgroup/a/b/memory.current", "300\n");
    CHECK(okosu_avail_bytes(root_dir) == 0);

    /* In a container the path is the host's; the container's own group is the mount's root. */
    put_file("/proc/self/cgroup", "0::/elsewhere/deep\n");
    CHECK(okosu_avail_bytes(root_dir) == 800 * 1024);
    put_file("/sys/fs/cgroup/memory.max", "7000\n");
    put_file("/sys/fs/cgroup/memory.current", "1000\n");
    CHECK(okosu_avail_bytes(root_dir) == 6000);

    /* Version 1. */
    put_file("/proc/self/cgroup", "5:devices:/\n4:memory:/job\n");
    put_file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9000\n");
    put_file("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "8000\n");
    put_file("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 9\ntotal_inactive_file 500\n");
    CHECK(okosu_avail_bytes(root_dir) == 1500);
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "8000\n");
    CHECK(okosu_avail_bytes(root_dir) == 1500);

    snprintf(command, sizeof command, "rm -r %s", root_dir);
    CHECK(system(command) == 0);
}

/* Every reason at once, and as many pins as are shown: the line must still fit its buffer. */
static void evidence_fits_and_is_written_once(void)
{
    char name[] = "/tmp/okosu-proof-XXXXXX", text[8192];
    int fd = mkstemp(name), i;
    ssize_t got;

    CHECK(fd >= 0);
    snprintf(okosu_config.proof, sizeof okosu_config.proof, "%s", name);
    okosu_evidence_own();
    for (i = 0; i < OKOSU_WHY_COUNT; i++)
        okosu_reason_add((enum okosu_reason)i);
    for (i = 0; i < 100; i++)
        okosu_evidence_pinned(8191);
    okosu_counters.blocks = okosu_counters.advised_total = SIZE_MAX;
    okosu_evidence_write();
    okosu_evidence_write();
    got = read(fd, text, sizeof text - 1);
    CHECK(got > 0 && got < 4096);
    text[got] = '\0';
    CHECK(strchr(text, '\n') == text + got - 1);
    CHECK(strncmp(text, "{\"pid\": ", 8) == 0 && strstr(text, "\"forked\": false}\n"));
    CHECK(strstr(text, "\"threads_pinned\": 100, \"pins\": \"8191,8191,"));
    unlink(name);
}

const struct test_case cases_parts[] = {
    {"environ is cleaned", environ_is_cleaned},
    {"tunables are cleaned", tunables_are_cleaned},
    {"config reads values", config_reads_values},
    {"config defaults", config_defaults},
    {"config ignores nonsense", config_ignores_nonsense},
    {"children=0 is for the root only", children_zero_is_for_the_root_only},
    {"available memory follows the least limit", available_follows_the_least_limit},
    {"evidence fits and is written once", evidence_fits_and_is_written_once},
    {NULL, NULL},
};
