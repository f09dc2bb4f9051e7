# SPDX-License-Identifier: Apache-2.0
"""The survey of vectorised loops beside the paper's Table 1: its files today, and which loops are in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from okosu.records.types import Record
from papers.simd_kernel.compare import Beside
from papers.simd_kernel.plan import NEAREST

TABLE1 = {
    "slip_user": "arch/um/drivers/slip_user.c",
    "vmstat": "mm/vmstat.c",
    "ext2-inode": "fs/ext2/inode.c",
    "ext3-inode": "fs/ext4/inode.c",
    "ext3-hash": "fs/ext4/hash.c",
    "isofs-util": "fs/isofs/util.c",
    "reiserfs-fix_node": "fs/reiserfs/fix_node.c",
    "base-map": "drivers/base/map.c",
    "inet_hashtables": "net/ipv4/inet_hashtables.c",
    "tcp_input": "net/ipv4/tcp_input.c",
    "devinet": "net/ipv4/devinet.c",
    "sort": "lib/sort.c",
    "bitmap": "lib/bitmap.c",
    "cmdline": "lib/cmdline.c",
    "net-dev": "net/core/dev.c",
    "algapi": "lib/crypto/utils.c",
}
"""The file of Linux 6.12 for each row: the same one, or its successor."""
MOVED = {
    "ext3-inode": "ext3 is no more, and ext4 mounts its file systems: fs/ext4/inode.c",
    "ext3-hash": "ext3 is no more, and ext4 mounts its file systems: fs/ext4/hash.c",
    "algapi": "crypto_xor() is in lib/crypto/utils.c now",
}


def configurations(records: Iterable[Record]) -> list[str]:
    """Return the configurations that were surveyed, in their order."""
    return list(dict.fromkeys(record.variant for record in records if record.metric == "loops"))


def count(records: Iterable[Record], configuration: str, metric: str) -> float | None:
    """Return the value of a metric that a configuration has one record of; None where it was not surveyed."""
    found = (one.samples[0] for one in records if one.variant == configuration and one.metric == metric)
    return next(found, None)


def loops(records: Iterable[Record], configuration: str) -> list[Record]:
    """Return the loops that were vectorised in a configuration, in order of their places."""
    return [one for one in records if one.variant == configuration and one.metric == "loop"]


def nearest(records: Sequence[Record]) -> str | None:
    """Return the configuration that stands beside the paper's, None where none was surveyed."""
    there = configurations(records)
    return next((name for name in NEAREST if name in there), None)


def compare(records: Sequence[Record], hot: Sequence[str]) -> Beside:
    """Yield what stands beside sections 4 and 5.2 and Table 1; `hot` are the functions of the profile's first rows."""
    name = nearest(records)
    if name is None:
        return
    others = [other for other in configurations(records) if other != name]
    counted = ", ".join(f"{other} {count(records, other, 'loops') or 0:.0f}" for other in others)
    objects = count(records, name, "objects") or 0
    yield "5.2.loops", count(records, name, "loops"), f"{name}, {objects:.0f} objects; {counted or 'no other built'}"
    found = loops(records, name)
    yield from _kinds(found)
    for row, file in TABLE1.items():
        here = _in(found, file)
        elsewhere = [f"{other} {_in(loops(records, other), file)}" for other in others]
        why = "; ".join(filter(None, (MOVED.get(row, ""), name, ", ".join(elsewhere))))
        yield f"t1.{row}", float(here), why
    for loop in ("figure4", "runtime"):
        yield f"4.{loop}", _probe(records, name, loop), f"{name}; {_probes(records, others, loop)}"
    if hot:
        names = {str(one.parameters["function"]) for one in found}
        both = [function for function in hot if function in names]
        why = f"the profile's first {len(hot)}: {', '.join(hot)}"
        yield "5.3.hot", float(len(both)), f"{', '.join(both)}; {why}" if both else why


def _kinds(found: Sequence[Record]) -> Beside:
    kinds = Counter(str(one.parameters["what"]) for one in found)
    more = [kind for kind, number in kinds.items() if number > kinds["clear"] and kind != "other"]
    said = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    yield "5.2.clears", float(len(more)) if found else None, f"loops by what they do: {said}"


def _in(found: Sequence[Record], file: str) -> int:
    return sum(one.parameters["file"] == file for one in found)


def _probe(records: Iterable[Record], configuration: str, loop: str) -> float | None:
    wanted = (
        one.samples[0]
        for one in records
        if one.variant == configuration and one.metric == "probe" and one.parameters["loop"] == loop
    )
    return next(wanted, None)


def _probes(records: Sequence[Record], names: Sequence[str], loop: str) -> str:
    said = [f"{name} {found:.0f}" for name in names if (found := _probe(records, name, loop)) is not None]
    return ", ".join(said) or "no other built"
