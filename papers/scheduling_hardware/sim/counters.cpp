// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <cstdio>
#include <iterator>

namespace okosu
{

namespace
{

// The sections without the last one, the loop of PEs that are idle.
constexpr unsigned kShown = std::size(kSections);

std::string cell(uint64_t part, uint64_t whole)
{
    char text[16];

    std::snprintf(text, sizeof(text), "%11.1f",
                  whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
    return text;
}

} // namespace

std::string counters_json(const Model &model)
{
    std::string text = "[";

    for (unsigned pe = 0; pe < Model::pes(); pe++) {
        text += pe ? ",\n  " : "\n  ";
        text += "{\"pe\": " + std::to_string(pe);
        text += ", \"idle\": " + std::to_string(model.idle(pe));
        for (unsigned s = 0; s < kShown; s++) {
            text += ", \"" + std::string(kSections[s]) + "\": {";
            text += "\"execute\": " + std::to_string(model.count(pe, s, 0));
            text += ", \"memory\": " + std::to_string(model.count(pe, s, 1));
            text += ", \"scheduler\": " + std::to_string(model.count(pe, s, 2)) + "}";
        }
        text += "}";
    }
    return text + "\n ]";
}

std::string counters_table(const Model &model, uint64_t cycles)
{
    std::string text = "  PE       idle";

    for (const char *name : kSections) {
        char heading[16];

        std::snprintf(heading, sizeof(heading), "%11s", name);
        text += heading;
    }
    text += "   memory wait  (% of " + std::to_string(cycles) + " cycles)\n";
    for (unsigned pe = 0; pe < Model::pes(); pe++) {
        uint64_t waits = 0;
        char number[16];

        std::snprintf(number, sizeof(number), "%4u", pe);
        text += number + cell(model.idle(pe), cycles);
        for (unsigned s = 0; s < kShown; s++) {
            uint64_t all = 0;

            for (unsigned kind = 0; kind < 3; kind++)
                all += model.count(pe, s, kind);
            waits += model.count(pe, s, 1);
            text += cell(all, cycles);
        }
        text += "   " + cell(waits, cycles) + "\n";
    }
    return text;
}

} // namespace okosu
