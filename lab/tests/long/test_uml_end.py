# SPDX-License-Identifier: Apache-2.0
"""However a guest under User-Mode Linux ends, nothing of it is left: make test-lab."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import uml
from lab.run.outcome import GuestError, Outcome
from lab.tests.long.uml_guest import OKOSU, ROOT, built, gone, kernels, scratch, shell

__all__ = ["built", "scratch"]

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


def test_background_processes_do_not_keep_the_guest(built: Built) -> None:
    outcome = shell(built, "sleep 600 & echo started")
    assert (outcome.status, outcome.stdout) == (0, b"started\n")


def test_over_time_no_process_is_left(built: Built) -> None:
    # A busy machine may not have booted the guest in the first of these times.
    for seconds in (6, 60, 600):
        with pytest.raises(GuestError) as caught:
            shell(built, "sleep 600 & while :; do :; done", timeout=seconds)
        if caught.value.heard.started:
            break
    assert f"did not end within {seconds} s" in caught.value.what


def test_a_panic_is_told(built: Built) -> None:
    with pytest.raises(GuestError) as caught:
        shell(built, "true", kernel_args=("init=/no/such/init",))
    assert caught.value.why.startswith("kernel panic: Requested init /no/such/init failed")


NO_PTRACE = r"""
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(steps) / sizeof(steps[0]), steps};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 99;
    execv(KERNEL, argv);
    return argc;
}
"""


def test_a_host_without_ptrace_is_told(built: Built, tmp_path: Path) -> None:
    (tmp_path / "linux.c").write_text(NO_PTRACE)
    define = f'-DKERNEL="{built.path}/linux"'
    subprocess.run(["gcc", define, "-o", tmp_path / "linux", tmp_path / "linux.c"], check=True)
    with pytest.raises(GuestError, match="ptrace is not permitted") as caught:
        uml.run(replace(built, path=tmp_path), ["true"], timeout=600)
    assert "Operation not permitted" in caught.value.why


def test_a_command_that_reboots_the_guest(built: Built) -> None:
    with pytest.raises(GuestError, match="ended before its command did"):
        shell(built, "busybox reboot -f || reboot -f")


def test_two_guests_at_once(built: Built) -> None:
    found: dict[int, Outcome] = {}

    def one(number: int) -> None:
        found[number] = shell(built, f"sleep 1; echo {number} > $OKOSU_OUT/n; cat $OKOSU_OUT/n; exit {number}")

    threads = [threading.Thread(target=one, args=(number,)) for number in (3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: (o.status, o.stdout) for number, o in found.items()} == {3: (3, b"3\n"), 4: (4, b"4\n")}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_however_okosu_ends_no_kernel_is_left(built: Built, number: int, scratch: Path) -> None:
    command = [*OKOSU, "--memory", "64M", "--", "sh", "-c", "echo up; exec sleep 600"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    # Two processes: the kernel, and the one in which it runs the guest's program.
    assert len(kernels(scratch)) >= 2
    child.send_signal(number)
    child.communicate()
    assert child.returncode == (-number if number == signal.SIGKILL else 128 + number)
    gone(scratch)
    if number == signal.SIGKILL:
        # The process that would have removed the folder was killed.
        (left,) = scratch.iterdir()
        shutil.rmtree(left)
