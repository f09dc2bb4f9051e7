# SPDX-License-Identifier: Apache-2.0
"""The example programs: results against Python models, strict arguments, the same output under any allocator."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from effort import length
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "examples/programs"
BUILT = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build")) / "examples"

MASK = 2**64 - 1
SMALL = {
    "chase": ["300K", "20K"],
    "churn": ["8", "3"],
    "grain": ["5", "1K", "3"],
    "gups": ["1M", "30K"],
    "relay": ["500", "3"],
    "spin": ["1"],
    "stream": ["200K", "3"],
    "transpose": ["70", "3"],
}
LEVERS = {
    "none": None,
    "huge pages": "glibc.malloc.hugetlb=1",
    "no mmap": "glibc.malloc.mmap_max=0",
    "retained": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736",
}


def run(
    name: str, *words: str, tunables: str | None = None, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "GLIBC_TUNABLES"}
    if tunables is not None:
        env["GLIBC_TUNABLES"] = tunables
    return subprocess.run([BUILT / name, *words], capture_output=True, text=True, env=env, preexec_fn=before)


def numbers(name: str, *words: str) -> list[str]:
    """The numbers, decimal or 16 hexadecimal digits, in the first line of a run that must succeed."""
    done = run(name, *words)
    assert (done.returncode, done.stderr) == (0, "")
    first, last = done.stdout.splitlines()
    assert last == "ok"
    return re.findall(r"\b(?:[0-9a-f]{16}|\d+)\b", first)


def lcg(x: int, steps: int = 1) -> int:
    for _ in range(steps):
        x = (x * 6364136223846793005 + 1442695040888963407) & MASK
    return x


def splitmix(seed: int, count: int) -> list[int]:
    out, state = [], seed
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out.append(z ^ (z >> 31))
    return out


@settings(max_examples=length(8, 25))
@given(lines=st.integers(2, 5000), rounds=st.integers(1, 3))
def test_chase_is_one_cycle_through_the_whole_table(lines: int, rounds: int) -> None:
    once_around = rounds * lines
    total = rounds * lines * (lines - 1) // 2
    assert numbers("chase", str(64 * lines + 63), str(once_around))[1:] == [
        str(once_around), "0", str(total),
    ]  # fmt: skip
    assert numbers("chase", str(64 * lines), str(once_around - 1))[2] != "0"


def test_chase_leaps_at_random() -> None:
    lines, at, path = 4096, 0, []
    for loads in range(1, 400):
        at = int(numbers("chase", str(64 * lines), str(loads))[2])
        path.append(at)
    leaps = [abs(b - a) for a, b in pairwise(path)]
    # Two uniformly random places are a third of the table apart on average, here with a standard error of 3.5 %.
    assert sum(leaps) / len(leaps) == pytest.approx(lines / 3, rel=0.1)
    assert len({(b - a) % lines for a, b in pairwise(path)}) > 300
    for bit in range(6):
        changes = sum((a ^ b) >> bit & 1 for a, b in pairwise(path))
        assert 140 < changes < 260


@settings(max_examples=length(5, 15))
@given(entries=st.integers(1, 300), updates=st.integers(1, 2000))
def test_gups(entries: int, updates: int) -> None:
    table = list(range(entries))
    for random in splitmix(2003, updates):
        table[random * entries >> 64] ^= random
    checksum = 0
    for at, value in enumerate(table):
        by = at % 64
        checksum ^= (value << by | value >> (64 - by)) & MASK
    assert numbers("gups", str(entries * 8), str(updates)) == [str(entries), str(updates), f"{checksum:016x}"]


@settings(max_examples=length(5, 10))
@given(dim=st.integers(1, 90), reps=st.integers(1, 4))
def test_transpose(dim: int, reps: int) -> None:
    b = [[row * dim + column for column in range(dim)] for row in range(dim)]
    odd = sum(sum(row) for row in list(zip(*b, strict=True))[1::2])
    assert numbers("transpose", str(dim), str(reps)) == [str(dim), str(reps), str(odd)]


@settings(max_examples=length(5, 10))
@given(n=st.integers(1, 3000), reps=st.integers(1, 5))
def test_stream(n: int, reps: int) -> None:
    total = sum(at % 1021 + reps * (at % 509) for at in range(n))
    assert numbers("stream", str(8 * n + 7), str(reps)) == [str(n), str(reps), str(total)]


def test_spin() -> None:
    assert numbers("spin", "1") == ["1", f"{lcg(0, 1_000_000):016x}"]


@settings(max_examples=length(5, 10))
@given(threads=st.integers(1, 12), work=st.integers(0, 500), rounds=st.integers(1, 3))
def test_grain(threads: int, work: int, rounds: int) -> None:
    total = sum(lcg(first, work) for first in range(threads * rounds)) & MASK
    assert numbers("grain", str(threads), str(work), str(rounds)) == [
        str(threads), str(work), str(rounds), f"{total:016x}",
    ]  # fmt: skip


@pytest.mark.parametrize(("rounds", "seed"), [(1, 1), (3, 0), (4, 7), (9, 1_000_000_000)])
def test_churn(rounds: int, seed: int) -> None:
    draws = splitmix(seed, rounds)
    sizes = [65536 * (64 + (draw * 961 >> 64)) for draw in draws]
    assert all(4 << 20 <= size <= 64 << 20 for size in sizes)
    total = sum((draw & 255) * size // 4096 for draw, size in zip(draws, sizes, strict=True))
    assert numbers("churn", str(rounds), str(seed)) == [str(rounds), str(sum(sizes)), str(total)]
    assert numbers("churn", str(rounds), str(seed), "calloc") == [str(rounds), str(sum(sizes)), str(total)]


@pytest.mark.parametrize(("messages", "seed"), [(1, 1), (3, 0), (100, 7), (9, 1_000_000_000)])
def test_relay(messages: int, seed: int) -> None:
    draws = splitmix(seed, messages)
    copied = sum(2 * (4096 + (draw * 12289 >> 64)) for draw in draws)
    assert numbers("relay", str(messages), str(seed)) == [
        str(messages), str(copied), str(sum(draw & 255 for draw in draws)),
    ]  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_output_is_the_same_under_every_lever(name: str) -> None:
    outputs = {run(name, *SMALL[name], tunables=tunables).stdout for tunables in [*LEVERS.values(), None]}
    assert len(outputs) == 1
    assert outputs.pop().endswith("\nok\n")


@pytest.mark.parametrize("name", SMALL)
def test_a_rate_goes_to_stderr_only(name: str) -> None:
    plain = run(name, *SMALL[name])
    for words in (["-v", *SMALL[name]], [*SMALL[name], "-v"]):
        verbose = run(name, *words)
        assert (verbose.returncode, verbose.stdout) == (0, plain.stdout)
        assert re.fullmatch(rf"{name}: \d+\.\d\d \w+/s\n", verbose.stderr)


def test_suffixes() -> None:
    assert numbers("gups", "2K", "3k")[:2] == ["256", "3000"]
    assert numbers("gups", "1m", "1M")[:2] == ["131072", "1000000"]
    assert numbers("chase", "--", "1M", "1")[0] == "16384"


@pytest.mark.parametrize("name", SMALL)
def test_help_is_on_stdout(name: str) -> None:
    done = run(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {name} [-v] ")
    assert run(name, "-h").stdout == done.stdout


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("chase", "an argument is missing"),
        ("grain 4", "an argument is missing"),
        ("transpose 10 2 3", "one argument too many: 3"),
        ("spin 1 2", "one argument too many: 2"),
        ("chase -x 1M", "unknown option (-v and -h are allowed): -x"),
        ("chase -1", "unknown option (-v and -h are allowed): -1"),
        ("chase 127", "SIZE must be a number from 128 to 274877906944, a suffix K, M or G is allowed: 127"),
        ("chase 257G", "SIZE must be a number from 128 to"),
        ("chase 1T", "SIZE must be a number from 128 to"),
        ("chase 1MB", "SIZE must be a number from 128 to"),
        ("chase 1.5G", "SIZE must be a number from 128 to"),
        ("chase +1M", "SIZE must be a number from 128 to"),
        ("chase M", "SIZE must be a number from 128 to"),
        ("chase 18446744073709551617K", "SIZE must be a number from 128 to"),
        ("chase 17179869185G", "SIZE must be a number from 128 to"),
        ("chase 1M 0", "LOADS must be a number from 1 to 1000000000000, a suffix"),
        ("gups 7", "SIZE must be a number from 8 to"),
        ("gups 1M x", "UPDATES must be a number from 1 to"),
        ("churn 0", "ROUNDS must be a number from 1 to"),
        ("churn 1 -1", "unknown option"),
        ("churn 1 1 new", "the third operand is malloc or calloc: new"),
        ("churn -- 1 -1", "SEED must be a number from 0 to 1000000000, a suffix K, M or G is allowed: -1"),
        ("relay 0", "MESSAGES must be a number from 1 to"),
        ("stream 0", "SIZE must be a number from 8 to"),
        ("spin 0", "MILLIONS must be a number from 1 to"),
        ("grain 0 1", "THREADS must be a number from 1 to 10000: 0"),
        ("grain 1K 1", "THREADS must be a number from 1 to 10000: 1K"),
        ("grain 1 1e3", "WORK must be a number from 0 to"),
        ("transpose 65537", "DIM must be a number from 1 to 65536: 65537"),
        ("transpose ''", "DIM must be a number"),
    ],
)
def test_wrong_arguments(command: str, says: str) -> None:
    name, *words = [word.strip("'") for word in command.split()]
    done = run(name, *words)
    assert (done.returncode, done.stdout) == (2, "")
    first, second, *_ = done.stderr.splitlines()
    assert first.startswith(f"{name}: {says}")
    assert second.startswith(f"usage: {name} ")


def test_what_the_system_refuses_is_said() -> None:
    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (40 << 20, 40 << 20))

    if b"__asan_init" in (BUILT / "stream").read_bytes():
        pytest.skip("a sanitized program needs a large address space")
    done = run("stream", "64M", before=little_memory)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "stream: cannot allocate 67108864 bytes: Cannot allocate memory\n"
    done = run("grain", "1000", "100M", before=little_memory)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"grain: cannot create a thread: .+\n", done.stderr)


def test_a_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([BUILT / "grain", "1", "1"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "grain: cannot write the result: No space left on device\n"


# Each of these plants one defect that a broken allocator, page or thread library would cause.
DEFECTS = {
    "chase": ("at = table[at].next;", "at = table[at].next ^ (load == 9);"),
    "churn": ("memset(block->data, block->fill, block->size);", "memset(block->data, 1, block->size);"),
    "grain": ("sum += tasks[at].value;", "sum += tasks[at / 2].value;"),
    "relay": ("memcpy(there, here, size);", "memcpy(there, here, size - 4096);"),
    "gups": ("table[random_below(random, entries)]", "table[random_below(random, entries) / 2]"),
    "spin": ("x = lcg_step(x);", "x = lcg_step(x) + (step == 5);"),
    "stream": ("a[at] = b[at] + s * c[at];", "a[at] = b[at] + s * c[at] + (at == n - 1);"),
    "transpose": ("a[i * dim + j] = b[j * dim + i];", "a[i * dim + j] = b[i * dim + j];"),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_self_check_sees_a_planted_defect(name: str, tmp_path: Path) -> None:
    right, wrong = DEFECTS[name]
    text = (SOURCES / f"{name}.c").read_text()
    assert text.count(right) == 1
    (tmp_path / "broken.c").write_text(text.replace(right, wrong))
    cc = shutil.which("cc") or "gcc"
    flags = ["-std=gnu17", "-O1", "-D_GNU_SOURCE", f"-I{SOURCES}", "-pthread"]
    subprocess.run([cc, *flags, "-o", tmp_path / name, tmp_path / "broken.c"], check=True)
    done = subprocess.run([tmp_path / name, *SMALL[name]], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.endswith("\nWRONG\n")
    assert done.stderr == f"{name}: the result is wrong\n"
