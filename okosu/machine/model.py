# SPDX-License-Identifier: Apache-2.0
"""What a machine is. Facts only: unknown numbers are None or 0, unknown texts and lists are empty; no judgement here.

Sizes end in their unit (`_kb` is KiB); everything else in bytes says so. No hostname, serial number or address is kept.
"""

from __future__ import annotations

import msgspec


class Cache(msgspec.Struct, frozen=True):
    """One kind of cache. Sizes in bytes."""

    level: int
    type: str
    """Data, Instruction or Unified."""
    size: int
    line: int = 0
    ways: int = 0
    sets: int = 0
    colours: int = 0
    """sets x line / page size: nominal, for a part that hashes its index has no such colours."""
    shared_cpus: list[list[int]] = []
    """The CPUs that share it, one list for each cache of the kind."""


class Cpu(msgspec.Struct, frozen=True):
    """One online CPU and where it sits; -1 where the kernel does not say."""

    number: int
    core: int = -1
    package: int = -1
    node: int = -1
    siblings: list[int] = []
    """The CPUs of the same core, itself included."""


class Node(msgspec.Struct, frozen=True):
    """One NUMA node; `distances` in the order of the machine's nodes."""

    number: int
    cpus: list[int] = []
    total_kb: int = 0
    free_kb: int = 0
    distances: list[int] = []


class Pool(msgspec.Struct, frozen=True):
    """The hugetlb pool of one page size; counts in pages."""

    size_kb: int
    total: int = 0
    free: int = 0
    reserved: int = 0
    overcommit: int = 0


