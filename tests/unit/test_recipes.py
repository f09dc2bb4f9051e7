# SPDX-License-Identifier: Apache-2.0
"""Recipes: their files, which programs each is for, what it sets, and the proof of its effect.

`python tests/unit/test_recipes.py NAME=COMMAND…` prints the facts of programs as tests/data/programs.json keeps them;
it runs each command for what it maps.
"""

from __future__ import annotations

import json
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu import recipes
from okosu.errors import OkosuError
from okosu.machine.model import Limits, Machine, Memory, Rights
from okosu.machine.program import Program
from okosu.recipes import Recipe, file, proofs, recognise, values
from okosu.recipes.file import WrongError, parse
from okosu.records.measurement import Measurement
from okosu.records.recipe import Joined, Names, Proofs, RecipeFile, Said

DATA = Path(__file__).resolve().parents[1] / "data"
SHIPPED = {path.stem: Recipe(file.load(path), path) for path in sorted(recipes.OWN.glob("*.toml"))}
PROGRAM = Program("/bin/app", "glibc")
HERE = Machine(cpus_online=[0, 1, 2, 3], rights=Rights(cpus=[0, 1, 2, 3]), memory=Memory(available_kb=8 << 20))

FOR = {
    "arenas": "pbzip2",
    "blas": "python3-numpy",
    "dotnet-heap": "dotnet",
    "erlang-spin": "erl",
    "erlang-width": "erl",
    "fsync": "sqlite3",
    "gdal-width": "gdalwarp",
    "ghc-heap": "pandoc",
    "git-width": "git",
    "go-gc": "go",
    "go-width": "go",
    "java-archive": "javac",
    "java-c1": "javac",
    "java-gc": "javac",
    "java-pages": "javac",
    "jemalloc-pages": "redis-server",
    "locale": "sed",
    "luajit-traces": "luajit",
    "make-width": "make",
    "malloc": "perl",
    "node-heap": "node",
    "ocaml-heap": "ocaml",
    "php-jit": "php",
    "pypy-nursery": "pypy3",
    "pypy-old": "pypy3",
    "ruby-heap": "ruby",
    "ruby-jit": "ruby",
    "spin": "openmp",
    "width": "openmp",
    "xz-width": "xz",
    "zstd-width": "zstd",
}
"""Of each recipe of okosu, a program of tests/data/programs.json that it is for."""

TEXT = """
name = "fast"
doc = "a doc"
changes = "nothing"
[recognise]
names = ["app"]
[[arm]]
[[arm.value]]
name = "on"
env = { MODE = "fast" }
source = "app(1)"
[proof]
threads = "fewer"
"""


class Captured:
    """The facts of a program on some machine, and what base's pilot run shows of it."""

    def __init__(self, kept: dict[str, list[str]]) -> None:
        loaded = {Path(file).name for file in kept["mapped"] if ".so" in Path(file).name}
        self.names, self.needed = frozenset(kept["names"]), loaded.union(kept["needed"])
        self.sections, self.symbols, self.mapped = tuple(kept["sections"]), kept["symbols"], kept["mapped"]
        self.heaps = [int(number) for number in kept.get("heaps", ["0", "0"])]

    def has_symbol(self, pattern: str) -> bool:
        return any(fnmatchcase(symbol, pattern) for symbol in self.symbols)


PROGRAMS = {name: Captured(kept) for name, kept in json.loads((DATA / "programs.json").read_text()).items()}


def recipe(text: str = TEXT) -> Recipe:
    return Recipe(parse(text.encode(), "fast"), Path("fast.toml"))


# Those of okosu


def test_each_recipe_has_a_program() -> None:
    assert FOR.keys() == SHIPPED.keys()
    assert recipes.known().keys() > SHIPPED.keys()


@pytest.mark.parametrize("name", FOR)
def test_a_recipe_is_for_its_program_and_not_for_five_others(name: str) -> None:
    asked = SHIPPED[name].file.recognise
    fitting = {
        program
        for program, facts in PROGRAMS.items()
        if recognise.by_files(asked, facts)
        and recognise.by_mapped(asked, facts.mapped)
        and recognise.by_heaps(asked, *facts.heaps)
    }
    assert FOR[name] in fitting
    assert len(PROGRAMS.keys() - fitting) >= 5


