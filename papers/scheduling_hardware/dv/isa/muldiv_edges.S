/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that MIPS leaves undefined and INTERFACES.md defines: division by zero, and a quotient that
 * does not fit. */
#define MACHINE_ONLY
#include "isa.inc"

.macro quotient name, a, b, remainder, quotient
    li      $t0, \a
    li      $t1, \b
    \name   $zero, $t0, $t1
    mflo    $v0
    mfhi    $v1
    check   $v0, \quotient
    check   $v1, \remainder
.endm

begin:
    quotient div,  5, 0, 5, -1
    quotient div,  0, 0, 0, -1
    quotient div,  -5, 0, -5, 1
    quotient div,  0x80000000, 0, 0x80000000, 1
    quotient div,  0x7fffffff, 0, 0x7fffffff, -1
    quotient divu, 5, 0, 5, -1
    quotient divu, -5, 0, -5, -1
    quotient divu, 0, 0, 0, -1
    quotient div,  0x80000000, -1, 0, 0x80000000
    finish
