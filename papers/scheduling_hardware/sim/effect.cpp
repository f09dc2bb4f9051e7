// SPDX-License-Identifier: Apache-2.0
#include "effect.h"

#include <cstdio>

namespace okosu
{

bool differs(const Effect &core, const Effect &golden)
{
    if (core.pc != golden.pc || core.traps != golden.traps)
        return true;
    if (golden.traps)
        return core.cause != golden.cause;
    if (core.instr != golden.instr || core.writes != golden.writes ||
        core.accesses != golden.accesses)
        return true;
    // Register 0 is written by many and takes nothing.
    if (golden.writes && (core.rd != golden.rd || (golden.rd && core.value != golden.value)))
        return true;
    if (!golden.accesses)
        return false;
    return core.addr != golden.addr || core.data != golden.data || core.bytes != golden.bytes ||
           core.stores != golden.stores;
}

std::string in_words(const Effect &effect)
{
    char text[80];

    std::snprintf(text, sizeof(text), "pc %08x instr %08x", effect.pc, effect.instr);
    std::string out = text;

    if (effect.traps) {
        std::snprintf(text, sizeof(text), " trap %u", effect.cause);
        out += text;
    }
    if (effect.writes) {
        std::snprintf(text, sizeof(text), " $%u = %08x", effect.rd, effect.value);
        out += text;
    }
    if (effect.accesses) {
        std::snprintf(text, sizeof(text), " %s %08x: %08x/%x", effect.stores ? "stores" : "loads",
                      effect.addr, effect.data, effect.bytes);
        out += text;
    }
    return out;
}

} // namespace okosu
