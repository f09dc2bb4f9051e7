/* SPDX-License-Identifier: Apache-2.0 */
/* okosu-warm BYTES: touches that much memory and frees it, so that a virtual machine's host has
 * backed the pages before a timed run uses them. It leaves a reserve for other programs.
 *
 * The memory comes from malloc, so that okosu-run can apply to it what it applies to the program:
 * small and huge pages come from different free lists, and warming one leaves the other cold
 * (docs/METHOD.md, section 2). It is taken in blocks, because a lever's allocator may pass a single
 * block that large on to the kernel. */
#include "proc_parse.h"

#include "base/avail.h"
#include "base/file.h"
#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

enum { STEP_MIB = 64, LEAST_RESERVE_MIB = 128, RESERVE_SHARE = 20 };

/* How much may be touched now, in bytes. */
static uint64_t room_now(void)
{
    char text[8192];
    long length = okosu_file_slurp("/proc/meminfo", text, sizeof(text));
    uint64_t total_kb = 0, reserve, room = okosu_avail_bytes("");

    /* Without MemAvailable it is not known what others need. */
    if (room == SIZE_MAX || length <= 0 ||
        !okosu_proc_parse_key(text, (size_t)length, "MemTotal:", &total_kb))
        return 0;
    reserve = total_kb * 1024 / RESERVE_SHARE;
    if (reserve < LEAST_RESERVE_MIB * MIB)
        reserve = LEAST_RESERVE_MIB * MIB;
    return room > reserve ? room - reserve : 0;
}

struct block {
    struct block *before;
};

/* Allocate and touch `length` bytes, one per page, until the room or the address space runs out;
 * returns how many were touched, and why not all. Nothing is freed before all is touched. */
static uint64_t touch(uint64_t length, uint64_t page, const char **why)
{
    struct block *last = NULL, *block;
    uint64_t done = 0, most = STEP_MIB * MIB;

    while (done < length) {
        uint64_t room = room_now(), step = length - done;
        if (step > most)
            step = most;
        if (step > room)
            step = room / page * page;
        if (!step)
            break;
        block = malloc(step < sizeof(*block) ? sizeof(*block) : step);
        if (!block) {
            /* An address-space limit or strict overcommit. */
            *why = strerror(errno);
            most = step / 2;
            continue;
        }
        for (uint64_t offset = 0; offset < step; offset += page)
            ((volatile unsigned char *)block)[offset] = 1;
        block->before = last;
        last = block;
        done += step;
    }
    while ((block = last)) {
        last = block->before;
        free(block);
    }
    return done;
}

/* Makes this process the first that the OOM killer ends. */
static void offer_to_die(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "1000", 4) < 0)
        perror("okosu-warm: oom_score_adj");
    close(fd);
}

int main(int argc, char **argv)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), wanted, done;
    const char *why = "more would leave too little of the memory that is available";
    char *end = NULL;

    errno = 0;
    wanted = argc == 2 && argv[1][0] >= '0' && argv[1][0] <= '9' ? strtoull(argv[1], &end, 10) : 0;
    if (!end || *end || errno)
        return okosu_complain(OKOSU_EXIT_FAILED, "its one argument is a number of bytes",
                              "okosu-warm 1073741824", "nothing to warm");
    offer_to_die();
    done = touch(wanted, page, &why);
    if (done < wanted)
        okosu_complain(0, why, "free some memory, or leave out the warming with --no-warm",
                       "warmed %llu of %llu MiB", (unsigned long long)(done / MIB),
                       (unsigned long long)(wanted / MIB));
    return 0;
}
