# SPDX-License-Identifier: Apache-2.0
"""The preload library's mechanism against a fake table of system calls, under ASan and UBSan."""

from __future__ import annotations

import subprocess

from preload_tool import PRELOAD_SOURCES, build

# Everything but the entry points: hooks of malloc and a sanitizer's own would get in each other's way.
MECHANISM = (
    "avail",
    "commit",
    "config",
    "environ",
    "evidence",
    "large",
    "line",
    "lock",
    "maps",
    "policy",
    "runs",
    "sys",
)


def test_mechanism_under_sanitizers() -> None:
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{PRELOAD_SOURCES}")
    sources = [str(PRELOAD_SOURCES / f"{name}.c") for name in MECHANISM]
    parts = ("preload_unit.c", "preload_unit_runs.c", "preload_unit_large.c", "preload_unit_parts.c")
    program = build("preload-unit", *sanitize, *sources, *parts, "-lpthread")
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("ok: ") >= 40
