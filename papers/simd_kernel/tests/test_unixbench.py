# SPDX-License-Identifier: Apache-2.0
"""UnixBench from a user's checkout: found, refused with what to do, driven and read; all with a fake checkout."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.run.outcome import Outcome
from okosu.errors import OkosuError
from papers.simd_kernel.run import unixbench

FAKE = """#!/bin/sh
printf '%s %s\\n' "$(basename "$0")" "$*" >> "$(dirname "$0")/log"
[ -d "$UB_BINDIR" ] || exit 9
echo "COUNT|1234|1|lps" >&2
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "UnixBench"
    (folder / "pgms").mkdir(parents=True)
    (folder / "Run").touch()
    for test in unixbench.TABLE:
        program = folder / "pgms" / test.program
        program.write_text(FAKE)
        program.chmod(0o755)
    return folder


def boot(command: Sequence[str]) -> Outcome:
    done = subprocess.run(command, capture_output=True, check=False)
    return Outcome(done.returncode, None, done.stdout, done.stderr, "", "", 0.1, 0.1, {})


def test_the_checkout_may_be_named_from_above(checkout: Path) -> None:
    assert unixbench.check(checkout) == unixbench.check(checkout.parent) == checkout


def test_no_checkout_is_a_usage_error_with_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="no checkout of UnixBench") as raised:
        unixbench.check(tmp_path / "nowhere")
    assert raised.value.status == 2
    assert raised.value.why
    assert "byte-unixbench" in raised.value.fix


def test_a_checkout_that_is_not_built_names_what_lacks_and_how_to_make_it(checkout: Path) -> None:
    (checkout / "pgms" / "fstime").unlink()
    (checkout / "pgms" / "execl").chmod(0o644)
    with pytest.raises(OkosuError, match="not built") as raised:
        unixbench.check(checkout)
    assert raised.value.why == "pgms lacks fstime, execl"
    assert raised.value.fix.startswith(f"make -C {checkout} ")


def test_every_test_is_run_with_its_arguments(checkout: Path) -> None:
    found = unixbench.run(checkout, boot, 0.1)
    assert [name for name, *_ in found] == [test.name for test in unixbench.TABLE]
    assert {rate for _, rate, _ in found} == {unixbench.Rate(1234.0, "lps")}
    said = (checkout / "pgms" / "log").read_text().splitlines()
    assert said[0] == "pipe 1"
    assert "fstime -c -t 3 -d /tmp -b 1024 -m 2000" in said
    assert "execl 3" in said


def test_a_test_that_fails_is_named(checkout: Path) -> None:
    (checkout / "pgms" / "spawn").write_text("#!/bin/sh\necho no more processes >&2\nexit 3\n")
    with pytest.raises(OkosuError, match="UnixBench's spawn ended with status 3") as raised:
        unixbench.run(checkout, boot)
    assert "no more processes" in raised.value.why


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("COUNT|36251.0|0|KBps\nTIME|30.0\n", unixbench.Rate(36251.0, "KBps")),
        ("noise\nCOUNT|99|1|lps", unixbench.Rate(99.0, "lps")),
        # What fstime -c prints: writing and reading first; and context1, whose child has counted nothing.
        ("COUNT|300|0|KBps\nTIME|2.0\nCOUNT|900|0|KBps\nCOUNT|500|0|KBps\n", unixbench.Rate(500.0, "KBps")),
        ("COUNT|77|1|lps\nCOUNT|0|1|lps\n", unixbench.Rate(77.0, "lps")),
    ],
)
def test_a_rate_is_read(text: str, rate: unixbench.Rate) -> None:
    assert unixbench.parse(text) == rate


@pytest.mark.parametrize("text", ["", "COUNT|x|1|lps", "COUNT", "COUNT|1.2.3|1|lps", "COUNT|0|1|lps"])
def test_no_rate_is_an_error(text: str) -> None:
    with pytest.raises(OkosuError, match="no line COUNT"):
        unixbench.parse(text)
