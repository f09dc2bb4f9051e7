/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of bytes, halves and words; the load delay is interlocked, so that the next instruction may use the word. */
#include "isa.inc"

begin:
    la      $t0, words
    lw      $v0, 0($t0)
    check   $v0, 0x807f01ff
    lw      $v0, 4($t0)
    check   $v0, 0x12348765
    lw      $v0, -4($t0)
    check   $v0, 0xcafef00d
    lb      $v0, 0($t0)
    check   $v0, -1
    lb      $v0, 1($t0)
    check   $v0, 1
    lb      $v0, 2($t0)
    check   $v0, 0x7f
    lb      $v0, 3($t0)
    check   $v0, 0xffffff80
    lbu     $v0, 0($t0)
    check   $v0, 0xff
    lbu     $v0, 1($t0)
    check   $v0, 1
    lbu     $v0, 2($t0)
    check   $v0, 0x7f
    lbu     $v0, 3($t0)
    check   $v0, 0x80
    lh      $v0, 0($t0)
    check   $v0, 0x01ff
    lh      $v0, 2($t0)
    check   $v0, 0xffff807f
    lh      $v0, 4($t0)
    check   $v0, 0xffff8765
    lhu     $v0, 2($t0)
    check   $v0, 0x807f
    lhu     $v0, 4($t0)
    check   $v0, 0x8765
    lhu     $v0, 6($t0)
    check   $v0, 0x1234

    /* The loaded word is used at once, and one and two instructions later, as operand, address,
     * condition and word to store. */
    lw      $v0, 4($t0)
    addiu   $v1, $v0, 1
    addiu   $a0, $v0, 2
    addiu   $a1, $v0, 3
    check   $v1, 0x12348766
    check   $a0, 0x12348767
    check   $a1, 0x12348768
    la      $t1, pointer
    lw      $v0, 0($t1)
    lw      $v0, 4($v0)
    check   $v0, 0x12348765
    lw      $v0, 0($t0)
    sw      $v0, 8($t0)
    lw      $v1, 8($t0)
    check   $v1, 0x807f01ff
    lw      $v0, 4($t0)
    bltz    $v0, 1f
    nop
    b       2f
    nop
1:  never
2:  /* A load that is overwritten, and one into register 0. */
    lw      $v0, 0($t0)
    li      $v0, 3
    check   $v0, 3
    lw      $zero, 0($t0)
    addu    $v0, $zero, $zero
    check   $v0, 0
    /* A load into its own base register. */
    move    $t2, $t0
    lw      $t2, 4($t2)
    check   $t2, 0x12348765
    finish

    .data
    .align  2
    .word   0xcafef00d
words:
    .word   0x807f01ff, 0x12348765, 0
pointer:
    .word   words
