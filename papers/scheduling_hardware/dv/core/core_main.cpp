// SPDX-License-Identifier: Apache-2.0
// core-lockstep: one core of the RTL and the golden simulator, instruction by instruction, on
// random programs or on a compiled one. A difference is shown with both sides.
#include "core_bench.h"
#include "coverage.h"
#include "elf.h"
#include "random_program.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace
{

using namespace okosu;

constexpr int kDiffers = 1, kUsageError = 2, kNotCovered = 3, kFailed = 125;
constexpr unsigned kProgramWords = 4096;
constexpr uint64_t kLongestProgram = 1000000;
const char *const kUsage =
    "usage: core-lockstep random SEED PROGRAMS INSTRUCTIONS\n"
    "         so many random programs, with the seeds SEED, SEED + 1 and so on\n"
    "       core-lockstep program FILE.elf\n"
    "         until it ends itself; the exit status is its own\n"
    "exit status: 1 a difference, 2 usage, 3 random programs that did not reach everything\n";

int random_programs(uint64_t seed, uint64_t programs, uint64_t instructions)
{
    CoreBench bench;
    Coverage coverage;

    for (const uint64_t end = seed + programs; seed < end; seed++) {
        const RandomProgram program = random_program(seed, kProgramWords, kCoreDataWords);
        const CoreWorld world = {seed % 2 == 0, seed};

        coverage.begin();
        const CoreRun run =
            bench.run(program.text, program.data, world, instructions,
                      [&](const Effect &effect, uint64_t cycle) { coverage.note(effect, cycle); });

        if (!run.difference.empty()) {
            std::fprintf(stderr, "core-lockstep: seed %" PRIu64 ": instruction %" PRIu64 "\n%s",
                         seed, run.instructions, run.difference.c_str());
            return kDiffers;
        }
        std::printf("seed %" PRIu64 ": %" PRIu64 " instructions alike, %" PRIu64
                    " traps, %.2f cycles an instruction\n",
                    seed, run.instructions, run.traps,
                    static_cast<double>(run.cycles) / static_cast<double>(run.instructions));
    }
    const std::vector<std::string> missing = coverage.missing();

    std::printf("reached %zu of %zu\n", coverage.points() - missing.size(), coverage.points());
    for (const std::string &name : missing)
        std::printf("never: %s\n", name.c_str());
    return missing.empty() ? 0 : kNotCovered;
}

int compiled_program(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                                     std::istreambuf_iterator<char>());
    std::vector<uint32_t> text(kCoreTextWords), data(kCoreDataWords);
    const Program program = parse_elf(bytes, 4 * kCoreTextWords, 4 * kCoreDataWords);

    for (const Segment &segment : program.segments) {
        const bool is_data = segment.address >= kDataBase;
        auto *to = reinterpret_cast<uint8_t *>(is_data ? data.data() : text.data());

        std::memcpy(to + (segment.address - (is_data ? kDataBase : kTextBase)),
                    segment.bytes.data(), segment.bytes.size());
    }
    CoreBench bench;
    const CoreRun run = bench.run(text, data, {}, kLongestProgram, {});

    if (!run.difference.empty()) {
        std::fprintf(stderr, "core-lockstep: %s: instruction %" PRIu64 "\n%s", path,
                     run.instructions, run.difference.c_str());
        return kDiffers;
    }
    if (!run.ended) {
        std::fprintf(stderr, "core-lockstep: %s does not end\n", path);
        return kFailed;
    }
    std::printf("%s: %" PRIu64 " instructions alike, status %u\n", path, run.instructions,
                run.status);
    return static_cast<int>(run.status & 0xff);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc >= 5 && !std::strcmp(argv[1], "random"))
        return random_programs(std::strtoull(argv[2], nullptr, 10),
                               std::strtoull(argv[3], nullptr, 10),
                               std::strtoull(argv[4], nullptr, 10));
    if (argc >= 3 && !std::strcmp(argv[1], "program")) {
        try {
            return compiled_program(argv[2]);
        } catch (const std::exception &error) {
            std::fprintf(stderr, "core-lockstep: %s: %s\n", argv[2], error.what());
            return kFailed;
        }
    }
    std::fputs(kUsage, stderr);
    return kUsageError;
}
