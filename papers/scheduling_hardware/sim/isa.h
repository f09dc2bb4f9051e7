// SPDX-License-Identifier: Apache-2.0
// The instruction set that this simulator was built for: OKOSU_RV32 is 1 for RV32, else it is MIPS I.
#ifndef OKOSU_ISA_H
#define OKOSU_ISA_H

#ifndef OKOSU_RV32
#define OKOSU_RV32 0
#endif

#endif
