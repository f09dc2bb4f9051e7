# SPDX-License-Identifier: Apache-2.0
"""superpage and retain as okosu-run applies them: refusals on model machines, effects on real processes."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from launcher_model import preload_name
from preload_tool import huge_pages_now

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
PATH = {"PATH": "/usr/bin:/bin"}

# Fills and frees three blocks at a time, of 34 MiB and more or of the MiB that are named, and prints how many page
# faults that took. By itself glibc maps blocks of 32 MiB and more, and cuts the heap where three below that were freed.
CHURN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
    struct rusage usage;
    for (int i = 0; i < 10; i++) {
        size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 34 + i * 7 % 29) << 20;
        char *blocks[] = {malloc(size), malloc(size), malloc(size)};
        for (int k = 0; k < 3; k++)
            memset(blocks[k], i, size);
        __asm__ volatile("" : : "r"(blocks) : "memory");
        for (int k = 0; k < 3; k++)
            free(blocks[k]);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_minflt);
}
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The root of a model machine on which every tier can be applied."""
    write(tmp_path / "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
    write(tmp_path / "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "16")
    write(tmp_path / "proc/self/status", "Cpus_allowed_list:\t0\nTHP_enabled:\t1")
    write(tmp_path / "proc/sys/kernel/osrelease", "6.12.1-test")
    return tmp_path


def plan(launcher: Path, root: Path, *words: str | Path) -> dict[str, Any]:
    library = root / "libokosu-preload.so"
    library.touch()
    env = PATH | {"OKOSU_ROOT": str(root), "OKOSU_PRELOAD_LIB": str(library)}
    words = words if "--" in words else (*words, "--", "true")
    done = subprocess.run([launcher, "--dry-run", "--json", *words], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def refusal(launcher: Path, root: Path, *words: str | Path) -> str:
    """The reason why the only lever is not applied; checks first that the plan is as if the lever had not been asked
    for.
    """
    planned = plan(launcher, root, *words)
    assert (planned["env"], planned["preload"], planned["helper"]) == ({}, False, False)
    (lever,) = planned["levers"]
    assert not lever["applied"]
    assert lever["fix"]
    return str(lever["why"])


def test_glibc_tier(launcher: Path, machine: Path) -> None:
    variables = ("GLIBC_TUNABLES", "OKOSU_TUNABLES")
    assert plan(launcher, machine, "--superpage=glibc")["env"] == dict.fromkeys(variables, "glibc.malloc.hugetlb=1")


@pytest.mark.preloads
@pytest.mark.parametrize(("value", "others"), [("glibc", []), ("thp", ["libokosu-preload.so"])])
def test_what_primes_malloc_is_loaded_with_the_tunable(
    launcher: Path, machine: Path, value: str, others: list[str]
) -> None:
    (machine / "libokosu-prime.so").touch()
    env = plan(launcher, machine, f"--superpage={value}")["env"]
    libraries = [*others, "libokosu-prime.so"]
    assert env["LD_PRELOAD"] == ":".join(preload_name(machine / library) for library in libraries)
    outer = PATH | {"LD_PRELOAD": env["LD_PRELOAD"]}
    within = subprocess.run(
        [launcher, "printenv", "LD_PRELOAD"],
        capture_output=True,
        text=True,
        env=outer,
    )
    assert "libokosu" not in within.stdout, "what an outer okosu-run has loaded was kept"


@pytest.mark.preloads
def test_thp_tier(launcher: Path, machine: Path) -> None:
    env = plan(launcher, machine, "--superpage=thp")["env"]
    assert (env["OKOSU_SUPERPAGE"], env["GLIBC_TUNABLES"]) == ("thp", "glibc.malloc.hugetlb=1")
    assert env["LD_PRELOAD"] == preload_name(machine / "libokosu-preload.so")


@pytest.mark.preloads
@pytest.mark.parametrize(
    ("setting", "own", "why"),
    [
        ("always within_size [advise] never deny force", "", ""),
        ("always within_size advise [never] deny force", "", "shmem_enabled is never"),
        ("always within_size advise never [deny] force", "", "shmem_enabled is deny"),
        ("always within_size [advise] never deny force", "always [inherit] within_size advise never", ""),
        ("always within_size [advise] never deny force", "always inherit [never]", "shmem_enabled is never"),
        ("always within_size advise [never] deny force", "always inherit within_size [advise] never", ""),
        ("", "", "no huge pages for shared memory"),
    ],
)
def test_shared_tier(launcher: Path, machine: Path, setting: str, own: str, why: str) -> None:
    thp = machine / "sys/kernel/mm/transparent_hugepage"
    if setting:
        write(thp / "shmem_enabled", setting)
    if own:
        write(thp / "hugepages-2048kB/shmem_enabled", own)
    if why:
        assert why in refusal(launcher, machine, "--superpage=shared")
    else:
        env = plan(launcher, machine, "--superpage=shared")["env"]
        assert (env["OKOSU_SUPERPAGE"], env["GLIBC_TUNABLES"]) == ("shared", "glibc.malloc.hugetlb=1")


@pytest.mark.preloads
def test_hugetlb_tier(launcher: Path, machine: Path) -> None:
    env = plan(launcher, machine, "--superpage=hugetlb", "--no-fork")["env"]
    assert env["OKOSU_SUPERPAGE"] == "hugetlb"
    assert "forks may be killed" in refusal(launcher, machine, "--superpage=hugetlb")
    free = machine / "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
    write(free, "0")
    assert "has none free" in refusal(launcher, machine, "--superpage=hugetlb", "--no-fork")
    free.unlink()
    assert "no pool" in refusal(launcher, machine, "--superpage=hugetlb", "--no-fork")


@pytest.mark.parametrize("tier", ["glibc", "thp", "collapse"])
def test_machines_without_thp(launcher: Path, machine: Path, tier: str) -> None:
    enabled = machine / "sys/kernel/mm/transparent_hugepage/enabled"
    write(machine / "proc/self/status", "THP_enabled:\t0")
    assert "PR_SET_THP_DISABLE" in refusal(launcher, machine, f"--superpage={tier}")
    write(enabled, "always madvise [never]")
    assert "switched off" in refusal(launcher, machine, f"--superpage={tier}")
    enabled.unlink()
    assert "no transparent huge pages" in refusal(launcher, machine, f"--superpage={tier}")


def test_thp_disabled_by_what_started_it(launcher: Path) -> None:
    if "[never]" in THP.read_text():
        pytest.skip("THP is off on this machine, which is told before anything inherited")
    pr_set_thp_disable = 41
    libc = ctypes.CDLL(None, use_errno=True)
    done = subprocess.run(
        [launcher, "--superpage=glibc", "echo", "ran"],
        capture_output=True, text=True, preexec_fn=lambda: libc.prctl(pr_set_thp_disable, 1, 0, 0, 0),
    )  # fmt: skip
    assert done.stdout == "ran\n"
    assert "inherited PR_SET_THP_DISABLE" in done.stderr


def test_static_programs(launcher: Path, machine: Path, compiled: Callable[..., Path]) -> None:
    static = compiled(CHURN, "-static")
    assert plan(launcher, machine, "--superpage=glibc", "--", static)["levers"][0]["applied"]
    assert plan(launcher, machine, "--retain", "--", static)["levers"][0]["applied"]
    assert "linked statically" in refusal(launcher, machine, "--superpage=thp", "--", static)
    pinned = plan(launcher, machine, "--pin=list:0", "--", static)
    assert (pinned["affinity"], pinned["preload"]) == ("0", False)
    assert set(pinned["env"]) == {"OMP_PLACES", "OMP_PROC_BIND", "OKOSU_ADDED"}
    assert "linked statically" in pinned["notes"][0]["why"]


def test_collapse_on_an_old_kernel(launcher: Path, machine: Path) -> None:
    write(machine / "proc/sys/kernel/osrelease", "6.0.9")
    assert refusal(launcher, machine, "--superpage=collapse") == "MADV_COLLAPSE came with Linux 6.1; this is 6.0.9"


def faults(launcher: Path, program: Path, *options: str, words: Sequence[str] = ()) -> int:
    env = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
    done = subprocess.run([launcher, *options, "--", program, *words], capture_output=True, text=True, env=env)
    assert done.stderr == ""
    return int(done.stdout)


# Of a static program what has no mapping of its own is retained.
@pytest.mark.preloads
@pytest.mark.parametrize(("flags", "words"), [((), ()), ((), ("20",)), (("-static",), ("20",))])
def test_retain_stops_the_faults(
    launcher: Path, compiled: Callable[..., Path], flags: tuple[str, ...], words: tuple[str, ...]
) -> None:
    program = compiled(CHURN, *flags)
    # The remaining faults are the first touch of the largest blocks; without retain most blocks are touched anew.
    assert faults(launcher, program, "--retain", words=words) * 3 < faults(launcher, program, words=words)


def test_glibc_tier_takes_huge_pages(launcher: Path, compiled: Callable[..., Path]) -> None:
    if "[madvise]" not in THP.read_text():
        pytest.skip("glibc leaves THP alone unless it is set to madvise")
    program = compiled(CHURN, "-static")
    huge, small = faults(launcher, program, "--superpage=glibc"), faults(launcher, program)
    if huge * 3 >= small and not huge_pages_now(128):
        pytest.skip("the kernel has no huge pages for 128 MiB")
    assert huge * 3 < small


# Leaves ones on the stack below it, on which malloc's first call then puts what it reads of the kernel's setting.
DIRTY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
__attribute__((noinline)) static void dirty_the_stack(void)
{
    char below[16384];
    memset(below, 0xff, sizeof(below));
    __asm__ volatile("" : : "r"(below) : "memory");
}
int main(void)
{
    struct rusage usage;
    dirty_the_stack();
    char *block = malloc(64 << 20);
    memset(block, 1, 64 << 20);
    __asm__ volatile("" : : "r"(block) : "memory");
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_minflt);
}
"""


@pytest.mark.preloads
def test_glibc_tier_takes_huge_pages_whatever_lies_on_the_stack(launcher: Path, compiled: Callable[..., Path]) -> None:
    if "[madvise]" not in THP.read_text():
        pytest.skip("glibc leaves THP alone unless it is set to madvise")
    # Bound at its start: the loader does not come between, which would leave the registers that it saves there.
    program = compiled(DIRTY, "-Wl,-z,now")
    huge, small = faults(launcher, program, "--superpage=glibc"), faults(launcher, program)
    if huge * 3 >= small and not huge_pages_now(64):
        pytest.skip("the kernel has no huge pages for 64 MiB")
    assert huge * 3 < small
