# SPDX-License-Identifier: Apache-2.0
"""The libraries that blas1 compares with: what a description may say, and for which reasons a library is left out."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from okosu import native

Compile = Callable[..., Path]

# CBLAS's ddot and daxpy, correct except for what the macros change.
GOOD = """
#include <stdint.h>
#include <stdlib.h>
#ifndef BIAS
#define BIAS 0
#endif
#ifndef INT
#define INT int32_t
#endif
#ifndef BEYOND
#define BEYOND 0
#endif
double fake_ddot(INT n, const double *x, INT incx, const double *y, INT incy)
{
    double sum = BIAS;
    for (INT i = 0; i < n; i++)
        sum += x[i * incx] * y[i * incy];
    return sum;
}
void fake_daxpy(INT n, double a, const double *x, INT incx, double *y, INT incy)
{
    for (INT i = 0; i < n + BEYOND; i++)
        y[i * incy] += a * x[i * incx];
}
static char *loaded_with = "nothing";
__attribute__((constructor)) static void load(void)
{
    if (getenv("FAKE_KERNELS"))
        loaded_with = getenv("FAKE_KERNELS");
}
char *fake_report(void) { return loaded_with; }
int fake_threads = 0;
void fake_set_threads(int n) { fake_threads = n; }
"""
DESCRIPTION = """\
library {name}.so
call cblas32
symbols fake_%s
version Fake 1.2
report fake_report
threads fake_set_threads
"""


class Peers:
    """A directory of peers that a test fills."""

    def __init__(self, folder: Path, compiled: Compile) -> None:
        self.folder = folder
        self.compiled = compiled
        self.notes: list[str] = []

    def add(self, name: str, *flags: str, source: str = GOOD, description: str = DESCRIPTION) -> None:
        shutil.copy(self.compiled(source, "-shared", "-fPIC", *flags), self.folder / f"{name}.so")
        (self.folder / f"{name}.peer").write_text(description.format(name=name))

    def run(self, *options: str) -> tuple[dict[str, list[dict[str, Any]]], dict[str, dict[str, str]]]:
        """The rows of each peer, and the reasons given for the absent ones."""
        command: list[str | Path] = [
            native.find("okosu-bench-blas1"),
            "--smoke",
            "--sizes=16",
            "--peers",
            self.folder,
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        rows: dict[str, list[dict[str, Any]]] = {}
        absent = {}
        self.notes = []
        for line in map(json.loads, done.stdout.splitlines()):
            if line["type"] == "row" and line["kind"] in ("peer", "paper"):
                rows.setdefault(line["variant"], []).append(line)
            elif line["type"] == "absent":
                absent[line["variant"]] = line
            elif line["type"] == "note":
                self.notes.append(line["text"])
        return rows, absent


@pytest.fixture
def peers(tmp_path: Path, compiled: Compile) -> Peers:
    return Peers(tmp_path, compiled)


def test_known_peers_are_absent_from_an_empty_directory(peers: Peers) -> None:
    rows, absent = peers.run()
    assert rows == {}
    assert {"openblas-debian", "openblas-pypi", "blis", "aocl", "mkl", "eigen", "gcc", "clang"} <= set(absent)
    assert absent["mkl"]["fix"] == "make peers"


def test_without_a_directory_all_are_absent() -> None:
    done = subprocess.run(
        [native.find("okosu-bench-blas1"), "--smoke", "--sizes=8", "--only=dsum"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["variant"] for line in lines if line["type"] == "absent"} >= {"mkl", "blis"}


def test_a_peer_is_loaded_named_and_timed(peers: Peers) -> None:
    peers.add("one")
    rows, absent = peers.run()
    assert "one" not in absent
    assert {row["routine"] for row in rows["one"]} == {"ddot", "dsumsq", "daxpy"}
    assert {row["library"] for row in rows["one"]} == {"Fake 1.2"}
    assert {row["config"] for row in rows["one"]} == {"nothing"}
    square = next(row for row in rows["one"] if row["routine"] == "dsumsq")
    assert square["extra"] == {"routine": "ddot(x, x)"}
    assert all(row["samples"] for row in rows["one"])


def test_directories_kinds_and_lengths_that_a_peer_takes(
    peers: Peers, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two directories at once; the peer in the second one is a paper's and takes only multiples of 16 elements."""
    peers.add("one")
    other = Peers(tmp_path_factory.mktemp("other"), peers.compiled)
    other.add("listing", description=DESCRIPTION + "kind paper\nmultiple 16\nalignment 16\n")
    rows, _ = peers.run("--peers", str(other.folder), "--sizes=12,16", "--only=ddot")
    assert {row["kind"] for row in rows["one"]} == {"peer"}
    assert {row["kind"] for row in rows["listing"]} == {"paper"}
    assert {row["n"] for row in rows["one"]} == {12, 16}
    assert {(row["n"], *row["align"]) for row in rows["listing"]} == {(16, 0, 0)}


