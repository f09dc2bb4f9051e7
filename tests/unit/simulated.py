# SPDX-License-Identifier: Apache-2.0
"""Simulations as programs: their tables are printed, and kept for docs/METHOD.md under results/simulated/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from okosu.records import summary
from okosu.records.summary import SUMMARY_SCHEMA, Section, Summary

# Run as a program, a test has only its own folder on the path, and pytest adds tests/support for what imports effort.
sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))


def main(script: str, sections: Callable[[int], Sequence[Section]], most: int) -> None:
    """Repeat a simulation as often as the command line says (default `most`), print its tables, write the summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repetitions", nargs="?", type=int, default=most)
    parser.add_argument("--summary", type=Path, metavar="FILE")
    asked = parser.parse_args()
    made = list(sections(asked.repetitions))
    for section in made:
        print(section.id, summary.markdown(section), sep="\n\n")
    if asked.summary:
        command = f"python {script} {asked.repetitions} --summary {asked.summary}"
        summary.write(Summary(schema=SUMMARY_SCHEMA, sources=[], command=command, sections=made), asked.summary)


def percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"
