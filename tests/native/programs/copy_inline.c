/* SPDX-License-Identifier: Apache-2.0 */
/* copy_inline: the fixed-size copies, at every pair of offsets of a few, between canaries and
 * beside pages that are not there. Compiled with several flags, and as C++. */
#include <okosu/copy_inline.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZES(X) X(16) X(32) X(64) X(128) X(256) X(512) X(1024) X(2048) X(4096)
#define OUT_OF_LINE(bytes)                                                                         \
    static void copy_##bytes(void *dst, const void *src)                                           \
    {                                                                                              \
        okosu_copy_##bytes(dst, src);                                                              \
    }
#define ROW(bytes) {bytes, copy_##bytes},

SIZES(OUT_OF_LINE)

struct row {
    size_t bytes;
    void (*copy)(void *dst, const void *src);
};

static const struct row rows[] = {SIZES(ROW)};

enum { MOST = 4096, MARGIN = 64 };
static unsigned char from[MOST + 128], got[MOST + 2 * MARGIN + 64], want[sizeof(got)];

static int one(const struct row *row, size_t to, size_t at)
{
    memset(got, 0xcc, sizeof(got));
    memset(want, 0xcc, sizeof(want));
    row->copy(got + MARGIN + to, from + at);
    for (size_t i = 0; i < row->bytes; i++)
        want[MARGIN + to + i] = from[at + i];
    if (!memcmp(got, want, sizeof(got)))
        return 0;
    printf("okosu_copy_%zu(to %zu, from %zu) is wrong\n", row->bytes, to, at);
    return 1;
}

/* A page and what the row copies, with pages that are not there before and after. */
static int guarded(const struct row *row)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (MOST + page - 1) / page * page;
    unsigned char *memory = (unsigned char *)mmap(NULL, 2 * inner + 3 * page, PROT_NONE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *a = memory + page, *b = a + inner + page;

    if (memory == (unsigned char *)MAP_FAILED || mprotect(a, inner, PROT_READ | PROT_WRITE) ||
        mprotect(b, inner, PROT_READ | PROT_WRITE))
        return 1;
    memcpy(b, from, row->bytes);
    row->copy(a, b);
    int wrong = memcmp(a, from, row->bytes) != 0;
    memcpy(b + inner - row->bytes, from, row->bytes);
    row->copy(a + inner - row->bytes, b + inner - row->bytes);
    wrong |= memcmp(a + inner - row->bytes, from, row->bytes) != 0;
    munmap(memory, 2 * inner + 3 * page);
    return wrong;
}

int main(void)
{
    int wrong = 0;

    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)((i * 0x9e3779b97f4a7c15u) >> 56);
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        for (size_t to = 0; to < 64; to++)
            for (size_t at = to % 3; at < 64; at += 3)
                wrong |= one(&rows[r], to, at);
        wrong |= guarded(&rows[r]);
    }
    printf("%s: vectors of %d bytes\n", wrong ? "WRONG" : "ok", OKOSU_COPY_INLINE_WIDTH);
    return wrong;
}
