# SPDX-License-Identifier: Apache-2.0
"""libokosu-cblas preloaded into an existing program: the same results as a BLAS of plain loops, under every name."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import random
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from papers.hpc_programming.tests import vec_exact
from papers.hpc_programming.tests.vec_tool import BUILD, DOUBLE, FLOAT, Kind, variants

PROGRAMS = Path(__file__).resolve().parent / "programs"
LIBRARY = BUILD / "papers/hpc_programming/cblas/libokosu-cblas.so"
DEBIANS = Path(f"/usr/lib/{platform.machine()}-linux-gnu/blas/libblas.so.3")


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that is linked with a small BLAS of its own."""
    folder = tmp_path_factory.mktemp("blas")
    options = ["cc", "-O1", "-D_GNU_SOURCE"]
    subprocess.run(
        [*options, "-shared", "-fPIC", "-o", folder / "libreference.so", PROGRAMS / "cblas_reference.c", "-lm"],
        check=True,
    )
    link = ["-L", folder, "-lreference", f"-Wl,-rpath,{folder}", "-Wl,-z,now", "-ldl", "-lm"]
    subprocess.run([*options, "-o", folder / "vec_blas", PROGRAMS / "vec_blas.c", *link], check=True)
    return folder / "vec_blas"


def run(user: Path, preload: Path | None = None, **variables: str) -> tuple[set[str], list[str]]:
    """The libraries whose routines the program used, and its output."""
    env = {"PATH": os.environ["PATH"], **variables} | ({"LD_PRELOAD": str(preload)} if preload else {})
    done = subprocess.run([user], env=env, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    served = {line.split()[2] for line in lines if line.startswith("library ")}
    return served, [line for line in lines if not line.startswith("library ")]


@pytest.mark.preloads
def test_in_front_of_a_program(user: Path) -> None:
    plain_served, plain = run(user)
    assert plain_served == {"libreference.so"}
    assert len(plain) == 9 * 7 * 7 * 2 * 11
    for variant in variants():
        served, lines = run(user, LIBRARY, OKOSU_VEC=variant.name)
        assert served == {"libokosu-cblas.so"}
        assert lines == plain


@pytest.mark.preloads
@pytest.mark.skipif(not DEBIANS.exists(), reason="needs Debian's libblas3")
def test_the_small_blas_is_right(user: Path) -> None:
    """The reference BLAS, preloaded in the same way, gives the same results."""
    served, lines = run(user, DEBIANS)
    assert all(name.startswith("libblas.so") for name in served)
    assert lines == run(user)[1]


@pytest.mark.parametrize("kind", [DOUBLE, FLOAT], ids=["double", "float"])
def test_every_name(kind: Kind) -> None:
    """Every spelling of a name, with integers of its width, passed by address in Fortran; all 64 bits of wide ones
    count.
    """
    loaded = ctypes.CDLL(str(LIBRARY))
    number = ctypes.c_double if kind is DOUBLE else ctypes.c_float
    x, y = kind.array([3.0, -4.0, 12.0, 84.0]), kind.array([1.0, 2.0, 3.0, 5.0])
    spellings = [
        ("cblas_{}", ctypes.c_int32), ("cblas_{}_64", ctypes.c_int64), ("cblas_{}64_", ctypes.c_int64),
        ("scipy_cblas_{}", ctypes.c_int32), ("scipy_cblas_{}64_", ctypes.c_int64),
        ("{}_", ctypes.c_int32), ("{}_64_", ctypes.c_int64),
        ("scipy_{}_", ctypes.c_int32), ("scipy_{}_64_", ctypes.c_int64),
    ]  # fmt: skip
    for spelling, integer in spellings:
        fortran = "cblas" not in spelling

        def call(routine: str, *arguments: object, spelling: str = spelling, fortran: bool = fortran) -> float:
            function = getattr(loaded, spelling.format(kind.letter + routine))
            function.restype = number
            result: float = function(
                *(ctypes.byref(a) if fortran and not isinstance(a, ctypes.c_void_p) else a for a in arguments)
            )
            return result

        def address(vector: array[float]) -> ctypes.c_void_p:
            return ctypes.c_void_p(vector.buffer_info()[0])

        one, two, four = integer(1), integer(2), integer(4)
        assert call("dot", four, address(x), one, address(y), one) == 3 - 8 + 36 + 420
        assert call("dot", two, address(x), two, address(y), integer(-1)) == 3 * 2 + 12 * 1
        assert call("nrm2", integer(3), address(x), one) == 13
        assert call("nrm2", two, address(x), two) == kind.array([153**0.5])[0]
        assert call("asum", four, address(x), one) == 103
        assert call("asum", two, address(x), two) == 15
        z = kind.array(y.tolist())
        call("axpy", four, number(2), address(x), one, address(z), one)
        assert z.tolist() == [7, -6, 27, 173]
        call("scal", two, number(-1), address(z), two)
        assert z.tolist() == [-7, -6, -27, 173]
        if integer is ctypes.c_int64:
            # A number that is negative in 64 bits and positive in its lower half.
            assert call("asum", integer(-(2**40) + 4), address(x), one) == 0


@pytest.mark.parametrize("kind", [DOUBLE, FLOAT], ids=["double", "float"])
def test_strided_norms_and_sums(kind: Kind) -> None:
    """Routines that libokosu has only for contiguous arrays keep the contiguous bounds (with four running sums)."""
    loaded = ctypes.CDLL(str(LIBRARY))
    rng = random.Random(7)
    number = ctypes.c_double if kind is DOUBLE else ctypes.c_float
    low, high = (-1074, 1010) if kind is DOUBLE else (-149, 115)
    for first, last in ((low, low + 20), (low, low // 2), (low // 2, 0), (-9, 9), (0, high), (high // 2, high)):
        for n in (1, 2, 6, 99):
            values = kind.array([rng.uniform(-1, 1) * 2.0 ** rng.randint(first, last) for _ in range(n)])
            spread = kind.array([v for value in values for v in (value, float("nan"), float("nan"))])
            results = {}
            for routine in ("nrm2", "asum"):
                function = getattr(loaded, f"cblas_{kind.letter}{routine}")
                function.restype = number
                results[routine] = function(n, ctypes.c_void_p(spread.buffer_info()[0]), 3)
            _, absolute = vec_exact.total(values)
            assert abs(results["asum"] - absolute) <= vec_exact.bound(kind, n, 4, absolute, False)
            norm = vec_exact.root(vec_exact.dot(values, values)[0])
            assert abs(results["nrm2"] - norm) <= vec_exact.nrm2_bound(kind, n, 4, norm)


def test_it_exports_nothing_else() -> None:
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
    names = {line.split()[2] for line in listed.stdout.splitlines()}
    stems = {letter + routine for letter in "ds" for routine in ("dot", "axpy", "nrm2", "asum", "scal")}
    spellings = (
        "cblas_{}", "cblas_{}_64", "cblas_{}64_", "scipy_cblas_{}", "scipy_cblas_{}64_", "{}_", "{}_64_", "scipy_{}_",
        "scipy_{}_64_",
    )  # fmt: skip
    assert names == {spelling.format(stem) for spelling in spellings for stem in stems}


@pytest.mark.preloads
@pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="needs numpy")
def test_in_front_of_numpy() -> None:
    """numpy from a wheel calls the library for its dot product (its BLAS has 64-bit integers and its own names)."""
    script = "import numpy; a = numpy.arange(1000.0); print(a @ a, a.astype('f') @ numpy.ones(1000, 'f'))"
    env = {"PATH": os.environ["PATH"], "LD_PRELOAD": str(LIBRARY), "LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["332833500.0", "499500.0"]
    if "scipy_cblas_ddot64_" in done.stderr:
        assert "libokosu-cblas.so [0]: normal symbol `scipy_cblas_ddot64_'" in done.stderr
