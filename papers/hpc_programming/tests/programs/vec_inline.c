/* SPDX-License-Identifier: Apache-2.0 */
/* The inlined vector routines at most lengths that they inline and one beyond, shifts of two
 * operands in a line, guard pages before and after; compiled for several instruction sets, of which
 * this CPU must have VEC_INLINE_NEEDS (else "not on this CPU"). */
#include "vec_check.h"

#include <okosu/cpu.h>
#include <okosu/vec_inline.h>

#include <stdio.h>

#define MOST 66

#define TEN(t)                                                                                     \
    LENGTH(t##0)                                                                                   \
    LENGTH(t##1)                                                                                   \
    LENGTH(t##2)                                                                                   \
    LENGTH(t##3)                                                                                   \
    LENGTH(t##4)                                                                                   \
    LENGTH(t##5)                                                                                   \
    LENGTH(t##6)                                                                                   \
    LENGTH(t##7)                                                                                   \
    LENGTH(t##8)                                                                                   \
    LENGTH(t##9)
/* All up to two vectors of 64 bytes and a tail, and around further ones (the compiler takes its
 * time for each). The other lengths are calls. */
#define LENGTHS                                                                                    \
    TEN()                                                                                          \
    TEN(1)                                                                                         \
    TEN(2)                                                                                         \
    LENGTH(30)                                                                                     \
    LENGTH(31)                                                                                     \
    LENGTH(32)                                                                                     \
    LENGTH(33)                                                                                     \
    LENGTH(41)                                                                                     \
    LENGTH(48)                                                                                     \
    LENGTH(63)                                                                                     \
    LENGTH(64)

static struct vec_guarded memory_x, memory_y, memory_z, memory_out;

static void equal(const char *routine, double got, double wanted)
{
    vec_now.routine = routine;
    if (got != wanted)
        vec_fail("%.17g, not %.17g", got, wanted);
}

#define T double
#define RESULTS double_results
#define ALL double_all
#define OF_LENGTH double_of_length
#define PLACED double_placed
#define INLINES double_inlines
#define ROUTINE(name) okosu_vec_inline_d##name
#include "vec_inline_type.h"
#undef T
#undef RESULTS
#undef ALL
#undef OF_LENGTH
#undef PLACED
#undef INLINES
#undef ROUTINE
#undef LENGTH

#define T float
#define RESULTS float_results
#define ALL float_all
#define OF_LENGTH float_of_length
#define PLACED float_placed
#define INLINES float_inlines
#define ROUTINE(name) okosu_vec_inline_s##name
#include "vec_inline_type.h"

int main(void)
{
    if (VEC_INLINE_NEEDS & ~okosu_cpu_features()) {
        printf("not on this CPU\n");
        return 0;
    }
    vec_catch_faults();
    memory_x = vec_guarded_new();
    memory_y = vec_guarded_new();
    memory_z = vec_guarded_new();
    memory_out = vec_guarded_new();
    vec_now = (struct vec_context){.row = "inline"};
    for (size_t n = 0; n <= MOST; n++)
        for (int end = 0; end < 2; end++)
            for (size_t i = 0; i < 16; i++) {
                vec_now.n = n;
                vec_now.layout = end ? "before a guard page" : "after a guard page";
                vec_now.x_shift = (int)i;
                vec_now.y_shift = (int)(i * 5 + n) % 16;
                double_inlines(n, end, i % 8, (i * 5 + n) % 8);
                float_inlines(n, end, i, (i * 5 + n) % 16);
            }
    printf("ok\n");
    return 0;
}
