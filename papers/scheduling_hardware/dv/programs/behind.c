/* SPDX-License-Identifier: Apache-2.0 */
/* behind: each register of SSH-s read by the instruction behind one that changes it, or that looks as if it did; the room for messages by
 * the instructions behind one. */
#include <stdio.h>

#include "machine.h"

enum { CONFIG_LOG2 = 12, CONFIG_MASK = 31 };

/* What is read from RES, ERR and CONFIG while the instruction before is each of those named. */
static void registers(void)
{
    unsigned res, again = 1, err, read, log2 = COP2_READ(12) >> CONFIG_LOG2 & CONFIG_MASK;
    unsigned grown, kept, beside, by_operand;

    __asm__ volatile(
        ASM_COP2("mtc2 %3,$6\n\tmfc2 %0,$6\n\tmfc2 %1,$6\n\tmtc2 %4,$5\n\tmfc2 %2,$5\n\t")
        : "=&r"(res), "+r"(again), "=&r"(err)
        : "r"(0x12345678u), "r"(0xa5u));
    printf("%x %x %x\n", res, again, err);
    __asm__ volatile(ASM_COP2("mtc2 %2,$6\n\tmtc2 %3,$5\n\tmfc2 %0,$6\n\tmfc2 %1,$5\n\t")
                     : "=&r"(res), "=&r"(read)
                     : "r"(0x87654321u), "r"(0x5au));
    printf("%x %x\n", res, read);

    /* The size of stack slots, which nothing but this looks at meanwhile. */
    __asm__ volatile(
        ASM_COP2("ctc2 %4,$1\n\tmfc2 %0,$12\n\tctc2 %5,$1\n\tmfc2 %1,$12\n\t"
                 "ctc2 %6,$5\n\tmfc2 %2,$12\n\tmtc2 %6,$1\n\tmfc2 %3,$12\n\tmtc2 $0,$1\n\t"
                 "mtc2 $0,$25\n\tctc2 $0,$5\n\t")
        : "=&r"(grown), "=&r"(kept), "=&r"(beside), "=&r"(by_operand)
        : "r"(log2 + 1), "r"(log2), "r"(log2 + 2));
    printf("%x %x %x %x\n", grown, kept, beside, by_operand);
}

/* A policy is one message. `nops` instructions behind it there is room for a group, or there is not. */
#define ROOM_BEHIND(nops)                                                                          \
    ({                                                                                             \
        unsigned room = 1;                                                                         \
        __asm__ volatile(ASM_COP2("mtc2 $0,$25\n\t.rept " #nops "\n\tnop\n\t.endr\n\t"             \
                                  "bc2t 1f\n\tnop\n\tmove %0,$0\n1:\n\t")                          \
                         : "+r"(room));                                                            \
        room;                                                                                      \
    })

int main(void)
{
    registers();
    printf("%u %u %u %u %u\n", ROOM_BEHIND(0), ROOM_BEHIND(1), ROOM_BEHIND(2), ROOM_BEHIND(3),
           ROOM_BEHIND(4));
    return 0;
}
