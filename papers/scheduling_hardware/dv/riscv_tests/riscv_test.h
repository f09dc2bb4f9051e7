/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of riscv-tests (isa/) for the machine: what each of its programs includes under this name.
 *
 * A program ends by storing its status to the device that ends the simulation: 0, or the number of the check that failed; a trap
 * that it has no handler for gives TRAPPED plus mcause. Only machine mode is there. */
#ifndef OKOSU_RISCV_TEST_H
#define OKOSU_RISCV_TEST_H

#define TESTNUM gp
#define TRAPPED 128
#define END_OF_SIMULATION 0xbf000004

/* Which privilege and extension a program is for; all run in the one mode that there is. */
#define RVTEST_RV32U
#define RVTEST_RV64U
#define RVTEST_RV32M
#define RVTEST_RV64M
#define RVTEST_RV64S

/* This is assembly, which would be formatted as C. */
/* clang-format off */

/* The trap vector stays where reset puts it. A program that expects traps defines mtvec_handler. */
#define RVTEST_CODE_BEGIN \
    .option norelax; \
    .section .text.init, "ax"; \
    .weak mtvec_handler; \
    .globl _start; \
    _start: li TESTNUM, 0; \
    j program; \
    .org 0x80; \
    lui t5, %hi(mtvec_handler); \
    addi t5, t5, %lo(mtvec_handler); \
    beqz t5, 1f; \
    jr t5; \
    1: csrr t5, mcause; \
    addi t5, t5, TRAPPED; \
    li t6, END_OF_SIMULATION; \
    sw t5, 0(t6); \
    2: j 2b; \
    program:

#define RVTEST_CODE_END unimp

#define RVTEST_ENDS_WITH(status) \
    li t6, END_OF_SIMULATION; \
    sw status, 0(t6); \
    1: j 1b

#define RVTEST_PASS RVTEST_ENDS_WITH(zero)
#define RVTEST_FAIL RVTEST_ENDS_WITH(TESTNUM)

/* clang-format on */

#define RVTEST_DATA_BEGIN .align 4;
#define RVTEST_DATA_END

/* The names that programs of machine mode use (The RISC-V Instruction Set Manual, volume II, 20240411, chapter 3). */
#define CAUSE_MISALIGNED_FETCH 0
#define CAUSE_ILLEGAL_INSTRUCTION 2
#define CAUSE_BREAKPOINT 3
#define CAUSE_MISALIGNED_LOAD 4
#define CAUSE_LOAD_ACCESS 5
#define CAUSE_MISALIGNED_STORE 6
#define CAUSE_STORE_ACCESS 7
#define CAUSE_USER_ECALL 8
#define CAUSE_SUPERVISOR_ECALL 9
#define CAUSE_MACHINE_ECALL 11
#define PRV_U 0
#define PRV_S 1
#define PRV_M 3
#define MSTATUS_MIE 0x00000008
#define MSTATUS_MPP 0x00001800
#define MSTATUS_FS 0x00006000
#define MSTATUS_TVM 0x00100000
#define MSTATUS_TSR 0x00400000
#define SSTATUS_SPIE 0x00000020
#define SSTATUS_SPP 0x00000100
#define SSTATUS_SUM 0x00040000
#define SSTATUS_MXR 0x00080000
#define MIP_SSIP 0x00000002
/* Triggers (The RISC-V Debug Specification, mcontrol). */
#define MCONTROL_LOAD 0x00000001
#define MCONTROL_STORE 0x00000002
#define MCONTROL_EXECUTE 0x00000004
#define MCONTROL_M 0x00000040

#endif
