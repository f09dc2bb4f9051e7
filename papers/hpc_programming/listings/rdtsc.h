/* SPDX-License-Identifier: Apache-2.0 */
/* rdtsc: the two macros of section 2 of the paper. X is an unsigned long long. */
#ifndef OKOSU_PAPERS_HPC_RDTSC_H
#define OKOSU_PAPERS_HPC_RDTSC_H

/* They are what the paper prints, and are not serialised: the processor may read the counter before
 * earlier instructions end. <okosu/clock.h> is what to use in earnest.
 *
 * Each form is for its own mode only. The second, compiled for x86-64, loses half of the counter
 * without a word: there "=A" is rax or rdx, not the pair. */
#ifdef __x86_64__
#define RDTSC(X) asm volatile("rdtsc; shlq $32, %%rdx; orq %%rdx, %%rax" : "=a"(X)::"%rdx")
#else
#define RDTSC(X) asm volatile("rdtsc" : "=A"(X))
#endif

#endif