def some(pattern: str) -> str:
    """A text that matches the pattern."""
    return re.sub(r"\[(.)[^]]*\]", r"\1", pattern).replace("*", "x").replace("?", "x")


def like(way: str, base: int) -> int:
    return {"": base, "fewer": base // 10, "more": base * 10}[way]


def worlds(asked: Proofs) -> tuple[Measurement, dict[str, dict[str, Any]]]:
    """A run of base, and for each part of the proof the fields of a run that satisfies it."""
    names = asked.thread_names or Names()
    base = Measurement(
        wall_ns=1,
        files=["/bin/app", *map(some, asked.unmapped[:1])],
        thread_names=["app", *map(some, names.absent[:1])],
        threads=100,
        minflt=100_000,
        nvcsw=100_000,
        processes=100,
        at_once=100,
        heaps=100,
        said=False if asked.said else None,
    )
    parts: dict[str, dict[str, Any]] = {}
    if asked.mapped or asked.unmapped:
        parts["files"] = {"files": ["/bin/app", *map(some, asked.mapped[:1])]}
    if asked.threads:
        parts["threads"] = {"threads": like(asked.threads, base.threads)}
    if asked.thread_names:
        parts["thread_names"] = {"thread_names": ["app", *map(some, names.present[:1])]}
    if asked.faults:
        parts["faults"] = {"minflt": like(asked.faults, base.minflt)}
    if asked.switches:
        parts["switches"] = {"nvcsw": like(asked.switches, base.nvcsw)}
    if asked.processes:
        parts["processes"] = {"processes": like(asked.processes, base.processes)}
    if asked.at_once:
        parts["at_once"] = {"at_once": like(asked.at_once, base.at_once)}
    if asked.heaps:
        parts["heaps"] = {"heaps": like(asked.heaps, base.heaps)}
    if asked.said:
        parts["said"] = {"said": True}
    return base, parts


ALL_PROOFS = Proofs(
    mapped=["*/new.so*"],
    unmapped=["*/old"],
    threads="more",
    thread_names=Names(absent=["GC*"], present=["Serial?"]),
    faults="fewer",
    switches="fewer",
    processes="more",
    at_once="fewer",
    heaps="fewer",
    said=Said({"V": "1"}, stderr="x"),
)


def proofs_of(made: Recipe) -> dict[str, Proofs]:
    """The proofs of a recipe's values by name, that of several alike once."""
    found: dict[str, Proofs] = {}
    for arm in made.file.arm:
        for value in arm.value:
            if (asked := value.proof or made.file.proof) not in found.values():
                found[value.name] = asked
    return found


PROOFS = {f"{name}={value}": asked for name, one in SHIPPED.items() for value, asked in proofs_of(one).items()}
PROOFS["all"] = ALL_PROOFS


@pytest.mark.parametrize("asked", PROOFS.values(), ids=PROOFS)
def test_a_proof_fails_without_any_of_its_parts(asked: Proofs) -> None:
    base, parts = worlds(asked)
    assert parts
    whole = msgspec.structs.replace(base, **{key: value for part in parts.values() for key, value in part.items()})
    assert proofs.judge(asked, whole, base, None).holds
    assert proofs.judge(asked, whole, base, whole).holds
    assert not proofs.judge(asked, base, base, None).holds
    for name, part in parts.items():
        lacking = msgspec.structs.replace(whole, **{key: getattr(base, key) for key in part})
        proof = proofs.judge(asked, lacking, base, None)
        assert not proof.holds, name
        assert proof.text
        # What the runtime says is asked for in the pilot alone.
        assert proofs.judge(asked, lacking, base, whole).holds is (name == "said")
        assert not proofs.judge(asked, whole, msgspec.structs.replace(base, **part), None).holds, name


def test_what_could_not_be_read_proves_nothing() -> None:
    base, parts = worlds(ALL_PROOFS)
    whole = msgspec.structs.replace(base, **{key: value for part in parts.values() for key, value in part.items()})
    for unread in ({"files": []}, {"thread_names": []}, {"names_cut": True}):
        assert not proofs.judge(ALL_PROOFS, msgspec.structs.replace(whole, **unread), base, None).holds
        assert not proofs.judge(ALL_PROOFS, whole, msgspec.structs.replace(base, **unread), None).holds


def test_a_later_run_is_nearer_to_the_pilot_than_to_base() -> None:
    asked = Proofs(faults="fewer")
    base, pilot = Measurement(1, minflt=100_000), Measurement(1, minflt=10_000)
    for faults, holds in ((9_000, True), (31_000, True), (33_000, False), (100_000, False)):
        assert proofs.judge(asked, Measurement(1, minflt=faults), base, pilot).holds is holds
    # A stack has no pilot of its own, and is compared with base alone.
    assert proofs.judge(asked, Measurement(1, minflt=33_000), base, None).holds


def test_few_faults_prove_nothing_however_large_their_share() -> None:
    base = Measurement(1, minflt=600)
    assert not proofs.judge(Proofs(faults="fewer"), Measurement(1, minflt=300), base, None).holds


# The files


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"fast"\ndoc', '"slow"\ndoc', "name: it is 'slow', and the file is called fast.toml"),
        ('doc = "a doc"', "", "missing required field `doc`"),
        ('doc = "a doc"', 'doc = 3', "doc: Expected `str`, got `int`"),
        ('source = "app(1)"', "", "arm[0].value[0]: Object missing required field `source`"),
        ('source = "app(1)"', 'source = ""', "arm[0].value[0].source: Expected `str` of length >= 1"),
        ('changes = "nothing"', 'changes = "speed"', "changes: Invalid enum value 'speed'"),
        ('changes = "nothing"', 'changes = "rules"', "hazard: it changes rules, and has to say how"),
        ('changes = "nothing"', 'changes = "nothing"\nhazard = "x"', "hazard: it changes nothing"),
        ('changes = "nothing"', 'changes = "nothing"\nexcludes = ["fast"]', "excludes: it names itself"),
        ('names = ["app"]', "", "recognise: names, needed, sections, symbols, mapped or"),
        ('names = ["app"]', 'name = ["app"]', "recognise: Object contains unknown field `name`"),
        ('names = ["app"]', 'symbols = ["*"]', "recognise.symbols: '*' fits every name"),
        ('names = ["app"]', 'names = ["app"]\nset = ["LANG"]', "recognise.set: 'LANG' is not NAME=PATTERN"),
        ('names = ["app"]', 'names = ["app"]\nunless = ["=3"]', "recognise.unless: '=3'"),
        ('MODE = "fast"', "", "env: Expected `object` of length >= 1"),
        ('MODE = "fast"', '"a b" = "fast"', "'a b' is no name of a variable"),
        ('MODE = "fast"', 'OKOSU_X = "fast"', "OKOSU_X is okosu's own"),
        ('MODE = "fast"', 'MODE = "{spu}"', "MODE: {spu} is not known; there are cores, cpus"),
        ('MODE = "fast"', 'MODE = "{library}"', "MODE: {library} is not known"),
        ('MODE = "fast"', "MODE = {separator = ':'}", "MODE: neither append nor prepend"),
        ('source = "app(1)"', 'source = "x"\nneeds = ["/usr/x"]', "needs and install go together"),
        ('source = "app(1)"', 'source = "x"\nneeds = ["x"]\ninstall = "y"', "'x' is no absolute path"),
        ('source = "app(1)"', 'source = "x"\nwhen = "quota"', "when: 'quota' is not A < B"),
        ('name = "on"', 'name = "a,b"', "arm.value.name: 'a,b' holds more than"),
        ("[proof]", '[[arm.value]]\nname = "on"\nenv = {A="1"}\nsource = "x"\n[proof]', "'on' stands there twice"),
        ('threads = "fewer"', "", "proof: it has to say what shows"),
        ('source = "app(1)"', 'source = "x"\nproof = {}', "proof: it has to say what shows"),
        ('source = "app(1)"', 'source = "x"\nproof.said = {env = {V = "1"}, stderr = "x"}', "only the recipe's proof"),
        ('MODE = "fast"', 'MODE = "{kept}"', "MODE: {kept} is not known"),
        ('source = "app(1)"', 'source = "x"\nprepare = { A = "{kept}" }', "env and prepare have to name"),
        ('MODE = "fast"', 'MODE = "{kept}" }\nprepare = { A = "b"', "env and prepare have to name"),
        ('names = ["app"]', 'names = ["app"]\nexcepted = [{names = ["x"]}]', "missing required field `why`"),
        ('names = ["app"]', 'names = ["app"]\nexcepted = [{why = "x"}]', "recognise.excepted: names or symbols"),
        ('names = ["app"]', 'names = ["app"]\nexcepted = [{why = "x", symbols = ["?"]}]', "fits every name"),
        ('threads = "fewer"', 'threads = "less"', "proof.threads: Invalid enum value 'less'"),
        ('threads = "fewer"', 'said = {env = {V = "1"}}', "proof.said: either stderr or file"),
        ('threads = "fewer"', 'said = {env = {V = "1"}, stderr = "["}', "the pattern does not compile"),
        ('threads = "fewer"', 'said = {env = {V = "1"}, stderr = "x", matches = "most"}', "said.matches: Invalid enum"),
        ('source = "app(1)"', 'source = "x"\nneeds = ["~x/y"]\ninstall = "y"', "'~x/y' is no absolute path"),
        ('threads = "fewer"', 'said = {env = {V = "1"}, file = "x"}', "no variable holds {file}"),
        ("[proof]", "[proof", "it is not TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_its_key(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in TEXT
    path = tmp_path / "fast.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(OkosuError) as caught:
        file.load(path)
    assert caught.value.status == 2
    assert caught.value.what.startswith(f"{path} is no recipe: ")
    assert words in caught.value.what
    assert "add-a-recipe" in caught.value.fix


ODD = ["nan", "-inf", "1e400", "9" * 5000, "[]", "{}", '""', '"\\u0000"', "1979-05-27", "[[1]]", "[" * 2000, '["**/*"]']


@given(st.integers(0, len(TEXT)), st.integers(0, 30), st.binary(max_size=20) | st.sampled_from(ODD).map(str.encode))
def test_any_damage_is_a_refusal_or_a_recipe(at: int, cut: int, put: bytes) -> None:
    text = TEXT.encode()
    try:
        made = parse(text[:at] + put + text[at + cut :], "fast")
    except WrongError:
        return
    assert isinstance(made, RecipeFile)
    assert made.name == "fast"


KEYS = [*re.findall(r"^(\w+) = ", TEXT, re.MULTILINE), "likely", "hazard", "excludes", "mapped", "needs", "said"]


@given(st.sampled_from(KEYS), st.sampled_from(ODD))
def test_any_value_of_a_key_is_a_refusal_or_a_recipe(key: str, value: str) -> None:
    text = re.sub(rf"^{key} = .*$", f"{key} = {value}".replace("\\", r"\\"), TEXT, flags=re.MULTILINE)
    if text == TEXT:
        text = TEXT.replace("doc = ", f"{key} = {value}\ndoc = ", 1)
    try:
        made = recipe(text)
    except WrongError:
        return
    made.values(HERE, PROGRAM, None)
    made.proof("on", Measurement(1), Measurement(1), None)


def test_a_users_recipe_takes_the_place_of_one_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own, named = tmp_path / "okosu/recipes", tmp_path / "named"
    for folder, doc in ((own, "the user's"), (named, "named")):
        folder.mkdir(parents=True)
        (folder / "fast.toml").write_text(TEXT.replace("a doc", doc))
    assert recipes.found()["fast"].doc == "the user's"
    assert recipes.found([str(named)])["fast"].doc == "named"


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [("pin", "fast", "pin", "a lever of okosu is called 'pin'"),
     ("fast", 'doc = "a doc"', 'doc = "a doc"\nexcludes = ["pni"]', "there is neither a lever nor a recipe 'pni'")],
)  # fmt: skip
def test_names_are_those_of_levers_and_recipes(name: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.toml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(OkosuError) as caught:
        recipes.known([str(tmp_path)])
    assert caught.value.status == 2
    assert words in caught.value.what


def test_what_is_tried_by_name_only_is_not_tried_unasked(tmp_path: Path) -> None:
    for name, more in (("fast", ""), ("fsync", "by_name_only = true\n")):
        (tmp_path / f"{name}.toml").write_text(
            TEXT.replace('"fast"', f'"{name}"', 1).replace("doc =", f"{more}doc =", 1)
        )
    every = recipes.known([str(tmp_path)])
    assert {"fast", "fsync"} <= every.keys()
    assert "fast" in recipes.unasked(every)
    assert "fsync" not in recipes.unasked(every)
    assert "pin" not in recipes.unasked(every)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="no such folder"):
        recipes.found([str(tmp_path / "none")])


# What a value sets


def test_numbers_of_the_machine() -> None:
    assert values.computed(HERE)["cpus"] == values.computed(HERE)["quota"] == 4
    limited = msgspec.structs.replace(HERE, limits=Limits(cpu_max=1.5, memory_max=2 << 30))
    assert values.computed(limited) == {"cpus": 4, "quota": 1, "cores": 1, "free_mib": 2048, "half_free_mib": 1024}
    assert values.computed(msgspec.structs.replace(HERE, limits=Limits(cpu_max=0.1)))["quota"] == 1
    assert values.computed(Machine())["cpus"] == 1


@pytest.mark.parametrize(
    ("text", "holds"),
    [("", True), ("quota < cpus", True), ("cpus<quota", False), ("cpus >= 4", True), ("4 != cpus", False)],
)
def test_conditions(text: str, holds: bool) -> None:
    assert values.holds(text, {"quota": 1, "cpus": 4}) is holds


def test_variables_are_filled_and_joined() -> None:
    env = {"A": "{cpus}/{unknown}", "B": Joined(append="-x={cpus}"), "C": Joined(prepend="/l", separator=":")}
    assert values.filled(env, {"cpus": 4}, {"B": "-y", "C": ""}) == {"A": "4/{unknown}", "B": "-y -x=4", "C": "/l"}


def test_what_base_has_already_is_no_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    made = recipe()
    monkeypatch.delenv("MODE", raising=False)
    assert made.values(HERE, PROGRAM, None) == [["on"]]
    assert made.variables("on", HERE, PROGRAM) == {"MODE": "fast"}
    monkeypatch.setenv("MODE", "fast")
    assert made.values(HERE, PROGRAM, None) == []
    assert made.nothing(HERE, PROGRAM, None).why
    assert made.suits("on", HERE, PROGRAM).ok


def test_values_of_the_same_variables_are_one() -> None:
    more = '[[arm.value]]\nname = "{}"\nenv = {{ MODE = "{}" }}\nsource = "x"\nwhen = "{}"\n'
    text = TEXT.replace("[proof]", more.format("again", "fast", "") + more.format("never", "x", "cpus < 4") + "[proof]")
    assert recipe(text).values(HERE, PROGRAM, None) == [["on"]]


def test_a_library_that_is_missing_is_named_with_the_line_to_type(tmp_path: Path) -> None:
    library = tmp_path / "lib.so.3"
    text = TEXT.replace('MODE = "fast"', 'LD_PRELOAD = "{library}"').replace(
        'source = "app(1)"', f'source = "x"\nneeds = ["/nowhere/x", "{tmp_path}/lib.so.*"]\ninstall = "apt install it"'
    )
    made = recipe(text)
    assert made.values(HERE, PROGRAM, None) == []
    said = made.nothing(HERE, PROGRAM, None)
    assert (said.ok, said.fix) == (False, "apt install it")
    assert "lib.so.*" in said.why
    assert not made.suits("on", HERE, PROGRAM).ok
    library.write_text("settings of no architecture")
    again = recipe(text.replace("lib.so.*", "lib.so*"))
    assert again.variables("on", HERE, PROGRAM) == {"LD_PRELOAD": str(library)}
    assert again.values(HERE, PROGRAM, None) == [["on"]]
    static = Program("/bin/app", "static", preloadable=False, why="it is linked statically")
    assert again.values(HERE, static, None) == []
    assert again.suits("on", HERE, static).why == "it is linked statically"


def test_folders_of_the_library_and_of_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "lib.so.3").touch()
    text = TEXT.replace('MODE = "fast"', 'MODE = "{folder}:{here}/x"').replace(
        'source = "app(1)"', 'source = "x"\nneeds = ["~/lib.so.*"]\ninstall = "y"'
    )
    made = Recipe(parse(text.encode(), "fast"), tmp_path / "fast.toml")
    assert made.variables("on", HERE, PROGRAM) == {"MODE": f"{tmp_path}:{tmp_path.resolve()}/x"}


