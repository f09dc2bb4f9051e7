/* SPDX-License-Identifier: Apache-2.0 */
/* zero_poison ENGINE STATE [USED]: memory that breaks where huge pages are cleared ahead. With the pool's
 * engine ENGINE, a page of the pool is reported broken (or, with soft, failing) that is
 *
 *   clean    free, and has been cleared
 *   zeroing  free, and the engine has begun with it: it must be slow enough to be caught at it. Of
 *            the engine `thread`, USED is the cpu.stat of the control group that it is in: it has
 *            begun when that has grown.
 *   mapped   mapped, with others
 *   soft     mapped, and must move with what is in it
 *
 * Afterwards no page that is handed out may be that one, and all are scanned. Lines on stdout, NAME
 * NUMBER: begun (1 if the engine was at it when it was reported), lost (pages that the pool has
 * lost), scanned (pages that were handed out after that). It needs hwpoison/corrupt-pfn in debugfs.
 */
#include "zero_pages.h"

#include <linux/mman.h>
#include <signal.h>

enum { POOL = 8, PART = 4, BROKEN = 2, SMALL_PAGE = 4096, INTO_PAGE = 3 };
/* What a thread that has begun has used at least: it has cleared some of the page. */
enum { ENOUGH_US = 100 };

#define INJECT "/sys/kernel/debug/hwpoison/corrupt-pfn"

/* The number of the page of memory that is mapped there. */
static uint64_t frame_of(const void *at)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry;
    off_t where = (off_t)((uintptr_t)at / SMALL_PAGE * sizeof(entry));

    if (fd < 0 || pread(fd, &entry, sizeof(entry), where) != sizeof(entry))
        work_fail("/proc/self/pagemap");
    close(fd);
    return entry & ((UINT64_C(1) << 55) - 1);
}

static uint64_t *map_filled(size_t pages)
{
    uint64_t *at = zero_map(pages, 0);

    if (!at)
        work_fail("mmap");
    for (size_t i = 0; i < pages; i++) {
        zero_scan(zero_page_of(at, i), "before anything broke");
        zero_fill(zero_page_of(at, i), i);
    }
    return at;
}

/* A page in the middle, as a machine would report it: the whole of the huge page is lost. */
static void report(uint64_t frame)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)frame + INTO_PAGE);
    zero_set(INJECT, text);
}

static void advise(uint64_t *page, int advice)
{
    if (madvise((char *)page + (size_t)INTO_PAGE * SMALL_PAGE, SMALL_PAGE, advice))
        work_fail("madvise");
}

/* Wait until the engine has begun with the only page; return whether it has. */
static int begun(const char *engine, const char *used)
{
    long before = zero_by_thread(engine) ? zero_line(used, "usage_usec") : 0;
    int found = 0;

    for (int tries = 0; !found && tries < 3000; tries++) {
        zero_sleep_ms(1);
        if (zero_by_thread(engine))
            found = zero_line(used, "usage_usec") > before + ENOUGH_US;
        else
            found = zero_stat("running") > 0;
    }
    return found && !zero_number("zeroed_hugepages");
}

static uint64_t break_free(int zeroing, const char *engine, const char *used)
{
    uint64_t *at = map_filled(zeroing ? 1 : PART);
    uint64_t frame = frame_of(zero_page_of(at, zeroing ? 0 : BROKEN));

    zero_unmap(at, zeroing ? 1 : PART);
    if (!zeroing)
        zero_wait_clean(zero_number("nr_hugepages"));
    printf("begun %d\n", zeroing && begun(engine, used));
    report(frame);
    return frame;
}

static uint64_t break_mapped(void)
{
    uint64_t *at = map_filled(PART);
    uint64_t frame = frame_of(zero_page_of(at, BROKEN));
    pid_t child;
    int status;

    /* The process that reports the page is killed, as one that was about to use it. */
    child = fork();
    if (!child) {
        advise(zero_page_of(at, BROKEN), MADV_HWPOISON);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGBUS)
        work_wrong("a page that broke was left to its user");
    child = fork();
    if (!child)
        _exit(*(volatile char *)zero_page_of(at, BROKEN));
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGBUS)
        work_wrong("a page that is broken can be read");
    for (size_t i = 0; i < PART; i++)
        if (i != BROKEN)
            zero_verify(zero_page_of(at, i), i, "beside a broken page");
    zero_unmap(at, PART);
    return frame;
}

static uint64_t break_softly(void)
{
    uint64_t *at = map_filled(PART);
    uint64_t frame = frame_of(zero_page_of(at, BROKEN));

    advise(zero_page_of(at, BROKEN), MADV_SOFT_OFFLINE);
    for (size_t i = 0; i < PART; i++)
        zero_verify(zero_page_of(at, i), i, "after a page was taken out of use");
    if (frame_of(zero_page_of(at, BROKEN)) == frame)
        work_wrong("a page that fails is still in use");
    zero_unmap(at, PART);
    return frame;
}

static void use_all_but(uint64_t frame)
{
    long pages = zero_number("free_hugepages");
    uint64_t *at = pages ? zero_map((size_t)pages, 0) : NULL;

    if (pages && !at)
        work_fail("mmap");
    for (long i = 0; i < pages; i++) {
        uint64_t *page = zero_page_of(at, (size_t)i);

        zero_scan(page, "after a page broke");
        if (frame_of(page) == frame)
            work_wrong("a broken page was handed out");
    }
    if (at)
        zero_unmap(at, (size_t)pages);
    printf("scanned %ld\n", pages);
}

int main(int argc, char **argv)
{
    const char *state = argc == 3 || argc == 4 ? argv[2] : "";
    const char *used = argc == 4 ? argv[3] : "";
    int zeroing = !strcmp(state, "zeroing"), clean = !strcmp(state, "clean");
    int mapped = !strcmp(state, "mapped");
    long pool = zeroing ? 1 : POOL;
    uint64_t frame;

    if (!zeroing && !clean && !mapped && strcmp(state, "soft")) {
        fprintf(stderr, "usage: %s ENGINE clean|zeroing|mapped|soft [USED]\n", argv[0]);
        return 2;
    }
    zero_set_number("nr_hugepages", pool);
    zero_ahead(argv[1], pool);
    if (zeroing || clean)
        frame = break_free(zeroing, argv[1], used);
    else
        frame = mapped ? break_mapped() : break_softly();
    printf("lost %ld\n", pool - zero_number("nr_hugepages"));
    use_all_but(frame);
    return 0;
}
