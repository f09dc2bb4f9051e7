# SPDX-License-Identifier: Apache-2.0
"""The error bounds of vec.h against exact sums: ill-conditioned, adversarial and arbitrary data, extreme norms."""

from __future__ import annotations

import math
import random
from array import array
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.hpc_programming.tests import vec_exact
from papers.hpc_programming.tests.vec_tool import DOUBLE, FLOAT, Kind, Variant, variants

KINDS = pytest.mark.parametrize("kind", [DOUBLE, FLOAT], ids=["double", "float"])
VARIANTS = pytest.mark.parametrize("variant", variants(), ids=lambda v: v.name)


def check_sums(kind: Kind, variant: Variant, x: array[float]) -> None:
    """Check sum, asum and sumsq of x against the bound; x must be such that nothing overflows."""
    partials = kind.partials(variant)
    exact, absolute = vec_exact.total(x)
    squares, _ = vec_exact.dot(x, x)
    for routine, wanted, size, products in (
        ("sum", exact, absolute, False),
        ("asum", absolute, absolute, False),
        ("sumsq", squares, squares, True),
    ):
        error = abs(Fraction(kind.call(variant, routine, x)) - wanted)
        assert error <= vec_exact.bound(kind, len(x), partials, size, products), (routine, list(x))


def check_dot(kind: Kind, variant: Variant, x: array[float], y: array[float]) -> None:
    """Check dot, contiguous and strided, against the bound."""
    n = len(x)
    exact, absolute = vec_exact.dot(x, y)
    error = abs(Fraction(kind.call(variant, "dot", x, y)) - exact)
    assert error <= vec_exact.bound(kind, n, kind.partials(variant), absolute, True), (list(x), list(y))
    backwards = kind.array(list(reversed(y)))
    error = abs(Fraction(kind.call_strided(variant, x, 1, backwards, -1, n)) - exact)
    strided = 1 if variant.name == "ref" else 4
    assert error <= vec_exact.bound(kind, n, strided, absolute, True), (list(x), list(y))


def check_nrm2(kind: Kind, variant: Variant, x: array[float]) -> None:
    """Check the norm of any finite x; it may be infinite only if the exact norm is out of range."""
    exact = vec_exact.root(vec_exact.dot(x, x)[0])
    allowed = vec_exact.nrm2_bound(kind, len(x), kind.partials(variant), exact)
    got = kind.call(variant, "nrm2", x)
    if math.isinf(got):
        assert exact + allowed > Fraction(kind.largest), list(x)
    else:
        assert abs(Fraction(got) - exact) <= allowed, list(x)


@KINDS
@pytest.mark.parametrize("condition", [1, 1e4, 1e8, 1e12, 1e16])
def test_ill_conditioned(kind: Kind, condition: float) -> None:
    rng = random.Random(int(math.log10(condition)))
    for n in (2, 7, 33, 100, 700, 2500):
        x, y, reached = vec_exact.ill_conditioned(kind, n, condition, rng)
        if n > 2:
            assert reached >= condition / 10
        for variant in variants():
            check_dot(kind, variant, x, y)
            # The products as terms of a sum: it has the same condition number, apart from their rounding.
            check_sums(kind, variant, kind.array([a * b for a, b in zip(x, y, strict=True)]))


@KINDS
@VARIANTS
def test_the_bound_is_no_larger_than_need_be(kind: Kind, variant: Variant) -> None:
    """Each running sum gets a one, and then terms that are lost by rounding: the error reaches most of the bound."""
    partials = kind.partials(variant)
    lost = float(kind.unit)
    x = kind.array([1.0] * partials + [lost] * (255 * partials))
    ones = kind.array([1.0] * len(x))
    exact, absolute = vec_exact.total(x)
    allowed = vec_exact.bound(kind, len(x), partials, absolute, False)
    for got in (kind.call(variant, "sum", x), kind.call(variant, "asum", x), kind.call(variant, "dot", x, ones)):
        error = abs(Fraction(got) - exact)
        assert allowed / 2 <= error <= allowed


@KINDS
@VARIANTS
def test_the_same_bits_every_time(kind: Kind, variant: Variant) -> None:
    rng = random.Random(5)
    x = kind.array([rng.gauss(0, 1) * 10 ** rng.randrange(-6, 6) for _ in range(3001)])
    y = kind.array([rng.gauss(0, 1) for _ in range(3001)])
    for routine, vectors in (("sum", [x]), ("sumsq", [x]), ("asum", [x]), ("nrm2", [x]), ("dot", [x, y])):
        results = {kind.call(variant, routine, *(kind.array(v.tolist()) for v in vectors)) for _ in range(20)}
        assert len(results) == 1


@KINDS
@VARIANTS
def test_norms_of_extreme_ranges(kind: Kind, variant: Variant) -> None:
    rng = random.Random(6)
    lowest, highest = (-1074, 1023) if kind is DOUBLE else (-149, 127)
    middle = (lowest + highest) // 2
    ranges = [
        (lowest, lowest + 10), (lowest, -(-lowest // 2)), (lowest // 2 - 12, lowest // 2 + 12), (lowest, highest - 12),
        (middle, highest - 12), (highest // 2 - 12, highest // 2 + 12), (highest - 30, highest - 8), (lowest, highest),
    ]  # fmt: skip
    for low, high in ranges:
        for n in (1, 2, 3, 16, 65, 600):
            values = [math.ldexp(rng.uniform(-1, 1), rng.randint(low, high)) for _ in range(n)]
            check_nrm2(kind, variant, kind.array(values))
    for exponent in range(lowest, highest - 4):
        check_nrm2(kind, variant, kind.array([math.ldexp(1.0, exponent)] * 3 + [math.ldexp(1.5, exponent)] * 2))
    assert kind.call(variant, "nrm2", kind.array([kind.largest])) == kind.largest
    assert kind.call(variant, "nrm2", kind.array([kind.largest] * 2)) == math.inf
    assert kind.call(variant, "nrm2", kind.array([0.6 * kind.largest] * 2)) < math.inf


def numbers(kind: Kind, largest_exponent: int) -> st.SearchStrategy[float]:
    """Numbers of the kind, of any magnitude up to this power of two."""
    limit = math.ldexp(1.0, largest_exponent)
    return st.floats(-limit, limit, width=64 if kind is DOUBLE else 32)


@KINDS
def test_arbitrary_data(kind: Kind) -> None:
    """Any finite numbers whose sum of squares does not overflow; and, for the norm, any finite numbers."""
    squares = 500 if kind is DOUBLE else 55
    every = 1023 if kind is DOUBLE else 127

    @settings(database=None, derandomize=True)
    @given(st.lists(st.tuples(numbers(kind, squares), numbers(kind, squares)), max_size=140))
    def sums(pairs: list[tuple[float, float]]) -> None:
        x, y = kind.array([a for a, _ in pairs]), kind.array([b for _, b in pairs])
        for variant in variants():
            check_sums(kind, variant, x)
            check_dot(kind, variant, x, y)

    @settings(database=None, derandomize=True)
    @given(st.lists(numbers(kind, every), max_size=140))
    def norms(values: list[float]) -> None:
        for variant in variants():
            check_nrm2(kind, variant, kind.array(values))

    sums()
    norms()
