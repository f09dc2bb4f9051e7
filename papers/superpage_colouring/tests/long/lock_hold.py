# SPDX-License-Identifier: Apache-2.0
"""How many instructions a guest's kernel executes while it holds a zone's lock, counted by a plugin of QEMU."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.kernel.build import Built, compiler_version
from lab.model import machines, model_plugin
from lab.run import qemu
from okosu.errors import LAUNCHER_FAILED, OkosuError

# The function of the kernel that takes zone->lock and no other lock.
_TAKES_ONE = "free_pcppages_bulk"
_KIND = "hold"
_PLUGIN = "okosu-hold.so"
_COUNTS = "lock-holds"
TIMEOUT_S = 1800.0


@dataclass(frozen=True)
class Holds:
    """{instructions: how often the lock was held for so many}, between the guest's marks."""

    counts: dict[int, int]

    @property
    def number(self) -> int:
        """Return how often it was held."""
        return sum(self.counts.values())

    @property
    def longest(self) -> int:
        """Return the most instructions of one hold; 0 where there was none."""
        return max(self.counts, default=0)

    def quantile(self, share: float) -> int:
        """Return the fewest instructions that `share` of the holds (0 to 1) do not exceed; 0 where there was none."""
        passed = 0
        for took, holds in sorted(self.counts.items()):
            passed += holds
            if passed >= share * self.number:
                return took
        return 0


@dataclass(frozen=True)
class _Plugin:
    path: Path
    address: int

    def arguments(self, _folder: Path, /) -> list[str]:
        return ["-plugin", f"{str(self.path).replace(',', ',,')},from={self.address:#x},out={_COUNTS}"]


def measure(
    built: Built, command: Sequence[str], *, kernel_args: Sequence[str] = (), memory: str = "256M", cpus: int = 1
) -> Holds:
    """Return the holds of the zones' locks while `command` is in its marked regions (lab/guest/mark.h).

    The machine is exact. With several CPUs only the number of holds is known: all are of 0 instructions. OkosuError
    (125) where the command fails or the kernel has no such function.
    """
    plugin = _Plugin(_build(), _address(built))
    outcome = qemu.run(
        built,
        command,
        model=plugin,
        exact=True,
        kernel_args=kernel_args,
        memory=memory,
        cpus=cpus,
        timeout=TIMEOUT_S,
    )
    if outcome.status:
        raise OkosuError(
            f"the command ended with {outcome.status}", outcome.console[-600:], "the reason above", LAUNCHER_FAILED
        )
    rows = (line.split() for line in outcome.files[_COUNTS].read_text().splitlines())
    return Holds({int(took): int(holds) for took, holds in rows})


def _address(built: Built) -> int:
    table = subprocess.run(["nm", built.path / "vmlinux"], capture_output=True, text=True, check=True).stdout
    for line in table.splitlines():
        address, _, name = line.split()
        if name == _TAKES_ONE:
            return int(address, 16)
    raise OkosuError(f"the kernel has no {_TAKES_ONE}()", "it was inlined or renamed", "", LAUNCHER_FAILED)


def _build(cc: str = "gcc") -> Path:
    core, glue = (machines.model_folder() / part for part in ("core", "plugin"))
    sources = [Path(__file__).with_suffix(".c"), core / "decode.c"]
    headers = [*sorted(core.glob("*.h")), glue / "qemu_api.h"]
    texts = {path.name: path.read_text() for path in (*sources, *headers)}
    key = cache.key(texts, model_plugin.PLUGIN_FLAGS, compiler_version(cc))
    flags = (*model_plugin.PLUGIN_FLAGS, f"-I{core}", f"-I{glue}")
    return cache.made(_KIND, key, lambda to: model_plugin.compile_files(cc, sources, to / _PLUGIN, *flags)) / _PLUGIN
