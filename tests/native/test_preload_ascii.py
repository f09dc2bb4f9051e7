# SPDX-License-Identifier: Apache-2.0
"""The lever ascii against libc's own functions: random strings and patterns in locales that order and fold in ways of
their own (ascii_check.c), and programs that people run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preload_tool import PROGRAMS, build, clean_environment

from okosu import native

pytestmark = pytest.mark.preloads

PLAIN = "C.UTF-8"
LANGUAGES = {
    "cs_CZ": "a letter of two characters (ch)",
    "da_DK": "letters of two characters (aa), capitals first",
    "en_US": "no letters of its own",
    "es_ES": "letters that were of two characters once",
    "et_EE": "z comes before t",
    "fr_CA": "accents are compared from the end",
    "hu_HU": "letters of two and three characters (cs, dzs)",
    "ja_JP": "tables of its own",
    "lt_LT": "y sorts as i",
    "tr_TR": "the capital of i is not I",
}
"""Locales by what is particular in them."""
JOINED = {"cs_CZ", "da_DK", "hu_HU"}
"""Those in which two ASCII characters may be one for a bracket expression, so that libc has all patterns."""
SHORT = {
    "order": 20_000, "switch": 8, "reload": 1, "elsewhere": 6, "patterns": 600, "posix": 400, "threads": 100,
}  # fmt: skip
LONG = {
    "order": 2_000_000, "switch": 30, "reload": 5, "elsewhere": 60, "patterns": 60_000, "posix": 30_000,
    "threads": 5_000,
}  # fmt: skip
RELOADED = {"LOCALES": "et_EE.UTF-8 lt_LT.UTF-8 tr_TR.UTF-8 es_ES.UTF-8 et_EE.UTF-8 en_US.UTF-8 cs_CZ.UTF-8"}


@pytest.fixture(scope="module")
def check() -> Path:
    return build("ascii-check", "-D_GNU_SOURCE", "ascii_check.c", "-ldl", "-lpthread")


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str]]:
    """Return a function that gives the variables of a locale, which is made if its source is there."""
    folder = tmp_path_factory.mktemp("locales")

    def of(name: str) -> dict[str, str]:
        if name == PLAIN:
            return {"LC_ALL": PLAIN}
        if not Path("/usr/share/i18n/locales", name).exists() or not shutil.which("localedef"):
            pytest.skip("the sources of locales are not there (apt-get install locales)")
        for each in {name} | {other.partition(".")[0] for other in RELOADED["LOCALES"].split()}:
            if not (folder / f"{each}.UTF-8").exists():
                # Status 1: warnings alone.
                command = ["localedef", "-i", each, "-f", "UTF-8", folder / f"{each}.UTF-8"]
                done = subprocess.run(command, capture_output=True, check=False)
                assert done.returncode in (0, 1), done.stderr
        return {"LC_ALL": f"{name}.UTF-8", "LOCPATH": str(folder)}

    return of


def run(command: list[str | Path], env: dict[str, str], proof: Path | None) -> subprocess.CompletedProcess[str]:
    words = [native.find("okosu-run"), "--strict", "--ascii", f"--proof={proof}", "--"] if proof else []
    return subprocess.run(
        [str(word) for word in [*words, *command]], capture_output=True, text=True, check=False,
        env=clean_environment() | env,
    )  # fmt: skip


def served(proof: Path) -> dict[str, Any]:
    (told,) = [line for line in map(json.loads, proof.read_text().splitlines()) if line.get("by") == "ascii"]
    return {str(key): value for key, value in told.items()}


def agrees(check: Path, env: dict[str, str], folder: Path, mode: str, seed: int, count: int) -> dict[str, Any]:
    """Check that libc's own functions agree in so many random cases, and return what the lever tells."""
    proof = folder / f"proof-{mode}"
    done = run([check, mode, str(seed), str(count)], env | RELOADED, proof)
    assert done.returncode == 0, done.stderr
    return served(proof)


@pytest.mark.parametrize("mode", ["patterns", "posix"])
def test_patterns_match_what_they_match_in_libc(
    check: Path, locales: Callable[[str], dict[str, str]], tmp_path: Path, mode: str
) -> None:
    told = agrees(check, locales(PLAIN), tmp_path, mode, 1, SHORT[mode])
    assert told["searched"] > told["passed"]
    assert told["compared"] == 0


