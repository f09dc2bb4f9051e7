/* SPDX-License-Identifier: Apache-2.0 */
/* commands WHAT: commands to SSH-s and accesses that the library never makes, by hand.
 *
 *   registers  all that can be read; RES and ERR written and read again
 *   answers    commands that are wrong, one after the other, and their errors
 *   flags      threads that wait for flags, woken by a store, by WAKE, and by time
 *   late       waits that end by time, in every place of SSH-m's round of threads
 *   full       a thread whose first commands come while the outgoing buffer is full
 *   burst      likewise on all PEs at the same time, in as few instructions as there can be
 *   flood      likewise, while SSH-m sorts many threads by their goals (edf)
 *   goals      deadlines of threads, right and wrong handles
 *   ids        as many threads as there are ids, and one more
 *   load, fetch, store, byte   accesses to addresses at which nothing is */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

enum { FLAG = 0, TIMED = 0x100, MOST = 8, EDF = 4 };

struct answer {
    unsigned result, error;
};

#define COMMAND(number, arg0, arg1, arg2, arg3, last)                                              \
    ({                                                                                             \
        struct answer answer;                                                                      \
        __asm__ volatile(ASM_COP2("mtc2 %2,$0\n\tmtc2 %3,$1\n\tmtc2 %4,$2\n\tmtc2 %5,$3\n\t"       \
                                  "mtc2 %6,$" #number "\n\tmfc2 %0,$5\n\tmfc2 %1,$6\n\t")          \
                         : "=&r"(answer.error), "=&r"(answer.result)                               \
                         : "r"(arg0), "r"(arg1), "r"(arg2), "r"(arg3), "r"(last)                   \
                         : "memory");                                                              \
        answer;                                                                                    \
    })

static void tell(const char *what, struct answer answer)
{
    printf("%s %x %u\n", what, answer.result, answer.error);
}

static void *nothing(void *argument)
{
    return argument;
}

static void registers(void)
{
    unsigned res, err;

    printf("%x %x %x %x\n", COP2_READ(7), COP2_READ(8), COP2_READ(9), COP2_READ(12));
    printf("%x %x %x %x\n", COP2_READ(0), COP2_READ(13), COP2_READ(14), COP2_READ(15));
    __asm__ volatile(ASM_COP2("mtc2 %2,$5\n\tmtc2 %3,$6\n\tmfc2 %0,$5\n\tmfc2 %1,$6\n\t")
                     : "=&r"(err), "=&r"(res)
                     : "r"(0xa5u), "r"(0x12345678u));
    printf("%x %x\n", res, err);
    printf("%u %u\n", COP2_READ(10), COP2_READ(11));
}

static void answers(void)
{
    static volatile unsigned word = 7;
    pthread_t thread;

    pthread_create(&thread, NULL, nothing, (void *)5);
    tell("join itself", COMMAND(18, 0, 0, 0, 0, COP2_READ(7)));
    tell("join nobody", COMMAND(18, 0, 0, 0, 0, 0x1234));
    tell("join no handle", COMMAND(18, 0, 0, 0, 0, 0x10100));
    tell("detach nobody", COMMAND(19, 0, 0, 0, 0, 0x7f7f));
    tell("differs", COMMAND(21, &word, 2, 0, 0, 8));
    tell("differs, timed", COMMAND(21, &word, TIMED | 2, 1, 0, 8));
    tell("late", COMMAND(21, &word, TIMED | 2, 1, 0, 7));
    tell("wake nobody", COMMAND(22, &word, 0, 0, 0, 3));
    tell("wake all", COMMAND(22, &word, 0, 0, 0, 0xfffff));
    tell("priority of nobody", COMMAND(24, 0x1234, 0, 0, 0, 3));
    tell("detach", COMMAND(19, 0, 0, 0, 0, thread));
    tell("detach again", COMMAND(19, 0, 0, 0, 0, thread));
    tell("yield", COMMAND(20, 0, 0, 0, 0, 0));
}

static volatile unsigned flag, go_on[MOST];

static void *wait_for(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    /* The last thread waits with a deadline that never comes: its upper half is large. */
    struct answer answer = COMMAND(21, &flag, self == 3 ? TIMED | FLAG : FLAG, 0u, 9u, 0u);

    go_on[self] = 1 + answer.error;
    return NULL;
}

static void flags(void)
{
    pthread_t threads[MOST];
    unsigned start;

    for (unsigned at = 0; at < 4; at++)
        pthread_create(&threads[at], NULL, wait_for, (void *)(uintptr_t)at);
    start = COP2_READ(10);
    while (COP2_READ(10) - start < 1500)
        ;
    tell("one", COMMAND(22, &flag, 0, 0, 0, 1));
    tell("two", COMMAND(22, &flag, 0, 0, 0, 2));
    /* A store that leaves the word as it is wakes nobody; one that changes it, all. */
    flag = 0;
    flag = 1;
    for (unsigned at = 0; at < 4; at++) {
        pthread_join(threads[at], NULL);
        printf("%u\n", go_on[at]);
    }
}

enum { LATE_ROUNDS = 40, LATE = 150 };

static void late(void)
{
    static volatile unsigned word;
    unsigned late = 0;

    for (unsigned round = 0; round < LATE_ROUNDS; round++) {
        unsigned until = COP2_READ(10) / 16 * 16 + LATE + round;

        late += COMMAND(21, &word, TIMED | 2, until, 0, 0).error != 0;
    }
    printf("%u\n", late);
}

static void *hurry(void *argument)
{
    pthread_t thread;

    for (int round = 0; round < 3; round++) {
        pthread_create(&thread, NULL, nothing, argument);
        pthread_detach(thread);
    }
    sched_yield();
    return argument;
}

/* Creations fill a PE's buffer, then its thread blocks: the next one's messages queue behind. */
static void full(void)
{
    pthread_t threads[MOST];
    pthread_t child;

    for (unsigned at = 0; at < MOST; at++)
        pthread_create(&threads[at], NULL, hurry, (void *)(uintptr_t)at);
    for (unsigned at = 0; at < MOST; at++) {
        void *value = NULL;
        int failed = pthread_create(&child, NULL, nothing, (void *)(uintptr_t)(at + 100));

        sched_yield();
        pthread_join(threads[at], &value);
        printf("%u", (unsigned)(uintptr_t)value);
        if (!failed && pthread_join(child, &value) == 0)
            printf(" %u\n", (unsigned)(uintptr_t)value);
    }
}

static volatile unsigned born;
static pthread_barrier_t start_line;

/* The thread's first instruction is a command. */
__asm__(".text\n\t.set push\n\t.set noreorder\nbaby:\n\tmtc2 $0,$20\n\tli $8,1\n\tmtc2 $8,$4\n\t"
        "lwc2 $4,0($4)\n\tmtc2 $0,$17\n\tnop\n\t.set pop");
void baby(void);

static void *parent(void *argument)
{
    pthread_barrier_wait(&start_line);
    /* Three detached children, and an end; 1000 and 100 more where there was no room for a group of
     * messages before and behind them. */
    __asm__ volatile(ASM_COP2("bc2t 1f\n\tnop\n\taddiu %0,%0,1000\n1:\t"
                              ".rept 3\n\tmtc2 %1,$0\n\tmtc2 %2,$1\n\tmtc2 %3,$16\n\t.endr\n\t"
                              "bc2t 1f\n\tnop\n\taddiu %0,%0,100\n1:\tmtc2 %0,$17\n\t")
                     : "+r"(argument)
                     : "r"(baby), "r"(16u), "r"(&born)
                     : "memory");
    return NULL;
}

static void burst(void)
{
    unsigned count = pe_count();
    pthread_t threads[MOST];

    pthread_barrier_init(&start_line, NULL, count);
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned at = 0; at < count; at++)
            pthread_create(&threads[at], NULL, parent, (void *)(uintptr_t)(at + 3));
        for (unsigned at = 0; at < count; at++) {
            void *value = NULL;

            pthread_join(threads[at], &value);
            printf("%u", (unsigned)(uintptr_t)value);
        }
    }
    printf(" %u\n", born);
}

