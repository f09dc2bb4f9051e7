# SPDX-License-Identifier: Apache-2.0
"""Which arms of the pilot are worth rounds, where the user named none: each arm that is judged costs a run a round and
widens all intervals (docs/METHOD.md, section 5).

The choice is made before round 1, on runs that are never judged, so that it adds no error. What it can cost is a gain
that stays unseen; so no arm leaves on a single run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

MOST = 4
"""Arms that are judged at most: four and a stack can decide after 9 rounds, eight after 10, one alone after 6."""
WANTED = 24
"""Rounds that the time left should have room for: an arm that wins 85 % of its rounds is known to win after 23 of them,
beside one or two others and a stack."""
CLEAR = 0.9
"""A leader is clear whose every run took less than this share of base's fastest."""
PLAIN = 0.7
"""A leader that took less than this share of base's fastest is one after a single run: twice the spread of a noisy
program would not bring it there."""
LITTLE = 0.9
"""Beside a clear leader an arm is left out whose every run took more than this share of base's fastest, and that saved
less than half of what the leader saves. An arm that will not be recommended is left out by the first of these alone."""


def room(left_s: float, run_s: float, others: int) -> int:
    """How many arms, from 1 to MOST, can be judged in that many seconds beside `others` (base, the placebo)."""
    return max(1, min(MOST, int(left_s / (WANTED * run_s)) - others))


def race(
    base: Sequence[float],
    runs: Mapping[str, list[float]],
    again: Callable[[str], float],
    most: int = MOST,
    beside: Mapping[str, list[float]] | None = None,
) -> dict[str, str]:
    """The arms to leave out, and why, in words.

    `base` and `runs` hold seconds: of base's runs, and of one run or more of each arm. `again` runs an arm once more;
    its seconds are added to `runs`. At most `most` stay. `beside` is for arms that will not be recommended, and has the
    runs of those that may be, which have a race of their own: one of them may be the clear leader, but none of them
    leaves.
    """
    out: dict[str, str] = {}
    fastest = min(base)
    every = {**(beside or {}), **runs}

    def rerun(names: Sequence[str]) -> None:
        for name in names:
            every[name].append(again(name))

    def left(name: str, than: str) -> None:
        best = min(runs[name])
        out[name] = f"the pilot's {len(runs[name])} runs took {best:.3g} s at best, those of {than}"

    def leader() -> str:
        name = min(every, key=lambda one: max(every[one]), default="")
        return name if name and max(every[name]) < CLEAR * fastest else ""

    def lesser() -> list[str]:
        half = (fastest + max(every[first])) / 2 if first else fastest
        worse = [name for name, some in runs.items() if min(some) > max(LITTLE * fastest, half)]
        return [name for name in worse if name not in out]

    if beside is not None:
        small = [name for name, some in runs.items() if min(some) > LITTLE * fastest]
        rerun(small)
        for name in small:
            if min(runs[name]) > LITTLE * fastest:
                left(name, f"base {fastest:.3g} s, and what it changes was not accepted")
    first = leader()
    if first and (last := lesser()):
        rerun(last if max(every[first]) < PLAIN * fastest else [first, *last])
        first = leader()
        for name in lesser() if first else []:
            left(name, f"{first} {max(every[first]):.3g} s at worst")
    field = [name for name in runs if name not in out]
    while len(field) > most:
        rerun(field)
        field.sort(key=lambda one: min(runs[one]))
        keep = max(most, (len(field) + 1) // 2)
        for name in field[keep:]:
            left(name, f"the {keep} fastest arms {min(runs[field[keep - 1]]):.3g} s or less")
        field = field[:keep]
    return out
