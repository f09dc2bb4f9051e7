# SPDX-License-Identifier: Apache-2.0
"""The arms of a trial: what is compared with base, and which options of okosu-run make each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec

from okosu.levers import launcher
from okosu.levers.base import Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.types import Arm, Options


def with_value(arm: Arm, lever: Lever, value: str, machine: Machine, program: Program) -> Arm:
    """The arm of a single lever with another of its values, which is in its name where the lever has several arms."""
    env = lever.variables(value, machine, program)
    return msgspec.structs.replace(
        arm,
        name=f"{lever.name}={value}" if arm.name != lever.name else arm.name,
        levers={lever.name: value},
        env=env or {},
        recipes=[] if env is None else [lever.name],
        changes=dict(lever.changes),
        preload=lever.loads_preload(value, program),
        extra=launcher.options(lever.name, value),
        alternatives=[],
    )


def lever_arm(lever: Lever, values: list[str], alone: bool, machine: Machine, program: Program) -> Arm:
    """The arm of `lever` with the first of `values`; the others are alternatives. `alone`: it is the lever's only
    arm.
    """
    name = lever.name if alone else f"{lever.name}={values[0]}"
    made = with_value(Arm(name, "lever"), lever, values[0], machine, program)
    return msgspec.structs.replace(made, alternatives=values[1:])


def has_placeholder(command: Sequence[str], name: str) -> bool:
    return any(f"{{{name}}}" in word for word in command)


def filled(template: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command line with a value in the place of each {NAME}."""
    words = list(template)
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", value) for word in words]
    return words


def described(options: Options) -> list[Arm]:
    """The arms that the user describes: variables (--arm), other command lines (--vs), and values (--scan).

    Of a placeholder the first value is base's own; an arm has another value of one name, and base's of all others.
    """
    made = [Arm(name, "user", env=env) for name, env in options.user_arms.items()]
    many = len(options.versus) > 1
    for number, command in enumerate(options.versus, 1):
        made.append(Arm(f"vs-{number}" if many else "vs", "user", command=command))
    first = {name: values[0] for name, values in options.scan.items()}
    for name, values in options.scan.items():
        if has_placeholder(options.template, name):
            made += [
                Arm(f"{name}={value}", "user", command=filled(options.template, first | {name: value}))
                for value in values[1:]
            ]
        else:
            made += [Arm(f"{name}={value}", "user", env={name: value}) for value in values]
    return made


def compatible(arm: Arm, others: Iterable[Arm], excludes: dict[str, frozenset[str]]) -> bool:
    """Say whether `arm` can be stacked with all of `others`: no lever twice, none excluded, no variable set twice, and
    no command line of its own.
    """
    for other in others:
        if arm.command or other.command:
            return False
        for a in arm.levers:
            if a in other.levers:
                return False
            if any(b in excludes.get(a, frozenset()) or a in excludes.get(b, frozenset()) for b in other.levers):
                return False
        if arm.env.keys() & other.env.keys():
            return False
    return True


def stack(winners: list[Arm], excludes: dict[str, frozenset[str]]) -> Arm | None:
    """The stack of all compatible winners, taken greedily in the given order; None when fewer than two are
    compatible.
    """
    chosen: list[Arm] = []
    for arm in winners:
        if compatible(arm, chosen, excludes):
            chosen.append(arm)
    if len(chosen) < 2:
        return None
    levers = {name: value for arm in chosen for name, value in arm.levers.items()}
    env = {name: value for arm in chosen for name, value in arm.env.items()}
    extra = [option for arm in chosen for option in arm.extra]
    return Arm(
        "+".join(arm.name for arm in chosen),
        "stack",
        levers,
        env,
        preload=any(a.preload for a in chosen),
        extra=extra,
        recipes=[name for arm in chosen for name in arm.recipes],
        changes=_all_changes(chosen),
    )


def _all_changes(arms: Iterable[Arm]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for arm in arms:
        for what, hazard in arm.changes.items():
            found.setdefault(what, []).append(hazard)
    return {what: "; ".join(dict.fromkeys(hazards)) for what, hazards in found.items()}


def stack_possible(arms: list[Arm], excludes: dict[str, frozenset[str]]) -> bool:
    """Say whether any two of the arms could be stacked."""
    return any(compatible(a, [b], excludes) for a, b in combinations(arms, 2))
