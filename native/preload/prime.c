/* SPDX-License-Identifier: Apache-2.0 */
/* libokosu-prime.so: has glibc's malloc read its tunables from a clean stack.
 *
 * With glibc.malloc.hugetlb=1 malloc's first call reads .../transparent_hugepage/enabled into an
 * array of 24 bytes on the stack, of which the file fills 23, and compares that by strcmp
 * (sysdeps/unix/sysv/linux/malloc-hugepages.c in glibc 2.35 and 2.36; later versions end the
 * string). If the last byte is not 0 by chance, malloc takes the mode for an unknown one and does
 * not ask for huge pages, without a word. Where the loader has just bound a function lazily, the
 * registers that it saved lie there: sort of Debian 12 had no huge pages in 22 of 60 runs.
 *
 * So this library has that first call made from its constructor, over a stack of zeros. It is bound
 * at its start (-z now) and initialised before all others (-z initfirst). It calls malloc by glibc's
 * own name, so that it primes no other allocator. */
#include "export.h"

#include <stddef.h>
#include <string.h>

/* The frames of malloc's initialisation are of some hundred bytes. */
enum { DEPTH = 16384 };

extern __attribute__((weak)) void *__libc_malloc(size_t bytes);
extern __attribute__((weak)) void __libc_free(void *block);

__attribute__((noinline)) static void clean_stack(void)
{
    char below[DEPTH];

    memset(below, 0, sizeof(below));
    __asm__ volatile("" : : "r"(below) : "memory");
}

__attribute__((constructor)) static void prime(void)
{
    if (!__libc_malloc || !__libc_free)
        return;
    clean_stack();
    __libc_free(__libc_malloc(1));
}
