# SPDX-License-Identifier: Apache-2.0
"""Who copies and sets how many bytes: debugfs um_copy/callers and um_copy/sizes, with names for the addresses.

The kernel counts by return address (CONFIG_UML_COPY_STATS of the series um-simd), so that the paper's "size locality of
call sites" (simd-kernel, section 8.2) can be seen: which functions call, and which exact sizes are hot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.cache import Say, quiet
from lab.kernel.build import Built
from lab.run import guest, uml
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.simd_kernel.plan import STATS
from papers.simd_kernel.run import symbols, workloads
from papers.simd_kernel.run.records import record
from papers.simd_kernel.run.symbols import Symbols

CLASSES = 21
MOST = 12
"""Call sites and exact sizes that are recorded of each workload."""
KINDS = ("copy", "set")
EXACT_MAX = 4096
FOLDER = "/sys/kernel/debug/um_copy"
# The counters are reset, because they hold what was counted while booting.
SCRIPT = f"""\
[ -e {FOLDER}/callers ] || exit 124
echo reset > {FOLDER}/callers || exit 125
"$@" > "$OKOSU_OUT/stdout"
status=$?
cat {FOLDER}/callers > "$OKOSU_OUT/callers" && cat {FOLDER}/sizes > "$OKOSU_OUT/sizes" || exit 125
exit $status
"""
"""For `sh -c SCRIPT sh COMMAND…` in the guest: count the command's calls alone, and leave both files."""


@dataclass(frozen=True)
class Caller:
    """The calls from one return address. `classes[k]` had 2^k <= size < 2^(k+1); classes[0] holds 0 and 1, too."""

    address: int
    kind: str
    calls: int
    bytes: int
    classes: tuple[int, ...]


@dataclass(frozen=True)
class Size:
    """The calls of one exact size, at most 4096."""

    kind: str
    size: int
    calls: int


@dataclass(frozen=True)
class Site:
    """A caller with the name of its function, and its file and line where the image knows them, else ""."""

    caller: Caller
    function: str
    offset: int
    line: str


def parse_callers(text: str) -> list[Caller]:
    """Read um_copy/callers: lines ADDRESS KIND CALLS BYTES C0 … C20. OkosuError names a line that is something else."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) != 4 + CLASSES or words[1] not in KINDS or not all(map(_whole, words[2:])):
            raise _line("callers", number, line, f"expected ADDRESS, copy or set, and {2 + CLASSES} whole numbers")
        try:
            address = int(words[0], 16)
        except ValueError:
            raise _line("callers", number, line, "the address is not hexadecimal") from None
        calls, total, *classes = map(int, words[2:])
        # An interrupt may lose an increment, so that these may differ a little; by more they are another format.
        if abs(sum(classes) - calls) > 1 + calls // 100:
            raise _line("callers", number, line, f"{sum(classes)} calls by size, {calls} in all")
        found.append(Caller(address, words[1], calls, total, tuple(classes)))
    return found


def parse_sizes(text: str) -> list[Size]:
    """Read um_copy/sizes: lines KIND SIZE CALLS. OkosuError names a line that is something else."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) != 3 or words[0] not in KINDS or not all(map(_whole, words[1:])) or int(words[1]) > EXACT_MAX:
            raise _line("sizes", number, line, f"expected copy or set, a size up to {EXACT_MAX}, and calls")
        found.append(Size(words[0], int(words[1]), int(words[2])))
    return found


def resolve(
    callers: Sequence[Caller], functions: Symbols, lines: Callable[[Iterable[int]], dict[int, str]]
) -> list[Site]:
    """Return the callers with names, most bytes first.

    A return address is that of the instruction after the call, which may belong to the next function, so the byte
    before it is looked up. Address 0 stands for the callers that found no place in the kernel's table.
    """
    calls = [caller.address - 1 for caller in callers if caller.address]
    known = lines(calls)
    found = []
    for caller in callers:
        at = functions.at(caller.address - 1) if caller.address else None
        name, offset = (at[0], at[1] + 1) if at else ("(others)" if not caller.address else "(unknown)", 0)
        found.append(Site(caller, name, offset, known.get(caller.address - 1, "")))
    return sorted(found, key=lambda site: (-site.caller.bytes, -site.caller.calls, site.caller.address))


def of_image(callers: Sequence[Caller], image: Path) -> list[Site]:
    """Return the callers with the names that a kernel's image has for them."""
    return resolve(callers, symbols.of_image(image), lambda wanted: symbols.lines(image, wanted))


