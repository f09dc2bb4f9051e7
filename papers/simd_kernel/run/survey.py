# SPDX-License-Identifier: Apache-2.0
"""Which loops of a kernel GCC vectorises by itself: the survey of the paper simd-kernel (section 5.2) on Linux 6.12.

Each configuration is one build of User-Mode Linux, kept in the lab's cache, whose log is read. Linux 6.12 compiles UML
with -mno-sse for GCC 11 and later (arch/x86/Makefile.um), so only the configuration `stock` is the kernel as it is
built today, and the others give the vector registers back.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import lab.kernel.source
from lab.cache import Say, quiet
from lab.kernel.build import Recipe, build, check_tools
from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records.types import Record
from papers.simd_kernel.plan import CONFIGURATIONS, SURVEY, Configuration
from papers.simd_kernel.run import loops, vectorised
from papers.simd_kernel.run.machine_code import code_bytes
from papers.simd_kernel.run.records import record
from papers.simd_kernel.run.vectorised import FLAG, Log

LOG = "build.log"
OBJECTS = 720
PROBE = """\
int a[256], b[256], c[256];
void figure4(void) { for (int i = 0; i < 256; i++) a[i] = b[i] + c[i]; }
void runtime(int n) { for (int i = 0; i < n; i++) a[i] = b[i] + c[i]; }
"""
"""The loop of the paper's Figure 4, and the same loop with a count that is known only at run time."""


def find(names: Sequence[str]) -> list[Configuration]:
    """Return the configurations called so, all of them for no name; OkosuError (125) if there is no such one."""
    known = {one.name: one for one in CONFIGURATIONS}
    if unknown := [name for name in names if name not in known]:
        raise OkosuError(
            f"the survey has no configuration {unknown[0]!r}", f"it has {', '.join(known)}", "", LAUNCHER_FAILED
        )
    return [known[name] for name in names] or list(CONFIGURATIONS)


def survey(
    configurations: Sequence[Configuration] = CONFIGURATIONS, source: Path | None = None, say: Say = quiet
) -> Iterator[Record]:
    """Build each configuration where the cache has none (minutes each), and yield what its log says.

    Metrics of a configuration: `objects`, `loops`, `blocks`, `text` (bytes), `probe` (loops of PROBE), `missed` by
    reason, and `loop` for each loop: the bytes of its vectors, with file, line, function and what it does.
    OkosuError at the end where a compiler is missing; the configurations of the others are surveyed first.
    """
    missing: list[OkosuError] = []
    for one in configurations:
        try:
            check_tools(one.cc)
        except OkosuError as error:
            missing.append(error)
            continue
        yield from _survey(one, source, say)
    if missing:
        raise missing[0]


def _survey(one: Configuration, source: Path | None, say: Say) -> Iterator[Record]:
    say(f"survey {one.name}: {one.cc} {one.flags}")
    flags = f"{one.flags} {FLAG}".strip()
    recipe = Recipe("um", "vmlinux", ("vmlinux",), OBJECTS, (), SURVEY, one.cc, flags, source)
    built = build(recipe, say)
    root = lab.kernel.source.find(source, say).path
    log = vectorised.parse((built.path / LOG).read_text(errors="replace").splitlines(), str(root))
    if not log.objects:
        raise OkosuError(f"the log of {one.name} names no object", f"{built.path / LOG}", "", LAUNCHER_FAILED)
    about: dict[str, str | float] = {"compiler": built.compiler, "flags": one.flags}
    subject = f"linux {built.version}"
    yield from records(log, root, one.name, subject, about)
    yield record(subject, one.name, "text", "bytes", code_bytes(built.path / "vmlinux"), about)
    for name, count in probe(one.cc, one.flags).items():
        yield record(subject, one.name, "probe", "loops", count, {**about, "loop": name})


def records(log: Log, root: Path, name: str, subject: str, about: dict[str, str | float]) -> Iterator[Record]:
    """Yield what a log says of configuration `name`, with each loop's source read below `root`."""
    counts = {"objects": log.objects, "loops": log.loops(), "blocks": log.blocks()}
    for metric, found in counts.items():
        yield record(subject, name, metric, metric, len(found), about)
    for reason, count in log.reasons().most_common():
        yield record(subject, name, "missed", "loops", count, {**about, "reason": reason})
    for loop in log.loops():
        lines = _lines(root / loop.place.file)
        told: dict[str, str | float] = {
            "file": loop.place.file,
            "line": float(loop.place.line),
            "column": float(loop.place.column),
            "function": loops.function_at(lines, loop.place.line),
            "what": loops.what_at(lines, loop.place.line),
            "versioned": float(loop.versioned),
            "copies": float(len(loop.objects)),
            "text": loops.text_at(lines, loop.place.line)[:120],
        }
        yield record(subject, name, "loop", "bytes", loop.bytes, {**about, **told})


def probe(cc: str, flags: str) -> dict[str, int]:
    """Return how often each of PROBE's loops is vectorised with -O2 and these flags: 0 or 1 each."""
    with tempfile.TemporaryDirectory(prefix="okosu-probe-") as folder:
        path = Path(folder) / "probe.c"
        path.write_text(PROBE)
        words = [*cc.split(), "-O2", *flags.split(), FLAG, "-c", str(path), "-o", str(path.with_suffix(".o"))]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OkosuError(f"{cc} does not compile a loop", done.stderr.strip(), "", LAUNCHER_FAILED)
        log = vectorised.parse(done.stderr.splitlines(), folder)
    at = {2: "figure4", 3: "runtime"}
    found = dict.fromkeys(at.values(), 0)
    for loop in log.loops():
        found[at[loop.place.line]] += 1
    return found


@lru_cache(maxsize=64)
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(errors="replace").splitlines())
    except OSError:
        # A file that the build generated was removed with the build.
        return ()