class Thp(msgspec.Struct, frozen=True):
    """Transparent huge pages; `enabled` is "" where the kernel has none."""

    enabled: str = ""
    defrag: str = ""
    max_ptes_none: int | None = None
    pmd_size: int = 0
    """Bytes of a huge page."""
    sizes: dict[str, str] = {}
    """Setting by size in KiB, where the kernel has one for each (6.8 and later)."""
    shmem: str = ""
    """Setting for shared memory (anonymous, memfd_create, System V): "" where the kernel has none."""
    shmem_sizes: dict[str, str] = {}
    """The same by size in KiB (6.11 and later)."""

    @property
    def shared(self) -> str:
        """The setting for shared memory as it holds for whole huge pages."""
        own = self.shmem_sizes.get(str(self.pmd_size // 1024), "inherit")
        return self.shmem if own == "inherit" else own

    @property
    def mode(self) -> str:
        """The mode as it holds for whole huge pages: always, madvise or never; "" where the kernel has no transparent
        ones.
        """
        own = self.sizes.get(str(self.pmd_size // 1024), "inherit")
        return self.enabled if own == "inherit" or not self.enabled else own


class Memory(msgspec.Struct, frozen=True):
    """Main memory in KiB."""

    total_kb: int = 0
    free_kb: int = 0
    available_kb: int = 0
    swap_total_kb: int = 0
    swap_free_kb: int = 0


class Limits(msgspec.Struct, frozen=True):
    """What the control groups of this process allow: the smallest over all its ancestors; None is unlimited."""

    version: int = 0
    """2, 1, or 0 where there are none."""
    memory_max: int | None = None
    """Bytes."""
    cpu_max: float | None = None
    """CPUs' worth of time."""
    cpuset_cpus: list[int] = []
    cpuset_mems: list[int] = []


class Rights(msgspec.Struct, frozen=True):
    """What this process may do."""

    uid: int | None = None
    capabilities: list[str] = []
    """Of SYS_NICE, SYS_PTRACE, SYS_ADMIN and IPC_LOCK, those in effect."""
    initial_userns: bool = True
    """Whether its capabilities count outside a user namespace."""
    seccomp: int | None = None
    """0 off, 1 strict, 2 filter."""
    no_new_privs: bool | None = None
    perf_event_paranoid: int | None = None
    ptrace_scope: int | None = None
    """Of Yama; None where there is no Yama."""
    pagemap: bool | None = None
    """Whether page frame numbers can be seen."""
    overcommit: int | None = None
    cpus: list[int] = []
    mems: list[int] = []
    thp_disabled: bool = False
    """Whether huge pages are switched off for it by PR_SET_THP_DISABLE, which children inherit."""


class Virtual(msgspec.Struct, frozen=True):
    """Virtualisation. `hypervisor` is "" on bare metal and "unknown" where only its presence is known."""

    hypervisor: str = ""
    container: str = ""
    lazy_memory: bool = False
    """Whether the host may back memory only when it is first touched, and take it back."""
    lazy_why: str = ""


class Accelerators(msgspec.Struct, frozen=True):
    """GPUs and the libraries to use them, by presence of files; nothing is loaded."""

    devices: list[str] = []
    vendors: list[str] = []
    """Of the cards under /dev/dri."""
    opencl_vendors: list[str] = []
    libraries: list[str] = []


class Pressure(msgspec.Struct, frozen=True):
    """PSI of one resource: per cent of the last 10 s, and microseconds since boot."""

    some_avg10: float = 0.0
    some_us: int = 0
    full_avg10: float = 0.0
    full_us: int = 0


class State(msgspec.Struct, frozen=True):
    """The part that changes from minute to minute."""

    available_kb: int = 0
    free_kb: int = 0
    free_huge: dict[str, int] = {}
    """Free pages of each hugetlb pool, by size in KiB."""
    buddy: dict[str, list[int]] = {}
    """Free blocks by order, for each "node zone"."""
    pressure: dict[str, Pressure] = {}
    load: list[float] = []
    steal_ticks: int | None = None
    throttles: int | None = None
    """Thermal throttle events since boot, over all CPUs; None where the kernel does not count them."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as this process sees it."""

    id: str = ""
    """Hash of the machine's kind (okosu/machine/kinds.py)."""
    root: str = "/"
    """Where it was read; anything but "/" is a captured machine."""
    model: str = ""
    vendor: str = ""
    family: int | None = None
    model_number: int | None = None
    stepping: int | None = None
    microcode: str = ""
    arch: str = ""
    page_size: int = 4096
    cpus_online: list[int] = []
    cpus: list[Cpu] = []
    caches: list[Cache] = []
    nodes: list[Node] = []
    governor: str = ""
    turbo: bool | None = None
    autogroup: bool | None = None
    """Whether the scheduler groups the threads of each session, so that nice counts only among those of one."""
    kernel: str = ""
    glibc: str = ""
    thp: Thp = Thp()
    pools: list[Pool] = []
    memory: Memory = Memory()
    limits: Limits = Limits()
    rights: Rights = Rights()
    virtual: Virtual = Virtual()
    accelerators: Accelerators = Accelerators()
    state: State = State()

    @property
    def cpus_allowed(self) -> list[int]:
        return [c for c in self.rights.cpus if c in self.cpus_online] or self.cpus_online

    @property
    def packages(self) -> int:
        return len({c.package for c in self.cpus})

    @property
    def cores(self) -> int:
        """The number of cores that have a CPU online."""
        return len({tuple(c.siblings) or (c.number,) for c in self.cpus})

    @property
    def smt(self) -> bool:
        """Say whether any core runs more than one thread."""
        return any(len(c.siblings) > 1 for c in self.cpus)

    @property
    def memory_nodes(self) -> list[int]:
        """The NUMA nodes that have memory and from which this process may allocate."""
        allowed = self.rights.mems
        return [n.number for n in self.nodes if n.total_kb > 0 and (not allowed or n.number in allowed)]

    @property
    def glibc_version(self) -> tuple[int, ...]:
        """glibc's version as numbers, () where unknown."""
        parts = self.glibc.split(".")
        return tuple(int(p) for p in parts) if all(p.isdecimal() for p in parts) else ()