@pytest.mark.lab
@pytest.mark.parametrize("mode", SHORT)
@pytest.mark.parametrize("name", [PLAIN, *LANGUAGES])
def test_strings_and_patterns_are_as_in_libc(
    check: Path, locales: Callable[[str], dict[str, str]], tmp_path: Path, name: str, mode: str
) -> None:
    if name == PLAIN and mode in ("reload", "elsewhere"):
        pytest.skip("it is none of the languages that come and go")
    long = "OKOSU_LAB" in os.environ
    told = agrees(check, locales(name), tmp_path, mode, 2 + long, (LONG if long else SHORT)[mode])
    if mode in ("patterns", "posix"):
        assert (told["searched"] > told["passed"]) == (name not in JOINED | {"tr_TR"})
    if mode == "elsewhere":
        assert told["searched"] > 0
    elif mode in ("patterns", "posix", "threads"):
        assert (told["searched"] > 0) == (name not in JOINED | {"tr_TR"})
    else:
        assert (told["compared"] > 0) == (name != PLAIN)


def test_a_language_s_own_characters_are_left_to_libc(
    check: Path, locales: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("".join(f"{word}{i % 97}\n" for i in range(3000) for word in ("Äpfel", "apfel", "APFEL")))
    env, proof = locales("en_US"), tmp_path / "proof"
    assert run(["sort", text], env, proof).stdout == run(["sort", text], env, None).stdout
    told = served(proof)
    assert told["compared"] > 1000
    assert told["passed"] > 1000


@pytest.mark.parametrize(
    "command",
    [
        ["sed", "-E", r"s/([[:alpha:]]+)([0-9]+)@(\w+)\.example/\3 \2 \1/g"],
        ["sed", r"s/\(user\|host\)\([^b-y]\)/[\1-\2]/2"],
        ["grep", "-iE", "(user12|host9)[0-9]*[^a-z]+(said|host7)"],
        ["grep", "-now", "host[^[:space:].]*"],
    ],
)
def test_programs_print_the_same(command: list[str], locales: Callable[[str], dict[str, str]], tmp_path: Path) -> None:
    text, proof = tmp_path / "text", tmp_path / "proof"
    text.write_text("".join(f"User{i * 7919 % 9973}@host{i % 97}.example.org said {i}\n" for i in range(12000)))
    env = locales(PLAIN)
    with_lever = run([*command, text], env, proof)
    assert with_lever.stdout == run([*command, text], env, None).stdout
    assert with_lever.stdout
    assert served(proof)["searched"] > 1000


def test_in_the_c_locale_libc_has_everything(check: Path, tmp_path: Path) -> None:
    for mode in ("patterns", "posix", "order"):
        told = agrees(check, {"LC_ALL": "C"}, tmp_path, mode, 1, SHORT[mode])
        assert (told["compared"], told["searched"]) == (0, 0)
        assert told["passed"] > 0


def test_filters_exclude_nothing_that_libc_finds() -> None:
    fuzz = native.find("libokosu-preload.so").parent / "ascii-fuzz"
    if not fuzz.exists():
        pytest.skip("the compiler has no sanitizers")
    done = subprocess.run([fuzz, "4000", "20261126"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


NATIVE = PROGRAMS.parents[2] / "native"
SOURCES = sorted(path for path in NATIVE.glob("preload/ascii_*.c") if path.stem != "ascii_fuzz")
BESIDE = [NATIVE / "preload/proof.c", NATIVE / "src/base/json.c", NATIVE / "src/base/line.c", "-ldl"]
FLAGS = ["-std=gnu17", "-O1", "-D_GNU_SOURCE", *(f"-I{NATIVE / place}" for place in ("preload", "src", "include"))]


@pytest.mark.lab
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_it_is_clean_under_the_sanitizers(
    locales: Callable[[str], dict[str, str]], tmp_path: Path, sanitizer: str
) -> None:
    """The library is linked into the program, for a sanitizer's runtime wants to come first."""
    program = tmp_path / "check"
    command = ["cc", f"-fsanitize={sanitizer}", "-g", "-rdynamic", *FLAGS, "-o", program, PROGRAMS / "ascii_check.c"]
    done = subprocess.run([*command, *SOURCES, *BESIDE, "-lpthread"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the compiler has no sanitizers: {done.stderr}")
    for mode in ("threads", "patterns"):
        env = clean_environment() | locales("en_US") | {"ASAN_OPTIONS": "detect_leaks=0"}
        words = ["setarch", "-R", program, mode, "1", str(SHORT[mode] // 2)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
        assert done.returncode == 0, done.stderr


PLANTED = {
    "ascii_filter.c": [
        ("p.empty |= may_be_none;", "p.empty |= false;"),
        ("a.first | (a.empty ? b.first : 0)", "a.first"),
        ("b.last | (b.empty ? a.last : 0)", "b.last"),
        ("add(&set, own ^ 0x20U);", ""),
        ("return *anchor ? either(p, NOTHING) : p;", "return p;"),
        ("&& syntax & RE_CHAR_CLASSES", ""),
        ("*some |= r->pattern->text[r->at] != '0';", "*some = true;"),
        ("*p = repeated(r, of_any(r), true);", "*p = NOTHING;"),
        ("return has(r, RE_NEWLINE_ALT);", "return false;"),
    ],
    "ascii_twin.c": [
        ("!is_ascii(text + from, size - from)", "false"),
        ("!letters_are_same() ||", ""),
        ("return interval && anchor;", "return false;"),
        ("!okosu_order_is_of_characters() ||", ""),
        ("return !memcmp(takes, &in_c, sizeof(in_c));", "return true;"),
        ("twin->not_bol = own->not_bol;", ""),
        ("twin->newline_anchor = own->newline_anchor;", ""),
        ("twin->regs_allocated = own->regs_allocated;", ""),
        ("!is_home(&compared[i].home)", "false"),
        ("!is_home(&found->home)", "false"),
    ],
    "ascii_order.c": [
        ("return (x == END || *s < CHARACTERS) && (y == END || *t < CHARACTERS);", "return true;"),
        ("(more && at[sizeof(index) + 1] < CHARACTERS)", "false"),
        ("|| own.rule != FORWARD", ""),
        ("ranked &= !prefix;", ""),
        ("if (x == LIBC || y == LIBC)", "if (false)"),
        ("while (y == PASSED_OVER);", "while (false);"),
    ],
    "ascii_hooks.c": [
        ("next.freelocale(where);\n    atomic_fetch_add(&okosu_ascii_epoch, 1);", "next.freelocale(where);"),
    ],
}
"""Bugs that one of the checks has to find, in some locale."""


@pytest.mark.lab
@pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")
@pytest.mark.parametrize(("file", "right", "wrong"), [(f, *bug) for f, bugs in PLANTED.items() for bug in bugs])
def test_a_planted_bug_is_found(
    check: Path, locales: Callable[[str], dict[str, str]], tmp_path: Path, file: str, right: str, wrong: str
) -> None:
    sources = []
    for source in SOURCES:
        text = source.read_text()
        if source.name == file:
            assert text.count(right) == 1, right
            text = text.replace(right, wrong)
        # The library checks its tables against libc, and would not use a wrong one.
        text = text.replace("if (!agrees(order, where))", "if (false && !agrees(order, where))")
        (tmp_path / source.name).write_text(text)
        sources.append(tmp_path / source.name)
    library = tmp_path / "libokosu-ascii.so"
    shared = ["-fvisibility=hidden", "-shared", "-fPIC", "-o", library]
    subprocess.run(["cc", *FLAGS, *shared, *sources, *BESIDE], check=True)
    env = clean_environment() | RELOADED | {"LD_PRELOAD": str(library)}
    for name in (PLAIN, "en_US", "hu_HU", "fr_CA", "et_EE", "tr_TR"):
        for mode, count in SHORT.items():
            command = [check, mode, "5", str(10 * count)]
            if subprocess.run(command, capture_output=True, check=False, env=env | locales(name)).returncode:
                return
    pytest.fail("no check found it")
