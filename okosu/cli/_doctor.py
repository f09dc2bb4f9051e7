# SPDX-License-Identifier: Apache-2.0
"""A machine in words: rows of (label, lines) for a person to read, each line at most a sentence."""

from __future__ import annotations

from okosu.levers.base import SHARED_OFF, SHARED_ON
from okosu.machine.model import Cache, Machine, Node, Pool
from okosu.machine.parse import show_cpulist
from okosu.report.formats import counted, size

Rows = list[tuple[str, list[str]]]

_TYPES = {"Data": "d", "Instruction": "i", "Unified": ""}
_PERF = {
    -1: "everything is allowed",
    0: "all but raw tracepoints is allowed",
    1: "own processes, with the kernel's part",
    2: "own processes, user space only",
}
_OVERCOMMIT = {0: "heuristic", 1: "always granted", 2: "never beyond the limit"}
_PTRACE = {0: "own processes", 1: "own children", 2: "with CAP_SYS_PTRACE only", 3: "nobody"}
_SECCOMP = {0: "off", 1: "strict", 2: "filter"}


def rows(m: Machine) -> Rows:
    """What is known of the machine, in the order of reading."""
    return [
        ("CPU", _cpu(m)),
        ("Caches", _caches(m)),
        ("NUMA", _numa(m)),
        ("Memory", _memory(m)),
        ("Huge pages", _huge(m)),
        ("Rights", _rights(m)),
        ("Limits", _limits(m)),
        ("Virtual", _virtual(m)),
        ("GPU, OpenCL", _gpu(m)),
        ("Software", [f"Linux {m.kernel or 'unknown'}, glibc {m.glibc or 'unknown'}"]),
        ("Now", _now(m)),
    ]


def _kib(kb: int) -> str:
    return size(kb * 1024)


def _cpu(m: Machine) -> list[str]:
    labels = ("family", "model", "stepping")
    numbers = zip(labels, (m.family, m.model_number, m.stepping), strict=True)
    parts = [f"{label} {value}" for label, value in numbers if value is not None]
    parts += [f"microcode {m.microcode}"] if m.microcode else []
    name = m.model or "unknown processor"
    maker = " ".join([m.vendor or "unknown vendor", ", ".join(parts)])
    lines = [f"{name}, {m.arch or 'unknown architecture'}", maker]
    smt = f"{counted(len(m.cpus), 'thread')} (SMT)" if m.smt else "no SMT"
    lines.append(f"{counted(m.packages, 'package')}, {counted(m.cores, 'core')}, {smt}")
    allowed = m.cpus_allowed
    whole = "all" if allowed == m.cpus_online else show_cpulist(allowed)
    lines.append(f"CPUs online {show_cpulist(m.cpus_online) or 'unknown'}; this process may use {whole}")
    clock = [f"governor {m.governor}"] if m.governor else []
    if m.turbo is not None:
        clock.append(f"turbo {'on' if m.turbo else 'off'}")
    if m.state.throttles is not None:
        clock.append(f"throttled by heat {counted(m.state.throttles, 'time')}")
    return [*lines, "; ".join(clock)] if clock else lines


def _caches(m: Machine) -> list[str]:
    if not m.caches:
        return ["unknown"]
    lines = ", ".join(str(n) for n in sorted({c.line for c in m.caches if c.line})) or "unknown size"
    note = f"lines of {lines} B; colours: sets x line / page, unless hashed"
    return [*(_cache(c) for c in m.caches), note]


def _cache(c: Cache) -> str:
    name = f"L{c.level}{_TYPES.get(c.type, ' ' + c.type)}"
    shape = f"{c.ways:>2} ways  {c.sets:>6} sets" if c.ways and c.sets else "geometry unknown"
    colours = f"{counted(c.colours, 'colour'):>11}" if c.colours else ""
    sizes = sorted({len(group) for group in c.shared_cpus})
    each = "-".join(str(n) for n in sorted({sizes[0], sizes[-1]}))
    return f"{name:<3} {size(c.size):>8}  {shape}  {colours}  {len(c.shared_cpus)} x {each} CPU" + "s" * (sizes[-1] > 1)


