# SPDX-License-Identifier: Apache-2.0
"""The internals of the preload library with a fake table of system calls, under ASan and UBSan."""

from __future__ import annotations

import subprocess

import pytest
from preload_tool import PRELOAD_SOURCES, build

from okosu import native

LIBRARY_SOURCES = PRELOAD_SOURCES.parent / "src"

# All sources but the entry points, because the hooks of malloc conflict with the sanitizer's own.
MECHANISM = (
    "commit", "config", "environ", "evidence", "large", "lock", "maps", "next", "policy", "proof", "runs", "small_maps",
    "sys",
)  # fmt: skip
BASE = ("avail", "cgroup", "file", "json", "line")


@pytest.mark.long
def test_mechanism_under_sanitizers() -> None:
    sanitize = (
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        f"-I{PRELOAD_SOURCES}",
        f"-I{LIBRARY_SOURCES}",
    )
    sources = [str(PRELOAD_SOURCES / f"{name}.c") for name in MECHANISM]
    sources += [str(LIBRARY_SOURCES / "base" / f"{name}.c") for name in BASE]
    sources.append(str(native.find("libokosu-preload.so").with_name("companions.c")))
    parts = ("", "_runs", "_large", "_small", "_parts")
    programs = [f"preload_unit{part}.c" for part in parts]
    program = build("preload-unit", *sanitize, *sources, *programs, "-lpthread")
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("ok: ") >= 40
