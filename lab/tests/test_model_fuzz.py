# SPDX-License-Identifier: Apache-2.0
"""The model's two parsers on random texts: each is refused or run, without a finding of the sanitizers."""

from __future__ import annotations

import random

from effort import length
from hypothesis import example, given
from hypothesis import strategies as st

from lab.model import machines
from lab.tests import model_tool

pytestmark = model_tool.needs_gcc

WORDS = [
    "okosu-model",
    "seed",
    "cpus",
    "kernel-pages",
    "cache",
    "row",
    "tlb",
    "lru",
    "plru",
    "random",
    "none",
    "private",
]
WORDS += [
    "inclusive",
    "victim",
    "shared",
    "4k",
    "2m",
    "4k+2m",
    "access",
    "string",
    "move",
    "run",
    "flush",
    "io",
    "mark",
]
WORDS += ["decode", "user", "kernel", "load", "store", "0", "1", "2", "3", "5", "8", "64", "4096", "0x1f40", "1048576"]
WORDS += [
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0x",
    "#",
    "\n",
    "\n",
    "\n",
    "\t",
    "\0",
    "\xff",
    "x" * 1100,
]
WORDS += ["4294967296", "0xffffffffffffffff", "140737488355327", "08"]

SHAPE = b"""okosu-model 1
cpus 2
cache 256 2 64 plru inclusive private
cache 512 4 64 random victim shared
tlb 1 2 2 lru 4k
"""


def survives(shape: bytes, trace: bytes) -> None:
    """Whether the program ended by itself: a sanitizer's finding gives another status than its own two."""
    done = model_tool.raw(shape, trace)
    assert done.returncode in (0, 2), done.stderr.decode(errors="replace")
    assert b"Sanitizer" not in done.stderr
    assert b"runtime error" not in done.stderr


texts = st.lists(st.sampled_from(WORDS), max_size=60).map(lambda words: " ".join(words).encode("latin-1"))


@given(st.one_of(texts, texts.map(lambda text: b"okosu-model 1\n" + text), st.binary(max_size=300)))
@example(b"okosu-model 1\nrow 0 64\n")
@example(b"okosu-model 1\ncache 4294967296 1048576 4096 lru none private\n")
def test_any_shape(shape: bytes) -> None:
    survives(shape, b"mark 0 4\naccess 0 user load 1 1 1\n")


@given(st.one_of(texts, st.binary(max_size=300)))
def test_any_trace(trace: bytes) -> None:
    survives(SHAPE, trace)


def test_statements_with_one_word_changed() -> None:
    rng = random.Random(11)
    valid = [*SHAPE.decode().split("\n")[:-1], *machines.find("zen5-9950x").shape(2, 7).split("\n")[1:-1]]
    steps = [
        "mark 0 3",
        "access 1 kernel store 4095 4095 8",
        "string 0 user 1",
        "move 0 user load 1 1 1",
        "run 0 user 9",
    ]
    steps += ["mark 1 1", "flush 0 user", "io 1 kernel", "decode 15 31 128 1 0 107 111", "mark 1 2"]
    for _ in range(length(30, 300)):
        shape, trace = valid[:5], [rng.choice(steps) for _ in range(12)]
        shape += rng.sample(valid[5:], 2)
        text = rng.choice((shape, trace))
        line = rng.randrange(len(text))
        words = text[line].split()
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        text[line] = " ".join(words)
        survives("\n".join(shape).encode("latin-1"), "\n".join(trace).encode("latin-1"))
