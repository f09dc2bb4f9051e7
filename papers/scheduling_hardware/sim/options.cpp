// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace okosu
{

const char *const kUsage =
    "usage: machine [OPTION...] PROGRAM.elf\n"
    "  --max-cycles N   end the run after so many cycles (default 1000000000)\n"
    "  --counters       print where the cycles went, on stderr\n"
    "  --report FILE    write how the run went, as JSON, and print no message about it\n"
    "  --trace FILE     write the schedule for Perfetto or chrome://tracing, as JSON\n"
    "  --fst FILE       write waveforms (a build with them only)\n"
    "  --toggles FILE   write how often each signal changed (a build that counts it only)\n"
    "  --seed N         what has no initial value is drawn with this seed (checked builds)\n"
    "  --lockstep       compare every PE with a golden simulator (checked builds always do)\n"
    "  --own-traps      traps go to the program's handler instead of ending the run\n";

namespace
{

bool number(const char *text, uint64_t most, uint64_t &value)
{
    char *end = nullptr;

    errno = 0;
    value = std::strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value <= most;
}

} // namespace

std::optional<Options> parse_options(int argc, char **argv, std::string &wrong)
{
    Options options;

    for (int n = 1; n < argc; n++) {
        const std::string word = argv[n];
        uint64_t value = 0;

        if (word == "--counters") {
            options.counters = true;
            continue;
        }
        if (word == "--lockstep") {
            options.lockstep = true;
            continue;
        }
        if (word == "--own-traps") {
            options.own_traps = true;
            continue;
        }
        if (word.empty() || word[0] != '-') {
            if (!options.program.empty() || word.empty()) {
                wrong = "one program at a time";
                return std::nullopt;
            }
            options.program = word;
            continue;
        }
        std::string *file = word == "--report"    ? &options.report
                            : word == "--trace"   ? &options.trace
                            : word == "--fst"     ? &options.fst
                            : word == "--toggles" ? &options.toggles
                                                  : nullptr;

        if (!file && word != "--max-cycles" && word != "--seed") {
            wrong = word + " is no option";
            return std::nullopt;
        }
        if (++n == argc) {
            wrong = word + " needs a value";
            return std::nullopt;
        }
        if (file) {
            *file = argv[n];
            continue;
        }
        if (!number(argv[n], word == "--seed" ? 0x7fffffff : UINT64_MAX, value)) {
            wrong = word + " " + argv[n] + ": no number that fits";
            return std::nullopt;
        }
        if (word == "--seed")
            options.seed = static_cast<unsigned>(value);
        else
            options.max_cycles = value;
    }
    if (options.program.empty()) {
        wrong = "no program was named";
        return std::nullopt;
    }
    return options;
}

} // namespace okosu
