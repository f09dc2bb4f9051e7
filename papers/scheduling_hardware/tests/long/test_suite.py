# SPDX-License-Identifier: Apache-2.0
"""A folder of programs that judge themselves: each verdict that there is, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from papers.scheduling_hardware import cross_compile, suite
from papers.scheduling_hardware.tests.long.shared import NEEDS, OPTIONS

pytestmark = NEEDS

# What the programs do, which get `verdict()` from a source that all are linked with; and their verdicts.
PROGRAMS = {
    "passes": ("return verdict(0);", "pass"),
    "fails": ('puts("it is wrong"); return verdict(1);', "fail"),
    "open": ("return verdict(2);", "unresolved"),
    "lacking": ("return verdict(4);", "unsupported"),
    "left_out": ("return verdict(5);", "untested"),
    "wrong": ("return verdict();", "not compiled"),
    "unknown": ("return there_is_no_such_function();", "not compiled"),
    "killed": ("return raise(SIGTERM);", "status 143"),
    "stuck": ("sem_t sem; sem_init(&sem, 0, 0); return sem_wait(&sem);", "deadlock"),
    "endless": ("for (;;) sched_yield();", "max-cycles"),
    "trapped": ("return *(volatile int *)1;", "trap"),
}
HEAD = """\
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include "verdict.h"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    for name, (body, _) in PROGRAMS.items():
        path = folder / name / "1.c"
        path.parent.mkdir(parents=True)
        path.write_text(f"{HEAD}int main(void) {{ {body} }}\n")
    (tmp_path / "verdict.h").write_text("int verdict(int status);\n")
    (tmp_path / "verdict.c").write_text("int verdict(int status)\n{\n    return status;\n}\n")
    return folder


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_each_verdict_is_told(folder: Path, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    table, reasons = folder.parent / "table.json", folder.parent / "reasons.toml"
    reasons.write_text('[[reason]]\nwhy = "no_such"\nwords = "a function that there is not"\n')
    words = [str(folder), "--with", str(folder.parent / "verdict.c"), "-I", str(folder.parent), "--backend", backend]
    words += ["--max-cycles", "200000", *OPTIONS]
    assert suite.main([*words, "--reasons", str(reasons), "--table", str(table)]) == 0
    told = {name.split("/")[1]: said for name, said in json.loads(table.read_text()).items()}
    expected = {name: verdict for name, (_, verdict) in PROGRAMS.items()}
    if backend == "software":
        # Its idle PEs look for threads for ever.
        expected["stuck"] = told["stuck"][0]
        assert told["stuck"][0] in ("deadlock", "max-cycles")
    assert {name: verdict for name, (verdict, _) in told.items()} == expected
    assert told["passes"][1] == ""
    assert told["fails"][1] == "it is wrong"
    assert told["unknown"][1] == "a function that there is not"
    assert "11 programs: " in capsys.readouterr().out

    # The same programs differ in nothing; a table that says otherwise is found out.
    one = [*words, "--only", "passes|fails", "--compare", str(table)]
    assert suite.main(one) == 0
    changed = json.loads(table.read_text())
    changed["programs/fails/1"][0] = "pass"
    table.write_text(json.dumps(changed))
    assert suite.main(one) == 3
    assert "programs/fails/1: fail, in the table pass: it is wrong" in capsys.readouterr().out

    # Programs in folders of a folder are left out if that is asked for.
    folder.joinpath("top.c").write_text(f"{HEAD}int main(void) {{ return verdict(0); }}\n")
    assert suite.main([*words, "--flat"]) == 0
    assert capsys.readouterr().out == "1 programs: 1 pass\n"
    folder.joinpath("top.c").unlink()

    # A program that is in the table alone is told, too.
    (table.parent / "one.json").write_text(json.dumps({**changed, "programs/gone/1": ["pass", ""]}))
    assert suite.main([*words, "--only", "passes", "--compare", str(table.parent / "one.json")]) == 0
    folder.joinpath("fails/1.c").unlink()
    assert suite.main([*words, "--compare", str(table.parent / "one.json")]) == 3
    said = capsys.readouterr().out
    assert "programs/gone/1: not there, in the table pass" in said
    assert "programs/fails/1: not there" in said
