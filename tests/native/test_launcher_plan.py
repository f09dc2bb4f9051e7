# SPDX-License-Identifier: Apache-2.0
"""The plans of okosu-run: --dry-run, the environment it composes, and its messages about mistakes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from launcher_model import preload_name

from okosu import native

BASE = {"PATH": "/usr/bin:/bin"}
LEVERS = Path(__file__).parents[2] / "native/levers"


def run(launcher: Path, *words: str | Path, env: Mapping[str, str] = BASE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([launcher, *words], capture_output=True, text=True, env=env)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A file in the place of the preload library: a plan only names it, nothing loads it."""
    path = tmp_path / "libokosu-preload.so"
    path.touch()
    return path.resolve()


def plan(launcher: Path, *words: str, env: Mapping[str, str] = BASE) -> dict[str, Any]:
    done = run(launcher, "--dry-run", "--json", *words, "--", "true", env=env)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def with_library(library: Path, **more: str) -> dict[str, str]:
    return BASE | {"OKOSU_PRELOAD_LIB": str(library)} | more


def test_describe(launcher: Path) -> None:
    levers = json.loads(run(launcher, "--describe").stdout)["levers"]
    assert {lever["name"] for lever in levers} == {path.stem for path in LEVERS.glob("*.c")} - {"plan"}
    for lever in levers:
        assert set(lever) == {
            "name", "doc", "default", "values", "library", "variables", "excludes", "observes",
        }  # fmt: skip
        assert all(set(value) == {"value", "doc", "preload", "no_fork"} and value["doc"] for value in lever["values"])
        assert lever["default"] in [value["value"] for value in lever["values"]]
    values = {lever["name"]: [value["value"] for value in lever["values"]] for lever in levers}
    assert values["pin"] == ["compact", "scatter", "one-per-core", "list:CPUS"]
    assert values["numa"] == ["bind:NODES", "interleave", "interleave:NODES", "local", "preferred:NODE"]
    assert values["superpage"] == ["glibc", "thp", "small", "shared", "hugetlb", "collapse"]
    assert values["retain"] == ["on"]
    assert values["copy"] == ["auto", "variant:NAME", "profile", "profile:FILE", "libc"]
    assert values["prezero"] == ["on", "broker:SOCKET"]
    assert values["text"] == ["cache", "cache:FILES"]
    assert values["threads"] == ["on"]
    assert values["ascii"] == ["on"]


# Notes of the launcher itself, which appear whatever the lever is.
LAUNCHERS_OWN = {"LD_PRELOAD", "OKOSU_ROOT_PID", "OKOSU_TUNABLES", "OKOSU_ADDED"}


@pytest.mark.preloads
@pytest.mark.parametrize(
    "word",
    [
        "pin=compact",
        "numa=local",
        "superpage=thp",
        "superpage=glibc",
        "superpage=shared",
        "retain",
        "copy",
        "copy=variant:ref",
        "prezero",
        "threads",
        "ascii",
    ],
)
def test_a_lever_sets_what_its_row_names_and_loads_the_library_that_it_names(launcher: Path, word: str) -> None:
    name, _, value = word.partition("=")
    rows = json.loads(run(launcher, "--describe").stdout)["levers"]
    (row,) = [row for row in rows if row["name"] == name]
    (form,) = [v for v in row["values"] if v["value"].partition(":")[0] == (value or row["default"]).partition(":")[0]]
    made = plan(launcher, f"--{word}", env=with_library(native.find("libokosu-preload.so")))
    if not made["levers"][0]["applied"]:
        pytest.skip(made["levers"][0]["why"])
    assert set(made["env"]) <= set(row["variables"]) | LAUNCHERS_OWN
    assert made["preload"] == form["preload"]
    if form["preload"]:
        assert row["library"] in [Path(path).name for path in made["env"]["LD_PRELOAD"].split(":")]