@pytest.mark.parametrize(
    ("pattern", "matches", "text", "heard"),
    [
        ("^gc", "", "gc 1\ngc 2\nno gc\n", 2),
        ("^gc (\\\\d+)", "", "gc 1\ngc 2\n", 2),
        ("^gc", "fewer", "gc 1\ngc 2\n", 2),
        ("^gc (\\\\d+)", "fewer", "gc 30\ngc 12\n", 42),
        ("^gc( \\\\S)?", "more", "gc x\ngc\n", 0),
        ("^gc", "more", "gc\n" * 40, None),
        ("^gc", "", "gc\n" * 40, 40),
    ],
)
def test_what_the_runtime_says_is_counted(pattern: str, matches: str, text: str, heard: int | None) -> None:
    said = f'said = {{env = {{V = "1"}}, stderr = "{pattern}", matches = "{matches}"}}'
    assert recipe(TEXT.replace('threads = "fewer"', said)).heard(text, "", 100) == heard


@pytest.mark.parametrize(
    ("matches", "mine", "base", "holds"),
    [("", 1, 0, True), ("", 0, 0, False), ("fewer", 9, 10, True), ("fewer", 10, 10, False), ("fewer", 95, 100, False),
     ("fewer", 0, 3, True), ("fewer", 0, 0, False), ("more", 3, 0, True), ("more", 9, 10, False),
     ("more", 2, None, False), ("fewer", None, 3, False)],
)  # fmt: skip
def test_what_the_runtime_says_is_compared_with_base(
    matches: str, mine: int | None, base: int | None, holds: bool
) -> None:
    said = f'said = {{env = {{V = "1"}}, stderr = "x", matches = "{matches}"}}'
    made = recipe(TEXT.replace('threads = "fewer"', said))
    assert made.convinces(mine, base) is holds
    assert made.says_the_same(1) is (matches == "")


