# SPDX-License-Identifier: Apache-2.0
"""The plugin's cache of physical addresses: which pages it tells apart."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab.model import machines
from lab.tests import model_tool

pytestmark = model_tool.needs_gcc

# Where Linux has physical memory and its struct pages, with page tables of four levels and of five.
KERNEL = (0xFFFF_8880_0000_0000, 0xFFFF_EA00_0000_0000, 0xFF11_0000_0000_0000, 0xFFD4_0000_0000_0000)
USER = (0, 0x5555_5555_4000, 0x7FFF_F7A0_0000)
OFFSET = 0x13_8000

PROGRAM = """
#include <inttypes.h>
#include <stdio.h>
#include "frames.h"

int main(void)
{
    static struct frames frames;
    uint64_t address;

    for (int round = 0; round < 2; round++) {
        frames_empty(&frames);
        rewind(stdin);
        while (scanf("%" SCNx64, &address) == 1)
            printf("%" PRIx64 "\\n", frames_tag(&frames, address));
    }
}
"""


def test_pages_are_told_apart_by_all_bits_that_are_translated(tmp_path: Path) -> None:
    source, program, given = (tmp_path / name for name in ("frames.c", "frames", "addresses"))
    source.write_text(PROGRAM)
    include = f"-I{machines.model_folder() / 'plugin'}"
    subprocess.run(["gcc", "-Wall", "-Werror", include, source, "-o", program], check=True)
    pages = [base + OFFSET + page * 4096 for base in (*KERNEL, *USER) for page in (0, 1)]
    given.write_text("".join(f"{address:x}\n" for address in pages))
    with given.open() as words:
        said = subprocess.run([program], stdin=words, capture_output=True, text=True, check=True).stdout.split()
    assert len(said) == 2 * len(pages)
    # Each page has an entry of its own, and after a flush a new one.
    assert len(set(said)) == len(said)
    assert "0" not in said
