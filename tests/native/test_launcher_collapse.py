# SPDX-License-Identifier: Apache-2.0
"""superpage=collapse: the helper on real processes, with the capability that it needs and without."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from measure_tool import until

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
PATH = {"PATH": "/usr/bin:/bin"}
NOBODY = 65534

# Each of these runs twice in `make test`: as root, where the helper works, and as nobody, where it is refused.
both = pytest.mark.parametrize("who", ["anyone", pytest.param("root", marks=pytest.mark.privileged)])

# A program that fills a table, says so, and waits for a line; then it prints its huge pages in kB and whether its data
# is intact.
HOLD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    size_t size = (size_t)64 << 20, wrong = 0;
    unsigned *table = malloc(size);
    unsigned char *sparse = malloc(size);
    char line[256];
    for (size_t i = 0; i < size / sizeof *table; i++)
        table[i] = (unsigned)i * 2654435761u;
    for (size_t i = 0; i < size; i += 64 << 10)
        sparse[i] = 1;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && line[0] == '?') {
        FILE *smaps = fopen("/proc/self/smaps_rollup", "r");
        long huge = -1;
        while (fgets(line, sizeof line, smaps))
            sscanf(line, "AnonHugePages: %ld", &huge);
        fclose(smaps);
        printf("%ld\n", huge);
        fflush(stdout);
    }
    for (size_t i = 0; i < size / sizeof *table; i++)
        wrong += table[i] != (unsigned)i * 2654435761u;
    printf("%zu %d\n", wrong, (int)waitpid(-1, NULL, WNOHANG));
    return 0;
}
"""


def has_sys_nice() -> bool:
    status = Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> 23 & 1)


@both
def test_collapse_without_the_capability(who: str, launcher: Path, tmp_path: Path) -> None:
    if "[never]" in THP.read_text():
        pytest.skip("THP is off on this machine")
    drop: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    launcher = _for_everyone(launcher, tmp_path)
    done = subprocess.run([launcher, "--superpage=collapse", "echo", "ran"], capture_output=True, text=True, **drop)
    if not drop and has_sys_nice():
        assert (done.stdout, done.stderr) == ("ran\n", "")
        return
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.splitlines() == [
        "okosu: superpage=collapse not applied: Operation not permitted",
        "  why: process_madvise on another process needs CAP_SYS_NICE",
        f"  fix: sudo setcap cap_sys_nice+ep {launcher.resolve()}",
    ]


@pytest.fixture
def held(launcher: Path, compiled: Callable[..., Path], tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """A function that starts HOLD under superpage=collapse and waits until it has filled its table."""

    def start(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [launcher, "--superpage=collapse", f"--proof={tmp_path / 'proof'}", *words, compiled(HOLD, "-static")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    return start


def huge_kb(process: subprocess.Popen[str]) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("?\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def evidence(folder: Path) -> dict[str, Any]:
    """The helper's line of evidence, which it writes a moment after the program's end."""
    proof = folder / "proof"
    assert until(lambda: proof.exists() and proof.read_text().endswith("\n"))
    (line,) = proof.read_text().splitlines()
    loaded: dict[str, Any] = json.loads(line)
    return loaded


@both
def test_collapse(who: str, held: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    process = held()
    if not has_sys_nice() or "[never]" in THP.read_text():
        _, told = process.communicate("\n")
        assert "superpage=collapse not applied" in told
        assert not (tmp_path / "proof").exists()
        return
    assert until(lambda: huge_kb(process) >= 60 << 10)
    dense = huge_kb(process)
    # 64 MiB are dense; in the other 64 MiB only one page in sixteen is touched, so they must stay on small pages.
    assert 60 << 10 <= dense <= 64 << 10
    out, told = process.communicate("\n")
    # The data is intact, and the program has no child that it did not create itself.
    assert (out, told, process.returncode) == ("0 -1\n", "", 0)
    line = evidence(tmp_path)
    assert (line["pid"], line["by"]) == (process.pid, "collapse")
    # The last chunks may have been collapsed after the program printed its count.
    assert dense // 2048 <= line["collapsed"] <= 32
    assert line["sparse"] >= 30
    assert line["failed"] == sum(reason["count"] for reason in line["reasons"])
    assert all(reason["why"] for reason in line["reasons"])


@both
def test_the_helper_ends_with_a_program_that_is_killed(
    who: str, held: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = held()
    process.send_signal(signal.SIGKILL)
    # This call would not return if the helper kept the program's pipes open.
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    if has_sys_nice() and "[never]" not in THP.read_text():
        assert evidence(tmp_path)["pid"] == process.pid


@pytest.mark.privileged
def test_a_subreaper_would_be_given_the_helper(launcher: Path) -> None:
    if not has_sys_nice() or "[never]" in THP.read_text():
        pytest.skip("collapse is refused for another reason here")
    pr_set_child_subreaper = 36
    libc = ctypes.CDLL(None, use_errno=True)
    done = subprocess.run(
        [launcher, "--superpage=collapse", "echo", "ran"],
        capture_output=True, text=True, preexec_fn=lambda: libc.prctl(pr_set_child_subreaper, 1, 0, 0, 0),
    )  # fmt: skip
    assert done.stdout == "ran\n"
    assert "child subreaper" in done.stderr


def _for_everyone(launcher: Path, folder: Path) -> Path:
    """A copy of the launcher that any user can reach, because the checkout may lie below a closed folder such as
    /root.
    """
    copy = folder / "okosu-run"
    copy.write_bytes(launcher.read_bytes())
    copy.chmod(0o755)
    if os.geteuid() == 0:
        for parent in [folder, *folder.parents][:-2]:
            parent.chmod(0o755)
    return copy


@both
def test_secure_mode_keeps_the_users_variables(who: str, launcher: Path, tmp_path: Path) -> None:
    """With file capabilities ld.so hides LD_LIBRARY_PATH and others from the launcher; the program must still get
    them.
    """
    copy = _for_everyone(launcher, tmp_path)
    # The value that `setcap cap_sys_nice+ep` writes: struct vfs_cap_data, revision 2, effective (linux/capability.h).
    capabilities = struct.pack("<5I", 0x02000001, 1 << 23, 0, 0, 0)
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            os.setxattr(copy, "security.capability", capabilities)
        return
    os.setxattr(copy, "security.capability", capabilities)
    mine = PATH | {"LD_LIBRARY_PATH": "/nowhere", "GLIBC_TUNABLES": "glibc.malloc.check=0", "TMPDIR": "/t", "EMPTY": ""}
    seen = subprocess.run(
        [copy, "--env=MORE=1", "env"], capture_output=True, text=True, env=mine,
        user=NOBODY, group=NOBODY, extra_groups=[], check=True,
    )  # fmt: skip
    assert dict(line.split("=", 1) for line in seen.stdout.splitlines()) == mine | {"MORE": "1"}
