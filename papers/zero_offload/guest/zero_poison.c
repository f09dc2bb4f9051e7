/* SPDX-License-Identifier: Apache-2.0 */
/* zero_poison ENGINE STATE [USED]: memory that breaks where huge pages are cleared ahead. With the pool's
 * engine ENGINE, a page of the pool is reported broken (or, with soft and failing, failing) that is
 *
 *   clean     free, and has been cleared
 *   reserved  the same, but all free pages are reserved, so that it has to stay in the pool until it
 *             is said to be whole again
 *   failing   free, and has been cleared
 *   zeroing   free, and the engine has begun with it: it must be slow enough to be caught at it. Of
 *             the engine `thread`, USED is the cpu.stat of the control group that it is in: it has
 *             begun when that has grown.
 *   mapped    mapped, with others
 *   copied    mapped, with others, as the copy of a page of a file
 *   soft      mapped, and must move with what is in it
 *
 * Afterwards no page that is handed out may be that one, and all are scanned. Lines on stdout, NAME
 * NUMBER: begun (1 if the engine was at it when it was reported), clean (pages that were clean right
 * after a free one was reported), lost (pages that the pool has lost), scanned (pages that were handed
 * out after that). It needs hwpoison/corrupt-pfn in debugfs.
 */
#include "zero_pages.h"

#include <linux/mman.h>
#include <signal.h>

enum { POOL = 8, PART = 4, BROKEN = 2, INTO_PAGE = 3 };
/* What a thread that has begun has used at least: it has cleared some of the page. */
enum { ENOUGH_US = 100 };

#define INJECT "/sys/kernel/debug/hwpoison/corrupt-pfn"
#define UNPOISON "/sys/kernel/debug/hwpoison/unpoison-pfn"
#define SOFT_OFFLINE "/sys/devices/system/memory/soft_offline_page"

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

/* A page in the middle, as a machine would report it: the whole of the huge page is lost. Return
 * whether the kernel could take it out of the pool. */
static int report(uint64_t frame)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)frame + INTO_PAGE);
    return zero_try(INJECT, text);
}

static void report_failing(uint64_t frame)
{
    char text[32];

    snprintf(text, sizeof(text), "%#llx",
             (unsigned long long)(frame + INTO_PAGE) * ZERO_SMALL_PAGE);
    zero_set(SOFT_OFFLINE, text);
}

static void advise(uint64_t *page, int advice)
{
    if (madvise((char *)page + (size_t)INTO_PAGE * ZERO_SMALL_PAGE, ZERO_SMALL_PAGE, advice))
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

static uint64_t break_free(const char *state, const char *engine, const char *used)
{
    int zeroing = !strcmp(state, "zeroing"), failing = !strcmp(state, "failing");
    uint64_t *at = map_filled(zeroing ? 1 : PART);
    uint64_t frame = zero_frame(zero_page_of(at, zeroing ? 0 : BROKEN));

    zero_unmap(at, zeroing ? 1 : PART);
    if (!zeroing)
        zero_wait_clean(zero_number("nr_hugepages"));
    printf("begun %d\n", zeroing && begun(engine, used));
    if (failing)
        report_failing(frame);
    else if (!report(frame))
        work_fail(INJECT);
    printf("clean %ld\n", zero_number("zeroed_hugepages"));
    return frame;
}

static void mend(uint64_t frame)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)frame);
    zero_set(UNPOISON, text);
}

/* Reserve all of the pool, and report a page that can therefore not leave it. */
static uint64_t *reserve_and_report(uint64_t frame)
{
    uint64_t *at = zero_map(POOL, 0);

    if (!at)
        work_fail("mmap of the whole pool");
    if (report(frame))
        work_wrong("a page that is reserved left the pool");
    return at;
}

static void break_reserved(const char *engine)
{
    uint64_t *at = map_filled(PART);
    uint64_t frame = zero_frame(zero_page_of(at, BROKEN));

    /* Whole again it is a page as any other, which is to be cleared. */
    zero_unmap(at, PART);
    zero_wait_clean(POOL);
    at = reserve_and_report(frame);
    printf("clean %ld\n", zero_number("zeroed_hugepages"));
    zero_unmap(at, POOL);
    mend(frame);
    zero_ahead(engine, POOL);
    zero_wait_clean(POOL);

    /* As long as it is broken nobody has it. */
    at = reserve_and_report(frame);
    for (size_t i = 0; i < POOL - 1; i++) {
        zero_scan(zero_page_of(at, i), "beside a broken page");
        if (zero_frame(zero_page_of(at, i)) == frame)
            work_wrong("a broken page was handed out");
        zero_fill(zero_page_of(at, i), i);
    }
    zero_unmap(at, POOL);
    mend(frame);
}

/* A private mapping of a file, each page of which has been copied to one that had been cleared. */
static uint64_t *map_copied(size_t pages)
{
    int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);

    zero_wait_clean(POOL);
    if (fd < 0 || ftruncate(fd, (off_t)(pages * ZERO_PAGE)))
        work_fail("memfd_create");
    uint64_t *at = mmap(NULL, pages * ZERO_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED || fallocate(fd, 0, 0, (off_t)(pages * ZERO_PAGE)))
        work_fail("a file of huge pages");
    close(fd);
    for (size_t i = 0; i < pages; i++) {
        zero_scan(zero_page_of(at, i), "in the file");
        zero_fill(zero_page_of(at, i), i);
    }
    return at;
}

static uint64_t break_mapped(int copied)
{
    uint64_t *at = copied ? map_copied(PART) : map_filled(PART);
    uint64_t frame = zero_frame(zero_page_of(at, BROKEN));
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
    uint64_t frame = zero_frame(zero_page_of(at, BROKEN));

    advise(zero_page_of(at, BROKEN), MADV_SOFT_OFFLINE);
    for (size_t i = 0; i < PART; i++)
        zero_verify(zero_page_of(at, i), i, "after a page was taken out of use");
    if (zero_frame(zero_page_of(at, BROKEN)) == frame)
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
        if (zero_frame(page) == frame)
            work_wrong("a broken page was handed out");
    }
    if (at)
        zero_unmap(at, (size_t)pages);
    printf("scanned %ld\n", pages);
}

int main(int argc, char **argv)
{
    static const char states[] = " clean reserved failing zeroing mapped copied soft ";
    const char *state = argc == 3 || argc == 4 ? argv[2] : "";
    const char *used = argc == 4 ? argv[3] : "";
    char word[16];
    long pool = !strcmp(state, "zeroing") ? 1 : POOL;
    uint64_t frame = 0;

    snprintf(word, sizeof(word), " %s ", state);
    if (!*state || !strstr(states, word)) {
        fprintf(stderr, "usage: %s ENGINE STATE [USED], STATE one of%s\n", argv[0], states);
        return 2;
    }
    zero_set_number("nr_hugepages", pool);
    zero_ahead(argv[1], pool);
    if (!strcmp(state, "reserved"))
        break_reserved(argv[1]);
    else if (!strcmp(state, "soft"))
        frame = break_softly();
    else if (!strcmp(state, "mapped") || !strcmp(state, "copied"))
        frame = break_mapped(!strcmp(state, "copied"));
    else
        frame = break_free(state, argv[1], used);
    printf("lost %ld\n", pool - zero_number("nr_hugepages"));
    use_all_but(frame);
    return 0;
}
