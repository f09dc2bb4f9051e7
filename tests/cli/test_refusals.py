# SPDX-License-Identifier: Apache-2.0
"""Bad input, a line each of refusals.txt: refused with the three parts of an error, and nothing is left behind."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from warm_okosu import okosu

DATA = Path(__file__).parents[1] / "data"
LINES = Path(__file__).with_name("refusals.txt").read_text().splitlines()
CASES = [line for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_with_what_why_and_fix(case: str, tmp_path: Path) -> None:
    words, *wanted = (part.replace("{data}", str(DATA)) for part in case.split(" | "))
    argv = [word.replace("{tmp}", str(tmp_path)) for word in shlex.split(words.replace("\\", "\\\\"))]
    # A command to type has its path quoted.
    typed = f"--resume {shlex.quote(f'{tmp_path}/there.json')}"
    wanted = [part.replace("--resume {tmp}/there.json", typed).replace("{tmp}", str(tmp_path)) for part in wanted]
    if "LD_PRELOAD={tmp}" in words and " " in str(tmp_path):
        pytest.skip("LD_PRELOAD cannot name a path with a space")
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    for name, text in (("there.json", "notes\n"), ("empty.json", ""), ("text.so", "text\n")):
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.iterdir())
    # The lock of measurements lies in TMPDIR: no other trial on this machine is waited for.
    done = okosu(
        *argv,
        env={**os.environ, "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
    )
    error = done.stderr[done.stderr.index("okosu: ") :].replace("\n  why: ", " | ").replace("\n  fix: ", " | ")
    assert [
        str(done.returncode),
        *error.strip().replace("\n       ", " / ").removeprefix("okosu: ").split(" | "),
    ] == wanted
    assert done.stdout == ""
    left = [path for path in sorted(tmp_path.iterdir()) if path.suffix != ".lock" and path.name != "okosu"]
    assert left == before
    assert not list(tmp_path.glob("okosu/*")), "the records of a trial that measured nothing"
