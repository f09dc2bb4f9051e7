# SPDX-License-Identifier: Apache-2.0
"""The committed verdicts of suites that others wrote: what they promise, and that the rest is explained."""

from __future__ import annotations

import json
import tomllib
from collections import Counter

from papers.scheduling_hardware import ROOM, arch_suite, foreign
from papers.scheduling_hardware.suite import PASS, Verdict, differences, explained, options

SUITES = ROOM / "suites"


def test_the_posix_suite_passes_but_for_what_the_machine_lacks() -> None:
    table = json.loads((SUITES / "open-posix.json").read_text())
    counts = Counter(verdict for verdict, _ in table.values())
    assert counts[PASS] >= 440
    assert set(counts) <= {PASS, "not compiled", "unresolved", "unsupported", "untested"}
    words = {entry["words"] for entry in tomllib.loads((SUITES / "posix.toml").read_text())["reason"]}
    assert not {name: said for name, said in table.items() if said[0] != PASS and said[1] not in words}
    assert not {name: said for name, said in table.items() if said[0] == PASS and said[1]}


def test_gccs_torture_passes_but_for_what_does_not_compile() -> None:
    table = json.loads((SUITES / "torture.json").read_text())
    counts = Counter(verdict for verdict, _ in table.values())
    assert counts.total() == 1592
    assert set(counts) == {PASS, "not compiled"}
    assert counts["not compiled"] <= 14
    words = {entry["words"] for entry in tomllib.loads((SUITES / "torture.toml").read_text())["reason"]}
    assert not {name: said for name, said in table.items() if said[0] != PASS and said[1] not in words}


def test_riscv_tests_pass_but_for_what_the_machine_has_not() -> None:
    table = json.loads((SUITES / "riscv.json").read_text())
    groups = Counter(name.partition("/")[0] for name in table)
    assert groups == {"rv32ui": 42, "rv32um": 8, "rv32ua": 10, "rv32mi": 16}
    words = {entry["words"] for entry in tomllib.loads((SUITES / "riscv.toml").read_text())["reason"]}
    others = {name: said for name, said in table.items() if said[0] != PASS}
    # Of the unprivileged ones only what stores instructions, and what wants unaligned accesses made.
    assert {name for name in others if "mi/" not in name} == {"rv32ui/fence_i", "rv32ui/ma_data"}
    assert len(others) <= 5
    assert {said for _, said in others.values()} <= words


def test_riscv_arch_test_passes_but_for_what_has_no_reference() -> None:
    words = {entry["words"] for entry in tomllib.loads((SUITES / "riscv-arch.toml").read_text())["reason"]}
    tables = {version: json.loads((SUITES / f"{version}.json").read_text()) for version in foreign.ARCH}
    groups = {name: Counter(one.rpartition("/")[0] for one in table) for name, table in tables.items()}
    assert groups == {
        "riscv-arch-1.0": {"rv32i": 48, "rv32im": 8, "rv32Zicsr": 6, "rv32Zifencei": 1},
        "riscv-arch-2.7": {"rv32i_m/I": 38, "rv32i_m/M": 8, "rv32i_m/Zifencei": 1, "rv32i_m/privilege": 16},
        "riscv-arch-3.9": {
            "rv32i_m/I": 39,
            "rv32i_m/M": 8,
            "rv32i_m/A": 9,
            "rv32i_m/Zifencei": 1,
            "rv32i_m/privilege": 15,
        },
    }
    for version, table in tables.items():
        others = {name: said for name, said in table.items() if said[0] != PASS}
        assert {said for _, said in others.values()} <= words
        unprivileged = {name for name in others if "/privilege/" not in name}
        assert unprivileged <= {"rv32Zifencei/I-FENCE.I-01", "rv32i_m/Zifencei/Fencei"}
        assert {table[name][0] for name in set(others) - unprivileged} <= {arch_suite.NO_REFERENCE}
        # Jumps that do other things with compressed instructions; in the last version, all that take traps.
        assert len(others) == {"riscv-arch-1.0": 1, "riscv-arch-2.7": 9, "riscv-arch-3.9": 16}[version]


def test_what_a_program_asks_of_the_compiler() -> None:
    text = """/* { dg-options "-fwrapv -O1" } */
/* { dg-additional-options { "-DX='a b'" } } */
/* { dg-options "-m32" { target x86 } } */"""
    assert options(text) == ["-fwrapv", "-O1", "-DX=a b"]


def test_a_reason_is_the_first_that_fits() -> None:
    reasons = [
        {"program": "^a/", "why": "fork", "words": "processes"},
        {"why": "fork", "words": "others"},
    ]
    said = [
        Verdict("a/1", "unresolved", "fork failed"),
        Verdict("b/1", "unresolved", "fork failed"),
        Verdict("b/2", "fail", "it is wrong"),
        Verdict("a/2", PASS, "fork"),
    ]
    table = {"a/1": ["unresolved", "processes"], "b/1": ["unresolved", "others"], "b/2": ["fail", "it is wrong"]}
    assert explained(said, reasons) == {**table, "a/2": [PASS, ""]}
    assert differences(said, table) == ["a/2: pass, in the table nothing: fork"]
