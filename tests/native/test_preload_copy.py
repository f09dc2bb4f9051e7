# SPDX-License-Identifier: Apache-2.0
"""The lever copy in real processes: correct bytes, exact counts, forks, the launcher's plan."""

from __future__ import annotations

import json
import platform
import signal
import subprocess
from pathlib import Path
from typing import Any

import copy_tool
import pytest
from effort import some
from preload_tool import build, clean_environment

from okosu import native

pytestmark = pytest.mark.preloads

# The requests of one pass of copies.c: (function's group, size, calls).
PASSES = 1000
COPIES = {128: (3 * PASSES, 3 * 100 * PASSES), 8192: (2 * PASSES, 2 * 5000 * PASSES), 64: (PASSES, 64 * PASSES)}
SETS = {2048: (4 * PASSES, 4 * 2048 * PASSES)}


def program() -> Path:
    return build("copies", "-fno-builtin", "copies.c", "-lpthread")


def launch(tmp_path: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Run okosu-run; return the finished process and the lines of evidence that libokosu-copy.so wrote."""
    proof = tmp_path / "proof"
    proof.unlink(missing_ok=True)
    done = subprocess.run(
        [native.find("okosu-run"), f"--proof={proof}", *words],
        capture_output=True,
        text=True,
        env=clean_environment() | {"XDG_STATE_HOME": str(tmp_path)},
        check=False,
    )
    lines = [json.loads(line) for line in proof.read_text().splitlines()] if proof.exists() else []
    return done, [line for line in lines if line.get("by") == "copy"]


def counted(line: dict[str, Any], group: str, wanted: dict[int, tuple[int, int]], times: int = 1) -> None:
    """Check that each class has the program's requests, and little more, which comes from libc and the loader."""
    for bound, (calls, size) in wanted.items():
        seen_calls, seen_size = line[group][str(bound)]
        assert times * calls <= seen_calls <= times * calls + 300, (bound, line)
        assert times * size <= seen_size <= times * size + 300 * bound, (bound, line)


@pytest.mark.parametrize("value", ["auto", "variant:loop8", "variant:rep-movsb"])
def test_every_copy_is_right_and_counted(tmp_path: Path, value: str) -> None:
    if value == "variant:rep-movsb" and "x86" not in subprocess.check_output(["uname", "-m"], text=True):
        pytest.skip("an instruction of x86")
    done, [line] = launch(tmp_path, f"--copy={value}", "--", str(program()), "plain")
    assert (done.returncode, done.stdout) == (0, "copied\n"), done.stderr
    assert line["as_asked"] is True
    if value != "auto":
        # Short copies are always made with the widest vectors, see okosu/copy.h.
        assert line["choice"].rpartition(", ")[2] == value.partition(":")[2]
    counted(line, "classes", COPIES)
    counted(line, "set_classes", SETS)
    assert line["calls"] == sum(calls for calls, _ in line["classes"].values())
    assert line["set_bytes"] == sum(size for _, size in line["set_classes"].values())


def test_libcs_own_routines_are_counted_and_timed(tmp_path: Path) -> None:
    done, [line] = launch(tmp_path, "--copy=libc", "--", str(program()), "plain")
    assert (done.returncode, done.stdout) == (0, "copied\n"), done.stderr
    assert (line["as_asked"], line["choice"], line["timed_above"]) == (True, "libc", 4096)
    counted(line, "classes", COPIES)
    counted(line, "set_classes", SETS)
    assert line["timed_ns"] > 0


# copy_check moves overlapping blocks by every routine; rep-line once was hooked as a copy that did not.
@pytest.mark.parametrize("value", some(["auto", "variant:rep-line", *(f"variant:{row}" for row in copy_tool.ROWS)]))
def test_memcpy_is_memmove(tmp_path: Path, value: str) -> None:
    """memcpy@GLIBC_2.2.5 is memmove by ABI, and programs linked long ago rely on it; so must every routine be."""
    if value.partition(":")[2] in copy_tool.lacking():
        pytest.skip("this machine lacks what the routine needs")
    done, [line] = launch(tmp_path, f"--copy={value}", "--", str(program()), "overlap")
    assert (done.returncode, done.stdout) == (0, "copied\n"), done.stderr
    assert line["as_asked"] is True


def test_threads_are_added_up(tmp_path: Path) -> None:
    done, [line] = launch(tmp_path, "--copy", "--", str(program()), "threads")
    assert done.returncode == 0, done.stderr
    counted(line, "classes", COPIES, times=4)


@pytest.mark.parametrize(("children", "lines"), [("1", 2), ("0", 2)])
def test_a_child_counts_from_nothing_and_may_be_left_alone(tmp_path: Path, children: str, lines: int) -> None:
    done, evidence = launch(tmp_path, "--copy", f"--children={children}", "--", str(program()), "fork")
    assert (done.returncode, len(evidence)) == (0, lines), done.stderr
    child, parent = evidence
    counted(parent, "classes", COPIES)
    if children == "1":
        counted(child, "classes", COPIES)
    else:
        assert child["calls"] < 300, "the child of --children=0 still copies by our routines"


def test_counting_ends_where_it_shows_enough_and_a_child_begins_anew(tmp_path: Path) -> None:
    done, [child, parent] = launch(tmp_path, "--copy", "--", str(program()), "many")
    assert (done.returncode, done.stdout) == (0, "copied\n"), done.stderr
    assert (parent["counted_all"], parent["classes"]["16"][0]) == (False, 1 << 18)
    assert child["counted_all"] is True
    counted(child, "classes", COPIES)


def test_a_program_that_leaves_by_exit_is_counted(tmp_path: Path) -> None:
    done, [line] = launch(tmp_path, "--copy", "--", str(program()), "exit")
    assert done.returncode == 0
    counted(line, "classes", COPIES)


def test_an_overflow_that_fortify_sees_ends_the_program(tmp_path: Path) -> None:
    done, _ = launch(tmp_path, "--copy", "--", str(program()), "overflow")
    assert done.returncode == -signal.SIGABRT
    assert "buffer overflow detected" in done.stderr


def test_the_placebo_does_not_load_it(tmp_path: Path) -> None:
    done, evidence = launch(tmp_path, "--placebo", "--", str(program()), "plain")
    assert (done.returncode, evidence) == (0, [])


def test_a_profile_is_used_and_one_that_is_none_refused(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.write_text("max loop8\n")
    done, [line] = launch(tmp_path, f"--copy=profile:{profile}", "--", str(program()), "plain")
    assert done.returncode == 0, done.stderr
    assert line["choice"].endswith("loop8")
    profile.write_text("256 nonsense\n")
    done, evidence = launch(tmp_path, "--strict", f"--copy=profile:{profile}", "--", str(program()), "plain")
    assert (done.returncode, evidence) == (125, [])
    assert "nonsense" in done.stderr


def model() -> str:
    """What /proc/cpuinfo says of the first processor, as okosu_cpu_model() puts it."""
    facts = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines())
    held = {name.strip(): value.strip() for name, value in facts.items()}
    return "-".join(held[name] for name in ("vendor_id", "cpu family", "model", "stepping"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="cpuinfo has these names on x86-64")
def test_what_was_learned_on_this_processor_is_used_and_may_be_libcs(tmp_path: Path) -> None:
    done, _ = launch(tmp_path, "--strict", "--copy=profile", "--", str(program()), "plain")
    assert done.returncode == 125
    assert "nothing was learned on this processor" in done.stderr
    assert "okosu bench copy --profile" in done.stderr
    (tmp_path / "okosu/profiles").mkdir(parents=True)
    for area in ("copy", "zero"):
        (tmp_path / f"okosu/profiles/{area}-{model()}").write_text("max libc\n")
        for what in ("plain", "overlap", "threads", "fork"):
            done, lines = launch(tmp_path, "--strict", "--copy=profile", "--", str(program()), what)
            assert (done.returncode, done.stdout) == (0, "copied\n"), done.stderr
            assert all(line["as_asked"] is True and line["choice"].endswith("libc") for line in lines)
    (tmp_path / f"okosu/profiles/zero-{model()}").write_text("max nonsense\n")
    done, _ = launch(tmp_path, "--strict", "--copy=profile", "--", str(program()), "plain")
    assert (done.returncode, "nonsense" in done.stderr) == (125, True)


def handed_on(tmp_path: Path, profile: str) -> dict[str, str]:
    """The profiles that the launcher names in the environment of the program's library."""
    (tmp_path / "profile").write_text(profile)
    done, _ = launch(tmp_path, "--strict", f"--copy=profile:{tmp_path / 'profile'}", "--", "/usr/bin/env")
    assert done.returncode == 0, done.stderr
    pairs = (line.split("=", 1) for line in done.stdout.splitlines() if "_PROFILE=" in line)
    return {name: path for name, path in pairs if name.startswith("OKOSU_")}


def test_a_profile_is_memsets_too_where_it_can_be(tmp_path: Path) -> None:
    path = str((tmp_path / "profile").resolve())
    assert handed_on(tmp_path, "4096 sse2\nmax loop8\n") == {"OKOSU_COPY_PROFILE": path, "OKOSU_ZERO_PROFILE": path}
    # There is no routine of this name for memset.
    assert handed_on(tmp_path, "4096 sse2\nmax block512\n") == {"OKOSU_COPY_PROFILE": path}


@pytest.mark.parametrize("value", ["variant:nonsense", "nonsense", "variant:"])
def test_a_routine_that_is_none_is_a_mistake(tmp_path: Path, value: str) -> None:
    done, _ = launch(tmp_path, f"--copy={value}", "--", str(program()), "plain")
    assert done.returncode == 125
    assert done.stdout == ""


def test_large_programs_run_as_before(tmp_path: Path) -> None:
    """A whole interpreter with its libraries prints the same with and without the lever."""
    words = ["-c", "import json, hashlib; b = bytes(range(256)) * 4096; d = bytearray(b)\n"
             "for i in range(200): d[i:i + 4096] = b[:4096]\n"
             "print(hashlib.sha256(d * 3).hexdigest(), len(json.dumps(list(d[:1000]))))"]  # fmt: skip
    plain = subprocess.run(["/usr/bin/python3", *words], capture_output=True, text=True, check=True)
    done, evidence = launch(tmp_path, "--copy", "--", "/usr/bin/python3", *words)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert sum(line["bytes"] for line in evidence) > 1 << 20
