# SPDX-License-Identifier: Apache-2.0
"""Exact sums, norms and bounds of vec.h, in integers and fractions; dot products with a given condition number."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Iterable, Sequence
from fractions import Fraction

from papers.hpc_programming.tests.vec_tool import Kind


def integers(values: Sequence[float]) -> tuple[list[int], int]:
    """Integers m and an exponent e with values = m * 2**e exactly."""
    lowest = min((math.frexp(v)[1] for v in values if v), default=0) - 53
    # ldexp to an integer may overflow a float, so the mantissa is shifted as an integer.
    result = []
    for value in values:
        mantissa, exponent = math.frexp(value)
        result.append(int(math.ldexp(mantissa, 53)) << (exponent - 53 - lowest) if value else 0)
    return result, lowest


def scaled(total: int, exponent: int) -> Fraction:
    return Fraction(total) * Fraction(2) ** exponent


def dot(x: Sequence[float], y: Sequence[float]) -> tuple[Fraction, Fraction]:
    """The exact sum of x_i y_i, and that of |x_i y_i|."""
    p, ep = integers(x)
    q, eq = integers(y)
    products = [a * b for a, b in zip(p, q, strict=True)]
    return scaled(sum(products), ep + eq), scaled(sum(map(abs, products)), ep + eq)


def root(square: Fraction, bits: int = 120) -> Fraction:
    """The square root, rounded down, with a relative error of less than 2**-bits."""
    if square == 0:
        return square
    shift = 2 * bits + 2 * max(0, square.denominator.bit_length() - square.numerator.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 2 ** (shift // 2))


def terms(n: int, partials: int) -> int:
    """k of vec.h: the most roundings through which one element passes."""
    return -(-n // partials) + (partials - 1).bit_length() + 1


def gamma(kind: Kind, k: int) -> Fraction:
    return k * kind.unit / (1 - k * kind.unit)


def bound(kind: Kind, n: int, partials: int, absolute: Fraction, products: bool) -> Fraction:
    """The error that vec.h allows a sum of n terms whose absolute values add up to `absolute`."""
    return gamma(kind, terms(n, partials)) * absolute + (n * kind.half_least if products else 0)


def nrm2_bound(kind: Kind, n: int, partials: int, exact: Fraction) -> Fraction:
    """The error that vec.h allows a norm."""
    return gamma(kind, -(-terms(n, partials) // 2) + 4) * exact + kind.half_least


def ill_conditioned(
    kind: Kind, n: int, condition: float, rng: random.Random
) -> tuple[array[float], array[float], float]:
    """Vectors of n elements whose dot product has about this condition number, and the number that it really has.

    After T. Ogita, S. M. Rump and S. Oishi, Accurate sum and dot product (2005), algorithm 6.1: the first half has
    exponents up to half the condition's, the second half cancels the sum so far, ever more closely.
    """
    top = math.log2(condition) / 2
    half = max(n // 2, 1)
    exponents = [round(rng.uniform(0, top)) for _ in range(half)]
    exponents[0] = round(top)
    exponents[-1] = 0
    x = kind.array([math.ldexp(rng.uniform(-1, 1), e) for e in exponents])
    y = kind.array([math.ldexp(rng.uniform(-1, 1), e) for e in exponents])
    so_far = dot(x, y)[0]
    for i in range(half, n):
        exponent = round(top * (n - 1 - i) / max(n - 1 - half, 1))
        one = kind.array([math.ldexp(rng.uniform(0.5, 1), exponent)])[0]
        two = kind.array([float((Fraction(math.ldexp(rng.uniform(-1, 1), exponent)) - so_far) / Fraction(one))])[0]
        x.append(one)
        y.append(two)
        so_far += Fraction(one) * Fraction(two)
    order = rng.sample(range(n), n)
    x, y = kind.array([x[i] for i in order]), kind.array([y[i] for i in order])
    total, absolute = dot(x, y)
    return x, y, float(2 * absolute / abs(total)) if total else math.inf


def total(values: Iterable[float]) -> tuple[Fraction, Fraction]:
    """The exact sum of the values, and that of their absolute values."""
    whole, exponent = integers(list(values))
    return scaled(sum(whole), exponent), scaled(sum(map(abs, whole)), exponent)
