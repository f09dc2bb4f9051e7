# SPDX-License-Identifier: Apache-2.0
"""What the tests of the vector routines share: the built programs, and the library by ctypes with its table of rows."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import subprocess
from array import array
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

BUILD = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[3] / "build")


def run(program: str, *argv: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of papers/hpc_programming/tests with no variable of okosu's in its environment but `env`."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OKOSU_", "LD_PRELOAD"))}
    return subprocess.run(
        [BUILD / "papers/hpc_programming/tests" / program, *argv],
        env=clean | (env or {}),
        capture_output=True,
        text=True,
        check=False,
    )


class _Row(ctypes.Structure):
    """The first members of struct okosu_vec_variant."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("needs", ctypes.c_uint64),
        ("doc", ctypes.c_char_p),
        ("dpartials", ctypes.c_uint),
        ("spartials", ctypes.c_uint),
    )


@dataclass(frozen=True)
class Variant:
    """One row of the table that this CPU can run."""

    name: str
    dpartials: int
    spartials: int


@functools.cache
def library() -> ctypes.CDLL:
    """libokosu with the types of the routines that the tests call."""
    loaded = ctypes.CDLL(str(BUILD / "native/lib/libokosu.so"))
    loaded.okosu_vec_table.restype = ctypes.POINTER(ctypes.POINTER(_Row))
    loaded.okosu_vec_chosen.restype = ctypes.POINTER(_Row)
    loaded.okosu_vec_force.argtypes = [ctypes.c_char_p]
    pointer, size, step = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ssize_t
    for letter, number in (("d", ctypes.c_double), ("s", ctypes.c_float)):
        for name in ("sum", "sumsq", "asum", "nrm2"):
            getattr(loaded, f"okosu_vec_{letter}{name}").argtypes = [pointer, size]
        getattr(loaded, f"okosu_vec_{letter}dot").argtypes = [pointer, pointer, size]
        getattr(loaded, f"okosu_vec_{letter}dot_strided").argtypes = [size, pointer, step, pointer, step]
        for name in ("sum", "sumsq", "asum", "nrm2", "dot", "dot_strided"):
            getattr(loaded, f"okosu_vec_{letter}{name}").restype = number
    return loaded


@functools.cache
def variants() -> list[Variant]:
    """The rows that can be forced here, best first."""
    found = []
    for row in library().okosu_vec_table():
        if not row:
            break
        if library().okosu_vec_force(row.contents.name) == 0:
            found.append(Variant(row.contents.name.decode(), row.contents.dpartials, row.contents.spartials))
    library().okosu_vec_force(None)
    return found


@dataclass(frozen=True)
class Kind:
    """An element type: the letter of its routines and of array(), its precision and its smallest exponents."""

    letter: str
    code: str
    precision: int
    least_normal: int
    largest: float

    @property
    def unit(self) -> Fraction:
        """The relative error of one rounding."""
        return Fraction(1, 2**self.precision)

    @property
    def half_least(self) -> Fraction:
        """The absolute error of one rounding to a denormal."""
        return Fraction(2) ** (self.least_normal - self.precision)

    def array(self, values: list[float]) -> array[float]:
        """The values in the form that the routines take, rounded to float if that is the element type."""
        return array(self.code, values)

    def partials(self, variant: Variant) -> int:
        return variant.dpartials if self.letter == "d" else variant.spartials

    def call(self, variant: Variant, routine: str, *vectors: array[float]) -> float:
        """Call a contiguous reduction of `variant`."""
        assert library().okosu_vec_force(variant.name.encode()) == 0
        addresses = [v.buffer_info()[0] for v in vectors]
        result: float = getattr(library(), f"okosu_vec_{self.letter}{routine}")(*addresses, len(vectors[0]))
        return result

    def call_strided(self, variant: Variant, x: array[float], incx: int, y: array[float], incy: int, n: int) -> float:
        """Call dot_strided of `variant`."""
        assert library().okosu_vec_force(variant.name.encode()) == 0
        routine: Any = getattr(library(), f"okosu_vec_{self.letter}dot_strided")
        result: float = routine(n, x.buffer_info()[0], incx, y.buffer_info()[0], incy)
        return result


DOUBLE = Kind("d", "d", 53, -1022, math.ldexp(2 - 2**-52, 1023))
FLOAT = Kind("s", "f", 24, -126, math.ldexp(2 - 2**-23, 127))
