# SPDX-License-Identifier: Apache-2.0
"""The programs that check okosu's copies and sets, and the parser of what they print of a choice."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[2] / "build")
CHECKS = BUILD / "native/src/check"
LAST = 2**64 - 1

Choice = dict[str, list[tuple[int, str]]]


HIDDEN = {"avx2": {"avx512f", "avx512vl", "avx512bw", "avx512dq"}}
HIDDEN["sse2"] = {"avx", "avx2", "fma", *HIDDEN["avx2"]}
"""What a build with meson's option `instructions` does not find (papers/hpc_programming/bench/as_class.sh)."""


def flags() -> set[str]:
    """The processor's flags in /proc/cpuinfo, but for those that the build at hand does not find."""
    return listed() - HIDDEN.get(os.environ.get("OKOSU_CLASS", ""), set())


def listed() -> set[str]:
    """The processor's flags in /proc/cpuinfo."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(("flags", "Features")):
            return set(line.partition(":")[2].split())
    return set()


def facts() -> dict[str, str]:
    """What /proc/cpuinfo says of the first CPU."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    lines = text.split("\n\n")[0].replace("\t", "").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def splits_vectors() -> bool:
    """Whether these cores move each half of a vector of 256 bits by itself: AMD's Excavator, Zen 1 and Zen+, by family
    and model, which the library does not ask for (AMD's Software Optimization Guides of families 15h and 17h)."""
    found = facts()
    if found.get("vendor_id") != "AuthenticAMD":
        return False
    family, model = int(found["cpu family"]), int(found["model"])
    return family == 0x15 or (family == 0x17 and model < 0x30)


def avoids_512_bits() -> bool:
    """Whether these cores lower their clock for vectors of 512 bits: Intel's family 6, model 85."""
    wanted = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": "85"}
    return wanted.items() <= facts().items()


def intel() -> bool:
    return facts().get("vendor_id") == "GenuineIntel"


@dataclass(frozen=True)
class Checker:
    """One of the programs; `uses` are the words with which its lines of classes begin."""

    name: str
    uses: tuple[str, ...]

    @property
    def path(self) -> Path:
        return CHECKS / self.name

    def run(self, *argv: str, wrapper: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
        """Run it with nothing in its environment but `variables`."""
        env = {"PATH": os.environ["PATH"], **variables}
        command = [*wrapper, str(self.path), *argv]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    def show(self, *argv: str, wrapper: tuple[str, ...] = (), **variables: str) -> tuple[Choice, dict[str, str]]:
        """The choice (classes by use), and the program's other lines by their first word."""
        done = self.run(*(argv or ("--show",)), wrapper=wrapper, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        choice: Choice = {}
        said = {}
        for line in done.stdout.splitlines():
            word, _, rest = line.partition(" ")
            if word in self.uses:
                up_to, variant = rest.split()
                choice.setdefault(word, []).append((int(up_to), variant))
            else:
                said[word] = rest
        return choice, said

    def plan(self, features: int, caches: str) -> Choice:
        """The automatic choice on a machine with these features and caches "L1D L2 L3"."""
        return self.show("--plan", str(features), *caches.split())[0]


def classes(text: str) -> list[tuple[int, str]]:
    """Decode "4096 sse2, max nt-sse2"."""
    pairs = [item.split() for item in text.split(", ")]
    return [(LAST if up_to == "max" else int(up_to), variant) for up_to, variant in pairs]