/* The thread's first instruction ends it. */
__asm__(".text\n\t.set push\n\t.set noreorder\nstillborn:\n\tmtc2 $0,$17\n\tnop\n\t.set pop");
void stillborn(void);

#define CHILDREN(times) ".rept " #times "\n\tmtc2 %1,$0\n\tmtc2 %2,$1\n\tmtc2 $0,$16\n\t.endr\n\t"

static void *pour(void *argument)
{
    unsigned start;

    pthread_barrier_wait(&start_line);
    /* Each id is put behind all others; then ids are granted anew. */
    __asm__ volatile(ASM_COP2(CHILDREN(12) "\n\t") : "+r"(argument) : "r"(stillborn), "r"(16u));
    start = COP2_READ(10);
    while (COP2_READ(10) - start < 500)
        ;
    /* Words alone behind the pairs, so that the buffer gets room for one message, and no more. */
    __asm__ volatile(ASM_COP2(CHILDREN(4) ".rept 5\n\tmtc2 %3,$25\n\t.endr\n\tmtc2 %0,$17\n\t")
                     : "+r"(argument)
                     : "r"(stillborn), "r"(16u), "r"(EDF));
    return NULL;
}

static void flood(void)
{
    unsigned count = pe_count();
    pthread_t threads[MOST];

    for (unsigned round = 0; round < 4; round++) {
        pthread_barrier_init(&start_line, NULL, count);
        for (unsigned at = 0; at < count; at++)
            pthread_create(&threads[at], NULL, pour, (void *)(uintptr_t)(at + 3));
        for (unsigned at = 0; at < count; at++)
            pthread_join(threads[at], NULL);
        pthread_barrier_destroy(&start_line);
    }
    puts("ok");
}

