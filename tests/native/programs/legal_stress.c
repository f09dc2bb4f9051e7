/* SPDX-License-Identifier: Apache-2.0 */
/* legal_stress SEED OPERATIONS THREADS: what a program may do to its memory, at random. The model
 * and the content of the memory are in legal_stress.h, the operations in the other parts. It prints
 * how many operations of each kind there were, and "legal"; status 1 names what is wrong.
 *
 * legal_stress check SEED is what its own children execute. LEGAL_HEAP in the environment says that
 * libc has no mappings of its own, so that what is done to a part of a block stays; LEGAL_NO_FORK
 * says to make no process. */
#include "legal_stress.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define WORLDS 16
#define TICK_US 2000
/* Without any operation for so long, the threads wait for one another. */
#ifndef STILL_SECONDS
#define STILL_SECONDS 600
#endif

static const struct kind *const parts[] = {block_kinds, region_kinds, process_kinds, thread_kinds};
static const struct kind *kinds[KINDS_MOST];
static size_t kind_count, memory_kinds;
static unsigned weights;
static struct world worlds[WORLDS];

static uint64_t word_at(uintptr_t begin, size_t size, size_t offset)
{
    uint64_t mixed = ((uint64_t)begin ^ size << 20 ^ offset) + 1;

    return next_random(&mixed);
}

/* Where the word number i of a block lies: the first at its begin, the others in any page of each
 * 32, or of each 1,024 where clearing all of the block would take long. The last one, at the end of
 * the block, has no number. */
static size_t place(uintptr_t begin, size_t size, size_t i)
{
    size_t stripe = (size > 16 * MIB ? 1024 : 32) * PAGE;

    return i ? i * stripe + word_at(begin, size, i) % (stripe / 8) * 8 : 0;
}

static void fill_bytes(unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(word_at((uintptr_t)at, size, 0) >> 8 * i);
}

static void fill_last(unsigned char *at, size_t size)
{
    uint64_t word = word_at((uintptr_t)at, size, size - 8);

    memcpy(at + size - 8, &word, 8);
}

void fill(unsigned char *at, size_t size)
{
    uint64_t word;

    if (size < 16) {
        fill_bytes(at, size);
        return;
    }
    for (size_t i = 0, to; (to = place((uintptr_t)at, size, i)) + 16 <= size; i++) {
        word = word_at((uintptr_t)at, size, to);
        memcpy(at + to, &word, 8);
    }
    fill_last(at, size);
}

/* By exchange, so that a page is touched once and not twice. */
void fill_empty(unsigned char *at, size_t size)
{
    uint64_t last = 0;

    if (size < 16) {
        CHECK(is_empty(at, size));
        fill_bytes(at, size);
        return;
    }
    for (size_t i = 0, to; (to = place((uintptr_t)at, size, i)) + 16 <= size; i++)
        CHECK(__atomic_exchange_n((uint64_t *)(at + to), word_at((uintptr_t)at, size, to),
                                  __ATOMIC_RELAXED) == 0);
    memcpy(&last, at + size - 8, 8);
    CHECK(last == 0);
    fill_last(at, size);
}

bool holds(const unsigned char *at, uintptr_t begin, size_t size, size_t upto)
{
    uint64_t word;

    if (size < 16) {
        for (size_t i = 0; i < upto; i++)
            if (at[i] != (unsigned char)(word_at(begin, size, 0) >> 8 * i))
                return false;
        return true;
    }
    for (size_t i = 0, to; (to = place(begin, size, i)) + 16 <= size && to + 8 <= upto; i++) {
        word = word_at(begin, size, to);
        if (memcmp(at + to, &word, 8) != 0)
            return false;
    }
    word = word_at(begin, size, size - 8);
    return upto < size || memcmp(at + size - 8, &word, 8) == 0;
}

bool is_empty(const unsigned char *at, size_t size)
{
    unsigned char any = 0;

    for (size_t i = size & ~(size_t)7; i < size; i++)
        any |= at[i];
    return !any && all_zero(at, size);
}

static void run_kind(struct world *world, size_t kind)
{
    kinds[kind]->run(world);
    world->count[kind]++;
    world->done++;
}

static size_t any_kind(struct world *world)
{
    size_t at = below(world, weights), kind = 0;

    while (at >= kinds[kind]->weight)
        at -= kinds[kind++]->weight;
    return kind;
}

