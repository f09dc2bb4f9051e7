# SPDX-License-Identifier: Apache-2.0
"""The cost of the memory-hierarchy model beside a plugin with an empty callback for each access. No test, run by hand:

    python -m lab.tests.long.model_speed [DIMENSION FEW MANY ROUNDS MACHINE]

Each round boots work_transpose four times in random order. Nanoseconds an access are from the difference of MANY and
FEW repetitions, without boot; the whole run is that of MANY, from the start of QEMU to its end.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from lab.kernel.build import Built
from lab.model import model_plugin
from lab.run import guest, qemu


def timed(built: Built, command: list[str], machine: str, plugin: Path | None) -> tuple[float, float]:
    """Return the seconds of a run, whole and from the command's start, with this plugin instead of the model."""
    begun = time.monotonic()
    if plugin:
        with mock.patch.object(model_plugin.Plugged, "arguments", return_value=["-plugin", str(plugin)]):
            outcome = qemu.run(built, command, model=machine)
    else:
        outcome = qemu.run(built, command, model=machine)
    whole = time.monotonic() - begun
    return whole, whole - outcome.boot_seconds


def main() -> None:
    """Measure, and print a line for each round."""
    dimension, few, many, rounds = map(int, sys.argv[1:5] or (90, 50, 2400, 3))
    machine = sys.argv[5] if len(sys.argv) > 5 else "pentium4-1600"
    built, program = qemu.build(), guest.program("work_transpose")
    model_plugin.build()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.so"
        source = Path(__file__).with_name("model_empty.c")
        subprocess.run(["gcc", "-std=c17", "-O2", "-fPIC", "-shared", "-o", empty, source], check=True)
        for _ in range(rounds):
            took = {}
            todo = [(plugin, count) for plugin in (empty, None) for count in (few, many)]
            for plugin, count in rng.sample(todo, len(todo)):
                took[plugin, count] = timed(built, [str(program), str(dimension), str(count), "1"], machine, plugin)
            accesses = 2 * dimension**2 * (many - few)
            each = [(took[plugin, many][1] - took[plugin, few][1]) / accesses * 1e9 for plugin in (empty, None)]
            whole = [took[plugin, many][0] for plugin in (empty, None)]
            print(f"an access {each[0]:.1f} and {each[1]:.1f} ns, ratio {each[0] / each[1]:.2f};", end=" ")
            print(f"whole run {whole[0]:.2f} and {whole[1]:.2f} s, ratio {whole[0] / whole[1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