static void goals(void)
{
    static volatile unsigned word;
    void *value = NULL;
    pthread_t thread;

    /* What was set for one command is no operand of the next: the child is not detached. */
    tell("wake", COMMAND(22, &word, 0x1f, 0, 0, 1));
    pthread_create(&thread, NULL, nothing, (void *)77);
    printf("%d", pthread_join(thread, &value));
    printf(" %u\n", (unsigned)(uintptr_t)value);
    pthread_create(&thread, NULL, nothing, NULL);
    tell("goal", COMMAND(27, thread, 0, 0, 0, 100000));
    tell("own goal", COMMAND(27, COP2_READ(7), 0, 0, 0, 5));
    tell("goal of nobody", COMMAND(27, 0x1234, 0, 0, 0, 5));
    tell("policy", COMMAND(25, 0, 0, 0, 0, 4));
    pthread_join(thread, NULL);
}

static volatile unsigned leave;

static void *stay(void *argument)
{
    while (!leave)
        sched_yield();
    return argument;
}

static void ids(void)
{
    static pthread_t threads[256];
    unsigned made = 0;
    int error;

    while ((error = pthread_create(&threads[made], NULL, stay, (void *)(uintptr_t)made)) == 0)
        made++;
    printf("%u then %d\n", made, error);
    leave = 1;
    while (made > 0)
        pthread_join(threads[--made], NULL);
    error = pthread_create(&threads[0], NULL, nothing, NULL);
    printf("again %d\n", error);
}

static void nowhere(char how)
{
    volatile unsigned char *far = (volatile unsigned char *)0xa0000000u;

    if (how == 'l')
        printf("%u\n", *(volatile unsigned *)far);
    else if (how == 's')
        *(volatile unsigned *)far = 1;
    else if (how == 'b')
        far[3] = 1;
    else
        ((void (*)(void))0x80ffff00u)();
    /* The error of a store is reported later, if at all. */
    printf("%u\n", *(volatile unsigned *)&leave);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"registers", registers}, {"answers", answers}, {"flags", flags},
               {"late", late},           {"full", full},       {"burst", burst},
               {"flood", flood},         {"goals", goals},     {"ids", ids}};

    for (unsigned at = 0; argc == 2 && at < sizeof(all) / sizeof(all[0]); at++)
        if (strcmp(argv[1], all[at].name) == 0) {
            all[at].run();
            return 0;
        }
    nowhere(argc == 2 ? argv[1][0] : 'f');
    return 2;
}
