# SPDX-License-Identifier: Apache-2.0
"""A measured profile of okosu_copy or okosu_zero: which variant serves which sizes (native/include/okosu/copy.h)."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import median

from okosu.bench.figures import is_entry
from okosu.bench.rows import Result, Row
from okosu.errors import OkosuError

_USES = (("", ("hot", "cold")), ("near", ("hot",)), ("far", ("cold",)))
BENCHES = {
    "copy": [(section, "copy", modes) for section, modes in _USES],
    "zero": [*((section, "set", modes) for section, modes in _USES), ("page", "page", ("cold",))],
}
"""What a profile can be made of: its sections, and for each the routine and the modes in which it must do well."""
MOST_CLASSES = 16
WITHIN = 0.02
"""A class goes on while its variant is within so much of the best."""


def text(result: Result) -> str:
    """The profile as text. OkosuError where the rows decide nothing (--variant or --only left too few)."""
    lines = [f"# okosu bench {result.name}"]
    if result.header is not None:
        lines.append(f"# {result.header.features}; {result.header.rounds} rounds, seed {result.header.seed}")
    before = len(lines)
    for section, routine, modes in BENCHES[result.name]:
        rows = [row for row in result.rows if row.routine == routine and row.mode in modes]
        if classes := choose(rows):
            lines += [f"[{section}]"] if section else []
            lines += [f"{up_to if up_to else 'max'} {variant}" for up_to, variant in classes]
    if len(lines) == before:
        raise OkosuError(
            f"no profile can be made of these rows of bench {result.name}",
            "it takes variants of okosu that were measured hot or cold at the same size",
            f"okosu bench {result.name} --profile FILE, without --only, --variant and --sizes",
        )
    return "\n".join(lines) + "\n"


def choose(rows: Sequence[Row]) -> list[tuple[int, str]]:
    """The (largest size, variant) of each class in rising order; the last class has size 0, "everything above".

    At each size the variant is taken whose worst loss against the fastest, over modes and placements, is smallest,
    because a default must not lose badly anywhere. Only variants that were measured in every mode and placement at that
    size take part.
    """
    sizes = sorted({row.n for row in rows})
    classes: list[tuple[int, str]] = []
    for n in sizes:
        losses = _losses([row for row in rows if row.n == n])
        if not losses:
            continue
        best = min(losses, key=lambda name: losses[name])
        same = classes and losses.get(classes[-1][1], log(2)) <= losses[best] + WITHIN
        if same or len(classes) == MOST_CLASSES:
            classes[-1] = (n, classes[-1][1])
        else:
            classes.append((n, best))
    return [*classes[:-1], (0, classes[-1][1])] if classes else []


def _losses(rows: Sequence[Row]) -> dict[str, float]:
    """For each variant, the logarithm of its worst cost relative to the fastest variant at the same place."""
    places: dict[object, dict[str, float]] = {}
    for row in rows:
        if row.kind == "okosu" and not is_entry(row) and row.samples and (cost := median(row.samples)) > 0:
            places.setdefault((row.mode, tuple(row.align), row.footprint), {})[row.variant] = cost
    if not places:
        return {}
    everywhere = sorted(set.intersection(*(set(costs) for costs in places.values())))
    return {name: max(log(costs[name] / min(costs.values())) for costs in places.values()) for name in everywhere}
