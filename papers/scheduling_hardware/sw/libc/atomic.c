/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations on words, which the compiler calls: the machine has the exchange only, so all
 * others go through one lock of their own. The exchange itself takes the lock, too, so that it
 * cannot come between another operation's load and store. RISC-V has instructions for them. */
#ifndef __riscv
#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

static volatile unsigned atomics_word;

static inline void atomics_lock(void)
{
    while (swap_word(&atomics_word, 1) != 0)
        while (atomics_word != 0)
            ;
}

static inline void atomics_unlock(void)
{
    __asm__ volatile("" ::: "memory");
    atomics_word = 0;
}

uint32_t okosu_atomic_load(const volatile uint32_t *word, int order) __asm__("__atomic_load_4");
void okosu_atomic_store(volatile uint32_t *word, uint32_t value,
                        int order) __asm__("__atomic_store_4");
bool okosu_atomic_compare(volatile uint32_t *word, uint32_t *expected, uint32_t wanted, int order,
                          int otherwise) __asm__("__atomic_compare_exchange_4");
uint32_t okosu_sync_compare(volatile uint32_t *word, uint32_t expected,
                            uint32_t wanted) __asm__("__sync_val_compare_and_swap_4");

IN_LIB uint32_t okosu_atomic_load(const volatile uint32_t *word, int order)
{
    (void)order;
    return *word;
}

IN_LIB void okosu_atomic_store(volatile uint32_t *word, uint32_t value, int order)
{
    (void)order;
    atomics_lock();
    *word = value;
    atomics_unlock();
}

IN_LIB uint32_t okosu_sync_compare(volatile uint32_t *word, uint32_t expected, uint32_t wanted)
{
    uint32_t old;

    atomics_lock();
    old = *word;
    if (old == expected)
        *word = wanted;
    atomics_unlock();
    return old;
}

IN_LIB bool okosu_atomic_compare(volatile uint32_t *word, uint32_t *expected, uint32_t wanted,
                                 int order, int otherwise)
{
    uint32_t old = okosu_sync_compare(word, *expected, wanted);
    bool same = old == *expected;

    (void)order;
    (void)otherwise;
    *expected = old;
    return same;
}

/* Under both of the names that the compiler knows: the new builtins' and the old ones'. */
#define ATOMIC(name, operation)                                                                    \
    uint32_t okosu_atomic_##name(volatile uint32_t *word, uint32_t value,                          \
                                 int order) __asm__("__atomic_" #name "_4");                       \
    IN_LIB uint32_t okosu_atomic_##name(volatile uint32_t *word, uint32_t value, int order)        \
    {                                                                                              \
        uint32_t old;                                                                              \
                                                                                                   \
        (void)order;                                                                               \
        atomics_lock();                                                                            \
        old = *word;                                                                               \
        *word = operation;                                                                         \
        atomics_unlock();                                                                          \
        return old;                                                                                \
    }                                                                                              \
    uint32_t okosu_sync_##name(volatile uint32_t *word,                                            \
                               uint32_t value) __asm__("__sync_" #name "_4");                      \
    IN_LIB uint32_t okosu_sync_##name(volatile uint32_t *word, uint32_t value)                     \
    {                                                                                              \
        return okosu_atomic_##name(word, value, 0);                                                \
    }

ATOMIC(exchange, value)
ATOMIC(fetch_add, old + value)
ATOMIC(fetch_sub, old - value)
ATOMIC(fetch_and, old &value)
ATOMIC(fetch_or, old | value)
ATOMIC(fetch_xor, old ^ value)
#endif
