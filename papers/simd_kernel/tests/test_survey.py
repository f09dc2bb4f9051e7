# SPDX-License-Identifier: Apache-2.0
"""The survey of vectorised loops: GCC's log read back, what a loop's text says of it, and the records of both."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.errors import OkosuError
from papers.simd_kernel.run import loops, survey, vectorised
from papers.simd_kernel.run.vectorised import FLAG, NO_REASON, Place, Vectorised

ROOT = "/src/linux"
LOG = """\
  CC      lib/bitmap.o
/src/linux/lib/bitmap.c:77:20: optimized: loop vectorized using 16 byte vectors
/src/linux/lib/bitmap.c:77:20: optimized: loop vectorized using 8 byte vectors
/src/linux/lib/bitmap.c:77:20: optimized:  loop versioned for vectorization because of possible aliasing
/src/linux/include/linux/list.h:37:3: optimized: basic block part vectorized using 16 byte vectors
/src/linux/lib/bitmap.c:90:2: missed: couldn't vectorize loop
/src/linux/lib/bitmap.c:91:9: missed: statement clobbers memory: __asm__ __volatile__("
 mov %0" : "=r" x);
/src/linux/lib/bitmap.c:91:9: missed: not vectorized: no vectype for stmt: _7 = *_6;
 scalar_type: const long int
/src/linux/lib/bitmap.c:99:2: missed: couldn't vectorize loop
  CC [M]  fs/isofs/util.o
./include/linux/list.h:37:3: optimized: basic block part vectorized using 16 byte vectors
fs/isofs/util.c:5:1: missed: couldn't vectorize loop
fs/isofs/util.c:5:1: missed: not vectorized: unsupported data-type long int
fs/isofs/util.c:6:1: missed: not vectorized: control flow in loop.
  LD      vmlinux
"""


def test_a_log_gives_loops_blocks_objects_and_reasons() -> None:
    log = vectorised.parse(LOG.splitlines(), ROOT)
    assert log.objects == {"lib/bitmap.o", "fs/isofs/util.o"}
    place = Place("lib/bitmap.c", 77, 20)
    assert log.loops() == [Vectorised(place, "loop", 16, True, {"lib/bitmap.o"})]
    [block] = log.blocks()
    assert block.objects == {"lib/bitmap.o", "fs/isofs/util.o"}
    assert block.place == Place("include/linux/list.h", 37, 3)
    assert log.reasons() == Counter({"no vectype for stmt": 1, "unsupported data-type": 1, NO_REASON: 1})


def test_a_loop_that_was_vectorised_somewhere_is_not_counted_as_missed() -> None:
    lines = ["a.c:1:1: missed: couldn't vectorize loop", "a.c:1:1: missed: not vectorized: multiple exits."]
    lines += ["a.c:1:1: optimized: loop vectorized using 16 byte vectors"]
    assert not vectorised.parse(lines).reasons()


SAID = st.sampled_from(["loop vectorized using 16 byte vectors", "basic block part vectorized using 8 byte vectors"])
EVENTS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9), SAID), max_size=30)


@given(EVENTS, st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=40), max_size=10))
def test_every_loop_is_counted_once_however_often_and_among_whatever_lines(
    events: list[tuple[str, int, str]], noise: list[str]
) -> None:
    lines = [f"{file}.c:{line}:1: optimized: {said}" for file, line, said in events]
    noise = [line for line in noise if "vectorize" not in line]
    woven = [text for pair in zip(lines, noise, strict=False) for text in pair] + lines[len(noise) :]
    log = vectorised.parse(woven)
    assert {(one.place.file, one.place.line) for one in log.loops()} == {
        (f"{file}.c", line) for file, line, said in events if said.startswith("loop")
    }
    assert len(log.loops()) + len(log.blocks()) == len(set(events))


@given(st.lists(st.text(max_size=80) | st.sampled_from(LOG.splitlines()), max_size=40))
def test_no_log_stops_the_parser(lines: list[str]) -> None:
    log = vectorised.parse(lines, ROOT)
    assert all(one.bytes > 0 for one in log.loops())
    assert sum(log.reasons().values()) <= len(log.missed)


KNOWN = """\
struct s { int a[64]; int b[64]; };
void clear(struct s *p) { for (int i = 0; i < 64; i++) p->a[i] = 0; }
void add(struct s *p) { for (int i = 0; i < 64; i++) p->a[i] += p->b[i]; }
extern int f(int);
void call(struct s *p) { for (int i = 0; i < 64; i++) p->a[i] = f(i); }
int find(int *p) { int i = 0; while (p[i]) i++; return i; }
"""


@pytest.mark.parametrize("cc", ["gcc", "gcc-11", "gcc-12"])
def test_the_loops_of_a_file_that_is_known_are_found(cc: str, tmp_path: Path) -> None:
    if not shutil.which(cc):
        pytest.skip(f"no {cc} here")
    (tmp_path / "known.c").write_text(KNOWN)
    words = [cc, "-O3", "-fno-builtin", FLAG, "-c", "known.c", "-o", "known.o"]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    log = vectorised.parse(said.splitlines())
    assert [one.place.line for one in log.loops()] == [2, 3]
    assert {place.line for place in log.missed} >= {5, 6}
    assert [loops.what_at(KNOWN.splitlines(), line) for line in (2, 3)] == ["clear", "compute"]


@pytest.mark.unspaced
def test_the_probe_tells_options_apart() -> None:
    if not shutil.which("gcc"):
        pytest.skip("no gcc here")
    assert survey.probe("gcc", "-ftree-vectorize -fvect-cost-model=dynamic") == {"figure4": 1, "runtime": 1}
    assert survey.probe("gcc", "-fno-tree-vectorize") == {"figure4": 0, "runtime": 0}


SOURCE = """\
static int one(int *to, const int *from)
{
	int i;

	for (i = 0; i < 8; i++)
		to[i] = from[i];
	return 0;
}

SYSCALL_DEFINE3(reads, unsigned int, fd, char __user *, buf,
		size_t, count)
{
	while (count--)
		*buf++ = '\\0';
	for (i = 0; i < 8; i++) /* a[i] = 1; */
		sum += a[i];
}

static void
two(struct s *p,
    int n) __acquires(&p->lock)
{
	for (i = 0; i < n; i++) {
		p->a[i].b = -1;
	}
#define G(a) do { \\
	p->b[a] = 0; \\
} while (0)
	for (i = 0; i < n; i++)
		INIT_HLIST_HEAD(&p->heads[i]);
	for (i = 0; i < n; i++)
		p->a[i] &= ~p->b[i];
}

