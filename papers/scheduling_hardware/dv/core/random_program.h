// SPDX-License-Identifier: Apache-2.0
// Random programs for lockstep: any instruction of MIPS I (random_program.cpp) or RV32
// (random_rv32.cpp), with everything that is hard in a pipeline made frequent (dependences at every
// distance, delay slots, unaligned halves, products and quotients in use at once, reservations,
// traps).
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace okosu
{

struct RandomProgram {
    std::vector<uint32_t> text;
    std::vector<uint32_t> data;
};

// A program of about `words` instructions that runs for ever, trapping now and then; the same for
// the same seed.
RandomProgram random_program(uint64_t seed, unsigned words, unsigned data_words);

} // namespace okosu
