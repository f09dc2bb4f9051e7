# SPDX-License-Identifier: Apache-2.0
"""Recipes in a trial: what is tried unasked, what is recommended, and what the runtime is asked in the pilot."""

from __future__ import annotations

import dataclasses
import html
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sim import FakeLever, SimRunner, session
from test_recipes import TEXT

from okosu.cli import _table
from okosu.errors import OkosuError
from okosu.levers.base import Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.recipes import Recipe
from okosu.recipes.file import parse
from okosu.records.types import Arm, Verdict
from okosu.report import commands, export, page, view
from okosu.trial import Session, run
from okosu.trial.runs import Run

ORDERING = 'changes = "ordering"\nhazard = "lines in another order"'
SAID = 'said = { env = { V = "1" }, stderr = "^mode fast$" }'
SAID_TO_A_FILE = 'said = { env = { V = "{file}" }, file = "^mode fast$" }'


def recipe(name: str = "fast", variable: str = "MODE", changes: str = "", proof: str = "", **more: str) -> Recipe:
    text = TEXT.replace('"fast"\ndoc', f'"{name}"\ndoc', 1).replace("MODE", variable)
    text = text.replace('changes = "nothing"', changes or 'changes = "nothing"')
    text = text.replace('threads = "fewer"', proof or 'threads = "fewer"')
    for old, new in more.items():
        text = text.replace(f"{old} = ", f"{new}\n{old} = ", 1)
    return Recipe(parse(text.encode(), name), Path(f"{name}.toml"))


@dataclasses.dataclass
class Runtime(SimRunner):
    """A program that makes fewer threads with a variable set to "fast", and says so where V is set."""

    base_says: str = ""
    envs: list[dict[str, str]] = dataclasses.field(default_factory=list)

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        made = super().run(arm, pad=pad, sample=sample, timeout_s=timeout_s)
        self.envs.append(arm.env)
        fast = "fast" in arm.env.values()
        said = ("mode fast" if fast else self.base_says) if "V" in arm.env else ""
        if "/" in arm.env.get("V", ""):
            Path(arm.env["V"]).write_text(f"first\n{said}\n")
            said = ""
        measured = msgspec.structs.replace(made.measurement, threads=2 if fast else 9, files=["/bin/app"])
        return dataclasses.replace(made, measurement=measured, stderr=f"first\n{said}\n")


def go(made: Session, runner: SimRunner, levers: list[Any]) -> dict[str, Verdict]:
    known: dict[str, Lever] = {lever.name: lever for lever in levers}
    run(made, runner=runner, levers=known, here=Machine(), program=Program("/bin/app", "glibc"), clock=runner.clock,
        snapshot=dict)  # fmt: skip
    return {verdict.arm: verdict for verdict in made.envelope.verdicts}


def tried(runner: SimRunner, *levers: Any, **options: Any) -> tuple[Session, dict[str, Verdict]]:
    asked = {"levers": {lever.name: "" for lever in levers}, "unasked": [lever.name for lever in levers], **options}
    made = session(**asked)
    return made, go(made, runner, list(levers))


def test_a_recipe_that_changes_nothing_but_time_is_recommended_as_variables() -> None:
    made, found = tried(Runtime({"fast": 0.5}), recipe())
    assert found["fast"].headline
    assert found["fast"].options == ["--env=MODE=fast"]
    assert commands.use(made.envelope, found["fast"]) == "okosu run --env=MODE=fast -- ./app"
    assert "2 threads made" in found["fast"].proof


def test_what_changes_more_is_shown_apart_and_not_recommended() -> None:
    made, found = tried(Runtime({"fast": 0.5}), recipe(changes=ORDERING), FakeLever("a"), max_rounds=30)
    assert (found["fast"].verdict, found["fast"].headline) == ("FASTER", False)
    assert made.plan.k == 2
    seen = view.of(made.envelope)
    assert seen.headline.command == ""
    assert "fast" not in seen.headline.text
    (said,) = seen.apart
    assert said.startswith("fast: 2")
    assert "with MODE=fast; output identical here; ordering: lines in another order" in said
    assert "not recommended without --accept ordering" in said
    text = " ".join(_table.render(made.envelope).split())
    assert said in text
    assert said in export.as_markdown(made.envelope)
    assert said in html.unescape(page.render([(Path("t.json"), made.envelope)]))
    assert "fast: changes: ordering: lines in another order" in text


def test_where_only_what_changes_more_was_judged_no_lever_is_called_slower() -> None:
    made, _ = tried(Runtime({"fast": 0.5}), recipe(changes=ORDERING), max_rounds=30)
    assert view.of(made.envelope).headline.text == "no lever was judged that changes the time alone"


def test_what_was_accepted_is_recommended() -> None:
    made, found = tried(Runtime({"fast": 0.5}), recipe(changes=ORDERING), accept=["ordering"])
    assert found["fast"].headline
    assert view.of(made.envelope).apart == []


