# SPDX-License-Identifier: Apache-2.0
"""An x86-64 machine in QEMU: emulated (TCG) unless KVM is asked for, with the host's files as its root or with none."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.cache import Say, quiet
from lab.kernel import series
from lab.kernel.build import Builder, Built, Recipe
from lab.model import model_plugin
from lab.run import boot, guest, initramfs
from lab.run.job import OUT_ELSEWHERE, Job, guest_path
from lab.run.memory import size
from lab.run.outcome import STREAMS, GuestError, Heard, Outcome
from okosu.errors import LAUNCHER_FAILED, OkosuError

NAME = "x86"
# Arguments that run() has beyond those of every platform.
MACHINE = ("cpus", "nodes", "kvm", "exact", "model")
MEMORY = "512M"
TIMEOUT_S = 600.0
PROGRAM = "qemu-system-x86_64"
SEED = 7
# Everything that QEMU emulates, but RDRAND and RDSEED, which hand out the host's randomness.
CPU = "max,-rdrand,-rdseed"
KVM = Path("/dev/kvm")

RECIPE = Recipe(
    arch="x86",
    target="bzImage",
    kept=("arch/x86/boot/bzImage", "vmlinux", "System.map"),
    objects=1540,
    series=series.of_platform(NAME),
    fragments=("x86",),
)
build = Builder(RECIPE)
DOC = f"an x86-64 machine in QEMU; series: {', '.join(RECIPE.series)}"

# Names of the two 9p shares: the host's root, and the out folder.
_ROOT, _OUT = "okosu-root", "okosu-out"
_MIB = 1 << 20
# The kernel does not try the global timer: on a busy machine it panics, because too few ticks come while it waits.
_NO_TRIAL = "no_timer_check"
# Nor does it calibrate the local timers where instructions are counted. Like the trial this is a loop of PAUSE, each of
# which leaves the translated code there, so that half a second of the guest would take ten of the host.
_NOT_CALIBRATED = "noapictimer"
# The first "Code:" after the oops is that of the fault; it has the byte at the instruction pointer in angle brackets.
_KEPT_INT3 = re.compile(r"Oops: int3:(?:(?!Code:).)*Code: [0-9a-f ]*<(?!cc)[0-9a-f]{2}>", re.DOTALL)


@dataclass(frozen=True)
class Machine:
    """What the guest consists of.

    `memory` is in QEMU's notation. CPUs and memory are divided evenly among `nodes`. With `exact` two runs of one
    command are the same to its last instruction: time is counted in instructions, and nothing is read from the host
    before the command has ended. With `kvm` the host's processor runs the guest. `seed` decides the randomness of an
    emulated guest.
    """

    cpus: int = 1
    memory: str = MEMORY
    nodes: int = 1
    kvm: bool = False
    exact: bool = False
    seed: int = SEED


def run(
    built: Built,
    command: Sequence[str],
    *,
    kernel_args: Sequence[str] = (),
    timeout: float = TIMEOUT_S,
    memory: str = MEMORY,
    cpus: int = 1,
    nodes: int = 1,
    kvm: bool = False,
    exact: bool = False,
    model: str | model_plugin.Plugin | None = None,
    seed: int = SEED,
    out: Path | None = None,
    root: Path | None = None,
    files: Mapping[str, Path] | None = None,
    say: Say = quiet,
    on_data: boot.OnData | None = None,
) -> Outcome:
    """Boot the kernel, run `command` as root in it and return how it fared.

    Everything is as in uml.run() but with `exact`: then the root is in memory and holds the command's program, its
    libraries, the files that the command's words name and busybox, and the contents of OKOSU_OUT are copied to the
    host when the command has ended. With `model` the guest is exact, its accesses run through the memory hierarchy of
    the machine of that name (machines.py), and the counts are the file model_plugin.COUNTS of the outcome. Another
    plugin of QEMU can be given instead; its file is among the outcome's. With `files`, {absolute path in the guest:
    program of the host}, an exact guest does not depend on where the host keeps those programs nor on the current
    folder, which is / in it. `timeout` is in seconds of the host. For the machine see Machine. GuestError where the
    command did not come to its end.
    """
    machine = Machine(cpus, memory, nodes, kvm, exact or model is not None, seed)
    check_host(machine)
    plugged = model_plugin.plug(model, cpus, _node_bytes(machine), say) if isinstance(model, str) else model
    if files is not None and not machine.exact:
        why = "its root is the host's"
        raise OkosuError("only an exact guest has files of its own", why, "exact=True", LAUNCHER_FAILED)
    if machine.exact and root is not None:
        why = "its root is made in memory from this machine's files"
        raise OkosuError("an exact machine has no other root", why, "one of the two", LAUNCHER_FAILED)
    init = guest.program("init", say)

    def prepare(folder: Path, where: Path) -> boot.Start:
        # The name of the scratch folder differs in each run, and an exact guest must not see it: the hash of a name
        # decides how many instructions its look-up takes.
        inside = OUT_ELSEWHERE if machine.exact and out is None else where
        cwd = Path.cwd() if files is None else Path("/")
        job = Job(list(command), cwd, inside, root, chroot=root is not None)
        _write_job(folder, job, init, machine, files or {})
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder / "work")}
        plugin = plugged.arguments(folder) if plugged else []
        return boot.Start(lambda fds: [*arguments(built, folder, fds, machine, where, kernel_args), *plugin], env)

    try:
        return boot.run(prepare, _no_reason, out=out, timeout=timeout, on_data=on_data)
    except GuestError as error:
        if machine.exact or machine.kvm or not kept_an_int3(error.heard):
            raise
    say("QEMU executed an int3 that the kernel had replaced, before the command began: it is booted once more")
    return boot.run(prepare, _no_reason, out=out, timeout=timeout, on_data=on_data)


def kept_an_int3(heard: Heard) -> bool:
    """Say whether the guest ended before the command began, by the fault of the emulator's that lab/README.md tells of:
    the kernel met an int3 where its memory holds another byte.
    """
    return not heard.started and _KEPT_INT3.search(heard.log) is not None


def _no_reason(_: Heard) -> GuestError | None:
    """This platform has no reasons for failure beyond those of every platform."""
    return None


def _write_job(folder: Path, job: Job, init: Path, machine: Machine, files: Mapping[str, Path]) -> None:
    if not machine.exact:
        job.write(folder, init)
        with (folder / "job").open("ab") as file:
            file.write(f"share={_OUT}\0".encode())
        return
    text = job.encode() + f"share-at-end={_OUT}\0".encode()
    (folder / "initramfs").write_bytes(initramfs.packed(init, text, job.command, job.cwd, files))


def check_host(machine: Machine) -> None:
    """Raise OkosuError (125) where this host cannot run `machine`, or no machine can be like that."""
    if not shutil.which(PROGRAM):
        raise OkosuError(
            f"{PROGRAM} is missing",
            "the platform x86 is a machine that QEMU emulates",
            "make lab-deps, or apt-get install qemu-system-x86   (as root)",
            LAUNCHER_FAILED,
        )
    if machine.kvm and not os.access(KVM, os.R_OK | os.W_OK):
        why = "this user may not open it" if KVM.exists() else "it is not there: no KVM on this machine"
        raise OkosuError("/dev/kvm cannot be used", why, "the same without --kvm: emulated, slower", LAUNCHER_FAILED)
    if machine.kvm and machine.exact:
        raise OkosuError(
            "a machine under KVM is not exact", "KVM does not count instructions", "one of the two", LAUNCHER_FAILED
        )
    if not 1 <= machine.nodes <= machine.cpus:
        raise OkosuError(
            f"{machine.nodes} nodes cannot have {machine.cpus} CPUs",
            "every node has one CPU at least",
            "--cpus with as many as --nodes",
            LAUNCHER_FAILED,
        )


def arguments(
    built: Built,
    folder: Path,
    fds: Mapping[str, int],
    machine: Machine,
    out: Path,
    kernel_args: Sequence[str],
) -> list[str]:
    """Return the argv that boots `built` with the job in `folder`; its streams go to the file descriptors `fds`."""
    kernel = ["console=ttyS3", "panic=-1", "nokaslr", "norandmaps", "tsc=reliable"]
    kernel += [_NOT_CALIBRATED, _NO_TRIAL] if machine.exact else [_NO_TRIAL]
    if machine.exact:
        files = ["-initrd", str(folder / "initramfs")]
    else:
        files = _share("root", Path("/"), _ROOT, ",readonly=on,multidevs=remap")
        kernel += [f"root={_ROOT}", "rootfstype=9p", "ro"]
        kernel += ["rootflags=trans=virtio,version=9p2000.L,msize=262144,cache=loose", f"init={guest_path(folder)}"]
    return [
        PROGRAM,
        *("-nodefaults", "-display", "none", "-no-reboot", "-nic", "none"),
        *_processor(machine),
        *_layout(machine),
        *_lines(fds),
        *("-kernel", str(built.path / "bzImage")),
        *files,
        *_share("out", out, _OUT, ""),
        *("-append", " ".join([*kernel, *kernel_args])),
    ]


def _processor(machine: Machine) -> list[str]:
    if machine.kvm:
        return ["-accel", "kvm", "-cpu", "host"]
    cpu = ["-cpu", CPU, "-seed", str(machine.seed)]
    if not machine.exact:
        return ["-accel", f"tcg,thread={'multi' if machine.cpus > 1 else 'single'}", *cpu]
    time_ = ["-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]
    return ["-accel", "tcg,thread=single", *cpu, *time_]


def _node_bytes(machine: Machine) -> list[int]:
    """Return the bytes of each node's memory, rounded down to whole MiB."""
    return [size(machine.memory) // _MIB // machine.nodes * _MIB] * machine.nodes


def _layout(machine: Machine) -> list[str]:
    words = ["-m", machine.memory, "-smp", str(machine.cpus)]
    if machine.nodes == 1:
        return words
    each = _node_bytes(machine)[0] // _MIB
    words[1] = f"{each * machine.nodes}M"
    for node in range(machine.nodes):
        first, last = (n * machine.cpus // machine.nodes for n in (node, node + 1))
        words += ["-object", f"memory-backend-ram,id=node{node},size={each}M"]
        words += ["-numa", f"node,nodeid={node},memdev=node{node},cpus={first}-{last - 1}"]
    return words


def _lines(fds: Mapping[str, int]) -> list[str]:
    """Return the options for the serial lines: the command's two, the first process's, and the kernel's own."""
    # append=on: otherwise QEMU would try to truncate the pipe.
    words = []
    for number, stream in enumerate(STREAMS, 1):
        words += ["-add-fd", f"fd={fds[stream]},set={number}"]
        words += ["-chardev", f"file,id={stream},path=/dev/fdset/{number},append=on", "-serial", f"chardev:{stream}"]
    return words


def _share(name: str, folder: Path, tag: str, more: str) -> list[str]:
    path = str(folder).replace(",", ",,")
    return [
        *("-fsdev", f"local,id={name},path={path},security_model=none{more}"),
        *("-device", f"virtio-9p-pci,fsdev={name},mount_tag={tag}"),
    ]