def _numa(m: Machine) -> list[str]:
    if not m.nodes:
        return ["the kernel knows no nodes"]
    allowed = m.rights.mems
    lines = [_node(n, len(m.nodes) > 1) for n in m.nodes]
    if allowed and not {n.number for n in m.nodes} <= set(allowed):
        lines.append(f"this process may use memory of node {show_cpulist(allowed)} only")
    return lines


def _node(n: Node, several: bool) -> str:
    text = f"node {n.number}: CPUs {show_cpulist(n.cpus) or 'none'}; {_of(n.free_kb, n.total_kb)} free"
    return f"{text}; distances {' '.join(map(str, n.distances))}" if several and n.distances else text


def _of(part_kb: int, whole_kb: int) -> str:
    part, whole = _kib(part_kb).split(), _kib(whole_kb).split()
    return f"{part[0]} of {' '.join(whole)}" if part[1] == whole[1] else f"{' '.join(part)} of {' '.join(whole)}"


def _memory(m: Machine) -> list[str]:
    mem = m.memory
    swap = _kib(mem.swap_total_kb) if mem.swap_total_kb else "none"
    lines = [f"{_kib(mem.total_kb)}, {_kib(mem.available_kb)} available; swap {swap}"]
    granted = _OVERCOMMIT.get(-1 if m.rights.overcommit is None else m.rights.overcommit, "unknown")
    lines.append(f"pages of {size(m.page_size)}; overcommit {granted}")
    order = max(0, ((m.thp.pmd_size or 2 << 20) // m.page_size).bit_length() - 1)
    free = sum(n << i for zone in m.state.buddy.values() for i, n in enumerate(zone))
    if free:
        large = sum(n << i for zone in m.state.buddy.values() for i, n in enumerate(zone) if i >= order)
        lines.append(f"{100 * large / free:.0f} % of the free memory lies in blocks of {_unit(m)} and more")
    return lines


def _unit(m: Machine) -> str:
    return size(m.thp.pmd_size or 2 << 20)


def _huge(m: Machine) -> list[str]:
    thp = m.thp
    if not thp.enabled:
        lines = ["this kernel has no transparent huge pages"]
    else:
        lines = [f"transparent: {thp.enabled}, of {_unit(m)}; defrag {thp.defrag or 'unknown'}"]
        if thp.max_ptes_none is not None:
            lines.append(f"khugepaged fills in at most {thp.max_ptes_none} missing pages (max_ptes_none)")
        lines += _by_size("by size", thp.sizes)
        if thp.shmem:
            lines.append(
                f"shared memory: {thp.shared}"
                + (f"; fix: {SHARED_ON} (needs root)" if thp.shared in SHARED_OFF else "")
            )
            lines += _by_size("shared memory by size", thp.shmem_sizes)
    if m.rights.thp_disabled:
        lines.append("switched off for this process (PR_SET_THP_DISABLE)")
    lines += [_pool(pool) for pool in m.pools] or ["no hugetlb pools"]
    return lines


def _by_size(label: str, sizes: dict[str, str]) -> list[str]:
    """The sizes of pages that the kernel offers; of those that are off, and of the whole huge page where it is as told
    before, no more than that there are such.
    """
    on = [f"{_kib(int(kb))} {setting}" for kb, setting in sizes.items() if setting not in ("never", "inherit")]
    off = sorted(int(kb) for kb, setting in sizes.items() if setting == "never")
    shown = [*on, f"{_kib(off[0])} to {_kib(off[-1])} never"] if len(off) > 1 else on
    return [f"{label}: {', '.join(shown)}"] if shown else []


def _pool(pool: Pool) -> str:
    text = f"hugetlb pool of {_kib(pool.size_kb)} pages: {pool.total}, {pool.free} free"
    text += f", {pool.reserved} reserved" if pool.reserved else ""
    return f"{text}, {pool.overcommit} more on demand" if pool.overcommit else text


def _rights(m: Machine) -> list[str]:
    r = m.rights
    held = ", ".join(f"CAP_{name}" for name in r.capabilities) or "no capability that okosu could use"
    user = "unknown user" if r.uid is None else "root" if r.uid == 0 else f"user {r.uid}"
    place = "" if r.initial_userns else ", within a user namespace only"
    lines = [f"{user}; {held}{place}"]
    seccomp = "unknown" if r.seccomp is None else _SECCOMP.get(r.seccomp, str(r.seccomp))
    lines.append(f"seccomp {seccomp}; no_new_privs {_yes(r.no_new_privs)}")
    if r.perf_event_paranoid is None:
        lines.append("perf: the kernel has no performance events")
    else:
        means = _PERF.get(max(-1, r.perf_event_paranoid), "nothing without CAP_PERFMON")
        lines.append(f"perf: perf_event_paranoid {r.perf_event_paranoid}: {means}")
    scope = "own processes (no Yama)" if r.ptrace_scope is None else _PTRACE.get(r.ptrace_scope, "unknown")
    frames = {True: "frame numbers can be seen", False: "frame numbers are hidden", None: "unknown"}[r.pagemap]
    return [*lines, f"ptrace: {scope}; pagemap: {frames}"]


def _yes(value: bool | None) -> str:
    return {True: "on", False: "off", None: "unknown"}[value]


def _limits(m: Machine) -> list[str]:
    lim = m.limits
    alone = "nice counts only within a session (sched_autogroup), and keeps no other one's load from a trial"
    notes = [alone] if m.autogroup else []
    if not lim.version:
        return ["no control groups", *notes]
    if lim.cpu_max is not None and lim.cpu_max < len(m.cpus_allowed):
        notes.insert(0, "programs that start a thread for each CPU are halted when this time is used up")
    parts = [f"memory {size(lim.memory_max)}" if lim.memory_max is not None else "memory unlimited"]
    parts.append(f"time of {lim.cpu_max:.3g} CPUs" if lim.cpu_max is not None else "time unlimited")
    if lim.cpuset_cpus:
        parts.append(f"CPUs {show_cpulist(lim.cpuset_cpus)}")
    if lim.cpuset_mems:
        parts.append(f"nodes {show_cpulist(lim.cpuset_mems)}")
    return [f"cgroup v{lim.version}: {'; '.join(parts)}", *notes]


def _virtual(m: Machine) -> list[str]:
    v = m.virtual
    names = {"": "no hypervisor seen", "unknown": "a virtual machine, hypervisor unknown"}
    where = names.get(v.hypervisor, f"a virtual machine under {v.hypervisor}")
    lines = [where + (f", in a container ({v.container})" if v.container else ", no container")]
    if m.state.steal_ticks:
        lines.append(f"{m.state.steal_ticks} ticks of CPU time stolen since boot")
    lazy = f"memory may be backed lazily: {v.lazy_why}" if v.lazy_memory else "memory is there before it is touched"
    return [*lines, lazy]


def _gpu(m: Machine) -> list[str]:
    a = m.accelerators
    cards = f"{', '.join(a.devices) or 'no GPU device'}" + (f" ({', '.join(a.vendors)})" if a.vendors else "")
    opencl = f"OpenCL drivers: {', '.join(a.opencl_vendors) or 'none'}"
    return [cards, opencl, *([f"libraries: {', '.join(a.libraries)}"] if a.libraries else [])]


def _now(m: Machine) -> list[str]:
    s = m.state
    load = " ".join(f"{x:.2f}" for x in s.load) or "unknown"
    stalls = ", ".join(f"{name} {p.some_avg10:.1f} %" for name, p in s.pressure.items())
    return [f"load {load}; stalls (PSI, 10 s): {stalls or 'unknown'}"]