def test_what_an_outer_launcher_said_to_its_library_is_unset(launcher: Path) -> None:
    outer = {"OKOSU_SUPERPAGE": "thp", "OKOSU_PIN": "0", "OKOSU_ZERO_BROKER": "/x", "OKOSU_COPY": "ref"}
    made = plan(launcher, "--retain", env=BASE | outer)
    assert {name: made["env"].get(name, "kept") for name in outer} == dict.fromkeys(outer) | {"OKOSU_COPY": "kept"}


@pytest.mark.preloads
def test_dry_run_runs_nothing_and_prints_all(launcher: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    words = ["--retain", "--numa=local", "--env=A=it's", "--delay=0.5"]
    done = run(launcher, "--dry-run", *words, "--", "touch", witness, "a b")
    assert done.returncode == 0
    assert not witness.exists()
    lines = done.stdout.splitlines()
    assert lines[1] == f"argv     touch {witness} 'a b'"
    assert r"set      A='it'\''s'" in lines
    assert any(line.startswith("set      GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432:") for line in lines)
    assert [line.split("(")[0] for line in lines if line.startswith("call")] == [
        "call     set_mempolicy",
        "call     clock_gettime",
        "call     execve",
    ]


@pytest.mark.preloads
def test_the_plan_is_what_the_program_gets(launcher: Path) -> None:
    words = ["--retain", "--env=ADDED=1", "--pad-env=3000"]
    planned = plan(launcher, *words, env=BASE | {"OKOSU_PIN": "9"})
    real = run(launcher, *words, "--", "env", "-0", env=BASE | {"OKOSU_PIN": "9"}).stdout
    expected = BASE | {name: value for name, value in planned["env"].items() if value is not None}
    got = dict(entry.split("=", 1) for entry in real.split("\0")[:-1])
    # The program's process is another one than the plan's.
    assert got.pop("OKOSU_ROOT_PID").isdigit()
    assert expected.pop("OKOSU_ROOT_PID").isdigit()
    assert got == expected
    assert planned["env_bytes"] == len(real) == 3000


def test_bytes_that_are_no_text(launcher: Path) -> None:
    command = [bytes(launcher), b"--dry-run", b"--json", b'--env=A=\xff\xc3\xa9\xed\xa0\x80"\\\n', b"true", b"\xe2\x82"]
    done = subprocess.run(command, capture_output=True, env=BASE)
    loaded = json.loads(done.stdout.decode("utf-8"))
    assert os.fsencode(loaded["env"]["A"]) == b'\xff\xc3\xa9\xed\xa0\x80"\\\n'
    assert os.fsencode(loaded["argv"][1]) == b"\xe2\x82"


@pytest.mark.preloads
def test_placebo_has_the_library_and_no_hook(launcher: Path, library: Path) -> None:
    assert plan(launcher, "--placebo", env=with_library(library))["env"] == {"LD_PRELOAD": preload_name(library)}
    with_proof = plan(launcher, "--placebo", "--proof=/p", env=with_library(library))["env"]
    assert with_proof == {"LD_PRELOAD": preload_name(library), "OKOSU_PROOF": "/p"}
    at_signal = plan(launcher, "--placebo", "--proof=/p", "--proof-signal=15", env=with_library(library))["env"]
    assert at_signal == with_proof | {"OKOSU_PROOF_SIGNAL": "15"}


@pytest.mark.preloads
def test_ld_preload_is_appended_to(launcher: Path, library: Path) -> None:
    ours = preload_name(library)
    theirs = with_library(library, LD_PRELOAD="/a.so /b.so")
    assert plan(launcher, "--placebo", env=theirs)["env"]["LD_PRELOAD"] == f"/a.so /b.so:{ours}"
    again = with_library(library, LD_PRELOAD=f"/a.so:{library}:/b.so")
    assert plan(launcher, "--placebo", env=again)["env"]["LD_PRELOAD"] == f"/a.so:/b.so:{ours}"
    nested = with_library(library, LD_PRELOAD=f"/a.so:{ours}")
    assert plan(launcher, "--placebo", env=nested)["env"]["LD_PRELOAD"] == f"/a.so:{ours}"
    prefix = with_library(library, LD_PRELOAD=f"{library}.1")
    assert plan(launcher, "--placebo", env=prefix)["env"]["LD_PRELOAD"] == f"{library}.1:{ours}"


@pytest.mark.parametrize("folder", ["with space", "with:colon"])
def test_a_path_that_ld_preload_cannot_hold(launcher: Path, tmp_path: Path, folder: str) -> None:
    library = tmp_path / folder / "libokosu-preload.so"
    library.parent.mkdir()
    library.touch()
    for lever in ("--placebo", "--copy", "--superpage=thp"):
        done = run(launcher, lever, "--strict", "true", env=with_library(library))
        assert done.returncode == 125
        # The program is not to blame.
        assert f"  why: the path {library} has a space or colon in it" in done.stderr
        assert "  fix: move okosu to a folder without one" in done.stderr
    noted = run(launcher, "--pin=compact", "true", env=with_library(library))
    assert noted.returncode == 0
    assert "  fix: move okosu to a folder without one" in noted.stderr


def test_a_preload_library_that_is_not_there(launcher: Path, tmp_path: Path) -> None:
    done = run(launcher, "--copy", "--strict", "true", env=with_library(tmp_path / "none"))
    assert done.returncode == 125
    assert "  why: libokosu-preload.so is not where okosu-run looks\n  fix: OKOSU_PRELOAD_LIB=PATH" in done.stderr


@pytest.mark.preloads
@pytest.mark.parametrize(
    "place",
    [
        "bin/",
        "preload/",
        "lib/okosu/",
        "lib64/okosu/",
        "lib/x86_64-linux-gnu/okosu/",
        "share/okosu/",
    ],
)
def test_where_the_library_is_looked_for(launcher: Path, tmp_path: Path, place: str) -> None:
    # Characters with a meaning for glob are ordinary characters in the name of a folder.
    prefix = tmp_path.resolve() / "odd[x]*"
    library = prefix / place / "libokosu-preload.so"
    copy = prefix / "bin/okosu-run"
    for path in (library, copy):
        path.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(launcher.read_bytes())
    copy.chmod(0o755)
    assert "LD_PRELOAD" not in plan(copy, "--placebo")["env"]
    library.touch()
    assert plan(copy, "--placebo")["env"]["LD_PRELOAD"] == preload_name(library)


def test_library_that_is_missing(launcher: Path, tmp_path: Path) -> None:
    missing = BASE | {"OKOSU_PRELOAD_LIB": str(tmp_path / "none.so")}
    done = run(launcher, "--superpage=thp", "echo", "ran", env=missing)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.startswith("okosu: superpage=thp not applied: ")
    assert run(launcher, "--superpage=thp", "--strict", "echo", "ran", env=missing).returncode == 125


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "OURS"),
        ("glibc.malloc.check=3", "glibc.malloc.check=3:OURS"),
        # No note is needed where the user's value equals ours.
        ("glibc.malloc.mmap_threshold=33554432", "glibc.malloc.mmap_threshold=33554432:TRIM"),
        ("glibc.malloc.mmap_threshold=9:x=y", "glibc.malloc.mmap_threshold=9:x=y:TRIM"),
        ("glibc.malloc.mmap_threshold_=1", "glibc.malloc.mmap_threshold_=1:OURS"),
    ],
)
def test_tunables_are_composed(launcher: Path, before: str, after: str) -> None:
    trim = "glibc.malloc.trim_threshold=4611686018427387904"
    expected = after.replace("OURS", "glibc.malloc.mmap_threshold=33554432:TRIM").replace("TRIM", trim)
    done = run(launcher, "--retain", "sh", "-c", "echo $GLIBC_TUNABLES", env=BASE | {"GLIBC_TUNABLES": before})
    assert done.stdout == expected + "\n"
    assert ("glibc.malloc.mmap_threshold stays at 9" in done.stderr) == ("mmap_threshold=9" in before)


