# SPDX-License-Identifier: Apache-2.0
"""The machines whose memory hierarchy the model simulates: lab/model/machines/NAME.toml, a source for each number."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import msgspec

from okosu.errors import USAGE_ERROR, OkosuError

# The first word of a source: what was done to know the number.
KINDS = ("read", "recalled", "derived", "assumed")


class Cache(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A level of cache; `cycles` from a load to its use, `rows` {bit of the set number: mask of the address bits}."""

    name: str
    bytes: int
    ways: int
    line: int
    replacement: str
    fill: str
    shared: bool
    cycles: int
    rows: dict[str, int] = {}


class Tlb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TLB; `pages` are the sizes it holds, `cycles` what a translation found there costs beyond the first level."""

    level: int
    pages: str
    entries: int
    ways: int
    replacement: str
    cycles: int


class Memory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Memory: cycles from a load to its use."""

    cycles: int


class Walk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page walk: what it costs, in cycles, by page size."""

    cycles_4k: int
    cycles_2m: int


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine as its file describes it; `sources` has an entry for each of source_keys()."""

    name: str
    note: str
    hertz: int
    instructions_per_cycle: int
    kernel_pages: str
    cache: list[Cache]
    memory: Memory
    tlb: list[Tlb]
    walk: Walk
    sources: dict[str, str]

    def shape(self, cpus: int, seed: int) -> str:
        """Return the text that tells the model what to simulate (model/core/shape.h)."""
        lines = ["okosu-model 1", f"seed {seed}", f"cpus {cpus}", f"kernel-pages {self.kernel_pages}"]
        for cache in self.cache:
            sharing = "shared" if cache.shared else "private"
            words = (cache.bytes, cache.ways, cache.line, cache.replacement, cache.fill, sharing)
            lines.append(f"cache {' '.join(map(str, words))}")
            lines += [f"row {bit} {mask:#x}" for bit, mask in cache.rows.items()]
            # The first level is left out: the colour of a page has no influence on where a line lies in it.
            lines += ["full-lru"] if cache is not self.cache[0] else []
        for tlb in self.tlb:
            lines.append(f"tlb {tlb.level} {tlb.entries} {tlb.ways} {tlb.replacement} {tlb.pages}")
        return "\n".join(lines) + "\n"

    def source_keys(self) -> set[str]:
        """Return the keys that `sources` must have."""
        keys = {"hertz", "instructions_per_cycle", "kernel_pages", "memory.cycles", "walk.cycles"}
        for cache in self.cache:
            keys |= {f"cache.{cache.name}.{what}" for what in ("size", "replacement", "fill", "cycles")}
            keys |= {f"cache.{cache.name}.rows"} if cache.rows else set()
        return keys | {f"tlb.{tlb.level}.{tlb.pages}" for tlb in self.tlb}


def model_folder() -> Path:
    """Return the folder of the plugin's sources and machines: lab/model, or what OKOSU_MODEL names."""
    return Path(os.environ.get("OKOSU_MODEL") or Path(__file__).parent)


def names() -> list[str]:
    return sorted(path.stem for path in (model_folder() / "machines").glob("*.toml"))


def find(name: str) -> Machine:
    """Return the machine called `name`; OkosuError (2) if there is none, or its file is not as it should be."""
    path = model_folder() / "machines" / f"{name}.toml"
    if name not in names():
        known = ", ".join(names())
        raise OkosuError(f"no machine is called {name!r}", f"the machines are {known}", "--machine NAME", USAGE_ERROR)
    return parse(path.read_text(), str(path))


def parse(text: str, where: str) -> Machine:
    """Return the machine that `text` describes; OkosuError (2) names `where` and what is wrong there."""
    try:
        machine = msgspec.convert(tomllib.loads(text), Machine)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise _wrong(where, str(error)) from error
    if missing := machine.source_keys() - machine.sources.keys():
        raise _wrong(where, f"no source for {', '.join(sorted(missing))}")
    if unknown := machine.sources.keys() - machine.source_keys():
        raise _wrong(where, f"sources for what is not there: {', '.join(sorted(unknown))}")
    if vague := [key for key, source in machine.sources.items() if not source.startswith(KINDS)]:
        raise _wrong(where, f"a source begins with {', '.join(KINDS)}: {', '.join(vague)}")
    return machine


def _wrong(where: str, why: str) -> OkosuError:
    return OkosuError(
        f"{where} does not describe a machine", why, "lab/model/README.md says what it holds", USAGE_ERROR
    )
