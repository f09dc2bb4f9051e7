# SPDX-License-Identifier: Apache-2.0
"""pin: the order of CPUs on a model machine, and the parts that MPI ranks get."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from launcher_model import MACHINES, build, dry, parse, write

pytestmark = pytest.mark.preloads


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("machines")
    roots = {name: build(folder / name, cpus) for name, cpus in MACHINES.items()}
    return roots | {"old": build(folder / "old", MACHINES["blocks"], old=True)}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "libokosu-preload.so"
    path.touch()
    return path


def order(launcher: Path, root: Path, library: Path, *words: str, **env: str) -> list[int]:
    """The CPUs in the order in which threads take them; checks that every variable in the plan has the same order."""
    plan, _ = dry(launcher, root, *words, OKOSU_PRELOAD_LIB=str(library), **env)
    cpus = [int(cpu) for cpu in plan["env"]["OKOSU_PIN"].split(",")]
    assert plan["env"]["OMP_PLACES"] == ",".join(f"{{{cpu}}}" for cpu in cpus)
    assert plan["env"]["OMP_PROC_BIND"] == "true"
    assert parse(plan["affinity"]) == set(cpus)
    assert len(set(cpus)) == len(cpus)
    return cpus


def blocks(cpus: list[int], size: int) -> list[list[int]]:
    return [cpus[i : i + size] for i in range(0, len(cpus), size)]


@pytest.mark.parametrize("name", ["blocks", "turn", "old"])
def test_compact_keeps_neighbours_together(launcher: Path, machines: dict[str, Path], library: Path, name: str) -> None:
    where = MACHINES.get(name, MACHINES["blocks"])
    cpus = order(launcher, machines[name], library, "--pin=compact")
    assert sorted(cpus) == list(range(32))
    for size, key in ((2, "core"), (8, "node"), (16, "package")):
        for block in blocks(cpus, size):
            assert len({getattr(where[cpu], key) for cpu in block}) == 1
    assert all(where[a].thread < where[b].thread for a, b in blocks(cpus, 2))


@pytest.mark.parametrize("name", ["blocks", "turn", "old"])
def test_scatter_spreads_at_every_length(launcher: Path, machines: dict[str, Path], library: Path, name: str) -> None:
    where = MACHINES.get(name, MACHINES["blocks"])
    cpus = order(launcher, machines[name], library, "--pin=scatter")
    assert sorted(cpus) == list(range(32))
    # Among the first n CPUs, no package, node or core has more than its fair share.
    for n in range(1, 33):
        for key, places in (("package", 2), ("node", 4), ("core", 16)):
            taken = [getattr(where[cpu], key) for cpu in cpus[:n]]
            assert max(map(taken.count, taken)) == -(-n // places)


@pytest.mark.parametrize("name", ["blocks", "turn", "old"])
def test_one_per_core(launcher: Path, machines: dict[str, Path], library: Path, name: str) -> None:
    where = MACHINES.get(name, MACHINES["blocks"])
    cpus = order(launcher, machines[name], library, "--pin=one-per-core")
    compact = order(launcher, machines[name], library, "--pin=compact")
    assert cpus == compact[::2]
    assert len({where[cpu].core for cpu in cpus}) == len(cpus) == 16


def test_policies_stay_inside_the_mask(launcher: Path, library: Path, tmp_path: Path) -> None:
    # The mask has only second threads of node 0, and both threads of node 3: a core whose first thread is not allowed
    # still counts as one core.
    mask = [16, 17, 18, 19, 12, 13, 14, 15, 28, 29, 30, 31]
    root = build(tmp_path, MACHINES["blocks"], mask)
    assert order(launcher, root, library, "--pin=compact") == [16, 17, 18, 19, 12, 28, 13, 29, 14, 30, 15, 31]
    assert order(launcher, root, library, "--pin=one-per-core") == [16, 17, 18, 19, 12, 13, 14, 15]
    assert order(launcher, root, library, "--pin=scatter")[:4] == [16, 12, 17, 13]


def test_a_machine_that_tells_nothing(launcher: Path, library: Path, tmp_path: Path) -> None:
    write(tmp_path / "proc/self/status", "Cpus_allowed_list:\t0-3")
    for policy in ("compact", "scatter", "one-per-core"):
        assert order(launcher, tmp_path, library, f"--pin={policy}") == [0, 1, 2, 3]


def test_hostile_sysfs(launcher: Path, library: Path, tmp_path: Path) -> None:
    root = build(tmp_path, MACHINES["blocks"])
    for i, text in enumerate(["", "x", "5-", "9-3", "0-99999999999", ",", "0-8191:0", "1" * 30000]):
        write(root / f"sys/devices/system/cpu/cpu{i}/topology/core_cpus_list", text)
        write(root / f"sys/devices/system/cpu/cpu{i + 16}/topology/core_cpus_list", text)
    write(root / "sys/devices/system/node/node0/cpulist", "0-8191")
    assert sorted(order(launcher, root, library, "--pin=compact")) == list(range(32))


def test_list_keeps_its_order(launcher: Path, machines: dict[str, Path], library: Path) -> None:
    assert order(launcher, machines["blocks"], library, "--pin=list:9,3,5-7,8-16:4") == [9, 3, 5, 6, 7, 8, 12, 16]


def test_list_outside_the_mask(launcher: Path, tmp_path: Path) -> None:
    root = build(tmp_path, MACHINES["blocks"], range(8))
    plan, told = dry(launcher, root, "--pin=list:6-9")
    assert plan["affinity"] is None
    assert plan["env"] == {}
    (lever,) = plan["levers"]
    assert not lever["applied"]
    assert lever["why"] == "requested CPUs 6-9, but this process may use 0-7; outside: 8-9"
    assert lever["fix"].startswith("--pin=list:6-7")
    assert told.startswith("okosu: pin=list:6-9 not applied: ")


RANKS = [
    ("OMPI_COMM_WORLD_LOCAL_RANK", {"OMPI_COMM_WORLD_LOCAL_SIZE": "4"}),
    ("MPI_LOCALRANKID", {"MPI_LOCALNRANKS": "4"}),
    ("PMI_LOCAL_RANK", {"PMI_LOCAL_SIZE": "4"}),
    ("PALS_LOCAL_RANKID", {"PALS_LOCAL_SIZE": "4"}),
    ("FLUX_TASK_LOCAL_ID", {"FLUX_JOB_SIZE": "8", "FLUX_JOB_NNODES": "2"}),
    ("MV2_COMM_WORLD_LOCAL_RANK", {"MV2_COMM_WORLD_LOCAL_SIZE": "4"}),
    ("SLURM_LOCALID", {"SLURM_STEP_TASKS_PER_NODE": "2(x3),4,1", "SLURM_NODEID": "3"}),
    ("SLURM_LOCALID", {"SLURM_NTASKS_PER_NODE": "4", "SLURM_STEP_ID": "0"}),
]


@pytest.mark.parametrize(("rank", "more"), RANKS, ids=[rank for rank, _ in RANKS])
def test_ranks_take_a_slice_each(
    launcher: Path, machines: dict[str, Path], library: Path, rank: str, more: dict[str, str]
) -> None:
    whole = order(launcher, machines["turn"], library, "--pin=compact")
    slices = [order(launcher, machines["turn"], library, "--pin=compact", **more, **{rank: str(r)}) for r in range(4)]
    assert [len(part) for part in slices] == [8, 8, 8, 8]
    assert [cpu for part in slices for cpu in part] == whole


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 31, 32])
def test_slices_are_a_partition(launcher: Path, machines: dict[str, Path], library: Path, size: int) -> None:
    whole = order(launcher, machines["blocks"], library, "--pin=scatter")
    parts = [
        order(
            launcher, machines["blocks"], library, "--pin=scatter", PMI_LOCAL_RANK=str(rank), PMI_LOCAL_SIZE=str(size)
        )
        for rank in {0, 1, size // 2, size - 1}
        if rank < size
    ]
    for part in parts:
        assert len(part) in (32 // size, 32 // size + 1)
        at = whole.index(part[0])
        assert whole[at : at + len(part)] == part
    assert all(not set(a) & set(b) for a, b in pairwise(parts))


def test_the_more_specific_launcher_wins(launcher: Path, machines: dict[str, Path], library: Path) -> None:
    env = {
        "OMPI_COMM_WORLD_LOCAL_RANK": "1",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
        "SLURM_LOCALID": "0",
        "SLURM_STEP_TASKS_PER_NODE": "1",
    }
    assert len(order(launcher, machines["blocks"], library, "--pin=compact", **env)) == 16
    # A Slurm batch script is one process with the whole job's CPUs, although it has a local rank.
    batch = {"SLURM_LOCALID": "0", "SLURM_NTASKS_PER_NODE": "4", "SLURM_TASKS_PER_NODE": "4"}
    assert len(order(launcher, machines["blocks"], library, "--pin=compact", **batch)) == 32


def test_more_ranks_than_cpus(launcher: Path, machines: dict[str, Path]) -> None:
    env = {"PMI_LOCAL_RANK": "35", "PMI_LOCAL_SIZE": "40"}
    plan, told = dry(launcher, machines["blocks"], "--pin=compact", **env)
    assert len(parse(plan["affinity"])) == 1
    assert told.startswith("okosu: 40 ranks share 32 CPUs\n  why: PMI_LOCAL_RANK ")


def test_ranks_that_contradict(launcher: Path, machines: dict[str, Path]) -> None:
    plan, _ = dry(launcher, machines["blocks"], "--pin=compact", PMI_LOCAL_RANK="4", PMI_LOCAL_SIZE="4")
    assert plan["affinity"] is None
    assert "PMI_LOCAL_RANK is 4, but there are only 4 ranks" in plan["levers"][0]["why"]


def test_a_bound_rank_is_not_sliced_again(launcher: Path, library: Path, tmp_path: Path) -> None:
    env = {"PMI_LOCAL_RANK": "1", "PMI_LOCAL_SIZE": "4"}
    root = build(tmp_path, MACHINES["blocks"], range(4, 12))
    assert order(launcher, root, library, "--pin=compact", **env) == list(range(4, 12))
    assert order(launcher, root, library, "--pin=compact", "--rebind", **env) == [6, 7]
    assert dry(launcher, root, "--pin=compact", **env)[1].count("sliced") == 0
    assert "not sliced again" in dry(launcher, root, "--pin=compact", "--verbose", **env)[1]


@pytest.mark.parametrize("confined", ["launcher", "cgroup v2", "cgroup v1"])
def test_ranks_that_share_a_mask_are_not_stacked(launcher: Path, library: Path, tmp_path: Path, confined: str) -> None:
    """Eight ranks bound to a socket each, or four ranks in a container of 8 CPUs: whether to divide the mask is left to
    the user.
    """
    size = 4
    root = build(tmp_path, MACHINES["blocks"], range(8))
    if confined == "launcher":
        size = 8
    elif confined == "cgroup v2":
        write(root / "proc/self/cgroup", "1:name=systemd:/x\n0::/jobs/job1/task")
        write(root / "sys/fs/cgroup/jobs/job1/cpuset.cpus.effective", "0-7")
        write(root / "sys/fs/cgroup/cpuset.cpus.effective", "0-31")
    else:
        write(root / "proc/self/cgroup", "5:cpuset:/job1\n0::/")
        write(root / "sys/fs/cgroup/cpuset/job1/cpuset.effective_cpus", "0-7")
    env = {"PMI_LOCAL_RANK": "1", "PMI_LOCAL_SIZE": str(size)}
    plan, _ = dry(launcher, root, "--pin=compact", **env)
    assert plan["affinity"] is None
    assert f"the {size} ranks here (PMI_LOCAL_RANK) inherited a mask of 8 CPUs" in plan["levers"][0]["why"]
    assert order(launcher, root, library, "--pin=compact", "--rebind", **env) == list(range(8 // size, 16 // size))


@pytest.mark.parametrize("name", ["OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"])
def test_the_users_openmp_settings_stay(launcher: Path, machines: dict[str, Path], name: str) -> None:
    for plan, _ in (
        dry(launcher, machines["blocks"], "--pin", **{name: "x"}),
        dry(launcher, machines["blocks"], "--pin", f"--env={name}=x"),
    ):
        assert not ({"OMP_PLACES", "OMP_PROC_BIND"} - {name}) & set(plan["env"])
        assert plan["affinity"] == "0-31"
