# SPDX-License-Identifier: Apache-2.0
"""The arms of a trial: what is compared with base, and which options of okosu-run make each."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from okosu.levers import launcher
from okosu.records.types import Arm


def with_value(arm: Arm, value: str, preload: bool) -> Arm:
    """The arm of a single lever with another of its values."""
    (lever,) = arm.levers
    return msgspec.structs.replace(
        arm, levers={lever: value}, preload=preload, extra=launcher.options(lever, value), alternatives=[]
    )


def lever_arm(lever: str, values: list[str], preload: bool, alone: bool) -> Arm:
    """The arm of `lever` with the first of `values`; the others are alternatives. `alone`: it is the lever's only
    arm.
    """
    name = lever if alone else f"{lever}={values[0]}"
    return Arm(
        name, "lever", {lever: values[0]}, {}, values[1:], preload=preload, extra=launcher.options(lever, values[0])
    )


def compatible(arm: Arm, others: Iterable[Arm], excludes: dict[str, frozenset[str]]) -> bool:
    """Say whether `arm` can be stacked with all of `others`: no lever twice, none excluded, no variable set twice."""
    for other in others:
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
        "+".join(arm.name for arm in chosen), "stack", levers, env, preload=any(a.preload for a in chosen), extra=extra
    )
