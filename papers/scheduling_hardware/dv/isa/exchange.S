/* SPDX-License-Identifier: Apache-2.0 */
/* lwc2 $4 exchanges memory and SWAP. */
#include "traps.inc"

.macro exchange offset, base
    .word   0xc8040000 | (\base << 21) | (\offset & 0xffff)
.endm
#define T0 8
#define ZERO 0

begin:
    la      $t0, words
    li      $t1, 1
    mtc2    $t1, $4
    exchange 4, T0
    mfc2    $v0, $4
    check   $v0, 0x12345678
    lw      $v0, 4($t0)
    check   $v0, 1
    lw      $v0, 0($t0)
    check   $v0, 11
    lw      $v0, 8($t0)
    check   $v0, 22
    /* Exchanging twice restores both. */
    exchange 4, T0
    exchange 4, T0
    exchange 4, T0
    mfc2    $v0, $4
    check   $v0, 1
    lw      $v0, 4($t0)
    check   $v0, 0x12345678
    /* Behind a store to the same word. */
    li      $t2, 99
    sw      $t2, -4($t0)
    exchange -4, T0
    mfc2    $v0, $4
    check   $v0, 99
    lw      $v0, -4($t0)
    check   $v0, 1
    /* And in front of one. */
    exchange -4, T0
    sw      $zero, -4($t0)
    lw      $v0, -4($t0)
    check   $v0, 0
    mfc2    $v0, $4
    check   $v0, 1

    /* An exchange at a wrong address, in a delay slot or with another register traps, and SWAP
     * keeps its value. */
    trapping
    exchange 2, T0
    trapped CODE(address_load)
    trapping
    exchange 0, ZERO
    trapped CODE(address_load)
    trapping
    b       1f
    exchange 4, T0
1:  trapped (BD | CODE(reserved))
    trapping
    .word   0xc8050000 | (T0 << 21)
    trapped CODE(reserved)
    lui     $t3, 0xbf00
    trapping
    .word   0xc8040000 | (11 << 21)
    trapped CODE(data_bus)
    mfc2    $v0, $4
    check   $v0, 1
    lw      $v0, 4($t0)
    check   $v0, 0x12345678
    finish

    .data
    .align  2
    .word   33
words:
    .word   11, 0x12345678, 22
