# SPDX-License-Identifier: Apache-2.0
"""What each target of superpage-colouring compares: cells of the figures' sweeps, seed by seed or by their means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from papers.common.points import Found, Point, Sides
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.colour_model import CONFLICTS, Cell
from papers.superpage_colouring.plan import BOTH, COLOUR, FOLD, SEEDS, STOCK, SUPER

TINY = 1e-9
"""Stands for 0 in ratios, which have to be positive."""
SIGMA_LEAST = 1.0
"""MB/s. Stands for a smaller standard deviation of colour's, which is 0 where all seeds are alike."""
GAIN_AT = (85, 87, 89)
ROWS = (85, 87, 89, 91, 93, 95)
NEARLY_FULL = (0.95, 1.05)
"""Fill about which super and colour together are not judged."""
CONFLICTS_TO = {COLOUR: 0.9, FOLD: 0.8}
"""Fill up to which there are to be no conflicts."""

Sweeps = Mapping[str, Mapping[int, Cell]]


def sides(name: str, cells: Sequence[Cell], of: str, table2: Mapping[int, float]) -> Found:
    """Return what the target `name`, of the experiment `of`, compares; `table2` is the paper's gain by dimension."""
    arms = {arm: colour_model.sweep(cells, of, arm) for arm in (STOCK, COLOUR, FOLD, SUPER, BOTH)}
    what = name.removeprefix(f"{of}-")
    judged: dict[str, Callable[[], Found]] = {
        "table2-gain": lambda: _table2(arms, table2),
        "colour": lambda: _gain(arms, COLOUR, GAIN_AT if of == "celeron" else ()),
        "super": lambda: _gain(arms, BOTH, ()),
        "never-below": lambda: _gain(arms, COLOUR, [n for n, cell in arms[STOCK].items() if cell.fill <= 1]),
        "together": lambda: _together(arms),
        "conflicts": lambda: _conflicts(arms[COLOUR], CONFLICTS_TO[COLOUR]),
        "conflicts-fold": lambda: _conflicts(arms[FOLD], CONFLICTS_TO[FOLD]),
        "spread": lambda: _spread(arms),
    }
    found = judged[what]()
    return _of_all_seeds(found, arms)


def _of_all_seeds(found: Found, arms: Sweeps) -> Found:
    """Return `found` if there are as many seeds as the targets are about; else none of it, and why."""
    if not found.sides:
        return found
    seeds = min(len(cell.cycles) for arm in arms.values() for cell in arm.values())
    if seeds >= SEEDS:
        return found
    ratios = [max(one.theirs.values()) / max(one.ours.values()) for one in found.sides]
    about = f" (from {min(ratios):.3g} to {max(ratios):.3g} there)" if len(ratios) > 1 else f" ({ratios[0]:.3g} there)"
    return Found([], [f"the target is about {SEEDS} seeds, and here {'is 1' if seeds == 1 else f'are {seeds}'}{about}"])


def _gain(arms: Sweeps, ours: str, dimensions: Sequence[int]) -> Found:
    """Return an arm against stock, in cycles by seed: at these dimensions, or at the best one within the cache."""
    both = {n: (cell, arms[STOCK][n]) for n, cell in arms[ours].items() if n in arms[STOCK]}
    lacking = [f"dimension {n} was not run" for n in dimensions if n not in both]
    chosen = [n for n in dimensions if n in both]
    if not dimensions:
        within = [n for n, (cell, _) in both.items() if cell.fill <= 1]
        if not within:
            return Found([], [f"{ours} was not run beside stock"])
        chosen = [max(within, key=lambda n: _median_gain(*both[n]))]
    return Found([Sides(Point(n=n), ours, ours, STOCK, both[n][0].cycles, both[n][1].cycles) for n in chosen], lacking)


def _median_gain(ours: Cell, base: Cell) -> float:
    found = colour_model.gain(ours, base)
    return found.ratio if found else 0.0


def _exact(point: Point, label: str, value: float, base: float = 1.0) -> Sides:
    """Return the sides for a number made from all seeds, where `value` over `base` is bounded from above."""
    return Sides(point, label, label, "", {0: value}, {0: base}, exact=True)


def _table2(arms: Sweeps, table2: Mapping[int, float]) -> Found:
    found, lacking = [], []
    for n in ROWS:
        ours, base = arms[COLOUR].get(n), arms[STOCK].get(n)
        gain = colour_model.gain(ours, base) if ours and base else None
        if gain is None:
            lacking.append(f"row {n} was not run")
            continue
        label = f"published {table2[n]:.2f}, ours {gain.least:.2f} to {gain.most:.2f}: row"
        found.append(_exact(Point(n=n), label, max(1.0, table2[n] / gain.most, gain.least / table2[n])))
    return Found(found, lacking)


def _together(arms: Sweeps) -> Found:
    """Return super and colour against the better of the two, by the seconds of the mean bandwidth."""
    found = []
    for n, cell in arms[BOTH].items():
        others = {arm: arms[arm][n].mean for arm in (SUPER, COLOUR) if n in arms[arm]}
        if len(others) < 2 or NEARLY_FULL[0] <= cell.fill <= NEARLY_FULL[1]:
            continue
        best = max(others, key=lambda arm: others[arm])
        sides = Sides(Point(n=n), BOTH, BOTH, best, {0: 1 / cell.mean}, {0: 1 / others[best]}, exact=True)
        found.append(sides)
    return Found(found, [] if found else [f"{BOTH} was not run beside {SUPER} and {COLOUR}"])


def _conflicts(arm: Mapping[int, Cell], to: float) -> Found:
    found = []
    for n, cell in arm.items():
        share = cell.share(CONFLICTS)
        if share is not None and cell.fill <= to:
            found.append(_exact(Point(n=n), cell.where.arm, max(TINY, share)))
    return Found(found, [] if found else ["conflicts were not counted"])


def _spread(arms: Sweeps) -> Found:
    within = {arm: [cell for cell in arms[arm].values() if cell.fill <= 1] for arm in (STOCK, COLOUR)}
    sigma = {arm: colour_model.pooled(each) for arm, each in within.items()}
    stock, ours = sigma[STOCK], sigma[COLOUR]
    if stock is None or ours is None:
        return Found([], ["a standard deviation needs two seeds"])
    label = f"{stock:.3g} MB/s of stock's, {ours:.3g} of colour's, at {len(within[COLOUR])} dimensions"
    return Found([_exact(Point(), label, max(SIGMA_LEAST, ours), max(TINY, stock))], [])
