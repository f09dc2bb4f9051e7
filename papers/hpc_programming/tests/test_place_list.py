# SPDX-License-Identifier: Apache-2.0
"""okosu_place_list and okosu_place_check against okosu's Python reader on the same trees, and on broken trees."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from effort import length
from hypothesis import given, settings
from hypothesis import strategies as st

from okosu import machine
from papers.hpc_programming.tests.place_tool import run

sys.path.append(str(Path(__file__).resolve().parents[3] / "tests/machines"))
import built_machines as built
from machine_parts import NODE, Files, process, processor

SMALL = built.aarch64()
GARBAGE = st.binary(max_size=40) | st.text(alphabet="0123456789-,: \n[]kKM.", max_size=40).map(str.encode)


def numbers(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def caches(said: dict[str, Any]) -> set[tuple[int, str, int, int, int, int, tuple[int, ...]]]:
    kinds = {"d": "Data", "i": "Instruction", "u": "Unified"}
    return {
        (c["level"], kinds[c["kind"]], c["bytes"], c["line"], c["ways"], c["sets"], tuple(numbers(c["cpus"])))
        for c in said["caches"]
    }


def check_against_reader(root: Path, confined: list[int] | None = None) -> None:
    said, read = run("list", root), machine.read(root)
    usable = confined or read.cpus_online
    assert said["rc"] == 0
    assert numbers(said["cpus_set"]) == usable
    assert sorted(cpu[0] for cpu in said["cpus"]) == usable
    assert caches(said) == {
        (c.level, c.type, c.size, c.line, c.ways, c.sets, shared)
        for c in read.caches
        for group in c.shared_cpus
        if (shared := tuple(cpu for cpu in group if cpu in usable))
    }
    for node, expected in zip(said["nodes"], read.nodes, strict=True):
        assert node["number"] == expected.number
        assert numbers(node["cpus"]) == [cpu for cpu in expected.cpus if cpu in usable]
        assert node["total"] == expected.total_kb * 1024
        assert node["distances"] == expected.distances
        assert node["usable"] == (expected.number in read.memory_nodes)
    siblings = {c.number: min(s for s in c.siblings if s in usable) for c in read.cpus if c.number in usable}
    nodes = {c.number: c.node for c in read.cpus}
    for cpu, _, node, _, core in said["cpus"]:
        assert node == nodes[cpu]
        assert core == min(siblings[cpu], core)


@pytest.mark.parametrize("name", [name for name in built.BUILT if name != "container"])
def test_a_written_machine_reads_as_the_package_reads_it(name: str, tmp_path: Path) -> None:
    check_against_reader(built.place(name, tmp_path))


def test_a_container_is_listed_as_far_as_it_reaches(tmp_path: Path) -> None:
    root = built.place("container", tmp_path)
    read = machine.read(root)
    check_against_reader(root, read.limits.cpuset_cpus or None)
    said = run("list", root)
    assert len(said["cpus"]) < len(read.cpus_online)
    assert numbers(said["mask"]) == read.cpus_allowed
    assert 0 < sum(node["usable"] for node in said["nodes"]) < len(said["nodes"])


def test_this_machine() -> None:
    check_against_reader(Path("/"), sorted(set(numbers(run("list", "/")["cpus_set"]))))
    assert numbers(run("list", "/")["mask"]) == sorted(os.sched_getaffinity(0))
    online = numbers(Path("/sys/devices/system/cpu/online").read_text().strip())
    assert set(numbers(run("list", "/")["cpus_set"])) <= set(online)


def write(tmp_path: Path, files: Files) -> Path:
    return built.write(files, tmp_path)


def test_a_kernel_without_numa_is_one_node_that_cannot_be_bound_to(tmp_path: Path) -> None:
    files = processor(1, 1, 4, 1, []) | process(4, 1)
    root = write(tmp_path, {path: text for path, text in files.items() if not path.startswith(NODE)})
    said = run("list", root)
    assert (said["numa"], len(said["nodes"]), said["nodes"][0]["cpus"]) == (False, 1, "0-3")
    refused = run("check", root, "0")
    assert refused["rc"] == -errno.ENOSYS
    assert "no NUMA nodes" in refused["reason"]


def test_without_any_list_of_cpus_there_is_an_error(tmp_path: Path) -> None:
    said = run("list", tmp_path)
    assert said["rc"] == -errno.ENOENT
    assert "no CPU is known" in said["reason"]


def test_nodes_that_cannot_be_bound_to_are_told_apart(tmp_path: Path) -> None:
    files = processor(2, 2, 2, 1, []) | process(8, 4, mems="1-2") | {f"{NODE}/has_memory": "0-2"}
    root = write(tmp_path, files)
    assert run("check", root, "1-2") == {"rc": 0, "reason": ""}
    for nodes, error, words in (
        ("7", errno.ENODEV, "there is no node 7; online: 0-3"),
        ("3", errno.ENODEV, "node 3 has no memory; nodes with memory: 0-2"),
        ("0-1", errno.EACCES, "node 0 is not allowed to this process: its cpuset (Mems_allowed_list) has 1-2"),
        ("", errno.EINVAL, "no node was named"),
        ("1,1024", errno.EINVAL, "nodes are numbered below 1024"),
    ):
        said = run("check", root, nodes)
        assert (said["rc"], said["reason"]) == (-error, words)
    assert [node["usable"] for node in run("list", root)["nodes"]] == [False, True, True, False]


def test_a_list_too_long_for_a_sentence_is_cut(tmp_path: Path) -> None:
    nodes = ",".join(map(str, range(0, 400, 2)))
    said = run("check", write(tmp_path, SMALL), nodes)
    assert said["rc"] == -errno.ENODEV
    assert ",..." in said["reason"]
    assert len(said["reason"]) < 320


@pytest.mark.parametrize(
    ("row", "expected"),
    [("10 21", [10, 21]), ("10", [0, 0]), ("10 21 31", [0, 0]), ("10 x", [0, 0]), ("", [0, 0]), ("10 999", [10, 0])],
)
def test_a_row_of_distances_that_is_none_is_unknown(row: str, expected: list[int], tmp_path: Path) -> None:
    files = processor(1, 2, 1, 1, []) | process(2, 2) | {f"{NODE}/node0/distance": row}
    said = run("list", write(tmp_path, files))
    assert [node["distances"] for node in said["nodes"]] == [expected, [11, 10]]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        *(("48K", 49152), ("32M", 32 << 20), ("1G", 1 << 30), ("512", 512)),
        *((text, 0) for text in ("48k", "K", "-1K", "48KB", "99999999999999999999K", "18014398509481985K", "")),
    ],
)
def test_sizes_of_caches(size: str, expected: int, tmp_path: Path) -> None:
    files = processor(1, 1, 1, 1, [(1, "Data", 32, 8, 64, "core")]) | process(1, 1)
    files["sys/devices/system/cpu/cpu0/cache/index0/size"] = size
    assert [cache["bytes"] for cache in run("list", write(tmp_path, files))["caches"]] == [expected]


def test_garbled_and_missing_files_never_break_the_list(tmp_path: Path) -> None:
    root = built.write(SMALL, tmp_path)
    paths = [path for path in sorted(SMALL) if path.startswith("sys/devices/system") or "self" in path]

    @settings(max_examples=length(8, 25))
    @given(st.dictionaries(st.sampled_from(paths), st.none() | GARBAGE, min_size=1, max_size=12))
    def check(changes: dict[str, bytes | None]) -> None:
        for path, content in changes.items():
            (root / path).unlink()
            if content is not None:
                (root / path).write_bytes(content)
        said = run("list", root)
        assert said["rc"] in (0, -errno.ENOENT, -errno.EINVAL, -errno.ERANGE)
        assert (said["reason"] == "") == (said["rc"] == 0)
        if said["rc"] == 0:
            assert {cpu[0] for cpu in said["cpus"]} == set(numbers(said["cpus_set"]))
            assert set(numbers(said["mask"])) <= set(numbers(said["cpus_set"]))
            assert all(len(node["distances"]) == len(said["nodes"]) for node in said["nodes"])
        run("check", root, "0-3")
        built.write({path: SMALL[path] for path in changes}, root)

    check()
