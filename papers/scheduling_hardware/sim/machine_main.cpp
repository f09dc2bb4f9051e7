// SPDX-License-Identifier: Apache-2.0
// machine [OPTION...] PROGRAM.elf: runs a program on the machine. Its output and its exit status
// are ours; see options.cpp.
#include "counters.h"
#include "elf.h"
#include "model.h"
#include "options.h"
#include "run.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace
{

using namespace okosu;

constexpr int kUsageError = 2, kFailed = 125;

std::vector<uint8_t> read_file(const std::string &path)
{
    std::vector<uint8_t> bytes;
    std::FILE *file = std::fopen(path.c_str(), "rb");
    uint8_t block[65536];
    size_t count = 0;

    if (!file)
        throw std::runtime_error(path + ": " + std::strerror(errno));
    while ((count = std::fread(block, 1, sizeof(block), file)) > 0)
        bytes.insert(bytes.end(), block, block + count);
    const bool failed = std::ferror(file);
    const int number = errno;

    std::fclose(file);
    if (failed)
        throw std::runtime_error(path + ": " + std::strerror(number));
    return bytes;
}

void write_file(const std::string &path, const std::string &text)
{
    std::FILE *file = std::fopen(path.c_str(), "w");
    const bool wrote = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();

    if (!file || std::fclose(file) != 0 || !wrote)
        throw std::runtime_error(path + ": " + std::strerror(errno));
}

int simulate(const Options &options)
{
    Program program;

    try {
        program = parse_elf(read_file(options.program), Model::text_bytes(), Model::data_bytes());
    } catch (const BadElf &error) {
        throw std::runtime_error(options.program + ": " + error.what());
    }
    Model model(OKOSU_CHECKED, options.seed, options.fst);
    const Outcome outcome = run(model, program, options);

    if (!options.toggles.empty())
        model.write_toggles(options.toggles);
    if (options.counters)
        std::fputs(counters_table(model, outcome.cycles).c_str(), stderr);
    if (!options.report.empty())
        write_file(options.report, report_json(outcome, model, program));
    else if (outcome.end != End::kExit)
        std::fprintf(stderr, "okosu: %s", describe(outcome, program).c_str());
    if (!outcome.lost.empty())
        throw std::runtime_error(outcome.lost);
    return exit_status(outcome);
}

} // namespace

int main(int argc, char **argv)
{
    std::string wrong;
    const auto options = parse_options(argc, argv, wrong);

    if (!options) {
        std::fprintf(stderr, "okosu: %s\n%s", wrong.c_str(), kUsage);
        return kUsageError;
    }
    try {
        return simulate(*options);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "okosu: %s\n", error.what());
        return kFailed;
    }
}