OWN_PROOFS = TEXT[: TEXT.index("[[arm]]")] + "".join(
    f"""
{arm}[[arm.value]]
name = "{name}"
env = {{ MODE = "{name}" }}
source = "app(1)"
proof.mapped = ["*/lib{name}.so*"]
"""
    for arm, name in (("[[arm]]\n", "this"), ("", "that"))
)


def test_each_value_is_proved_by_what_is_its_own() -> None:
    made = recipe(OWN_PROOFS)
    base = Measurement(1, files=["/bin/app", "/usr/lib/libthis.so.2"])
    run = Measurement(1, files=["/bin/app", "/usr/lib/libthis.so.2", "/usr/lib/libthat.so.2"])
    assert made.observes == {"files"}
    assert made.proof("that", run, base, None).holds
    assert not made.proof("that", base, base, None).holds
    assert not made.proof("this", run, base, None).holds


def test_a_value_whose_proof_base_gives_already_is_not_tried() -> None:
    made = recipe(OWN_PROOFS)
    both = Measurement(1, files=["/bin/app", "/usr/lib/libthis.so.2", "/usr/lib/libthat.so.2"])
    assert made.values(HERE, PROGRAM, None) == [["this", "that"]]
    assert made.values(HERE, PROGRAM, Measurement(1, files=["/bin/app", "/usr/lib/libthis.so.2"])) == [["that"]]
    assert made.values(HERE, PROGRAM, both) == []
    assert "by itself" in made.nothing(HERE, PROGRAM, both).why


