# SPDX-License-Identifier: Apache-2.0
"""The order of runs: a fresh random permutation each round, drawn from (seed, round), so that --resume draws the
same order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from okosu.records.types import BASE, Place


@dataclass(frozen=True)
class SubRound:
    """One base and the arms that pair with it, in the order in which they run; `pad` bytes are added to every
    environment."""

    place: Place
    order: tuple[str, ...]
    pad: int


PAD_RANGE = 4096
"""One page: the range over which an environment's size can move the stack (Mytkowicz et al., ASPLOS 2009)."""


def draw(seed: int, number: int, live: list[str], parts: int) -> list[SubRound]:
    """The order of round `number` (0, 1, …): the `live` arms (without base) dealt at random over `parts`
    sub-rounds.

    Each sub-round is in uniformly random order, with its base at any place; all sub-rounds of a round have the same
    padding.
    """
    rng = random.Random(f"{seed}/{number}")
    pad = rng.randrange(PAD_RANGE)
    arms = sorted(live)
    rng.shuffle(arms)
    dealt = []
    for part in range(parts):
        members = [*arms[part::parts], BASE]
        rng.shuffle(members)
        dealt.append(SubRound(Place(number, part), tuple(members), pad))
    return dealt
