# SPDX-License-Identifier: Apache-2.0
"""The effects of pin and numa on this machine, and numa's checks on a model machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from launcher_model import MACHINES, build, dry, parse, write


def allowed() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def show_mask(launcher: Path, *words: str, mask: Iterable[int] | None = None) -> set[int]:
    """The mask of a program whose first thread no preload library moves to a CPU of its own."""

    def narrow() -> None:
        if mask is not None:
            os.sched_setaffinity(0, mask)

    done = subprocess.run(
        [launcher, *words, "--", "grep", "Cpus_allowed_list", "/proc/self/status"],
        capture_output=True,
        text=True,
        preexec_fn=narrow,
        env=os.environ | {"OKOSU_PRELOAD_LIB": "/nonexistent"},
    )
    return parse(done.stdout.split()[1])


def test_affinity_is_set(launcher: Path) -> None:
    for cpu in allowed()[:2]:
        assert show_mask(launcher, f"--pin=list:{cpu}") == {cpu}
    assert show_mask(launcher, "--pin=compact") == set(allowed())
    assert show_mask(launcher, "--pin=scatter", mask=allowed()[-1:]) == set(allowed()[-1:])


def test_a_cpu_outside_the_real_mask(launcher: Path) -> None:
    first = allowed()[:1]
    beyond = max(allowed()) + 1
    assert show_mask(launcher, f"--pin=list:{first[0]},{beyond}", mask=first) == set(first)
    command = [str(launcher), "--strict", f"--pin=list:{beyond}", "echo", "ran"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (125, "")
    assert f"requested CPUs {beyond}, but this process may use" in done.stderr


def policies(launcher: Path, *words: str) -> set[str]:
    done = subprocess.run([launcher, *words, "cat", "/proc/self/numa_maps"], capture_output=True, text=True, check=True)
    return {line.split()[1] for line in done.stdout.splitlines()}


@pytest.mark.parametrize(
    ("value", "policy"),
    [
        ("bind:0", "bind:0"),
        ("interleave", "interleave:0"),
        ("interleave:0", "interleave:0"),
        ("preferred:0", "prefer:0"),
        ("local", "local"),
    ],
)
def test_memory_policy_is_set(launcher: Path, value: str, policy: str) -> None:
    if Path("/sys/devices/system/node/has_memory").read_text().strip() != "0":
        policy = policy if value != "interleave" else "interleave:"
    seen = policies(launcher, f"--numa={value}")
    assert any(found.startswith(policy) for found in seen)
    assert not any(found.startswith(policy) for found in policies(launcher))


def test_numa_of_four_nodes(launcher: Path, tmp_path: Path) -> None:
    root = build(tmp_path, MACHINES["blocks"])
    plan, _ = dry(launcher, root, "--numa=bind:1,3")
    assert (plan["policy"], plan["nodes"]) == ("MPOL_BIND", "1,3")
    assert "set_mempolicy(MPOL_BIND, 1,3)" in plan["calls"]
    assert dry(launcher, root, "--numa=interleave")[0]["nodes"] == "0-3"
    local, _ = dry(launcher, root, "--numa=local")
    assert (local["policy"], local["nodes"]) == ("MPOL_LOCAL", "")
    write(root / "proc/self/status", "Cpus_allowed_list:\t0-31\nMems_allowed_list:\t0,2-3")
    write(root / "sys/devices/system/node/has_memory", "0-2")
    assert dry(launcher, root, "--numa=interleave")[0]["nodes"] == "0,2"
    for nodes, why in (
        ("7", "there is no node 7; online: 0-3"),
        ("0-1", "node 1 has no memory or is not allowed to this process; requested 0-1, allowed 0,2"),
        ("3", "node 3 has no memory or is not allowed to this process; requested 3, allowed 0,2"),
    ):
        refused, told = dry(launcher, root, f"--numa=bind:{nodes}")
        assert refused["policy"] is None
        assert refused["levers"][0]["why"] == why
        assert told.startswith(f"okosu: numa=bind:{nodes} not applied: ")


def test_a_kernel_without_numa(launcher: Path, tmp_path: Path) -> None:
    write(tmp_path / "proc/self/status", "Cpus_allowed_list:\t0")
    plan, _ = dry(launcher, tmp_path, "--numa=bind:0")
    assert "knows no NUMA nodes" in plan["levers"][0]["why"]


def test_a_node_that_is_not_there(launcher: Path) -> None:
    command = [str(launcher), "--numa=bind:1000", "echo", "ran"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.startswith("okosu: numa=bind:1000 not applied: ")
    assert subprocess.run([launcher, "--strict", *command[1:]], capture_output=True).returncode == 125
