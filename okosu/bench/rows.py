# SPDX-License-Identifier: Apache-2.0
"""The JSON lines of the programs okosu-bench-NAME, decoded strictly, and as records (docs/ARCHITECTURE.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, Literal

import msgspec

import okosu
from okosu.errors import OkosuError
from okosu.records.types import Record

VERSION = 2
Cost = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Kind = Literal["okosu", "peer", "limit", "paper"]


class _Line(msgspec.Struct, tag_field="type", forbid_unknown_fields=True, frozen=True):
    pass


class Header(_Line, tag="header", kw_only=True, frozen=True):
    """The first line: the program, the machine as it sees it, and its options."""

    bench: Name
    version: int
    library: str = ""
    model: str = ""
    """The make of the processor (okosu_cpu_model), by which learned profiles are kept."""
    features: str
    tick_hz: Annotated[float, msgspec.Meta(gt=0)]
    overhead_ticks: Cost
    cycles_per_tick: Annotated[float, msgspec.Meta(gt=0)]
    cpu: Count
    seed: Count
    rounds: Annotated[int, msgspec.Meta(ge=1)]
    smoke: bool = False
    caches: dict[str, Count]
    """Bytes of L1d, L2 and L3; 0 where there is none."""

    @property
    def core_hz(self) -> float:
        """The core's clock in cycles per second when the run began."""
        return self.tick_hz * self.cycles_per_tick


class Row(_Line, tag="row", kw_only=True, frozen=True):
    """The samples of one variant of one routine at one point: what one call cost in round `rounds[i]`.

    `n` is the size that is swept, `items` what one call works on, `footprint` the bytes that it touches.
    """

    routine: Name
    variant: Name
    kind: Kind
    library: str
    config: str = ""
    n: Count
    footprint: Count
    place: str
    align: list[Count]
    mode: str
    bytes_per_item: Cost
    flops_per_item: Cost
    items: Count
    unit: Literal["cycles", "ns", "ticks"]
    samples: list[Cost]
    rounds: list[Count]
    loads: list[Cost] = []
    """How many loads the core completed in a cycle beside each sample (okosu/bench/alone.py); [] if not looked at."""
    dropped: Count = 0
    """Batches that were given up since the core's speed changed while they ran, each time that they were tried."""
    shared: Count = 0
    """Samples during which something else (another hyperthread, it seems) had part of the core all along."""
    point: Count = 0
    """Rows of one point took turns in the same rounds."""
    extra: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if len(self.rounds) != len(self.samples):
            raise ValueError(f"{len(self.samples)} samples and {len(self.rounds)} rounds")
        if len(self.loads) not in (0, len(self.samples)):
            raise ValueError(f"{len(self.samples)} samples and {len(self.loads)} loads")
        if len(set(self.rounds)) != len(self.rounds):
            raise ValueError("a round is there twice")
        # A number beyond the range of a double decodes to infinity.
        if not all(map(isfinite, (self.bytes_per_item, self.flops_per_item, *self.samples, *self.loads))):
            raise ValueError("a number is not finite")


class Absent(_Line, tag="absent", kw_only=True, frozen=True):
    """A variant or peer that could not take part."""

    variant: Name
    why: str
    fix: str = ""


class Note(_Line, tag="note", kw_only=True, frozen=True):
    """A remark about the measurement."""

    text: str


class Routine(_Line, tag="routine", kw_only=True, frozen=True):
    """With --list: what one item of a routine moves and computes."""

    name: Name
    bytes_per_item: Cost
    flops_per_item: Cost
    item: str = "element"
    doc: str = ""


class Variant(_Line, tag="variant", kw_only=True, frozen=True):
    """With --list: a variant, and whether this CPU has what it needs."""

    name: Name
    needs: str
    usable: bool
    doc: str = ""


Line = Header | Row | Absent | Note | Routine | Variant
_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


@dataclass
class Result:
    """What one program printed, as far as it came; `finished` says that it came to its end."""

    name: str
    header: Header | None = None
    rows: list[Row] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    routines: list[Routine] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    finished: bool = False

    def add(self, line: Line) -> None:
        """Add a line; ValueError where it may not stand at this point of the output."""
        if isinstance(line, Header):
            if self.header is not None:
                raise ValueError("a second header")
            if line.version != VERSION:
                raise ValueError(f"its lines are version {line.version}, and this okosu reads version {VERSION}")
            self.header = line
        elif isinstance(line, Routine):
            self.routines.append(line)
        elif isinstance(line, Variant):
            self.variants.append(line)
        elif self.header is None:
            raise ValueError("no header before it")
        elif isinstance(line, Row):
            self.rows.append(line)
        elif isinstance(line, Absent):
            self.absent.append(line)
        else:
            self.notes.append(line.text)


def decode(text: bytes, program: str, number: int) -> Line:
    """Decode one line. OkosuError with the program, the line and the field where it is malformed."""
    try:
        return _DECODER.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise malformed(program, number, f"{error}") from error


def malformed(program: str, number: int, why: str) -> OkosuError:
    return OkosuError(
        f"{program}: line {number} of its output is not what okosu expects",
        why,
        "make build, so that the program and okosu are of one version; if they are, report this as a bug of okosu",
    )


def records(result: Result, machine: str = "") -> list[Record]:
    """One record for each row; `from_records` turns them back into rows."""
    seed = result.header.seed if result.header else 0
    return [_record(result.name, row, machine, seed) for row in result.rows]


def _record(bench: str, row: Row, machine: str, seed: int) -> Record:
    parameters: dict[str, str | float] = {
        "bench": bench,
        "routine": row.routine,
        "kind": row.kind,
        "library": row.library,
        "config": row.config,
        "n": row.n,
        "footprint": row.footprint,
        "place": row.place,
        "align": " ".join(map(str, row.align)),
        "mode": row.mode,
        "bytes_per_item": row.bytes_per_item,
        "flops_per_item": row.flops_per_item,
        "items": row.items,
        "dropped": row.dropped,
        "shared": row.shared,
        "point": row.point,
    }
    if row.extra:
        parameters["extra"] = json.dumps(row.extra, sort_keys=True, ensure_ascii=False)
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine=machine,
        subject=f"{bench} {row.routine}",
        variant=row.variant,
        stage="bench",
        metric="call",
        unit=row.unit,
        samples=list(row.samples),
        rounds=list(row.rounds),
        loads=list(row.loads),
        parameters=parameters,
        seed=seed,
    )


def from_records(found: Sequence[Record]) -> dict[str, list[Row]]:
    """The rows in the records of a bench, by bench; other records are left out."""
    by_bench: dict[str, list[Row]] = {}
    for record in found:
        if record.stage == "bench" and "bench" in record.parameters and "routine" in record.parameters:
            row = _row(record)
            if row is not None:
                by_bench.setdefault(str(record.parameters["bench"]), []).append(row)
    return by_bench


def _row(record: Record) -> Row | None:
    said: dict[str, Any] = {key: value for key, value in record.parameters.items() if key != "bench"}
    for key in ("n", "footprint", "items", "dropped", "shared", "point"):
        if isinstance(value := said.get(key), float) and value.is_integer():
            said[key] = int(value)
    columns = {"samples": record.samples, "rounds": record.rounds, "loads": record.loads}
    try:
        said["align"] = [int(offset) for offset in str(said.get("align", "")).split()]
        said["extra"] = json.loads(said.get("extra", "{}"))
        return msgspec.convert({**said, **columns, "unit": record.unit, "variant": record.variant, "type": "row"}, Row)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError):
        # A file that was altered by hand is shown as far as it makes sense.
        return None
