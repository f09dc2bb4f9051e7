# SPDX-License-Identifier: Apache-2.0
"""The platform x86: commands in an emulated machine, and what comes back from it: make test-lab."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import qemu
from lab.run.outcome import GuestError, Outcome
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

TIMEOUT_S = 1200.0

COUNTING = """
#include <stdio.h>
#include <x86intrin.h>
int main(void)
{
    unsigned long long start = __rdtsc(), sum = 0;
    for (unsigned long long i = 0; i < 1000000; i++)
        sum += i ^ (sum >> 3);
    printf("%llu %llu %llu\\n", start, __rdtsc() - start, sum);
}
"""


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


def run(built: Built, *command: str, **machine: object) -> Outcome:
    given = {"timeout": TIMEOUT_S, **machine}
    return qemu.run(built, command, **given)  # type: ignore[arg-type]


def test_the_command_is_the_host_s_and_its_streams_come_back_apart(built: Built, tmp_path: Path) -> None:
    script = 'echo out; echo err >&2; echo file > "$OKOSU_OUT/f"; mkdir "$OKOSU_OUT/d"; echo deep > "$OKOSU_OUT/d/g"'
    outcome = run(built, "sh", "-c", f"{script}; exit 3", out=tmp_path / "out")
    assert (outcome.status, outcome.signal) == (3, None)
    assert (outcome.stdout, outcome.stderr) == (b"out\n", b"err\n")
    assert outcome.files["f"].read_text() == "file\n"
    assert outcome.files["d/g"].read_text() == "deep\n"
    assert f"Linux version {BASE}" in outcome.log


def test_output_comes_back_byte_for_byte(built: Built, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4096
    (tmp_path / "data").write_bytes(data)
    assert run(built, "cat", str(tmp_path / "data")).stdout == data


def test_the_root_cannot_be_written_and_tmp_is_empty(built: Built) -> None:
    new = "/tmp/okosu-only-in-the-guest"
    script = f"touch /etc/okosu-was-here 2>/dev/null && echo written; ls -A /run; echo x > {new} && cat {new}; id -u"
    assert run(built, "sh", "-c", script).stdout == b"x\n0\n"
    assert not Path(new).exists()
    assert not Path("/etc/okosu-was-here").exists()


def test_a_signal_is_told_from_a_status(built: Built) -> None:
    outcome = run(built, "sh", "-c", "kill -SEGV $$")
    assert (outcome.status, outcome.signal) == (128 + 11, 11)


def test_cpus_and_nodes(built: Built) -> None:
    script = "cat /sys/devices/system/node/online /sys/devices/system/node/node1/cpulist; nproc"
    outcome = run(built, "sh", "-c", script, cpus=3, nodes=2, memory="384M")
    assert outcome.stdout == b"0-1\n1-2\n3\n"


def test_a_command_that_does_not_end_is_killed(built: Built) -> None:
    # A busy machine may not have booted the guest in the first of these times.
    for seconds in (15.0, 150.0, 900.0):
        with pytest.raises(GuestError) as caught:
            run(built, "sleep", "1000", timeout=seconds)
        if caught.value.heard.started:
            break
    assert f"did not end within {seconds:.0f} s" in caught.value.what


def test_a_panic_is_seen_at_once(built: Built) -> None:
    with pytest.raises(GuestError) as caught:
        run(built, "sh", "-c", "echo c > /proc/sysrq-trigger")
    assert "kernel panic: sysrq triggered crash" in caught.value.why


def until(log: str, seconds: float) -> list[str]:
    """Return what the kernel said until then. When the command has ended, files are copied to the host, which takes
    time as the host has it, so that what a timer says then may stand in the log or not.
    """
    stamped = [(re.match(r"\[ *(\d+\.\d+)\]", line), line) for line in log.splitlines()]
    return [line for stamp, line in stamped if stamp and float(stamp[1]) <= seconds]


def test_two_exact_runs_are_the_same(built: Built, tmp_path: Path) -> None:
    source, program = tmp_path / "count.c", tmp_path / "count"
    source.write_text(COUNTING)
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
    script = 'env; for i in 1 2 3; do "$0"; done; cat /proc/uptime /proc/interrupts; echo kept > "$OKOSU_OUT/f"'
    outcomes = [run(built, "sh", "-c", script, str(program), exact=True, cpus=2) for _ in range(2)]
    one, other = outcomes
    assert one.status == 0, one.console
    assert len(one.stdout.splitlines()) > 5
    assert (one.stdout, one.seconds) == (other.stdout, other.seconds)
    ended = next(
        float(line.split()[0]) for line in one.stdout.decode().splitlines() if re.fullmatch(r"[\d.]+ [\d.]+", line)
    )
    assert until(one.log, ended) == until(other.log, ended)
    assert len(until(one.log, ended)) > 50
    assert all(outcome.files["f"].read_text() == "kept\n" for outcome in outcomes)
