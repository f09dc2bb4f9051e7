/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by the commands of SSH-s in custom-0, for a core that is not ours and has no library: they are created, yield, take a lock, meet at
 * a barrier and are joined. Prints a line for each thread, and ends with 0, or with the number of what was wrong. */
#include <stdint.h>

enum { ARG0 = 0, ARG1 = 1, ERR = 5, RES = 6, SELF = 7, PE = 8, PES = 9, CYCLE = 10, CONFIG = 12 };
enum { CREATE = 16, JOIN = 18, YIELD = 20, WAIT = 21, BARRIER = 23 };
enum { BLOCKED = 255, NO_SUCH_THREAD = 3, MUTEX = 1 };
enum { THREADS = 6, ROUNDS = 5 };
/* Where CONFIG has the size of stacks, and what switch.S set it to. */
enum { STACK_SHIFT = 12, STACK_MASK = 31, LOG2_STACK = 12 };

#define PUT(number, value)                                                                         \
    __asm__ volatile(".insn r 0x0b, 0, %0, zero, %1, zero" : : "i"(number), "r"(value) : "memory")
#define GET(number)                                                                                \
    ({                                                                                             \
        uint32_t got;                                                                              \
        __asm__ volatile(".insn r 0x0b, 1, %1, %0, zero, zero"                                     \
                         : "=r"(got)                                                               \
                         : "i"(number)                                                             \
                         : "memory");                                                              \
        got;                                                                                       \
    })

struct answer {
    uint32_t result, error;
};

struct answer stop_here(void);

static volatile uint32_t lock, counter, inside, met, ran_on;
static volatile uint32_t yields[THREADS];

/* The answer to the command that was given last, which may come when the thread has been woken. */
static struct answer answered(void)
{
    struct answer answer = {.error = GET(ERR)};

    if (answer.error == BLOCKED)
        return stop_here();
    answer.result = GET(RES);
    return answer;
}

static void print(const char *text)
{
    while (*text)
        *(volatile uint8_t *)0xbf000000 = (uint8_t)*text++;
}

static uint32_t create(uint32_t (*entry)(uint32_t), uint32_t argument)
{
    PUT(ARG0, entry);
    PUT(CREATE, argument);
    return answered().result;
}

static uint32_t work(uint32_t number)
{
    uint32_t wrong = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        PUT(ARG0, &lock);
        PUT(ARG1, MUTEX);
        PUT(WAIT, 0);
        wrong |= answered().error;
        wrong |= inside++;
        counter += number + 1;
        ran_on |= 1u << GET(PE);
        PUT(YIELD, 0);
        (void)answered();
        inside--;
        lock = 0;
        yields[number]++;
    }
    PUT(ARG0, &met);
    PUT(BARRIER, THREADS);
    wrong |= answered().error;
    for (uint32_t other = 0; other < THREADS; other++)
        wrong |= yields[other] != ROUNDS;
    return wrong ? 0 : number * number + 7;
}

int main(void)
{
    uint32_t handles[THREADS], sum = 0, began = GET(CYCLE);

    for (uint32_t n = 0; n < THREADS; n++) {
        handles[n] = create(work, n);
        sum += ROUNDS * (n + 1);
        if (handles[n] == 0)
            return 1;
    }
    for (uint32_t n = 0; n < THREADS; n++) {
        char line[] = "thread ? is joined\n";
        struct answer answer;

        PUT(JOIN, handles[n]);
        answer = answered();
        if (answer.error != 0 || answer.result != n * n + 7)
            return 2;
        line[7] = (char)('0' + n);
        print(line);
    }
    /* A handle is of one thread, which has been joined. */
    PUT(JOIN, handles[0]);
    if (answered().error != NO_SUCH_THREAD)
        return 3;
    if (counter != sum || inside != 0)
        return 4;
    /* Every core has had a part. */
    if (ran_on != (1u << GET(PES)) - 1)
        return 5;
    if ((GET(CONFIG) >> STACK_SHIFT & STACK_MASK) != LOG2_STACK)
        return 6;
    /* Time goes forward. */
    if (GET(CYCLE) - began - 1 > INT32_MAX)
        return 8;
    return (GET(SELF) & 255) == 0 ? 0 : 7;
}
