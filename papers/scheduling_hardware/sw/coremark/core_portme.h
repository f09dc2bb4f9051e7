/* SPDX-License-Identifier: Apache-2.0 */
/* What CoreMark (EEMBC) wants to know of the machine: its core_*.c include this by coremark.h. */
#ifndef CORE_PORTME_H
#define CORE_PORTME_H

#include <stddef.h>
#include <stdint.h>

typedef int16_t ee_s16;
typedef uint16_t ee_u16;
typedef int32_t ee_s32;
typedef uint8_t ee_u8;
typedef uint32_t ee_u32;
typedef float ee_f32;
typedef uintptr_t ee_ptr_int;
typedef size_t ee_size_t;
/* Cycles: a run of more than 2^32 would be an hour of simulation. */
typedef ee_u32 CORE_TICKS;

#define align_mem(pointer) ((void *)(((ee_ptr_int)(pointer) + 3) & ~(ee_ptr_int)3))

#define HAS_FLOAT 1
#define HAS_STDIO 1
#define HAS_PRINTF 1
#define MAIN_HAS_NOARGC 0
#define MAIN_HAS_NORETURN 0
/* Seeds and iterations are arguments: data that the start-up code finds, no constants to the compiler. */
#define SEED_METHOD SEED_ARG
#define MEM_METHOD MEM_STATIC
#define MEM_LOCATION "STATIC"
/* CoreMark is of one processor here; what more of them do is told by programs with threads. */
#define MULTITHREAD 1

#define COMPILER_VERSION "GCC " __VERSION__
#ifndef COMPILER_FLAGS
#define COMPILER_FLAGS "-O2 -fbuiltin and those of sw/build.sh"
#endif

typedef struct {
    ee_u8 portable_id;
} core_portable;

extern ee_u32 default_num_contexts;

void portable_init(core_portable *port, int *argc, char **argv);
void portable_fini(core_portable *port);

#endif