def test_levers_share_the_tunables(launcher: Path, library: Path) -> None:
    env = plan(launcher, "--retain", "--superpage=glibc", env=with_library(library))["env"]
    assert env.pop("OKOSU_TUNABLES") == env["GLIBC_TUNABLES"]
    names = [piece.split("=")[0].rsplit(".", 1)[1] for piece in env.pop("GLIBC_TUNABLES").split(":")]
    assert sorted(names) == ["hugetlb", "mmap_threshold", "trim_threshold"]


@pytest.mark.preloads
@pytest.mark.parametrize("others", [(), ("--superpage=thp",)])
def test_retain_loads_the_library(launcher: Path, library: Path, others: tuple[str, ...]) -> None:
    made = plan(launcher, "--retain", *others, env=with_library(library))
    assert (made["preload"], made["env"]["OKOSU_RETAIN"]) == (True, "1")
    assert made["env"]["OKOSU_ROOT_PID"].isdigit()


@pytest.mark.preloads
def test_children(launcher: Path, library: Path) -> None:
    env = with_library(library)
    assert "OKOSU_CHILDREN" not in plan(launcher, "--superpage=thp", env=env)["env"]
    assert plan(launcher, "--superpage=thp", "--children=1", env=env)["env"]["OKOSU_CHILDREN"] == "1"
    cleaned = plan(launcher, "--retain", "--children=0", env=env)["env"]
    assert (cleaned["OKOSU_CHILDREN"], cleaned["LD_PRELOAD"]) == ("0", preload_name(library))
    # The library is told which tunables to remove from GLIBC_TUNABLES again: only those that the user had not set.
    assert cleaned["OKOSU_TUNABLES"] == cleaned["GLIBC_TUNABLES"]
    theirs = env | {"OKOSU_CHILDREN": "0", "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=33554432"}
    composed = plan(launcher, "--retain", env=theirs)["env"]
    assert composed["GLIBC_TUNABLES"] == f"glibc.malloc.mmap_threshold=33554432:{composed['OKOSU_TUNABLES']}"
    # Without a lever there is nothing to remove from the children's environment.
    assert plan(launcher, "--children=0", env=env)["env"] == {}