def test_a_slower_winner_that_changes_nothing_is_the_answer_beside_a_faster_one() -> None:
    made, found = tried(Runtime({"fast": 0.3, "a": 0.7}), recipe(changes=ORDERING), FakeLever("a"))
    assert (found["a"].headline, found["fast"].headline) == (True, False)
    assert "fast+a" not in found
    assert "a+fast" not in found
    assert view.of(made.envelope).headline.arm == "a"


def test_recipes_are_stacked_unless_they_set_the_same_variable() -> None:
    _, found = tried(Runtime({"fast": 0.5, "quick": 0.6}), recipe(), recipe("quick", "SPEED"), max_rounds=60)
    assert found["fast+quick"].options == ["--env=MODE=fast", "--env=SPEED=fast"]
    made, found = tried(Runtime({"fast": 0.5, "quick": 0.6}), recipe(), recipe("quick"), max_rounds=60)
    assert made.plan.k == 2
    assert "fast+quick" not in found


def test_an_arm_is_called_by_the_value_that_the_pilot_kept() -> None:
    value = '[[arm.value]]\nname = "{}"\nenv = {{ MODE = "{}" }}\nsource = "x"\n'
    text = TEXT.replace("[proof]", f"{value.format('more', 'fast')}[[arm]]\n{value.format('other', 'x')}[proof]")
    text = text.replace('MODE = "fast"', 'MODE = "slow"', 1)
    made, found = tried(Runtime({"fast=more": 0.5}), Recipe(parse(text.encode(), "fast"), Path("fast.toml")))
    assert found["fast=more"].options == ["--env=MODE=fast"]
    assert found["fast=other"].verdict == "NOT APPLIED"
    assert made.plan.k == 1


def test_a_recipe_excludes_a_lever() -> None:
    made, _ = tried(Runtime({"fast": 0.5, "a": 0.6}), recipe(), FakeLever("a"))
    assert made.plan.k == 3
    excluding = recipe(doc='excludes = ["a"]')
    made, _ = tried(Runtime({"fast": 0.5, "a": 0.6}), excluding, FakeLever("a"))
    assert made.plan.k == 2


def test_what_the_pilot_does_not_confirm_is_silent_unless_it_was_named() -> None:
    other = recipe(names='mapped = ["*/libblas*"]')
    made = session(levers={"fast": ""}, unasked=["fast"])
    made.plan.observes = ["files", "threads"]
    assert go(made, Runtime(), [other]) == {}
    assert (made.plan.k, made.plan.observes) == (0, [])
    _, found = tried(Runtime(), other, unasked=[])
    assert found["fast"].verdict == "UNAVAILABLE"
    assert "maps none of */libblas*" in found["fast"].why


def test_what_is_not_installed_is_named_with_the_line_to_type() -> None:
    lacking = recipe(source='needs = ["/no/such/library"]\ninstall = "apt install libfast"')
    made, found = tried(Runtime(), lacking)
    assert found["fast"].verdict == "UNAVAILABLE"
    (said,) = view.of(made.envelope).missing
    assert said in export.as_markdown(made.envelope)
    assert said.endswith("apt install libfast")
    assert said in " ".join(_table.render(made.envelope).split())


@pytest.mark.parametrize("proof", [SAID, SAID_TO_A_FILE])
def test_the_runtimes_own_word_is_asked_for_in_the_pilot_alone(proof: str) -> None:
    runner = Runtime({"fast": 0.5})
    made, found = tried(runner, recipe(proof=proof))
    assert found["fast"].verdict == "FASTER"
    assert "the runtime" in found["fast"].proof
    assert made.plan.pilots["fast"].said is True
    asked = [env for env in runner.envs if "V" in env]
    assert [env.get("MODE") for env in asked] == [None, "fast"]
    assert made.plan.arm("fast").env == {"MODE": "fast"}


@pytest.mark.parametrize(("base_says", "why"), [("mode fast", "says the same of base"), ("", "does not say so")])
def test_what_the_runtime_says_of_base_or_not_at_all_proves_nothing(base_says: str, why: str) -> None:
    said = SAID if base_says else SAID.replace("mode fast", "mode faster")
    _, found = tried(Runtime({"fast": 0.5}, base_says=base_says), recipe(proof=said))
    assert found["fast"].verdict == "NOT APPLIED"
    assert why in found["fast"].why


def test_in_the_race_what_is_not_accepted_takes_no_place_of_what_is() -> None:
    ratios = {"a": 0.85, "fast": 0.4, "quick": 0.5, "swift": 0.6}
    apart = [recipe(name, name.upper(), changes=ORDERING) for name in ("fast", "quick", "swift")]
    made, found = tried(Runtime(ratios, noise=0.001), *apart, FakeLever("a"), race=True)
    assert found["a"].headline
    assert {arm.name for arm in made.plan.arms} == {"base", "fast", "quick", "a"}
    assert "not judged" in found["swift"].why
    assert found["swift"].fix == "--levers swift judges it"


