/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SETJMP_H
#define SETJMP_H

/* s0 to s7, fp, sp, ra (on RISC-V s0 to s11, sp, ra); whether the signal mask was saved, and the
 * mask. */
typedef struct {
#ifdef __riscv
    unsigned registers[14];
#else
    unsigned registers[11];
#endif
    int has_mask;
    unsigned long mask;
} jmp_buf[1];
typedef jmp_buf sigjmp_buf;

int setjmp(jmp_buf environment) __attribute__((returns_twice));
void longjmp(jmp_buf environment, int value) __attribute__((noreturn));
#define _setjmp setjmp
#define _longjmp longjmp

/* The mask is saved before the registers: nothing that setjmp's caller holds is lost by that. */
#define sigsetjmp(environment, save) (okosu_save_mask(environment, save), setjmp(environment))
void okosu_save_mask(sigjmp_buf environment, int save);
void siglongjmp(sigjmp_buf environment, int value) __attribute__((noreturn));

#endif
