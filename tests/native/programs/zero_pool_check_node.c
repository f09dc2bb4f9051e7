/* SPDX-License-Identifier: Apache-2.0 */
/* zero_pool_check_node: a pool that prefers a NUMA node. */
#include "pool_check.h"
#include "zero_pool_check.h"

#include <okosu/zero_pool.h>

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The policy of the mapping that begins there, as the kernel has it. */
static void read_policy(const void *at, char policy[64])
{
    FILE *file = fopen("/proc/self/numa_maps", "re");
    unsigned long start;
    char line[512];

    *policy = '\0';
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "%lx %63s", &start, policy) == 2 && start == (unsigned long)at)
            break;
        else
            *policy = '\0';
    CHECK(file && fclose(file) == 0);
}

/* Neither a kernel without NUMA nor qemu-user has policies of memory; qemu-user's /proc is the
 * host's all the same. */
static bool no_policies(void)
{
    return syscall(SYS_get_mempolicy, NULL, NULL, 0ul, NULL, 0ul) && errno == ENOSYS;
}

void zero_pool_check_node(void)
{
    struct okosu_zero_pool_options options = {
        .cap = 2 * UNIT, .low = UNIT, .high = UNIT, .no_worker = true};
    struct okosu_zero_pool *pool;
    char policy[64];
    unsigned char *block;
    int rc;

    /* The first node: counted from 1 here, from 0 there. */
    for (options.node = 0; options.node < 2; options.node++) {
        rc = okosu_zero_pool_open(&pool, &options);
        if (options.node && no_policies()) {
            CHECK(rc == -ENOTSUP);
            puts("ok: no policies of memory here");
            return;
        }
        CHECK(rc == 0 && okosu_zero_pool_work(pool, SIZE_MAX) == UNIT);
        block = okosu_zero_pool_take(pool, UNIT);
        CHECK(block && all_zero(block, UNIT));
        read_policy(okosu_zero_pool_base(pool), policy);
        CHECK(!strcmp(policy, options.node ? "prefer:0" : "default"));
        /* What is mapped anew is of the same node. */
        CHECK(okosu_zero_pool_renew(pool, block) == 0);
        read_policy(okosu_zero_pool_base(pool), policy);
        CHECK(!strcmp(policy, options.node ? "prefer:0" : "default"));
        okosu_zero_pool_close(pool);
    }
    puts("ok: node");
}