@pytest.mark.parametrize(
    ("line", "told"),
    [("kind guess", "neither peer nor paper"), ("multiple 1e3", "no number"), ("alignment", "not understood")],
)
def test_a_description_that_is_wrong_is_refused(peers: Peers, line: str, told: str) -> None:
    peers.add("odd", description=f"{DESCRIPTION}{line}\n")
    rows, absent = peers.run()
    assert rows == {}
    assert told in absent["odd"]["why"]


def test_the_two_sizes_of_an_integer(peers: Peers) -> None:
    peers.add("wide", "-DINT=int64_t", description=DESCRIPTION.replace("cblas32", "cblas64"))
    assert "wide" in peers.run()[0]


def test_variables_hold_while_their_peer_is_loaded_and_no_longer(peers: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAKE_KERNELS", raising=False)
    peers.add("a-before")
    peers.add("b-forced", description=DESCRIPTION + "env FAKE_KERNELS=widest\nconfig built\n")
    peers.add("c-after")
    rows, _ = peers.run("--only=ddot")
    configs = {name: of[0]["config"] for name, of in rows.items()}
    assert configs == {"a-before": "nothing", "b-forced": "built, widest", "c-after": "nothing"}


@pytest.mark.parametrize(
    ("flags", "right", "told"),
    [
        (["-DBIAS=1e-9"], {"daxpy"}, "its result is wrong: ddot of 0 elements gave 1.0000000000000001e-09, not 0"),
        (["-DBEYOND=1"], {"ddot", "dsumsq"}, "its result is wrong: daxpy of 0 elements left"),
        (["-DBEYOND=-1"], {"ddot", "dsumsq"}, "its result is wrong: daxpy of 1 elements left"),
    ],
)
def test_a_wrong_routine_is_not_timed_and_is_told(peers: Peers, flags: list[str], right: set[str], told: str) -> None:
    peers.add("wrong", *flags)
    rows, _ = peers.run()
    assert {row["routine"] for row in rows["wrong"]} == right
    assert any(told in note for note in peers.notes)


def test_a_peer_with_nothing_right_is_absent(peers: Peers) -> None:
    peers.add("wrong", "-DBIAS=1e-9", "-DBEYOND=1")
    rows, absent = peers.run()
    assert "wrong" not in rows
    assert "its result is wrong" in absent["wrong"]["why"]


def test_a_peer_for_another_processor_is_not_timed(peers: Peers) -> None:
    instruction = {"x86_64": "ud2", "aarch64": "udf #0"}[platform.machine()]
    plain = DESCRIPTION.replace("report fake_report\nthreads fake_set_threads\n", "")
    peers.add(
        "foreign",
        source=f'double fake_ddot(int n) {{ __asm__ volatile("{instruction}"); return 0; }}\n',
        description=plain,
    )
    rows, absent = peers.run()
    assert "foreign" not in rows
    assert "instructions that this processor does not have" in absent["foreign"]["why"]


@pytest.mark.parametrize(
    ("description", "told"),
    [
        (DESCRIPTION.replace("{name}.so", "gone.so"), "it can't be loaded"),
        (DESCRIPTION + "colour blue\n", 'a line "colour" that is not understood'),
        (DESCRIPTION.replace("symbols fake_%s", "symbols fake_%s_%s"), "symbols with one %s"),
        (DESCRIPTION.replace("symbols fake_%s", "symbols fake_%d"), "symbols with one %s"),
        (DESCRIPTION.replace("version Fake 1.2\n", ""), "lacks a library, version"),
        (DESCRIPTION.replace("cblas32", "fortran"), '"fortran"'),
        (DESCRIPTION.replace("fake_%s", "other_%s"), "it has none of the routines"),
        ("", "lacks a library"),
    ],
)
def test_descriptions_that_will_not_do(peers: Peers, description: str, told: str) -> None:
    peers.add("odd", description=description)
    rows, absent = peers.run()
    assert rows == {}
    assert told in absent["odd"]["why"]
    assert "make peers" in absent["odd"]["fix"]


def test_a_peer_that_switches_denormals_off_does_so_for_itself_alone(peers: Peers) -> None:
    """Loading a library that was linked with -ffast-math changes the thread's floating-point mode; later peers must not
    be affected.
    """
    if not Path("/usr/bin/gcc").exists():
        pytest.skip("gcc's start-up file is what is tested")
    peers.add("a-fast", "-ffast-math")
    probe = GOOD + (
        "#include <fenv.h>\nstatic volatile double tiny = 1e-310;\n"
        'char *probe_report(void) { return tiny * 0.5 == 0 ? "off" : "on"; }\n'
    )
    peers.add("b-probe", source=probe, description=DESCRIPTION.replace("fake_report", "probe_report"))
    rows, _ = peers.run("--only=ddot")
    assert rows["b-probe"][0]["config"] == "on"
    assert "a-fast" in rows
