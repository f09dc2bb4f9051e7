/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of riscv-arch-test for the machine: what each of its programs includes under this name.
 *
 * A program fills its signature and goes to okosu_halt. That is linked behind it, for the machine (halt_machine.S) or for Linux
 * (halt_linux.S), and hands out the signature: the program and its addresses are the same on both. */
#ifndef OKOSU_MODEL_TEST_H
#define OKOSU_MODEL_TEST_H

/* This is assembly, which would be formatted as C. */
/* clang-format off */

#define RVMODEL_BOOT

#define RVMODEL_HALT \
    la t0, okosu_halt; \
    jr t0

#define RVMODEL_DATA_BEGIN \
    .align 4; \
    .globl begin_signature; \
    begin_signature:

#define RVMODEL_DATA_END \
    .align 4; \
    .globl end_signature; \
    end_signature:

/* clang-format on */

/* Nothing is printed while a program runs, and no program asks for an interrupt. */
#define RVMODEL_IO_INIT
#define RVMODEL_IO_WRITE_STR(register, text)
#define RVMODEL_IO_CHECK()
#define RVMODEL_IO_ASSERT_GPR_EQ(scratch, register, value)
#define RVMODEL_IO_ASSERT_SFPR_EQ(scratch, register, value)
#define RVMODEL_IO_ASSERT_DFPR_EQ(scratch, register, value)
#define RVMODEL_SET_MSW_INT
#define RVMODEL_CLEAR_MSW_INT
#define RVMODEL_CLEAR_MTIMER_INT
#define RVMODEL_CLEAR_MEXT_INT

#endif
