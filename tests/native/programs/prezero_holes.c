/* SPDX-License-Identifier: Apache-2.0 */
/* prezero_holes: what a program may do to the addresses of a mapping, in its parts: unmap them, move
 * them, map something else there. It prints its mode and how many
 * mappings the pool served; exit status 1 names what is wrong. */
#include "block_check.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char *map_at(void *at, size_t bytes, int flags)
{
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    CHECK(p != MAP_FAILED);
    return p;
}

static unsigned served, turns;

/* A mapping that is in memory already, as the pool's are; after some tries any. */
static unsigned char *map(size_t bytes)
{
    static unsigned char there[16 * MIB / PAGE];

    for (unsigned tries = 0;; tries++) {
        unsigned char *p = map_at(NULL, bytes, 0);

        CHECK(!mincore(p, bytes, there));
        if (there[0] & 1 && there[bytes / PAGE - 1] & 1) {
            served++;
            return p;
        }
        if (tries == 20)
            return p;
        CHECK(!munmap(p, bytes));
        usleep(500);
    }
}

/* The pages of a mapping hold a value that differs from page to page. */
static void write_pages(unsigned char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i += PAGE)
        memset(p + i, (int)(seed + i / PAGE) % 255 + 1, 64);
}

static int has_pages(const unsigned char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i += PAGE)
        if (p[i] != (unsigned char)((seed + i / PAGE) % 255 + 1) || p[i] != p[i + 63])
            return 0;
    return 1;
}

/* A mapping is aligned by unmapping its ends; libc then maps its own blocks wherever the kernel has
 * room, and those must keep their content when they grow. */
static void check_tail(void)
{
    unsigned char *kept[8], *block[8];

    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 17));
    for (unsigned turn = 0; turn < turns; turn++) {
        for (unsigned i = 0; i < 8; i++) {
            unsigned char *whole = map(6 * MIB);

            write_pages(whole, 6 * MIB, i);
            kept[i] = whole + MIB;
            CHECK(!munmap(whole, MIB) && !munmap(kept[i] + 2 * MIB, 3 * MIB));
        }
        for (unsigned i = 0; i < 8; i++) {
            block[i] = malloc(2 * MIB - 64 * PAGE + i * PAGE);
            write_pages(block[i], MIB, turn + i);
        }
        for (unsigned i = 0; i < 8; i++) {
            CHECK(malloc_usable_size(block[i]) >= MIB);
            block[i] = realloc(block[i], 3 * MIB);
            CHECK(has_pages(block[i], MIB, turn + i));
            CHECK(has_pages(kept[i], 2 * MIB, i + MIB / PAGE));
        }
        for (unsigned i = 0; i < 8; i++) {
            free(block[i]);
            CHECK(!munmap(kept[i], 2 * MIB));
        }
        usleep(2000);
    }
}

/* Mappings that move and grow, shrink, or go to a fixed place, one after the other. Then as much as
 * there is in blocks of 4 MiB, which a launcher counts: what moved away can be served again. */
static void check_moved(void)
{
    for (unsigned i = 0; i < 10 * turns; i++) {
        unsigned char *p = map(6 * MIB), *q, *at;

        write_pages(p, 6 * MIB, i);
        switch (i % 4) {
        case 0:
            q = mremap(p, 6 * MIB, 9 * MIB, MREMAP_MAYMOVE);
            CHECK(q != MAP_FAILED && has_pages(q, 6 * MIB, i) && !q[9 * MIB - 1]);
            CHECK(!munmap(q, 9 * MIB));
            break;
        case 1:
            q = mremap(p + 2 * MIB, 3 * MIB, 4 * MIB, MREMAP_MAYMOVE);
            CHECK(q != MAP_FAILED && has_pages(q, 3 * MIB, i + 2 * MIB / PAGE));
            CHECK(has_pages(p, 2 * MIB, i) && has_pages(p + 5 * MIB, MIB, i + 5 * MIB / PAGE));
            CHECK(!munmap(p, 2 * MIB) && !munmap(p + 5 * MIB, MIB) && !munmap(q, 4 * MIB));
            break;
        case 2:
            CHECK(mremap(p, 6 * MIB, 2 * MIB, 0) == p && has_pages(p, 2 * MIB, i));
            CHECK(!munmap(p, 2 * MIB));
            break;
        case 3:
            at = map(7 * MIB);
            q = mremap(p, 6 * MIB, 6 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, at);
            CHECK(q == at && has_pages(q, 6 * MIB, i) && !munmap(q, 7 * MIB));
            break;
        }
        usleep(500);
    }
    for (unsigned i = 0; i < 1000; i++) {
        unsigned char *p = malloc(4 * MIB);

        if (!p)
            break;
        *p = 1;
    }
}

