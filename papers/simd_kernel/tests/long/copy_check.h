// SPDX-License-Identifier: Apache-2.0
// Checks of copy and set routines in user space, where a page without access stops what reads or
// writes too much. The first fault or wrong byte is printed and ends the program.

#ifndef COPY_CHECK_H
#define COPY_CHECK_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    page = 4096,
    area = 6 * page,
    longest_at_page_ends = 4 * page + 100,
    margin = 64,
};

typedef void *copy_fn(void *to, const void *from, size_t len);
typedef void *set_fn(void *to, int byte, size_t len);

struct routine {
    const char *name;
    copy_fn *copy;
    set_fn *set;
};

// The text that the fault's handler prints.
static const char *doing = "";
static size_t doing_len;

static void on_fault(int number)
{
    printf("FAULT %s, length %zu, signal %d\n", doing, doing_len, number);
    fflush(stdout);
    _exit(1);
}

static void fail(const char *what, size_t len, size_t from, size_t to)
{
    printf("WRONG %s: %s, length %zu, from %zu, to %zu\n", doing, what, len, from, to);
    exit(1);
}

static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 7 + (i >> 8) + 1);
}

// `area` bytes between two pages without access.
static uint8_t *guarded(void)
{
    uint8_t *at = mmap(NULL, area + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, area, PROT_READ | PROT_WRITE))
        abort();
    return at + page;
}

static void fill(uint8_t *to, size_t len, uint8_t byte)
{
    for (volatile uint8_t *at = to; at < to + len; at++)
        *at = byte;
}

// `len` bytes at `to` hold the pattern from `first`, or `byte` if that is not negative; the margins
// are untouched.
static void check(const uint8_t *to, size_t before, size_t len, size_t after, size_t first,
                  int byte)
{
    for (size_t i = 0; i < before; i++)
        if (to[-1 - (ptrdiff_t)i] != 0xee)
            fail("byte before", len, first, (size_t)to % page);
    for (size_t i = 0; i < len; i++)
        if (to[i] != (byte < 0 ? pattern(first + i) : (uint8_t)byte))
            fail("byte within", len, first, (size_t)to % page);
    for (size_t i = 0; i < after; i++)
        if (to[len + i] != 0xee)
            fail("byte behind", len, first, (size_t)to % page);
}

static void each_offset(const struct routine *r, uint8_t *from, uint8_t *to, size_t longest)
{
    doing = r->name;
    for (size_t len = 0; len <= longest; len++) {
        doing_len = len;
        for (size_t offset = 0; offset < 64; offset++) {
            // Both ends move: 64 of the 4096 pairs for each length, other ones for the next.
            size_t f = (offset * 13 + len * 5) % 64, t = margin + offset;
            fill(to, len + 3 * margin, 0xee);
            if (r->copy(to + t, from + f, len) != to + t)
                fail("returned", len, f, t);
            check(to + t, margin, len, margin, f, -1);
            fill(to, len + 3 * margin, 0xee);
            if (r->set(to + t, 0x7a3, len) != to + t)
                fail("returned", len, f, t);
            check(to + t, margin, len, margin, 0, 0xa3);
        }
    }
}

static void at_page_ends(const struct routine *r, uint8_t *from, uint8_t *to)
{
    for (size_t len = 0; len <= longest_at_page_ends; len += len < 2100 ? 1 : 61) {
        size_t last = area - len;
        doing_len = len;
        r->copy(to + last, from + last, len);
        check(to + last, 0, len, 0, last, -1);
        r->copy(to, from, len);
        check(to, 0, len, 0, 0, -1);
        r->copy(to, from + last, len);
        check(to, 0, len, 0, last, -1);
        r->set(to + last, 0xc3, len);
        check(to + last, 0, len, 0, 0, 0xc3);
        r->set(to, 0x3c, len);
        check(to, 0, len, 0, 0, 0x3c);
    }
}

// Blocks that overlap are forbidden. Blocks that touch are not, nor is a block onto itself:
// compilers copy structures so.
static void neighbours(const struct routine *r, uint8_t *to, size_t longest)
{
    for (size_t len = 1; len <= longest; len++) {
        doing_len = len;
        for (size_t i = 0; i < len; i++)
            to[i] = pattern(i);
        r->copy(to, to, len);
        check(to, 0, len, 0, 0, -1);
        r->copy(to + len, to, len);
        check(to + len, 0, len, 0, 0, -1);
        fill(to, len, 0);
        r->copy(to, to + len, len);
        check(to, 0, len, 0, 0, -1);
    }
}

static void catch_faults(void)
{
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    signal(SIGILL, on_fault);
}

// `from` holds the pattern throughout; every length up to `longest` is tried at every offset in a
// line.
static void everything(const struct routine *r, uint8_t *from, uint8_t *to, size_t longest)
{
    each_offset(r, from, to, longest);
    at_page_ends(r, from, to);
    neighbours(r, to, longest);
}

#endif
