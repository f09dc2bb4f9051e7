# SPDX-License-Identifier: Apache-2.0
"""Placement on a machine of four nodes, which is a QEMU guest (times measured there mean nothing): make test-lab."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lab.tests.long import numa_guest
from okosu import native
from papers.hpc_programming.tests import place_tool
from papers.hpc_programming.tests.place_tool import BIND, FIRST_TOUCH, HUGETLB, INTERLEAVE, MOVE, TOUCH

ROOT = Path(__file__).resolve().parents[4]
MIB = 1 << 20

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

POOL = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"
COMMANDS = {
    "list": "place list /",
    **{f"bind{node}": f"place alloc {BIND} {node} {5 * MIB} {TOUCH}" for node in (0, 1, 2, 3)},
    "bind4": f"place alloc {BIND} 4 {MIB} 0",
    "bind13": f"place alloc {BIND} 1,3 {4 * MIB} {TOUCH}",
    "interleave": f"place alloc {INTERLEAVE} '' {6 * MIB} {TOUCH}",
    "interleave01": f"place alloc {INTERLEAVE} 0-1 {4 * MIB} {TOUCH}",
    "first0": f"place alloc {FIRST_TOUCH} '' {4 * MIB} 0 0",
    "first2": f"place alloc {FIRST_TOUCH} '' {4 * MIB} 0 2",
    "first02": f"place alloc {FIRST_TOUCH} '' {4 * MIB} 0 0,2",
    "full": f"place alloc {BIND} 3 {100 * MIB} {TOUCH}",
    # The first half of the array was touched by CPU 0 and lies on its node.
    "strict": "taskset 1 place bind 1 0",
    "move": f"taskset 1 place bind 1 {MOVE}",
    # Only node 1 has huge pages in its pool: the reservation succeeds, and the touch would raise SIGBUS.
    "pool1": f"echo 4 > {POOL}; place alloc {BIND} 1 {4 * MIB} {HUGETLB}",
    "pool0": f"place alloc {BIND} 0 {4 * MIB} {HUGETLB}; echo 0 > {POOL}",
    "enter": "mkdir /sys/fs/cgroup/few; echo 1,3 > /sys/fs/cgroup/few/cpuset.mems;"
    " echo 0,2 > /sys/fs/cgroup/few/cpuset.cpus; echo $$ > /sys/fs/cgroup/few/cgroup.procs",
    "few-list": "place list /",
    "few-bind0": f"place alloc {BIND} 0 {MIB} {TOUCH}",
    "few-bind01": f"place alloc {BIND} 0-1 {MIB} {TOUCH}",
    "few-bind1": f"place alloc {BIND} 1 {MIB} {TOUCH}",
    "few-interleave": f"place alloc {INTERLEAVE} '' {4 * MIB} {TOUCH}",
    "few-pin1": "place pin 1",
    "leave": "echo $$ > /sys/fs/cgroup/cgroup.procs",
    "numa": f"numa --smoke --sizes {3 * MIB} 2>/tmp/err; cat /tmp/err",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    done = subprocess.run([ROOT / "tools/setup/lab-deps.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("guest")
    image = numa_guest.kernel(folder)
    assert image is not None, "no kernel for the guest; fix: name one with NUMA and initramfs by OKOSU_GUEST_KERNEL"
    tool = folder / "place"
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-o", tool, *place_tool.WORDS], check=True)
    programs = {"place": tool, "numa": native.find("okosu-bench-numa")}
    return numa_guest.run(image, numa_guest.initramfs(folder, programs, COMMANDS))


def line(said: dict[str, str], name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said[name])
    return found


def base_pages(size: int) -> int:
    return size // 4096


def test_the_list_of_nodes(said: dict[str, str]) -> None:
    machine = line(said, "list")
    assert [node["number"] for node in machine["nodes"]] == [0, 1, 2, 3]
    assert [node["cpus"] for node in machine["nodes"]] == ["0-1", "2", "3", ""]
    assert [node["usable"] for node in machine["nodes"]] == [True, True, False, True]
    assert [node["distances"] for node in machine["nodes"]] == [
        [10, 13, 17, 20],
        [13, 10, 19, 23],
        [17, 19, 10, 29],
        [20, 23, 29, 10],
    ]
    assert all(node["avail"] <= node["total"] for node in machine["nodes"])


def test_memory_is_on_the_node_it_was_bound_to(said: dict[str, str]) -> None:
    for node in (0, 1, 3):
        placed = line(said, f"bind{node}")
        assert placed["on"] == {str(node): base_pages(5 * MIB)}
        assert f" N{node}={base_pages(5 * MIB)} " in f"{placed['numa_maps']} "
    placed = line(said, "bind13")
    assert placed["rc"] == 0
    assert set(placed["on"]) <= {"1", "3"}


def test_nodes_that_cannot_be_had(said: dict[str, str]) -> None:
    for name, words in (
        ("bind2", "node 2 has no memory; nodes with memory: 0-1,3"),
        ("bind4", "there is no node 4; online: 0-3"),
    ):
        refused = line(said, name)
        assert (refused["rc"], refused["reason"]) == (-errno.ENODEV, words)
    full = line(said, "full")
    assert full["rc"] == -errno.ENOMEM
    assert full["reason"].startswith("node 3 has ")


def test_interleaved_pages_are_dealt_evenly(said: dict[str, str]) -> None:
    assert line(said, "interleave")["on"] == dict.fromkeys("013", base_pages(2 * MIB))
    assert line(said, "interleave01")["on"] == dict.fromkeys("01", base_pages(2 * MIB))


def test_the_first_touch_decides(said: dict[str, str]) -> None:
    assert line(said, "first0")["on"] == {"0": base_pages(4 * MIB)}
    assert line(said, "first2")["on"] == {"1": base_pages(4 * MIB)}
    assert line(said, "first02")["on"] == {"0": base_pages(2 * MIB), "1": base_pages(2 * MIB)}


def test_pages_that_lie_elsewhere_are_an_error_or_move(said: dict[str, str]) -> None:
    strict = line(said, "strict")
    assert (strict["rc"], strict["reason"]) == (-errno.EIO, "mbind: some of the pages lie elsewhere already")
    moved = line(said, "move")
    assert (moved["rc"], moved["on"]) == (0, {"1": 123})


def test_the_pool_of_huge_pages_by_node(said: dict[str, str]) -> None:
    assert line(said, "pool1")["on"] == {"1": base_pages(4 * MIB)}
    refused = line(said, "pool0")
    assert refused["rc"] == -errno.ENOMEM
    assert "on these nodes" in refused["reason"]


def test_a_cpuset_limits_what_can_be_had_and_is_named(said: dict[str, str]) -> None:
    machine = line(said, "few-list")
    assert (machine["cpus_set"], machine["mask"]) == ("0,2", "0,2")
    assert [node["usable"] for node in machine["nodes"]] == [False, True, False, True]
    for name in ("few-bind0", "few-bind01"):
        refused = line(said, name)
        assert refused["rc"] == -errno.EACCES
        assert refused["reason"].endswith("its cpuset (Mems_allowed_list) has 1,3")
    assert line(said, "few-bind1")["on"] == {"1": base_pages(MIB)}
    assert line(said, "few-interleave")["on"] == dict.fromkeys("13", base_pages(2 * MIB))
    refused = line(said, "few-pin1")
    assert (refused["rc"], "CPU 1 is not in the cpuset" in refused["reason"]) == (-errno.EACCES, True)


def test_the_matrix_of_the_bench(said: dict[str, str]) -> None:
    lines = [json.loads(text) for text in said["numa"].splitlines() if text.startswith("{")]
    rows = [found for found in lines if found["type"] == "row"]
    assert {(row["extra"]["cpu"], row["extra"]["node"], row["mode"]) for row in rows} == {
        (cpu, node, mode) for cpu in range(4) for node in (0, 1, 3) for mode in ("first", "second")
    }
    assert {row["extra"]["misplaced"] for row in rows} == {0}
    assert {row["extra"]["pages"] for row in rows} == {base_pages(3 * MIB)}
    distances = {(row["extra"]["cpu"], row["extra"]["node"]): row["extra"]["distance"] for row in rows}
    assert (distances[0, 0], distances[2, 0], distances[2, 3], distances[3, 1]) == (10, 13, 23, 19)
