# SPDX-License-Identifier: Apache-2.0
"""The JSON that commands of the lab write, as types; schemas/ is generated from them."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from lab.model.machines import Machine
from lab.model.plugin_counts import Counts


class CacheFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-cache/1"):
    """What `okosu lab cache --json` writes: the folder, and the bytes of each thing in it."""

    folder: str
    bytes: dict[str, int]


class BuiltKernel(msgspec.Struct, kw_only=True):
    """A kernel: its base and version, its compiler, what it was made from, the key and the folder of it in the cache.

    A record without `base` was written when there was but one.
    """

    base: str = "6.12"

    kernel: str
    compiler: str
    series: list[str]
    fragments: list[str]
    key: str
    path: str


class BuildFile(BuiltKernel, tag_field="schema", tag="okosu.lab-build/1"):
    """What `okosu lab build --json` writes of a platform with a kernel."""


class InstallFile(BuiltKernel, kw_only=True, tag_field="schema", tag="okosu.lab-install/1"):
    """What `okosu lab install` writes beside the file and to --json: the kernel, the file, and its SHA-256 digest."""

    file: str
    sha256: str


class PackageFile(BuiltKernel, kw_only=True, tag_field="schema", tag="okosu.lab-package/1"):
    """What `okosu lab package --json` writes: the kernel, the name that uname -r says, the configuration that it was
    built on, and each package with its SHA-256 digest, the kernel's first."""

    release: str
    config: str
    packages: dict[str, str]


class ListedSeries(msgspec.Struct):
    """A series on one base, and how many patches it has there."""

    name: str
    base: str
    patches: int


class SeriesFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-series/1"):
    """What `okosu lab series --json` writes."""

    series: list[ListedSeries]


class MailsFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-mails/1"):
    """What `okosu lab series NAME --format DIR --json` writes: who the mails are by, the commit that they are based on,
    which is empty where the tree was no tree of git's, and their files, the cover letter first."""

    name: str
    base: str
    author: str
    base_commit: str
    mails: list[str]


class ModelledMachine(Machine, frozen=True, kw_only=True):
    """The machine that the memory-hierarchy model simulated; `id` names its file in lab/model/machines."""

    id: str


class ModelledRegion(msgspec.Struct, kw_only=True):
    """A region as lab.model.plugin_counts.Region has it, and what it costs on the machine (10^6 bytes a second)."""

    what: str
    label: int
    cpu: int
    broken: int
    user: Counts
    kernel: Counts
    cycles: float
    seconds: float
    mb_per_s: float


class Modelled(msgspec.Struct):
    """What the memory-hierarchy model counted (`--machine NAME`); `lacks` says what it leaves out."""

    machine: ModelledMachine
    lacks: str
    regions: list[ModelledRegion]


class RunFile(msgspec.Struct, kw_only=True, tag_field="schema", tag="okosu.lab-run/1"):
    """What `okosu lab run --json` writes of a platform with a kernel; lab.run.outcome.Outcome says what the fields are.

    `memory` is null where none was asked for. Only `--json -` adds what the command and the kernel printed.
    """

    platform: str
    built: BuiltKernel
    kernel_args: list[str]
    memory: str | None
    command: list[str]
    status: int
    signal: int | None
    boot_seconds: float
    seconds: float
    files: list[str]
    model: Modelled | UnsetType = UNSET
    stdout: str | UnsetType = UNSET
    stderr: str | UnsetType = UNSET
    log: str | UnsetType = UNSET


def kinds() -> list[type[msgspec.Struct]]:
    """Return the types of all files, for okosu.records.schema."""
    return [CacheFile, BuildFile, InstallFile, PackageFile, SeriesFile, MailsFile, RunFile]
