/* SPDX-License-Identifier: Apache-2.0 */
/* Every exception: mepc, mcause and mtval, and that the instruction had no effect. */
#include "traps.inc"

begin:
    la      s6, words
    li      s7, 77

    trapping
    ecall
    trapped is_call
    check   s2, 0
    trapping
    ebreak
    trapped is_break
    sub     a0, s0, s2
    check   a0, 0
    trapping
    .word   0xffffffff
    trapped illegal
    check   s2, 0xffffffff
    trapping
    .word   0
    trapped illegal
    check   s2, 0
    /* A compressed instruction, one of RV64, one of floating point, a CSR that there is not. */
    trapping
    .word   0x00010001
    trapped illegal
    trapping
    .word   0x0000303b
    trapped illegal
    trapping
    .word   0x00053007
    trapped illegal
    trapping
    csrr    s7, cycle
    trapped illegal
    trapping
    csrw    mhartid, s7
    trapped illegal
    trapping
    csrw    0x3a0, s7
    trapped illegal
    trapping
    .word   0x1005252f | 1 << 20
    trapped illegal
    check   s7, 77

    /* Wrong addresses. */
.macro misses name, distance, cause
    trapping
    \name   s7, \distance(s6)
    trapped \cause
    addi    a0, s6, \distance
    sub     a0, a0, s2
    check   a0, 0
    check   s7, 77
.endm
.macro misses_at name, address, cause
    li      a1, \address
    trapping
    \name   s7, 0(a1)
    trapped \cause
    check   s2, \address
    check   s7, 77
.endm
    misses  lw,  1, load_misaligned
    misses  lw,  2, load_misaligned
    misses  lh,  3, load_misaligned
    misses  lhu, 1, load_misaligned
    misses  sw,  2, store_misaligned
    misses  sh,  1, store_misaligned
    misses_at lw,  0, load_fault
    misses_at lw,  0x80000000, load_fault
    misses_at lb,  0x8fffffff, load_fault
    misses_at lbu, 0x90040000, load_fault
    misses_at lw,  0xbf000000, load_fault
    misses_at sb,  0, store_fault
    misses_at sw,  0x80000000, store_fault
    misses_at sw,  0xbf000008, store_fault
    misses_at sw,  -4, store_fault
    /* An address that is both misaligned and nowhere is misaligned. */
    misses_at lw,  0x00000001, load_misaligned

.macro atomic_misses name, operands, address, cause
    li      a1, \address
    trapping
    \name   s7, \operands (a1)
    trapped \cause
    check   s2, \address
    check   s7, 77
.endm
    atomic_misses lr.w,      "", 0x90000002, load_misaligned
    atomic_misses sc.w,      "s6,", 0x90000001, store_misaligned
    atomic_misses amoadd.w,  "s6,", 0x90000003, store_misaligned
    atomic_misses amoswap.w, "s6,", 0x90000002, store_misaligned
    atomic_misses lr.w,      "", 0xbf000000, load_fault
    atomic_misses sc.w,      "s6,", 0xbf000000, store_fault
    atomic_misses amoadd.w,  "s6,", 0xbf000000, store_fault
    atomic_misses amoswap.w, "s6,", 0xbf000004, store_fault
    lw      a0, 0(s6)
    check   a0, 0x12345678

    /* Jumps: a target within an instruction traps at the jump, which writes no link; one that is outside the text traps there. */
    la      a1, target + 2
    li      ra, 55
    trapping
    jalr    ra, 0(a1)
    trapped fetch_misaligned
    sub     a0, a1, s2
    check   a0, 0
    check   ra, 55
    trapping
    .word   0x0060006f
    trapped fetch_misaligned
    la      a0, 8b + 6
    sub     a0, a0, s2
    check   a0, 0
    /* beq zero, zero and bne zero, zero, two bytes too far. */
    trapping
    .word   0x00000363
    trapped fetch_misaligned
    .word   0x00001363
target:
    la      s3, 9f
    li      a1, 0x90000000
    jalr    ra, 0(a1)
2:  never
9:  check   s0, 0x90000000
    check   s1, fetch_fault
    check   s2, 0x90000000
    la      a0, 2b
    sub     a0, a0, ra
    check   a0, 0
    la      s3, 9f
    jr      zero
    never
9:  check   s0, 0
    check   s1, fetch_fault
    check   s2, 0

    /* What stands behind an instruction that traps has no effect; nor has a store. */
    li      a2, 1
    li      s5, 0
    la      s3, 9f
    ecall
    li      a2, 2
    sw      zero, 0(s6)
9:  check   a2, 1
    lw      a0, 0(s6)
    check   a0, 0x12345678
    finish

    .data
    .align  2
words:
    .word   0x12345678, 0