def test_a_trial_goes_on_only_with_its_recipes() -> None:
    made = session(levers={"fast": ""})
    with pytest.raises(OkosuError, match="there is no recipe 'fast'"):
        go(made, Runtime(), [])
    made = session(levers={"fast": "", "quick": ""}, unasked=["fast", "quick"], max_rounds=8)
    go(made, Runtime({"fast": 0.5}), [recipe()])
    with pytest.raises(OkosuError, match="there is no recipe 'fast'"):
        go(made, Runtime(), [recipe("quick")])


def test_an_arm_of_a_record_keeps_its_variables() -> None:
    """A value that is computed from the machine is another one on another machine, and is not what was recommended."""
    recorded = Arm("fast", "lever", {"fast": "on"}, {"MODE": "fast", "N": "7"}, recipes=["fast"])
    made = session(levers={"fast": ""})
    made.plan.given = [recorded]
    assert go(made, Runtime({"fast": 0.5}), [recipe()])["fast"].options == ["--env=MODE=fast", "--env=N=7"]


PREPARED = 'prepare = { KEEP = "{kept}" }'


@dataclasses.dataclass
class Keeping(SimRunner):
    """A program that makes a file where KEEP is set, and fewer threads where the file that FROM names is there."""

    makes: bool = True
    envs: list[dict[str, str]] = dataclasses.field(default_factory=list)

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        made = super().run(arm, pad=pad, sample=sample, timeout_s=timeout_s)
        self.envs.append(arm.env)
        if self.makes and (file := arm.env.get("KEEP")):
            Path(file).write_text("kept")
        found = Path(arm.env.get("FROM", "/nonexistent")).exists()
        measured = msgspec.structs.replace(made.measurement, threads=2 if found else 9, files=["/bin/app"])
        return dataclasses.replace(made, measurement=measured)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "okosu" / "kept"


def keeping() -> Recipe:
    text = TEXT.replace('MODE = "fast"', 'FROM = "{kept}"').replace('source = "app', f'{PREPARED}\nsource = "app')
    return Recipe(parse(text.encode(), "fast"), Path("fast.toml"))


def test_a_file_is_prepared_by_one_run_and_kept_for_the_winner(cache: Path) -> None:
    runner = Keeping({"fast": 0.5})
    made, found = tried(runner, keeping())
    assert found["fast"].verdict == "FASTER"
    (file,) = cache.iterdir()
    assert made.plan.arm("fast").env == {"FROM": str(file)}
    assert [env for env in runner.envs if "KEEP" in env] == [{"KEEP": f"{file}.new"}]
    first = next(i for i, env in enumerate(runner.envs) if "FROM" in env)
    assert "KEEP" in runner.envs[first - 1]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"makes": False}, "did not make the file"),
        ({"wrong_from": {"fast": 0}}, "the run that prepares it: its standard output is not base's"),
    ],
)
def test_where_the_file_is_not_made_the_value_is_not_applied(cache: Path, more: dict[str, Any], why: str) -> None:
    runner = Keeping({"fast": 0.5}, **more)
    _, found = tried(runner, keeping())
    assert (found["fast"].verdict, why in found["fast"].why) == ("NOT APPLIED", True)
    assert not any("FROM" in env for env in runner.envs)
    assert list(cache.iterdir()) == []


def test_what_is_slower_leaves_no_file_behind(cache: Path) -> None:
    _, found = tried(Keeping({"fast": 2.0}), keeping())
    assert found["fast"].verdict == "SLOWER"
    assert list(cache.iterdir()) == []


def test_what_an_earlier_trial_keeps_outlives_one_that_does_not_try_it_or_finds_it_slower(cache: Path) -> None:
    tried(Keeping({"fast": 0.5}), keeping())
    (file,) = cache.iterdir()
    made = session(levers={})
    go(made, Keeping(), [keeping()])
    assert file.exists()
    tried(Keeping({"fast": 2.0}), keeping())
    assert file.exists()


def test_what_takes_long_is_not_run_once_more_to_prepare(cache: Path) -> None:
    runner = Keeping({"fast": 0.5}, base_s=60.0)
    _, found = tried(runner, keeping())
    assert "one more run" in found["fast"].why
    assert not cache.exists()


def test_each_command_line_has_a_file_of_its_own_and_another_home_has_its_own(cache: Path) -> None:
    programs = [Program("/bin/app", "glibc", command=("app", word)) for word in ("a", "b", "a")]
    first, second, again = [keeping().kept("on", program) for program in programs]
    assert (first == again, first == second, first.parent) == (True, False, cache)
    given = Arm("fast", "lever", levers={"fast": "on"}, env={"FROM": "/elsewhere/kept"}, recipes=["fast"])
    made = session(levers={"fast": ""})
    made.plan.given = [given]
    found = go(made, Keeping({"fast": 0.5}), [keeping()])
    assert found["fast"].verdict == "FASTER"
    assert Path(made.plan.arm("fast").env["FROM"]).parent == cache
