# SPDX-License-Identifier: Apache-2.0
"""A guest in Bochs, which emulates AVX-512 (QEMU does not), whose init runs commands and prints their output."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from lab.kernel.build import Built
from lab.tests.long import numa_guest

TOOLS = ("bochs", "grub-mkrescue", "xorriso", "mformat", "busybox", "cpio")
BIOS = Path("/usr/share/bochs/BIOS-bochs-latest")
VGA = Path("/usr/share/bochs/VGABIOS-lgpl-latest")

# Of the state that XSAVE keeps Bochs 2.7 tells sizes that Linux takes for wrong, and then Linux does without AVX: they
# are right without protection keys and in the standard format. Its timers are too few for Linux's trials of them.
KERNEL = "console=ttyS0 quiet panic=-1 clearcpuid=pku,xsavec,xsaves no_timer_check noapictimer lpj=1000000 tsc=reliable"
GRUB = f"set timeout=0\nmenuentry guest {{\n linux /boot/kernel {KERNEL}\n initrd /boot/initramfs\n}}\n"
# Ice Lake: Skylake's vectors of 512 bits are not taken unasked (native/src/choose/isa.h).
MACHINE = """cpu: model=corei7_icelake_u, count=1, ips=200000000, reset_on_triple_fault=0
megs: 512
romimage: file={bios}
vgaromimage: file={vga}
ata0-master: type=cdrom, path={folder}/disc, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={folder}/serial
display_library: rfb, options="timeout=0"
panic: action=fatal
log: {folder}/log
clock: sync=none, time0=946684800
"""


def missing() -> list[str]:
    """Return what a run needs and is not here."""
    return [tool for tool in TOOLS if not shutil.which(tool)] + [str(file) for file in (BIOS, VGA) if not file.exists()]


def run(built: Built, folder: Path, programs: dict[str, Path], commands: dict[str, str]) -> dict[str, str]:
    """Boot the guest from a disc made in `folder`; return the output of each command (shell), by the command's name."""
    boot = folder / "files" / "boot"
    (boot / "grub").mkdir(parents=True)
    shutil.copy(built.path / "bzImage", boot / "kernel")
    shutil.copy(numa_guest.initramfs(folder, programs, commands), boot / "initramfs")
    (boot / "grub" / "grub.cfg").write_text(GRUB)
    subprocess.run(["grub-mkrescue", "-o", folder / "disc", boot.parent], check=True, capture_output=True)
    (folder / "machine").write_text(MACHINE.format(folder=folder, bios=BIOS, vga=VGA))
    # Debian builds Bochs with its debugger, which waits for a command before the first instruction.
    (folder / "debugger").write_text("c\n")
    command = ["bochs", "-q", "-f", folder / "machine", "-rc", folder / "debugger"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    serial = folder / "serial"
    return numa_guest.answers(serial.read_text() if serial.exists() else "", done.stdout + done.stderr)