def test_what_an_outer_launcher_said_is_not_passed_on(launcher: Path, library: Path) -> None:
    said = {f"OKOSU_{name}": "1" for name in ("SUPERPAGE", "RETAIN", "PIN", "ROOT_PID", "PROOF", "PAD")}
    kept = {"OKOSU_BUDGET": "5", "OKOSU_DENSITY": "50"}
    assert plan(launcher, env=with_library(library, **said, **kept))["env"] == dict.fromkeys(said)
    # A variable that the user sets with --env is passed on.
    assert plan(launcher, "--env=OKOSU_PIN=0", env=with_library(library, **said))["env"]["OKOSU_PIN"] == "0"


OUTER = [
    ["--copy"],
    ["--copy=variant:ref", "--verbose"],
    ["--prezero", "--no-fork"],
    ["--superpage=glibc", "--retain"],
    ["--superpage=thp", "--retain", "--children=1", "--proof=proof"],
    ["--pin=compact", "--placebo", "--pad-env=9000"],
]


@pytest.mark.parametrize("outer", OUTER, ids=" ".join)
@pytest.mark.parametrize("inner", [[], ["--retain"], ["--prezero", "--no-fork"]], ids=lambda words: " ".join(words))
def test_a_launcher_inside_another_begins_where_that_one_began(
    launcher: Path, outer: list[str], inner: list[str], tmp_path: Path
) -> None:
    """The libraries, variables and tunables of the outer one are gone, and those of the user's are as they were."""

    def environment(users: dict[str, str], *words: str | Path) -> list[str]:
        done = subprocess.run(
            [*words, launcher, *inner, "--", "/usr/bin/env", "-0"],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env=users,
        )
        return sorted(done.stdout.split("\0"))

    libm = next(Path("/lib").glob("*-linux-gnu/libm.so.6"))
    for users in (BASE, BASE | {"LD_PRELOAD": str(libm), "GLIBC_TUNABLES": "glibc.malloc.arena_max=3", "USERS": "x"}):
        within = environment(users, launcher, *outer, "--")
        alone = environment(users)
        ours = [line for line in within if not line.startswith("OKOSU_ROOT_PID=")]
        assert ours == [line for line in alone if not line.startswith("OKOSU_ROOT_PID=")]


