# SPDX-License-Identifier: Apache-2.0
"""A second opinion on a profile: `perf record` of the User-Mode Linux process, as the same table as gprof's.

A virtual machine without a performance monitoring unit has the event cpu-clock only, a timer; it sees libc and the
program's own system calls too, which gprof does not. What user space may not sample is said, and is no error of ours.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

from okosu.errors import OkosuError
from papers.simd_kernel.gprof import Row, Table

EVENT = "cpu-clock:u"
DATA = "perf.data"
RATE_HZ = 1000
_LINE = re.compile(r"^\s*(?P<pid>\d+)\s+(?P<address>[0-9a-f]+)\s+(?P<symbol>.+?)\s+\((?P<object>.*)\)$")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


def wrap(image: Path, folder: Path, rate: int = RATE_HZ) -> Path:
    """Write a program into `folder` that runs `image` under perf record and leaves perf.data there; return its path.

    It can be booted in the image's place: perf hands on arguments, streams and exit status.
    """
    perf = shutil.which("perf")
    if not perf:
        raise OkosuError("perf not found", "it samples the process from outside", "apt-get install linux-perf")
    script = folder / image.name
    record = f"{perf} record -q -e {EVENT} -F {rate} -o '{folder / DATA}'"
    script.write_text(f"#!/bin/sh\nexec {record} -- '{image}' \"$@\"\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def why_not() -> str:
    """Return why perf record does not work here, "" where it does."""
    perf = shutil.which("perf")
    if not perf:
        return "perf is not installed (apt-get install linux-perf)"
    command = [perf, "record", "-q", "-e", EVENT, "-o", os.devnull, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return "" if done.returncode == 0 else (said[0] if said else f"status {done.returncode}")


def read(data: Path, image: str, group: Callable[[str], str], rate: int = RATE_HZ) -> Table:
    """Return seconds by function from a perf.data of a kernel whose image has the file name `image`."""
    command = ["perf", "script", "-i", str(data), "-F", "pid,ip,sym,symoff,dso"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OkosuError(f"perf script failed on {data}", done.stderr.strip())
    return parse(done.stdout, image, group, rate)


def parse(text: str, image: str, group: Callable[[str], str] = lambda name: name, rate: int = RATE_HZ) -> Table:
    """Read `perf script -F pid,ip,sym,symoff,dso`: one sample a line. OkosuError names a line that is something else.

    The process with most samples in the image is the kernel; the others that perf followed are the guest's processes,
    and left out. Samples of the kernel's process outside the image are in a row for their object.
    """
    samples: dict[int, dict[str, int]] = {}
    inside: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = _LINE.match(line)
        if not match:
            raise OkosuError(f"line {number} of perf script is {line[:60]!r}", "expected PID ADDRESS SYMBOL (OBJECT)")
        file = Path(match["object"]).name or "unknown"
        inside[int(match["pid"])] = inside.get(int(match["pid"]), 0) + (file == image)
        symbol = _OFFSET.sub("", match["symbol"])
        name = group(symbol) if file == image and symbol != "[unknown]" else f"({file})"
        by_name = samples.setdefault(int(match["pid"]), {})
        by_name[name] = by_name.get(name, 0) + 1
    if not samples:
        return Table()
    kernel = samples[max(inside, key=lambda pid: inside[pid])]
    total = sum(kernel.values())
    ordered = sorted(kernel.items(), key=lambda item: (-item[1], item[0]))
    return Table([Row(name, n, n / rate, n / total) for name, n in ordered], total, total / rate)