def test_an_unknown_value_is_a_usage_error() -> None:
    with pytest.raises(OkosuError) as caught:
        recipe().suits("off", HERE, PROGRAM)
    assert (caught.value.status, caught.value.why) == (2, "fast takes on")


# For which programs


@pytest.mark.parametrize(
    ("asked", "env", "matches"),
    [
        ('names = ["ap?"]', {}, True),
        ('names = ["APP"]', {}, False),
        ('names = ["app"]\nset = ["LANG=*UTF-8"]', {"LANG": "de_DE.UTF-8"}, True),
        ('names = ["app"]\nset = ["LANG=*UTF-8", "LC_ALL=*"]', {"LANG": "C"}, False),
        ('names = ["app"]\nunless = ["LC_ALL"]', {"LC_ALL": "C"}, False),
        ('names = ["app"]\nunless = ["LC_ALL"]', {"LC_ALL": ""}, True),
        ('names = ["app"]\nunless = ["LC_ALL=C"]', {"LC_ALL": "de_DE"}, True),
        ('mapped = ["*/libblas.so.3*"]', {}, False),
        ('mapped = ["/bin/a*"]', {}, True),
        ('mapped = ["*/libjvm.so"]\nexpect = ["ap*"]', {}, True),
        ('needed = ["libjvm.so"]\nexpect = ["ap*"]', {}, True),
        ('needed = ["libjvm.so"]\nexpect = ["other"]', {}, False),
    ],
)
def test_names_and_variables(asked: str, env: dict[str, str], matches: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANG", "LC_ALL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    made = recipe(TEXT.replace('names = ["app"]', asked))
    assert made.matches(PROGRAM, None) is matches


def test_a_program_that_is_known_to_be_harmed_is_left_out_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "app8.2").write_bytes(Path("/bin/true").read_bytes())
    excepted = 'names = ["app*", "sh"]\nexcepted = [{names = ["app[0-9]*"], why = "it crashes"}]'
    made = recipe(TEXT.replace('names = ["app"]', excepted))
    harmed, shell = Program(str(tmp_path / "app8.2"), "glibc"), Program("/bin/sh", "glibc")
    starts_it = Measurement(1, files=["/bin/sh", str(tmp_path / "app8.2")])
    assert made.values(HERE, PROGRAM, None) == [["on"]]
    assert made.values(HERE, shell, None) == [["on"]]
    for program, base in ((harmed, None), (shell, starts_it)):
        assert made.values(HERE, program, base) == []
        assert made.nothing(HERE, program, base).why == "it crashes"
    assert (made.suits("on", HERE, harmed).ok, made.suits("on", HERE, harmed).why) == (False, "it crashes")
    by_symbol = recipe(
        TEXT.replace('names = ["app"]', 'names = ["app*"]\nexcepted = [{symbols = ["setloc*"], why = "x"}]')
    )
    assert by_symbol.nothing(HERE, harmed, None).why == "x"


def test_no_other_malloc_is_given_to_php() -> None:
    asked = SHIPPED["malloc"].file.recognise
    assert "RTLD_DEEPBIND" in recognise.excepted(asked, [PROGRAMS["php"]])
    assert not recognise.excepted(asked, [PROGRAMS["perl"]])
    assert SHIPPED["malloc"].nothing(HERE, Program("/usr/bin/php8.2", "glibc"), None).why.startswith("PHP")


@pytest.mark.parametrize(
    ("symbols", "harmed"),
    [(["mallocx", "nallocx"], True), (["rallocx"], True), (["sallocx"], True), (["sdallocx"], True),
     (["malloc", "mallctl", "malloc_stats_print", "nallocx"], False), (["_rjem_mallocx", "je_dallocx"], False)],
)  # fmt: skip
def test_who_frees_by_functions_of_its_own_malloc_gets_no_other(symbols: list[str], harmed: bool) -> None:
    """Debian's redis takes only a size from jemalloc's nallocx; with a prefix the whole allocator is the program's."""
    of = Captured({"names": ["app"], "needed": [], "sections": [], "symbols": symbols, "mapped": []})
    assert bool(recognise.excepted(SHIPPED["malloc"].file.recognise, [of])) is harmed


def test_threads_that_take_memory_are_seen_in_the_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    made = SHIPPED["arenas"]
    files = ["/bin/app", "/lib/x86_64-linux-gnu/libc.so.6"]
    assert made.values(HERE, PROGRAM, Measurement(1, files=files, heaps=2, heaps_kb=8 << 10)) == [["1", "cpus"]]
    for few in (Measurement(1, files=files, heaps=1, heaps_kb=64 << 10), Measurement(1, files=files, heaps=9)):
        assert made.values(HERE, PROGRAM, few) == []
        assert f"{few.heaps} heaps of arenas" in made.nothing(HERE, PROGRAM, few).why
    assert not made.matches(PROGRAM, None)
    assert made.matches(Program("/usr/bin/java", "glibc"), None)
    for name, text in (("MALLOC_ARENA_MAX", "4"), ("GLIBC_TUNABLES", "glibc.malloc.arena_max=2")):
        with monkeypatch.context() as patch:
            patch.setenv(name, text)
            assert not made.matches(PROGRAM, Measurement(1, files=files, heaps=9, heaps_kb=8 << 10))


def test_the_pilot_confirms_by_what_is_mapped() -> None:
    made = recipe(TEXT.replace('names = ["app"]', 'names = ["app"]\nmapped = ["*/libblas.so.3*"]'))
    assert made.observes == {"files", "threads"}
    with_it = Measurement(1, files=["/bin/app", "/usr/lib/libblas.so.3.11"])
    without = Measurement(1, files=["/bin/app"])
    assert made.matches(PROGRAM, with_it)
    assert not made.matches(PROGRAM, without)
    assert "maps none of */libblas.so.3*" in made.nothing(HERE, PROGRAM, without).why
    # Where ptrace is refused nothing is known of the files, and the proof will tell.
    assert made.matches(PROGRAM, Measurement(1))


def test_what_the_program_starts_is_recognised_by_what_is_mapped(tmp_path: Path) -> None:
    for name in ("app", "libthat.so.3", "data"):
        (tmp_path / name).write_bytes(b"notes" if name == "data" else Path("/bin/true").read_bytes())
    shell = Program("/no/such/shell", "glibc")
    ran = Measurement(1, files=["/bin/sh", *(str(path) for path in sorted(tmp_path.iterdir()))])
    for asked in ('names = ["app"]', 'needed = ["libthat.so*"]', 'sections = [".text"]'):
        made = recipe(TEXT.replace('names = ["app"]', asked))
        assert made.matches(shell, ran)
    for asked in ('names = ["data"]', 'names = ["libthat*"]', 'needed = ["app"]'):
        assert not recipe(TEXT.replace('names = ["app"]', asked)).matches(shell, ran)
    assert not recipe().matches(shell, None)
    assert not recipe().matches(shell, Measurement(1, files=["/bin/sh"]))