@pytest.mark.preloads
def test_proof_is_made_absolute(launcher: Path, library: Path, tmp_path: Path) -> None:
    words = [str(launcher), "--dry-run", "--json", "--placebo", "--proof=here/p", "true"]
    done = subprocess.run(words, capture_output=True, text=True, env=with_library(library), cwd=tmp_path)
    assert json.loads(done.stdout)["env"]["OKOSU_PROOF"] == f"{tmp_path.resolve()}/here/p"


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["--supperpage=thp"], "did you mean --superpage?"),
        (["--pinn"], "did you mean --pin?"),
        (["--dryrun"], "did you mean --dry-run?"),
        (["--superpage=tph"], "did you mean --superpage=thp?"),
        (["--pin=scater"], "did you mean --pin=scatter?"),
        (["--skip=retian"], "--skip=LEVER"),
        (["--something-else-entirely"], "see okosu-run --help"),
        (["-x"], "see okosu-run --help"),
        (["--env=NOVALUE"], "--env=NAME=VALUE"),
        (["--env==x"], "--env=NAME=VALUE"),
        (["--children=2"], "--children=0|1"),
        (["--delay=-1"], "--delay=SECONDS"),
        (["--delay=nan"], "--delay=SECONDS"),
        (["--pad-env=-1"], "--pad-env=BYTES"),
        (["--pad-env=99999999999999999999999"], "--pad-env=BYTES"),
        (["--proof="], "--proof=FILE"),
        (["--proof"], "--proof=FILE"),
        (["--strict=1"], "--strict"),
        (["--json"], "--dry-run --json"),
        (["--pin=list:"], "see okosu-run --help"),
        (["--pin=list:3-1"], "see okosu-run --help"),
        (["--pin=list:0,0"], "see okosu-run --help"),
        (["--pin=list:0-8192"], "see okosu-run --help"),
        (["--numa=bind:x"], "see okosu-run --help"),
        (["--numa=preferred:0-1"], "--numa=bind:NODES takes several"),
    ],
)
def test_mistakes_are_told_with_a_fix(launcher: Path, words: list[str], fix: str) -> None:
    done = run(launcher, *words, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("okosu: ")
    assert done.stderr.splitlines()[-1] == f"  fix: {fix}"


def test_a_lever_to_skip_is_suggested(launcher: Path) -> None:
    assert "did you mean --skip=retain?" in run(launcher, "--skip=retian", "--", "true").stderr


def test_no_program(launcher: Path) -> None:
    assert run(launcher).returncode == 125
    assert run(launcher, "--retain", "--").returncode == 125


def test_skip_wins_wherever_it_stands(launcher: Path) -> None:
    assert plan(launcher, "--retain", "--skip=retain")["levers"] == []
    assert plan(launcher, "--skip=retain", "--retain")["levers"] == []


def test_options_end_at_the_program(launcher: Path) -> None:
    assert run(launcher, "echo", "--retain", "--").stdout == "--retain --\n"
    assert run(launcher, "--", "printf", "%s,", "--help", "--").stdout == "--help,--,"


@pytest.mark.preloads
def test_verbose_tells_the_library_and_the_user(launcher: Path, library: Path) -> None:
    done = run(launcher, "--verbose", "--dry-run", "--json", "--superpage=thp", "true", env=with_library(library))
    assert json.loads(done.stdout)["env"]["OKOSU_VERBOSE"] == "1"
    assert done.stderr == "okosu: superpage=thp applied\n"
