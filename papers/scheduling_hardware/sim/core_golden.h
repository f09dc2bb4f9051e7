// SPDX-License-Identifier: Apache-2.0
// The golden simulator of the instruction set that this simulator was built for.
#ifndef OKOSU_CORE_GOLDEN_H
#define OKOSU_CORE_GOLDEN_H

#include "isa.h"

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