/* All kinds follow one another at first, from one that the seed chooses. */
static void live(struct world *world)
{
    size_t first = below(world, kind_count);

    for (long i = 0; i < world->operations; i++)
        run_kind(world, i < (long)kind_count ? ((size_t)i + first) % kind_count : any_kind(world));
    check_blocks(world);
    check_regions(world);
}

/* Its process has no handler that looks for progress; the alarm ends it. */
void live_in_child(struct world *world, int operations)
{
    signal(SIGALRM, SIG_DFL);
    alarm(STILL_SECONDS);
    world->is_child = true;
    for (int i = 0; i < operations; i++) {
        size_t kind = below(world, memory_kinds), other = below(world, memory_kinds);

        kinds[kinds[kind]->weight > kinds[other]->weight ? kind : other]->run(world);
    }
    check_blocks(world);
    check_regions(world);
}

/* Interrupts the threads at random. */
static void tick(int signal)
{
    static const char still[] = "WRONG: nothing happens any more\n";
    static volatile long last, ticks;
    long now = 0;

    (void)signal;
    for (size_t i = 0; i < WORLDS; i++)
        now += worlds[i].done;
    ticks = now == last ? ticks + 1 : 0;
    last = now;
    if (ticks > STILL_SECONDS * 1000000L / TICK_US) {
        (void)!write(1, still, sizeof still - 1);
        syscall(SYS_exit_group, 1);
    }
}

static void start_ticks(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART | SA_ONSTACK};
    struct itimerval every = {{0, TICK_US}, {0, TICK_US}};

    CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &every, NULL));
}

static void *run_world(void *arg)
{
    struct world *world = arg;
    stack_t stack = {.ss_sp = world->signal_stack, .ss_size = sizeof world->signal_stack};

    CHECK(!sigaltstack(&stack, NULL));
    live(world);
    return NULL;
}

static void begin_world(struct world *world, uint64_t seed, long operations, size_t threads)
{
    world->seed = seed;
    world->operations = operations;
    world->alone = threads == 1;
    world->file = memfd_create("cells", MFD_CLOEXEC);
    CHECK(world->file >= 0 && !ftruncate(world->file, (off_t)(REGIONS * CELLS * CELL)));
    for (int i = 0; i < 8; i++)
        next_random(&world->seed);
}

static void collect_kinds(void)
{
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        if (parts[part] == process_kinds)
            memory_kinds = kind_count;
        if (parts[part] == process_kinds && getenv("LEGAL_NO_FORK"))
            continue;
        for (const struct kind *kind = parts[part]; kind->name; kind++) {
            CHECK(kind_count < KINDS_MOST);
            kinds[kind_count++] = kind;
            weights += kind->weight;
        }
    }
}

/* What was executed by a child begins with a thread that is cancelled. */
static int check_self(uint64_t seed)
{
    begin_world(&worlds[0], seed, 0, 1);
    use_cancelled(&worlds[0]);
    live_in_child(&worlds[0], 10);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread[WORLDS];
    size_t threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

    /* libc's own blocks from 128 KiB up are mappings, which it unmaps with all that was done to
     * them, and which lie wherever there is room. */
    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 17));
    collect_kinds();
    make_foreign_file();
    if (argc == 3 && strcmp(argv[1], "check") == 0)
        return check_self(strtoul(argv[2], NULL, 10));
    if (threads < 1 || threads > WORLDS)
        return 2;
    start_ticks();
    for (size_t i = 0; i < threads; i++)
        begin_world(&worlds[i], strtoul(argv[1], NULL, 10) * WORLDS + i + 1,
                    strtol(argv[2], NULL, 10) / (long)threads, threads);
    for (size_t i = 1; i < threads; i++)
        CHECK(!pthread_create(&thread[i], NULL, run_world, &worlds[i]));
    run_world(&worlds[0]);
    for (size_t i = 1; i < threads; i++)
        CHECK(!pthread_join(thread[i], NULL));
    for (size_t kind = 0; kind < kind_count; kind++) {
        long count = 0;

        for (size_t i = 0; i < threads; i++)
            count += worlds[i].count[kind];
        printf("%s %ld\n", kinds[kind]->name, count);
    }
    return puts("legal") < 0;
}
