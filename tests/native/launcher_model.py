# SPDX-License-Identifier: Apache-2.0
"""A model machine: a sysfs tree below a root that okosu-run --dry-run reads."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATH = {"PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class Place:
    """The place of a CPU on the model machine: 2 packages of 2 nodes of 4 cores of 2 threads; a node has one L3."""

    package: int
    node: int
    core: int
    thread: int


def numbered_in_blocks() -> dict[int, Place]:
    """Numbered as most Intel servers are: all first threads, package after package; each sibling is 16 higher."""
    return {c + 16 * t: Place(c // 8, c // 4, c, t) for c in range(16) for t in range(2)}


def numbered_in_turn() -> dict[int, Place]:
    """Numbered as some firmware does: packages alternate from CPU to CPU, and siblings are 2 apart."""
    cpus = {}
    for package in range(2):
        for local in range(8):
            for thread in range(2):
                core = package * 8 + local
                cpus[package + 2 * thread + 4 * local] = Place(package, core // 4, core, thread)
    return cpus


MACHINES = {"blocks": numbered_in_blocks(), "turn": numbered_in_turn()}


def listed(cpus: Iterable[int]) -> str:
    return ",".join(map(str, sorted(cpus)))


def preload_name(library: Path) -> str:
    """Return the name under which okosu-run puts `library` into LD_PRELOAD, so that only glibc's loader finds it."""
    root = "/$LIB" + "/.." * 8
    mapped = Path("/proc/self/maps").read_text().splitlines()
    libc = next(line.split()[-1] for line in mapped if line.endswith("/libc.so.6"))
    try:
        ctypes.CDLL(root + libc, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
    except OSError:  # this glibc's $LIB is no folder here, and okosu-run then takes the path as it is
        return str(library)
    return root + str(library)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def build(root: Path, cpus: Mapping[int, Place], mask: Iterable[int] | None = None, old: bool = False) -> Path:
    """Write the machine's sysfs; `old` uses the file names of kernels before 5.3, and another order of cache
    indexes.
    """
    system = root / "sys/devices/system"
    write(system / "cpu/online", listed(cpus))
    write(
        root / "proc/self/status",
        f"Name:\tx\nCpus_allowed_list:\t{listed(cpus if mask is None else mask)}\n"
        "Mems_allowed_list:\t0-3\nTHP_enabled:\t1",
    )
    write(system / "node/online", "0-3")
    write(system / "node/has_memory", "0-3")
    for cpu, place in cpus.items():

        def like(key: Callable[[Place], object], place: Place = place) -> str:
            return listed(c for c, p in cpus.items() if key(p) == key(place))

        topology = system / f"cpu/cpu{cpu}/topology"
        write(topology / ("thread_siblings_list" if old else "core_cpus_list"), like(lambda p: p.core))
        write(topology / ("core_siblings_list" if old else "package_cpus_list"), like(lambda p: p.package))
        # The kernel's core_id starts anew in each package, so code that uses it as a unique name fails here.
        write(topology / "core_id", str(place.core % 8))
        write(system / f"cpu/cpu{cpu}/cache/index{0 if old else 3}/level", "3")
        write(system / f"cpu/cpu{cpu}/cache/index{0 if old else 3}/shared_cpu_list", like(lambda p: p.node))
        write(system / f"cpu/cpu{cpu}/cache/index{3 if old else 0}/level", "1")
        write(system / f"cpu/cpu{cpu}/cache/index{3 if old else 0}/shared_cpu_list", like(lambda p: p.core))
        write(system / f"node/node{place.node}/cpulist", listed(c for c, p in cpus.items() if p.node == place.node))
    return root


def dry(launcher: Path, root: Path, *words: str, **env: str) -> tuple[dict[str, Any], str]:
    done = subprocess.run(
        [launcher, "--dry-run", "--json", *words, "--", "true"],
        capture_output=True,
        text=True,
        env=PATH | {"OKOSU_ROOT": str(root)} | env,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def parse(text: str) -> set[int]:
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus
