# SPDX-License-Identifier: Apache-2.0
"""The golden values notice every small wrong version of okosu/stats, except those proved equal in equivalent.toml."""

from __future__ import annotations

import ast
import inspect
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import golden
import golden_paired
import mutate
import pytest

from okosu.stats import carry, eprocess, paired, rate, verdict

EQUIVALENT: dict[str, str] = {
    entry["id"]: entry["proof"]
    for entry in tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text())["mutant"]
}
CHECKS: list[tuple[ModuleType, Callable[[mutate.Namespace], None], int]] = [
    (eprocess, golden.eprocess, 200),
    (verdict, golden.verdict, 150),
    (carry, golden.carry, 250),
    (rate, golden.rate, 120),
    (paired, golden_paired.paired, 80),
]


NAMES = [module.__name__.rpartition(".")[2] for module, _, _ in CHECKS]


@pytest.mark.parametrize(("module", "check"), [(module, check) for module, check, _ in CHECKS], ids=NAMES)
def test_the_module_itself_passes(module: ModuleType, check: Callable[[mutate.Namespace], None]) -> None:
    check(vars(module))


@pytest.mark.long
@pytest.mark.parametrize(("module", "check", "fewest"), CHECKS, ids=NAMES)
def test_every_mutant_is_killed(module: ModuleType, check: Callable[[mutate.Namespace], None], fewest: int) -> None:
    alive, total = mutate.survivors(module, check)
    short = module.__name__.rpartition(".")[2]
    listed = {name for name in EQUIVALENT if name.startswith(f"{short}.")}
    print(f"{short}: {total} mutants, {total - len(alive)} killed, {len(alive)} equivalent")
    assert total >= fewest
    assert sorted({m.id for m in alive} - listed) == []
    # A listed mutant that is noticed is not equivalent, and one that no longer exists proves nothing: both make the
    # list wrong.
    assert sorted(listed - {m.id for m in alive}) == []


def test_the_list_of_equivalents_is_proved_and_names_modules_that_are_checked() -> None:
    names = tuple(m.__name__.rpartition(".")[2] + "." for m, _, _ in CHECKS)
    for name, proof in EQUIVALENT.items():
        assert name.startswith(names)
        assert len(proof.split()) >= 8, f"{name}: {proof}"


def sample(source: str, name: str = "okosu_mutation_sample") -> ModuleType:
    """A module with that source, in a form whose source inspect can find."""
    module = ModuleType(name)
    exec(source, module.__dict__)
    return module


SAMPLE = '''
def largest_below(values, limit: int | None) -> int | None:
    """Return the largest of the values below the limit."""
    best = None
    i = 0
    while i < len(values):
        if values[i] < limit and (best is None or not values[i] <= best):
            best = values[i]
        i += 1
    return best
'''


def check_well(namespace: mutate.Namespace) -> None:
    f = namespace["largest_below"]
    assert f([], 3) is None
    assert f([3, 0, 2, 1], 3) == 2
    assert f([0, 2, 1], 3) == 2
    assert f([-1, -2, -2], 3) == -1
    assert f([5, 7], 3) is None


def check_badly(namespace: mutate.Namespace) -> None:
    assert namespace["largest_below"]([1], 3) == 1


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = sample(SAMPLE)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr(inspect, "getsource", lambda _: SAMPLE)
    return made


def test_the_harness_finds_what_a_weak_check_lets_pass(module: ModuleType) -> None:
    alive, total = mutate.survivors(module, check_badly)
    strong, same = mutate.survivors(module, check_well)
    assert total == same > 25
    assert "okosu_mutation_sample.largest_below: values[i] < limit -> values[i] <= limit" in {m.id for m in alive}
    # A maximum of equal values does not depend on the comparison, and i reaches its end exactly: only these two
    # survive.
    assert {m.id for m in strong} == {
        "okosu_mutation_sample.largest_below: values[i] <= best -> values[i] < best",
        "okosu_mutation_sample.largest_below: i < len(values) -> i != len(values)",
    }


def test_a_loop_without_end_is_stopped_and_counts_as_killed(module: ModuleType) -> None:
    endless = [m for m in mutate.mutants(SAMPLE, "sample") if m.id == "sample.largest_below: i += 1 -> pass"]
    assert len(endless) == 1
    namespace = mutate.execute(endless[0].tree, module, "<endless>")
    before = sys.gettrace()
    with pytest.raises(mutate.StepLimitExceeded):
        mutate.steps(lambda: check_well(namespace), "<endless>", 10_000)
    assert sys.gettrace() is before


def test_mutants_differ_from_the_source_and_from_each_other() -> None:
    made = list(mutate.mutants(SAMPLE, "sample"))
    assert len({m.id for m in made}) == len(made)
    sound = ast.unparse(ast.parse(SAMPLE))
    versions = [ast.unparse(m.tree) for m in made]
    assert sound not in versions
    # Annotations and docstrings are not mutated.
    assert all("int | None" in v and "Return the largest" in v for v in versions)


def test_a_check_that_fails_on_the_sound_module_is_an_error(module: ModuleType) -> None:
    def never(_: mutate.Namespace) -> None:
        raise AssertionError("the sound module fails")

    with pytest.raises(AssertionError, match="sound"):
        mutate.survivors(module, never)
