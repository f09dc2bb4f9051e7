/* SPDX-License-Identifier: Apache-2.0 */
/* Every exception: EPC, BD, Cause and BadVAddr, and that the instruction had no effect. */
#include "traps.inc"

begin:
    la      $t0, words
    li      $t1, 0x7fffffff
    li      $t2, 0x80000000
    li      $t3, 1

    trapping
    syscall
    trapped CODE(is_syscall)
    trapping
    break   7
    trapped CODE(is_break)

    li      $v1, 77
    trapping
    add     $v1, $t1, $t3
    trapped CODE(overflow)
    check   $v1, 77
    trapping
    add     $v1, $t2, $t2
    trapped CODE(overflow)
    trapping
    sub     $v1, $t2, $t3
    trapped CODE(overflow)
    trapping
    sub     $v1, $t1, $t2
    trapped CODE(overflow)
    trapping
    addi    $v1, $t1, 1
    trapped CODE(overflow)
    trapping
    addi    $v1, $t2, -1
    trapped CODE(overflow)
    check   $v1, 77

    /* Wrong addresses: misaligned, in no segment, without memory. */
    trapping
    lw      $v1, 1($t0)
    trapped CODE(address_load)
    addiu   $v0, $t0, 1
    subu    $v0, $v0, $s2
    check   $v0, 0
    check   $v1, 77
    trapping
    lw      $v1, 2($t0)
    trapped CODE(address_load)
    trapping
    lh      $v1, 3($t0)
    trapped CODE(address_load)
    trapping
    lhu     $v1, 1($t0)
    trapped CODE(address_load)
    trapping
    sw      $t1, 2($t0)
    trapped CODE(address_store)
    addiu   $v0, $t0, 2
    subu    $v0, $v0, $s2
    check   $v0, 0
    trapping
    sh      $t1, 1($t0)
    trapped CODE(address_store)
    trapping
    lw      $v1, 0($zero)
    trapped CODE(address_load)
    check   $s2, 0
    trapping
    sb      $t1, 0x100($zero)
    trapped CODE(address_store)
    check   $s2, 0x100
    li      $t4, 0xc0000000
    trapping
    lb      $v1, 0($t4)
    trapped CODE(address_load)
    check   $s2, 0xc0000000
    trapping
    sb      $v1, -1($zero)
    trapped CODE(address_store)
    check   $s2, 0xffffffff
    li      $t4, 0x90040000
    trapping
    lw      $v1, 0($t4)
    trapped CODE(data_bus)
    check   $s2, 0x90040000
    trapping
    sb      $v1, 0($t4)
    trapped CODE(data_bus)
    trapping
    lb      $v1, 0($t2)
    trapped CODE(data_bus)
    trapping
    lwl     $v1, -1($t2)
    trapped CODE(address_load)
    trapping
    lwr     $v1, -1($t4)
    nop
    b       1f
    nop
9:  never
1:  /* The last byte of the data memory can be accessed. */
    li      $t4, 0xbf000000
    trapping
    lw      $v1, 4($t4)
    trapped CODE(data_bus)
    trapping
    sw      $v1, 8($t4)
    trapped CODE(data_bus)
    lw      $v0, 0($t0)
    check   $v0, 0x55aa55aa

    /* Instructions that do not exist. */
    trapping
    .word   0x70000000
    trapped CODE(reserved)
    trapping
    .word   0x00000001
    trapped CODE(reserved)
    trapping
    .word   0x42000001
    trapped CODE(reserved)
    trapping
    .word   0x04020001
    trapped CODE(reserved)
    trapping
    .word   0x45000001
    trapped (COPROCESSOR(1) | CODE(coprocessor))
    trapping
    .word   0x4c000001
    trapped (COPROCESSOR(3) | CODE(coprocessor))
    trapping
    .word   0xc4000000
    trapped (COPROCESSOR(1) | CODE(coprocessor))
    trapping
    .word   0xec000000
    trapped (COPROCESSOR(3) | CODE(coprocessor))

    /* In delay slots: EPC is the branch, BD is set. */
    trapping
    b       1f
    syscall
1:  trapped (BD | CODE(is_syscall))
    trapping
    jal     1f
    add     $v1, $t1, $t3
1:  trapped (BD | CODE(overflow))
    trapping
    beq     $zero, $t3, 1f
    lw      $v1, 1($t0)
1:  trapped (BD | CODE(address_load))
    trapping
    jr      $t0
    sw      $v1, 1($t0)
    trapped (BD | CODE(address_store))
    trapping
    bnez    $zero, 1f
    sw      $v1, 0x7ffc($t2)
1:  trapped (BD | CODE(data_bus))
    trapping
    b       1f
    .word   0x70000000
1:  trapped (BD | CODE(reserved))
    trapping
    b       1f
    break
1:  trapped (BD | CODE(is_break))
    trapping
    b       1f
    .word   0x45000001
1:  trapped (BD | COPROCESSOR(1) | CODE(coprocessor))

    /* Jumps to where no instruction is: EPC and BadVAddr are the target. */
    la      $s3, 1f
    li      $s5, 0
    addiu   $t4, $s3, 2
    jr      $t4
    nop
    never
1:  check   $s5, 1
    check   $s1, CODE(address_load)
    subu    $v0, $s0, $t4
    check   $v0, 0
    subu    $v0, $s2, $t4
    check   $v0, 0
    la      $s3, 1f
    jr      $zero
    nop
    never
1:  check   $s1, CODE(address_load)
    check   $s0, 0
    check   $s2, 0
    la      $s3, 1f
    li      $t4, 0x80010000
    jr      $t4
    nop
    never
1:  check   $s1, CODE(fetch_bus)
    check   $s0, 0x80010000
    check   $s2, 0x80010000

    /* Instructions after a trap have no effect, those before it have. */
    li      $v1, 0
    li      $a0, 0
    la      $s3, 1f
    sw      $t1, 4($t0)
    addiu   $v1, $v1, 1
    lw      $zero, 1($t0)
    sw      $zero, 4($t0)
    mthi    $t1
    addiu   $v1, $v1, 2
1:  check   $v1, 1
    lw      $v0, 4($t0)
    check   $v0, 0x7fffffff
    mfhi    $v0
    check   $v0, 0
    /* An interrupt's handler is not entered from within: the instruction behind the return is the next. */
    check   $s4, 0
    finish

    .data
    .align  2
words:
    .word   0x55aa55aa, 0
