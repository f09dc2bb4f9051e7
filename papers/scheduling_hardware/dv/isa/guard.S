/* SPDX-License-Identifier: Apache-2.0 */
/* The lowest kilobyte of each stack slot, once the guard is on. Slots of two kilobytes end at 0x90020000; were there 256 of them, the
 * lowest would begin below the memory: the guard is where memory is. */
#include "traps.inc"

#define SLOT 2048
#define GUARD 1024
#define LOWEST 0x90000000

begin:
    li      $t0, 0x90020000
    li      $t1, 11
    li      $t2, 1
    ctc2    $t0, $0
    ctc2    $t1, $1
    sw      $t2, -SLOT($t0)
    lw      $v0, -SLOT($t0)
    check   $v0, 1
    ctc2    $t2, $6

    trapping
    lw      $v0, -SLOT($t0)
    trapped CODE(data_bus)
    check   $s2, 0x9001f800
    trapping
    sw      $v0, -GUARD-4($t0)
    trapped CODE(data_bus)
    trapping
    sb      $v0, -GUARD-1($t0)
    trapped CODE(data_bus)
    sb      $t2, -GUARD($t0)
    lw      $v0, -4($t0)
    lw      $v0, -SLOT-4($t0)
    trapping
    lb      $v0, -SLOT-GUARD-1($t0)
    trapped CODE(data_bus)
    /* Above the stacks there is no guard. */
    sw      $t2, 0($t0)
    lw      $v0, 0($t0)
    check   $v0, 1
    li      $t3, LOWEST
    trapping
    lw      $v0, 0($t3)
    trapped CODE(data_bus)
    trapping
    lw      $v0, GUARD-4($t3)
    trapped CODE(data_bus)
    lw      $v0, GUARD($t3)
    /* An exchange, and a half of an unaligned word. */
    trapping
    .word   0xc8040000 | (11 << 21)
    trapped CODE(data_bus)
    trapping
    lwl     $v0, GUARD-1($t3)
    trapped CODE(data_bus)

    /* Slots that end within the memory: below the lowest of 256 there is no guard either. */
    ctc2    $zero, $6
    li      $t0, 0x90040000
    li      $t1, 9
    ctc2    $t0, $0
    ctc2    $t1, $1
    ctc2    $t2, $6
    li      $t3, 0x90020000
    trapping
    lw      $v0, 0($t3)
    trapped CODE(data_bus)
    lw      $v0, -4($t3)
    lw      $v0, -512($t3)
    ctc2    $zero, $6
    lw      $v0, 0($t3)
    finish
