# SPDX-License-Identifier: Apache-2.0
"""The series uffd-unregister: what unregisters a range from a userfaultfd leaves no fault in it behind.

The tree's own tests of events meet a fault that is left behind now and then. Here they meet it each time: the kernel
waits at three places, so that the child's first fault after madvise() comes when the faults of the range were woken and
its VMAs still have their context. They fail so on the kernel as it is, and pass with the series. make test-lab-full.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lab import cache
from lab.kernel import series, source, tree
from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import mm_selftests, x86_guest
from lab.tests.long.base import BASE

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

NAME = "uffd-unregister"
# Where the kernel waits: in which file, the first place of this text after that one, and what it becomes.
UNREGISTER = "static int userfaultfd_unregister("
LOCK = "\tmmap_write_lock(mm);\n"
CLEAR = "\t\tvma = userfaultfd_clear_vma(&vmi, prev, vma,\n"
MADVISE = "\treturn do_madvise(current->mm, start, len_in, behavior);\n"
SLEEP = "\n\tif (behavior == MADV_DONTNEED || behavior == MADV_REMOVE)\n\t\tmsleep(10);\n\treturn error;\n"
WAITS = (
    # The monitor, before it takes the mmap lock, so that madvise() goes first, and between waking and clearing.
    ("userfaultfd.c", UNREGISTER, LOCK, f"\tmdelay(5);\n{LOCK}"),
    ("userfaultfd.c", UNREGISTER, CLEAR, f"\t\tmdelay(20);\n{CLEAR}"),
    # The child, between madvise() and its next fault.
    ("madvise.c", "SYSCALL_DEFINE3(madvise,", MADVISE, MADVISE.replace("return", "int error =") + SLEEP),
)
TIMES = 3
# Of anonymous memory, shared memory and hugetlbfs, plain and write-protected.
EVENTS = f"""
    cd "$0"; mount -t tmpfs tmpfs /mnt; echo {mm_selftests.PAGES} > /proc/sys/vm/nr_hugepages
    for turn in $(seq {TIMES}); do
        timeout {mm_selftests.EACH_S} ./uffd-unit-tests -f events 2>&1; echo "ended: $?"
    done
"""


def waits(applied: tuple[str, ...]) -> Built:
    """Return the base's kernel with the series `applied`, which waits as WAITS says."""
    x86_guest.kernel()
    found = source.find(base=BASE)
    of = [series.find(name, BASE) for name in applied]
    patched = tree.patched(found, of)

    def fill(folder: Path) -> None:
        subprocess.run(["cp", "-al", f"{patched}/.", folder], check=True)
        (unregisters,) = series.find(NAME, BASE).touched
        for name, function, place, waiting in WAITS:
            file = folder / (unregisters if name in unregisters else f"mm/{name}")
            before, begin, after = file.read_text().partition(function)
            assert place in after, (name, place)
            # The file is a link to that of the tree.
            file.unlink()
            file.write_text("#include <linux/delay.h>\n" + before + begin + after.replace(place, waiting, 1))

    key = cache.key("waits", found.version, [one.digest for one in of], WAITS)
    return qemu.build(series=(), base=BASE, source=cache.made("tree", key, fill))


def events(built: Built) -> tuple[list[str], str]:
    """Return the exit status of each turn of the tests of events, and all that they said."""
    command = ["bash", "-c", EVENTS, str(mm_selftests.build())]
    outcome = qemu.run(built, command, memory="1G", cpus=2, nodes=2, timeout=mm_selftests.TIMEOUT_S)
    assert x86_guest.complaints(outcome.log) == []
    said = outcome.stdout.decode(errors="replace")
    return [line.removeprefix("ended: ") for line in said.splitlines() if line.startswith("ended: ")], said


def test_without_it_a_fault_is_left_behind() -> None:
    statuses, said = events(waits(()))
    assert len(statuses) == TIMES
    assert "0" not in statuses
    assert said.count("ERROR: UFFDIO_COPY error: -2") == TIMES, said


def test_with_it_none_is() -> None:
    statuses, said = events(waits((NAME,)))
    assert statuses == ["0"] * TIMES, said