def test_a_script_is_known_by_its_interpreter_and_links_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "python3.11").touch()
    (tmp_path / "python3").symlink_to("python3.11")
    of = recognise.Facts(Program(str(tmp_path / "tool"), "glibc", script=str(tmp_path / "python3")))
    assert of.names == {"tool", "python3", "python3.11"}


if __name__ == "__main__":
    import shlex
    import subprocess

    from okosu import native
    from okosu.machine import elf
    from okosu.machine.program import inspect

    kept = {}
    for argument in sys.argv[1:]:
        name, _, text = argument.partition("=")
        command = shlex.split(text)
        of = recognise.Facts(inspect(command[0]))
        known = ("caml_startup", "runtime.gcStart", "JLI_Launch", "hs_free_stable_ptr")
        symbols = [text for text in known if elf.has_symbol(of.image, text)]
        measure = [native.find("okosu-measure"), "--files", "--stderr=/dev/null", "--timeout=20", "--", *command]
        run = msgspec.json.decode(subprocess.run(measure, stdout=subprocess.PIPE, check=True).stdout, type=Measurement)
        kept[name] = {
            "names": sorted(of.names), "needed": sorted(of.needed), "sections": list(of.sections), "symbols": symbols,
            "mapped": sorted(run.files), "heaps": [str(run.heaps), str(run.heaps_kb)],
        }  # fmt: skip
    print(json.dumps(kept, indent=1))