/* A program unmaps a place, and knows it still when it maps something there: the content stays,
 * whatever else is allocated meanwhile. */
static void check_fixed(void)
{
    unsigned char *place[8], *block;

    for (unsigned turn = 0; turn < turns; turn++) {
        for (unsigned i = 0; i < 8; i++) {
            place[i] = map(4 * MIB);
            write_pages(place[i], 4 * MIB, 1);
        }
        for (unsigned i = 0; i < 8; i++) {
            CHECK(!munmap(place[i], 4 * MIB));
            CHECK(map_at(place[i], i % 2 ? 4 * MIB : MIB, MAP_FIXED) == place[i]);
            CHECK(!place[i][0]);
            write_pages(place[i], MIB, turn + i);
        }
        for (unsigned i = 0; i < 8; i++) {
            block = calloc(1, 4 * MIB);
            for (size_t k = 0; k < 4 * MIB; k += PAGE)
                CHECK(!block[k]);
            write_pages(block, 4 * MIB, 77);
            free(block);
        }
        usleep(2000);
        for (unsigned i = 0; i < 8; i++) {
            CHECK(has_pages(place[i], MIB, turn + i));
            CHECK(!munmap(place[i], i % 2 ? 4 * MIB : MIB));
        }
    }
}

/* Advice empties pages, whatever memory they have; then the mapping moves, and what it grew by is
 * the program's alone. */
static void check_emptied(void)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        unsigned char *p[4];

        for (unsigned i = 0; i < 4; i++) {
            p[i] = map(4 * MIB);
            write_pages(p[i], 4 * MIB, i);
        }
        for (unsigned i = 0; i < 4; i++) {
            CHECK(!madvise(p[i] + MIB, MIB, MADV_DONTNEED));
            for (size_t k = 0; k < MIB; k += PAGE)
                CHECK(!p[i][MIB + k]);
            p[i] = mremap(p[i], 4 * MIB, 6 * MIB, MREMAP_MAYMOVE);
            if (p[i] == MAP_FAILED)
                continue;
            for (size_t k = 4 * MIB; k < 6 * MIB; k += PAGE)
                CHECK(!p[i][k]);
            write_pages(p[i] + 4 * MIB, 2 * MIB, 99);
        }
        for (unsigned i = 0; i < 4; i++) {
            if (p[i] == MAP_FAILED)
                continue;
            CHECK(has_pages(p[i], MIB, i) && has_pages(p[i] + 4 * MIB, 2 * MIB, 99));
            CHECK(has_pages(p[i] + 2 * MIB, 2 * MIB, i + 2 * MIB / PAGE));
            CHECK(!munmap(p[i], 6 * MIB));
        }
        usleep(2000);
    }
}

/* One call unmaps neighbouring mappings, whoever they came from, and may do so again. */
static void check_neighbours(void)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        unsigned char *p[12];

        for (unsigned i = 0; i < 12; i++) {
            p[i] = map(2 * MIB + i % 3 * MIB);
            write_pages(p[i], 2 * MIB, i);
        }
        for (unsigned i = 0; i < 12; i++) {
            for (unsigned k = 0; k < 12; k++) {
                if (!p[i] || !p[k] || p[k] != p[i] + 2 * MIB + i % 3 * MIB)
                    continue;
                CHECK(!munmap(p[i], 4 * MIB + i % 3 * MIB + k % 3 * MIB));
                CHECK(!munmap(p[i], 4 * MIB + i % 3 * MIB + k % 3 * MIB));
                p[i] = p[k] = NULL;
            }
        }
        for (unsigned i = 0; i < 12; i++)
            if (p[i])
                CHECK(has_pages(p[i], 2 * MIB, i) && !munmap(p[i], 2 * MIB + i % 3 * MIB));
        usleep(2000);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } modes[] = {{"tail", check_tail},
                 {"moved", check_moved},
                 {"fixed", check_fixed},
                 {"emptied", check_emptied},
                 {"neighbours", check_neighbours}};

    unsigned char *zero[8];

    turns = argc > 2 ? (unsigned)atoi(argv[2]) : 40;

    /* The pool is made at the second large request, and keeps half of what was held at once
     * clean. */
    for (unsigned i = 0; i < 8; i++)
        memset(zero[i] = calloc(1, 12 * MIB), 1, 12 * MIB);
    for (unsigned i = 0; i < 8; i++)
        free(zero[i]);
    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].check();
            return printf("%s %u\n", modes[i].name, served) < 0;
        }
    }
    return 2;
}
