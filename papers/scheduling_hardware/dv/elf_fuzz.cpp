// SPDX-License-Identifier: Apache-2.0
// elf-fuzz PROGRAM.elf SEED TIMES: gives the parser broken copies of a program: it takes them or
// throws BadElf, and does nothing else. Prints how many it took. For a build with sanitizers.
#include "elf.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace
{

std::vector<uint8_t> broken(std::vector<uint8_t> file, std::mt19937 &random)
{
    // Headers and tables matter most: half of the changes go to the first and the last bytes.
    const unsigned changes = 1 + random() % 4;

    for (unsigned n = 0; n < changes && !file.empty(); n++) {
        const size_t near = random() % std::min<size_t>(file.size(), 200);
        const size_t at = random() % 4 == 0   ? random() % file.size()
                          : random() % 3 == 0 ? file.size() - 1 - near
                                              : near;
        constexpr uint8_t kValues[] = {0, 1, 0x7f, 0x80, 0xff};

        file[at] = random() % 2 ? kValues[random() % 5] : static_cast<uint8_t>(random());
    }
    if (random() % 8 == 0)
        file.resize(random() % (file.size() + 1));
    return file;
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<uint8_t> file;
    int byte = 0;

    if (argc != 4)
        return 2;
    std::FILE *stream = std::fopen(argv[1], "rb");

    if (!stream)
        return 2;
    while ((byte = std::fgetc(stream)) != EOF)
        file.push_back(static_cast<uint8_t>(byte));
    std::fclose(stream);

    std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
    unsigned taken = 0;
    const unsigned times = static_cast<unsigned>(std::atoi(argv[3]));

    for (unsigned n = 0; n < times; n++) {
        try {
            const okosu::Program program =
                okosu::parse_elf(n ? broken(file, random) : file, 1 << 18, 1 << 22);

            for (const okosu::Segment &segment : program.segments)
                program.name_of(segment.address);
            taken++;
        } catch (const okosu::BadElf &) {
        }
    }
    std::printf("%u of %u\n", taken, times);
    return taken ? 0 : 1;
}
