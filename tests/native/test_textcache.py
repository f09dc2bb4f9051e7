# SPDX-License-Identifier: Apache-2.0
"""Code on huge pages in the page cache: okosu-textcache, and okosu-run --text, on a library made for it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import warm_okosu

from okosu import native
from okosu.levers import load
from okosu.levers.text import free
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Options, Plan
from okosu.trial import settle
from okosu.trial.settle import Settling, UnsettledError

# 6 MiB of code: whatever its beginning is, two blocks of 2 MiB in it are whole.
CODE = '.globl {name}\n{name}: ret\n.skip 6 << 20, 0x90\n.section .note.GNU-stack,"",@progbits\n'
WHOLE_KB = 4096
USE_IT = (
    "import ctypes; library = ctypes.CDLL({path!r}); at = ctypes.cast(library.first, ctypes.c_void_p).value;"
    "[ctypes.string_at(at + (mib << 20), 1) for mib in range(6)]; "
)


def link(folder: Path, *options: str, name: str = "code", source: str = CODE) -> Path:
    (folder / f"{name}.s").write_text(source.format(name="first"))
    path = folder / name
    subprocess.run(["cc", "-nostdlib", *options, "-o", path, folder / f"{name}.s"], check=True)
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = link(tmp_path_factory.mktemp("text"), "-shared", name="libcode.so")
    yield path
    textcache("small", path)


def textcache(word: str, *paths: Path) -> tuple[int, list[dict[str, Any]]]:
    done = subprocess.run([native.find("okosu-textcache"), word, *paths], capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def planned(launcher: Path, value: str, program: str | Path = "true") -> dict[str, Any]:
    argv: list[str | Path] = [launcher, "--dry-run", "--json", f"--text={value}", "--", program]
    made: dict[str, Any] = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    return made


@pytest.fixture
def large(launcher: Path, library: Path) -> Path:
    """The library, on a kernel and a file system that can have it on huge pages."""
    (lever,) = planned(launcher, f"cache:{library}")["levers"]
    if not lever["applied"]:
        pytest.skip(lever["why"])
    status, (found,) = textcache("huge", library)
    folios = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 16)
    if status and (not folios or "too few free blocks" in found["why"]):
        pytest.skip(found["why"])
    assert (status, found["huge_kb"], found["why"]) == (0, WHOLE_KB, None)
    return library


def mapped_huge_kb(path: Path) -> int:
    """What a process that loads the library as any other has of it on huge pages."""
    code = USE_IT.format(path=str(path)) + "print(open('/proc/self/smaps_rollup').read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(next(line for line in done.stdout.splitlines() if line.startswith("FilePmdMapped")).split()[1])


@contextlib.contextmanager
def held_open(path: Path) -> Iterator[None]:
    """A process uses the library meanwhile."""
    code = USE_IT.format(path=str(path)) + "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.communicate(b"")


def test_a_plain_mapping_gets_what_was_brought(large: Path) -> None:
    assert textcache("show", large)[1][0]["huge_kb"] == WHOLE_KB
    assert mapped_huge_kb(large) == WHOLE_KB
    status, (found,) = textcache("small", large)
    assert (status, found["file"], found["whole_kb"], found["huge_kb"]) == (0, str(large), WHOLE_KB, 0)
    assert found["seconds"] > 0
    assert found["why"] is None
    assert mapped_huge_kb(large) == 0


def test_its_bytes_are_the_files_either_way(large: Path) -> None:
    on_huge = large.read_bytes()
    textcache("small", large)
    assert large.read_bytes() == on_huge


@pytest.mark.parametrize(("before", "word"), [("small", "huge"), ("huge", "small")])
def test_pages_in_use_stay_as_they_are_and_it_says_who_uses_them(large: Path, before: str, word: str) -> None:
    textcache(before, large)
    with held_open(large):
        assert free([str(large), "/nowhere", os.path.realpath(sys.executable)]) == []
        status, (found,) = textcache(word, large)
        if word == "huge" and status == 0:
            pytest.skip("this kernel collapses code that is in use")
        assert status == 1
        assert "maps it" in found["why"]
    assert free([str(large)]) == [str(large)]
    assert textcache(word, large)[0] == 0


def test_the_launcher_says_once_what_will_stay(launcher: Path, large: Path) -> None:
    textcache("small", large)
    said = [
        subprocess.run([launcher, f"--text=cache:{large}", "--", "true"], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert f"4 MiB of {large} now lie on huge pages in the page cache" in said[0].stderr
    assert f"fix: okosu-textcache small {large}" in said[0].stderr
    assert said[1].stderr == ""
    assert mapped_huge_kb(large) == WHOLE_KB


def test_a_dry_run_changes_nothing(launcher: Path, large: Path) -> None:
    textcache("small", large)
    made = planned(launcher, f"cache:{large}")
    assert made["text"] == [str(large)]
    assert any(call.startswith("posix_fadvise") and str(large) in call for call in made["calls"])
    assert textcache("show", large)[1][0]["huge_kb"] == 0


def test_libraries_that_the_program_names_are_found(launcher: Path, large: Path) -> None:
    user = large.parent / "user"
    (large.parent / "user.c").write_text("int first(void);\nint main(void)\n{\n    first();\n    return 0;\n}\n")
    subprocess.run(["cc", "-o", user, user.with_suffix(".c"), large, f"-Wl,-rpath,{large.parent}"], check=True)
    assert planned(launcher, "cache", user)["text"] == [str(large)]


@pytest.mark.ptrace
def test_the_effect_is_proved_by_what_is_mapped(launcher: Path, large: Path) -> None:
    def measured(*options: str) -> Measurement:
        code = USE_IT.format(path=str(large))
        argv: list[str | Path] = [native.find("okosu-measure"), "--proof=sample", "--stdout=/dev/null", "--"]
        argv += [launcher, *options, "--"]
        done = subprocess.run([*argv, sys.executable, "-c", code], capture_output=True, check=True)
        return msgspec.json.decode(done.stdout, type=Measurement)

    value, lever = f"cache:{large}", load()["text"]
    textcache("small", large)
    base = measured()
    pilot = measured(f"--text={value}")
    assert lever.proof(value, pilot, base, None).holds
    assert lever.proof(value, measured(), base, pilot).holds, "the page cache keeps it"
    textcache("small", large)
    assert not lever.proof(value, measured(), base, None).holds
    assert not lever.proof(value, measured(), base, pilot).holds


@pytest.mark.ptrace
def test_a_trial_settles_the_page_cache_for_each_arm_and_leaves_it_as_base_has_it(large: Path, tmp_path: Path) -> None:
    (tmp_path / "use.c").write_text(
        "char first(void);\nint main(void)\n{\n    volatile char *at = (volatile char *)first;\n"
        "    for (long i = 0; i < 6 << 20; i += 4096)\n        (void)at[i];\n    return 0;\n}\n"
    )
    use, to = tmp_path / "use", tmp_path / "trial.json"
    subprocess.run(["cc", "-o", use, tmp_path / "use.c", large, f"-Wl,-rpath,{large.parent}"], check=True)
    textcache("huge", large)
    argv = ["try", "--levers", "text", "--arm", "same=A=1", "--max-rounds", "3", "--budget", "2h", "--json", str(to)]
    done = warm_okosu.okosu(*argv, "--", str(use), env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    held = json.loads(to.read_text())
    (verdict,) = [v for v in held["verdicts"] if v["arm"] == "text"]
    assert verdict["options"] == [f"--text=cache:{large}"]
    assert verdict["applied"]
    faults = {r["lever"] or r["variant"]: r["samples"] for r in held["records"] if r["metric"] == "minflt"}
    # Two huge pages in the place of 64 times 64 KiB.
    assert max(faults["text"]) + 40 < min(*faults["base"], *faults["same"])
    assert textcache("show", large)[1][0]["huge_kb"] == 0


def test_what_a_running_process_holds_on_huge_pages_is_not_tried(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    textcache("huge", large)
    monkeypatch.setattr(settle, "PATIENCE_S", 0.0)
    arm, settling = Arm("text", "lever", {"text": f"cache:{large}"}), Settling(Plan(options=Options(command=["true"])))
    with held_open(large), pytest.raises(UnsettledError, match="cannot be undone") as caught:
        settling.expect(arm)
    assert "maps it" in caught.value.why
    assert settling.expect(arm)


# What cannot be brought


def test_a_program_that_may_be_anywhere_is_refused_by_name(launcher: Path, tmp_path: Path) -> None:
    source = CODE.replace("{name}", "_start")
    anywhere = link(tmp_path, "-static-pie", name="anywhere", source=source)
    assert "loads it at any 4 KiB page" in planned(launcher, "cache", anywhere)["levers"][0]["why"]
    assert textcache("show", anywhere)[1][0]["whole_kb"] == 0
    fixed = link(tmp_path, "-static", "-no-pie", name="fixed", source=source)
    assert textcache("show", fixed)[1][0]["whole_kb"] == WHOLE_KB


def test_code_that_its_linker_did_not_align_is_refused(tmp_path: Path) -> None:
    source = CODE.replace("{name}", "_start")
    code = link(tmp_path, "-static", "-no-pie", name="code", source=source)
    headers = bytearray(code.read_bytes())
    phoff, size, count = *struct.unpack_from("<Q", headers, 32), *struct.unpack_from("<HH", headers, 54)
    for at in range(phoff, phoff + size * count, size):
        kind, flags = struct.unpack_from("<II", headers, at)
        if (kind, flags) == (1, 5):
            address = struct.unpack_from("<Q", headers, at + 16)[0]
            struct.pack_into("<Q", headers, at + 16, address + 4096)
    code.write_bytes(headers)
    found = textcache("show", code)[1][0]
    assert found["whole_kb"] == 0
    assert "its linker did not align it" in found["why"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("cache", "less than one aligned huge page"),
        ("cache:/etc/passwd", "no ELF file"),
        ("cache:/nowhere", "No such file"),
        ("cache:/", "no ELF file"),
        ("cache:", "no file in the list"),
    ],
)
def test_what_has_no_code_is_refused(launcher: Path, value: str, why: str) -> None:
    (lever,) = planned(launcher, value)["levers"]
    if "huge page" in lever["why"] and why not in lever["why"]:
        pytest.skip(lever["why"])
    assert not lever["applied"]
    assert why in lever["why"]
    assert lever["fix"]


def test_a_kernel_without_large_folios_is_refused(launcher: Path, tmp_path: Path) -> None:
    """Whether this machine has them or not: by what a captured one says of its kernel."""
    fixed = link(tmp_path, "-static", "-no-pie", name="fixed", source=CODE.replace("{name}", "_start"))
    thp = tmp_path / "sys/kernel/mm/transparent_hugepage"
    thp.mkdir(parents=True)
    (thp / "enabled").write_text("always [madvise] never\n")
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text("5.10.0-31\n")
    argv: list[str | Path] = [launcher, "--dry-run", "--json", f"--text=cache:{fixed}", "--", "true"]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "OKOSU_ROOT": str(tmp_path)})
    (lever,) = json.loads(done.stdout)["levers"]
    assert lever["applied"] or "large folios" in lever["why"]
    (thp / "enabled").write_text("always madvise [never]\n")
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "OKOSU_ROOT": str(tmp_path)})
    (lever,) = json.loads(done.stdout)["levers"]
    assert not lever["applied"]
    assert "switched off" in lever["why"]


def test_a_mistake_is_told(tmp_path: Path) -> None:
    for words in ([], ["huge"], ["hugest", "/bin/true"]):
        done = subprocess.run([native.find("okosu-textcache"), *words], capture_output=True, text=True, check=False)
        assert done.returncode == 125
        assert "okosu-textcache show FILE" in done.stderr
    assert textcache("huge", tmp_path / "none")[0] == 1
