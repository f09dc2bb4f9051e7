/* SPDX-License-Identifier: Apache-2.0 */
/* What a program in a guest says to the memory-hierarchy model (lab/model/core/model.h): where its
 * region of interest begins and ends, and which of its pages are large. All of it is NOPs and loads
 * of bytes, and means nothing to a processor. */
#ifndef OKOSU_MARK_H
#define OKOSU_MARK_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* nopl displacement(%rax) */
#define MARK_NOP ".byte 0x0f, 0x1f, 0x80\n\t.long 0x6f6b0000 + %c[code]\n\t"
#define MARK(number) __asm__ volatile(MARK_NOP : : [code] "i"(number) : "memory")

/* Between the NOP and the last of the loads the program makes no other access. */
#define MARK_MESSAGE(number, digit)                                                                \
    __asm__ volatile(MARK_NOP "movb (%[page],%[d0]), %%al\n\t"                                     \
                              "movb (%[page],%[d1]), %%al\n\t"                                     \
                              "movb (%[page],%[d2]), %%al\n\t"                                     \
                              "movb (%[page],%[d3]), %%al\n\t"                                     \
                              "movb (%[page],%[d4]), %%al\n\t"                                     \
                              "movb (%[page],%[d5]), %%al\n\t"                                     \
                              "movb (%[page],%[d6]), %%al"                                         \
                     :                                                                             \
                     : [code] "i"(number), [page] "r"(mark_page), [d0] "r"((digit)[0]),            \
                       [d1] "r"((digit)[1]), [d2] "r"((digit)[2]), [d3] "r"((digit)[3]),           \
                       [d4] "r"((digit)[4]), [d5] "r"((digit)[5]), [d6] "r"((digit)[6])            \
                     : "rax", "memory")

static unsigned char mark_page[4096] __attribute__((aligned(4096)));

static inline void mark_begin(void)
{
    MARK(1);
}

static inline void mark_end(void)
{
    MARK(2);
}

/* The model stops following accesses until the next mark: for set-up between regions. */
static inline void mark_sleep(void)
{
    MARK(6);
}

/* Split a number into three digits of 12 bits, the lowest first. */
static inline void mark_digits(uint64_t *digit, uint64_t number)
{
    for (int i = 0; i < 3; i++)
        digit[i] = number >> 12 * i & 4095;
}

/* Set the label of the regions that follow: 36 bits. */
static inline void mark_label(uint64_t label)
{
    uint64_t digit[7] = {0};

    mark_digits(digit, label);
    MARK_MESSAGE(5, digit);
}

/* Tell the model that `bytes` from `start` on are mapped by pages of 2 MiB. */
static inline void mark_huge(uint64_t start, uint64_t bytes)
{
    uint64_t digit[7] = {0};

    mark_digits(digit, start >> 12);
    mark_digits(digit + 3, bytes >> 12);
    digit[6] = 21;
    MARK_MESSAGE(3, digit);
}

/* Linux 6.7's PAGEMAP_SCAN, which Debian 12's headers do not have. */
struct mark_scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t inverted, mask, anyof_mask, return_mask;
};
struct mark_found {
    uint64_t start, end, categories;
};
#define MARK_SCAN _IOWR('f', 16, struct mark_scan)
#define MARK_IS_HUGE (1u << 6)

/* Tell the model which pages of this process are of 2 MiB now, huge pages mapped as such; all
 * others are of 4 KiB. 0, or -1 where the kernel cannot say it. */
static inline int mark_pages(void)
{
    struct mark_found found[64];
    struct mark_scan scan = {.size = sizeof(scan),
                             .end = UINT64_C(1) << 47,
                             .vec = (uintptr_t)found,
                             .vec_len = sizeof(found) / sizeof(*found),
                             .mask = MARK_IS_HUGE,
                             .return_mask = MARK_IS_HUGE};
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), count;

    if (fd < 0)
        return -1;
    scan.end -= 4096;
    MARK(4);
    while ((count = ioctl(fd, MARK_SCAN, &scan)) > 0) {
        for (int i = 0; i < count; i++)
            mark_huge(found[i].start, found[i].end - found[i].start);
        scan.start = scan.walk_end;
    }
    close(fd);
    return count;
}

#endif
