/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a kernel which uses the vector registers preserves those of a program:
 *
 *   check_registers [ROUNDS]
 *
 * Two processes on whatever CPUs there are fill their registers with values of their own, then
 * enter the kernel over and over, by copy-on-write faults and by system calls, with nothing between
 * that could reload a register, and look at every one of them. Prints `ok ROUNDS COPIES`, or what
 * changed, and ends with 1. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REGISTERS = 16, REGISTER = 32, PAGES = 64, PAGE = 4096, ROUND_DOWN = 0x3f80 };

typedef uint8_t file[REGISTERS * REGISTER];

#define EACH(line)                                                                                 \
    line(0) line(1) line(2) line(3) line(4) line(5) line(6) line(7) line(8) line(9) line(10)       \
        line(11) line(12) line(13) line(14) line(15)
#define LOAD_YMM(n) "vmovdqu 32*" #n "(%[values]), %%ymm" #n "\n\t"
#define STORE_YMM(n) "vmovdqu %%ymm" #n ", 32*" #n "(%[found])\n\t"
#define LOAD_XMM(n) "movdqu 32*" #n "(%[values]), %%xmm" #n "\n\t"
#define STORE_XMM(n) "movdqu %%xmm" #n ", 32*" #n "(%[found])\n\t"
#define CLOBBERED                                                                                  \
    "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",      \
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",        \
        "xmm14", "xmm15"

/* Write to each page, which the kernel copies, and give the CPU away after each. */
#define ENTER_THE_KERNEL                                                                           \
    "1: incb (%[area])\n\t"                                                                        \
    "movl %[yield], %%eax\n\t"                                                                     \
    "syscall\n\t"                                                                                  \
    "addq $4096, %[area]\n\t"                                                                      \
    "decq %[pages]\n\t"                                                                            \
    "jnz 1b\n\t"

static uint32_t wide_turn(const uint8_t *values, uint8_t *found, uint8_t *area)
{
    uint32_t control = ROUND_DOWN;
    uint64_t pages = PAGES;

    __asm__ volatile("ldmxcsr %[control]\n\t" EACH(LOAD_YMM)
                         ENTER_THE_KERNEL EACH(STORE_YMM) "stmxcsr %[control]\n\tvzeroupper"
                     : [area] "+&r"(area), [pages] "+&r"(pages), [control] "+m"(control)
                     : [values] "r"(values), [found] "r"(found), [yield] "i"(SYS_sched_yield)
                     : CLOBBERED);
    return control;
}

static uint32_t narrow_turn(const uint8_t *values, uint8_t *found, uint8_t *area)
{
    uint32_t control = ROUND_DOWN;
    uint64_t pages = PAGES;

    __asm__ volatile("ldmxcsr %[control]\n\t" EACH(LOAD_XMM)
                         ENTER_THE_KERNEL EACH(STORE_XMM) "stmxcsr %[control]"
                     : [area] "+&r"(area), [pages] "+&r"(pages), [control] "+m"(control)
                     : [values] "r"(values), [found] "r"(found), [yield] "i"(SYS_sched_yield)
                     : CLOBBERED);
    return control;
}

/* Fork a child that shares the pages, so that each page is copied when the parent writes to it. The
 * caller kills and reaps the child. */
static pid_t hold_pages(void)
{
    pid_t child = fork();

    if (!child) {
        for (;;)
            pause();
    }
    return child;
}

static int check(unsigned seed, int rounds)
{
    static file values, found;
    uint8_t *area =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int wide = __builtin_cpu_supports("avx2"), width = wide ? REGISTER : REGISTER / 2;

    if (area == MAP_FAILED)
        return perror("mmap"), 1;
    madvise(area, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < sizeof(values); i++)
        values[i] = (uint8_t)(seed * 131 + i * 7 + (i >> 8));
    for (size_t i = 0; i < PAGES * PAGE; i++)
        area[i] = (uint8_t)(i * 13 + (i >> 12));
    for (int round = 1; round <= rounds; round++) {
        pid_t holder = hold_pages();
        if (holder < 0)
            return perror("fork"), 1;
        uint32_t control = (wide ? wide_turn : narrow_turn)(values, found, area);
        kill(holder, 9);
        waitpid(holder, NULL, 0);
        __asm__ volatile("ldmxcsr %0" : : "m"((uint32_t){0x1f80}));
        if (control != ROUND_DOWN)
            return printf("mxcsr is %#x after round %d\n", control, round), 1;
        for (int n = 0; n < REGISTERS; n++)
            if (memcmp(found + n * REGISTER, values + n * REGISTER, (size_t)width))
                return printf("register %d changed in round %d\n", n, round), 1;
        for (size_t i = 0; i < PAGES * PAGE; i++) {
            uint8_t expected = (uint8_t)(i * 13 + (i >> 12) + (i % PAGE ? 0 : (size_t)round));
            if (area[i] != expected)
                return printf("byte %zu is %d, not %d, in round %d\n", i, area[i], expected, round),
                       1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20, status;
    pid_t other = fork();

    if (other < 0)
        return perror("fork"), 1;
    if (!other)
        _exit(check(2, rounds) || fflush(stdout));
    int failed = check(1, rounds);
    if (waitpid(other, &status, 0) != other || status)
        failed = 1;
    if (!failed)
        printf("ok %d %d\n", rounds, 2 * rounds * PAGES);
    return failed;
}
