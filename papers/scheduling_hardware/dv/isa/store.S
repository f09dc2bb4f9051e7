/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of bytes, halves and words, and what a load behind them reads. */
#include "isa.inc"

begin:
    la      $t0, words
    li      $t1, 0x89abcdef
    sw      $t1, 0($t0)
    lw      $v0, 0($t0)
    check   $v0, 0x89abcdef
    sb      $t1, 1($t0)
    lw      $v0, 0($t0)
    check   $v0, 0x89abefef
    sb      $t1, 3($t0)
    lw      $v0, 0($t0)
    check   $v0, 0xefabefef
    sb      $zero, 0($t0)
    lw      $v0, 0($t0)
    check   $v0, 0xefabef00
    sb      $zero, 2($t0)
    lw      $v0, 0($t0)
    check   $v0, 0xef00ef00
    sh      $t1, 2($t0)
    lw      $v0, 0($t0)
    check   $v0, 0xcdefef00
    sh      $t1, 0($t0)
    lw      $v0, 0($t0)
    check   $v0, 0xcdefcdef
    lw      $v0, 4($t0)
    check   $v0, 0x11111111
    lw      $v0, -4($t0)
    check   $v0, 0x22222222

    /* Two stores in a row, and a load of the first word. */
    sw      $t1, 0($t0)
    sw      $zero, 4($t0)
    sb      $t1, 4($t0)
    lw      $v0, 0($t0)
    lw      $v1, 4($t0)
    check   $v0, 0x89abcdef
    check   $v1, 0xef
    /* Stores of a word that was just computed or loaded. */
    addiu   $v0, $t1, 1
    sw      $v0, 0($t0)
    lw      $v0, 0($t0)
    sw      $v0, 4($t0)
    lw      $v1, 4($t0)
    check   $v1, 0x89abcdf0
    finish

    .data
    .align  2
    .word   0x22222222
words:
    .word   0, 0x11111111