int outside[4];

BPF_CALL_2(three, u64, a, u64, b)
{
	for (k = 0; k < n; k++)
		dst[k] = one[k] | two[index[k]];
	for (k = 0; k < n; k++)
		t->dst[k] = from[index[k]].old;
	for (k = 0; k < n; k++)
		dst[k] = c[k] ? one[k] : two[k];
}
""".splitlines()


@pytest.mark.parametrize(
    ("line", "function", "what"),
    [
        (5, "one", "copy"),
        (6, "one", "copy"),
        (13, "sys_reads", "clear"),
        (15, "sys_reads", "reduce"),
        (23, "two", "fill"),
        (29, "two", "clear"),
        (32, "two", "compute"),
        (35, "", "other"),
        (39, "three", "compute"),
        (41, "three", "copy"),
        (43, "three", "compute"),
        (1000, "", "other"),
    ],
)
def test_function_and_purpose_are_read_off_the_source(line: int, function: str, what: str) -> None:
    assert loops.function_at(SOURCE, line) == function
    assert loops.what_at(SOURCE, line) == what


@given(st.lists(st.text(max_size=60), max_size=30), st.integers(1, 40))
def test_no_source_stops_the_reader(lines: list[str], line: int) -> None:
    assert loops.what_at(lines, line) in loops.WHAT
    loops.function_at(lines, line)


def test_records_say_where_each_loop_stands(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("\n".join(SOURCE))
    log = vectorised.parse(["  CC      a.o", "a.c:5:2: optimized: loop vectorized using 16 byte vectors"])
    records = list(survey.records(log, tmp_path, "O2", "linux 6.12", {"flags": "-O2"}))
    counted = {one.metric: one.samples for one in records if one.metric != "loop"}
    assert counted == {"objects": [1.0], "loops": [1.0], "blocks": [0.0]}
    [loop] = [one for one in records if one.metric == "loop"]
    said = loop.parameters
    assert (said["file"], said["line"], said["function"], said["what"]) == ("a.c", 5.0, "one", "copy")
    assert loop.samples == [16.0]


def test_configurations_have_names_of_their_own_and_an_unknown_one_is_named() -> None:
    names = [one.name for one in survey.CONFIGURATIONS]
    assert len(names) == len(set(names))
    assert [one.name for one in survey.find([])] == names
    assert [one.name for one in survey.find(["stock"])] == ["stock"]
    with pytest.raises(OkosuError, match="'O9'"):
        survey.find(["stock", "O9"])
