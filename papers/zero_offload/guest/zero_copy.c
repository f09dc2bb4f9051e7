/* SPDX-License-Identifier: Apache-2.0 */
/* zero_copy PROCESSES ROUNDS: processes, 16 at most, that all copy huge pages to where they are missing
 * (UFFDIO_COPY), out of memory that is not mapped: the kernel gives back the page that it took, takes
 * one for the time of the copy, and then one to keep, while the others take theirs. Each page is
 * compared with its source in full. The last line on stdout is "copied", and how many pages were. */
#include "zero_pages.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

enum { MOST = 16 };

/* A file of ordinary pages with words of this process's own, to be mapped anew each time. */
static uint64_t *make_source(long process)
{
    int fd = memfd_create("source", MFD_CLOEXEC);
    uint64_t *source;

    if (fd < 0 || ftruncate(fd, (off_t)ZERO_PAGE))
        work_fail("memfd_create");
    source = mmap(NULL, ZERO_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (source == MAP_FAILED)
        work_fail("mmap");
    zero_fill(source, (uint64_t)process);
    close(fd);
    return source;
}

static void copy_to(uint64_t *page, uint64_t *source)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {.start = (uintptr_t)page, .len = ZERO_PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)source, .len = ZERO_PAGE};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
        work_fail("userfaultfd");
    /* Other processes may have all pages for the moment. */
    while (ioctl(fd, UFFDIO_COPY, &copy))
        if (errno != ENOMEM)
            work_fail("UFFDIO_COPY");
    close(fd);
}

static void copy_often(long process, long rounds)
{
    uint64_t *source = make_source(process);

    for (long round = 0; round < rounds; round++) {
        uint64_t *page = zero_map(1, MAP_NORESERVE);

        if (!page || madvise(source, ZERO_PAGE, MADV_DONTNEED))
            work_fail("mmap");
        copy_to(page, source);
        zero_verify(page, (uint64_t)process, "copied");
        zero_unmap(page, 1);
    }
    exit(0);
}

int main(int argc, char **argv)
{
    long arguments[2];
    pid_t children[MOST];

    work_arguments(argc, argv, "PROCESSES ROUNDS", 2, arguments);
    if (arguments[0] > MOST)
        return 2;
    for (long process = 0; process < arguments[0]; process++) {
        children[process] = fork();
        if (children[process] < 0)
            work_fail("fork");
        if (!children[process])
            copy_often(process, arguments[1]);
    }
    for (long process = 0; process < arguments[0]; process++)
        if (work_wait(children[process]))
            return 1;
    printf("copied %ld\n", arguments[0] * arguments[1]);
    return 0;
}