def by_class(callers: Iterable[Caller], kind: str) -> list[int]:
    """Return the calls of a kind by size class, over all callers."""
    found = [0] * CLASSES
    for caller in callers:
        if caller.kind == kind:
            found = [a + b for a, b in zip(found, caller.classes, strict=True)]
    return found


def hot(sizes: Iterable[Size], kind: str, count: int = 10) -> list[Size]:
    """Return the exact sizes of most calls, most first."""
    return sorted((one for one in sizes if one.kind == kind), key=lambda one: (-one.calls, one.size))[:count]


def render(sites: Sequence[Site], sizes: Sequence[Size], kind: str, count: int = 12) -> str:
    """Return three tables as text, at most 80 columns: call sites, size classes, exact sizes."""
    own = [site for site in sites if site.caller.kind == kind]
    calls, total = sum(site.caller.calls for site in own), sum(site.caller.bytes for site in own)
    what = {"copy": "memcpy", "set": "memset"}[kind]
    lines = [f"{what}: {calls} calls, {total} bytes, {len(own)} call sites"]
    if not calls:
        return lines[0]
    lines.append(f"{'calls':>10} {'bytes':>12} {'share':>6}  {'size':>6}  call site")
    for site in own[:count]:
        share = site.caller.bytes / total if total else 0.0
        where = site.line.rpartition("/")[2]
        place = f"{site.function}+{site.offset:#x}" + (f" {where}" if where else "")
        mean = site.caller.bytes / max(site.caller.calls, 1)
        lines.append(f"{site.caller.calls:10} {site.caller.bytes:12} {share:6.1%}  {mean:6.0f}  {place[:42]}")
    lines.append(f"{'size from':>10} {'to':>10} {'calls':>12} {'share':>6}")
    for k, number in enumerate(by_class((site.caller for site in own), kind)):
        if number:
            low = 0 if k == 0 else 1 << k
            high = "" if k == CLASSES - 1 else str((2 << k) - 1)
            lines.append(f"{low:10} {high:>10} {number:12} {number / calls:6.1%}")
    lines.append(f"{'exact size':>10} {'calls':>12} {'share':>6}")
    lines += [f"{one.size:10} {one.calls:12} {one.calls / calls:6.1%}" for one in hot(sizes, kind)]
    return "\n".join(lines)


def counted(built: Built, command: Sequence[str], say: Say = quiet) -> tuple[list[Caller], list[Size]]:
    """Run a command on a kernel that counts (configuration STATS), and return what its copies and sets were."""
    outcome = uml.run(built, ["sh", "-c", SCRIPT, "sh", *command], say=say)
    if outcome.status:
        said = outcome.stderr.decode(errors="replace").strip()
        why = said or f"status {outcome.status}; 124: no um_copy/callers, the kernel does not count"
        raise OkosuError("the copies could not be counted", why, "okosu lab build uml --fragment um-stats")
    return parse_callers(outcome.files["callers"].read_text()), parse_sizes(outcome.files["sizes"].read_text())


def measure(say: Say) -> Iterator[Record]:
    """Run every workload once on a kernel that counts, and yield its records as it ends."""
    built = uml.build(fragments=STATS, say=say)
    programs = guest.build(say)
    for workload in workloads.TABLE:
        say(f"counting the copies of {workload.name}")
        callers, sizes = counted(built, workload.command(programs), say)
        sites = of_image(callers, built.path / "vmlinux")
        yield from records(workload.name, callers, sites, sizes, f"linux {built.version}")


def records(
    workload: str, callers: Sequence[Caller], sites: Sequence[Site], sizes: Sequence[Size], subject: str
) -> Iterator[Record]:
    """Yield a workload's calls by size class, its hot sizes and its call sites of most bytes, of copies and sets."""
    for kind in KINDS:
        told: dict[str, str | float] = {"workload": workload, "kind": kind}
        for k, calls in enumerate(by_class(callers, kind)):
            if calls:
                yield record(subject, "counted", "class", "calls", calls, {**told, "from": float(1 << k if k else 0)})
        for size in hot(sizes, kind, MOST):
            yield record(subject, "counted", "size", "calls", size.calls, {**told, "bytes": float(size.size)})
        for site in [one for one in sites if one.caller.kind == kind][:MOST]:
            where: dict[str, str | float] = {"function": site.function, "line": site.line}
            where |= {"address": f"{site.caller.address:#x}", "calls": float(site.caller.calls)}
            yield record(subject, "counted", "site", "bytes", site.caller.bytes, {**told, **where})


def _whole(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _line(file: str, number: int, line: str, why: str) -> OkosuError:
    return OkosuError(f"line {number} of um_copy/{file} is {line[:60]!r}", why)
