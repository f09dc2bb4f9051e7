// SPDX-License-Identifier: Apache-2.0
// The instruction set that this simulator was built for: OKOSU_RV32 is 1 for RV32, else it is MIPS I.
#ifndef OKOSU_ISA_H
#define OKOSU_ISA_H

#ifndef OKOSU_RV32
#define OKOSU_RV32 0
#endif

#if OKOSU_RV32
#include "golden_rv32.h"
#else
#include "golden.h"
#endif

namespace okosu
{

#if OKOSU_RV32
using CoreGolden = GoldenRv32;

inline void stored(CoreGolden &golden, uint32_t addr)
{
    golden.stored(addr);
}
inline void moved(CoreGolden &golden)
{
    golden.moved();
}
#else
using CoreGolden = Golden;

// MIPS I has no reservations.
inline void stored(CoreGolden &, uint32_t)
{
}
inline void moved(CoreGolden &)
{
}
#endif

} // namespace okosu

#endif
