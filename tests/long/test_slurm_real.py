# SPDX-License-Identifier: Apache-2.0
"""Trials through a real Slurm: a controller and a daemon for each of three nodes, all on this machine, in a private
folder with a key and a configuration of their own. Skipped where Debian's slurm-wlm is not installed.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel")
PATH = f"{os.environ['PATH']}:/usr/sbin"
MISSING = [tool for tool in TOOLS if not shutil.which(tool, path=PATH)]
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        bool(MISSING), reason=f"no {', '.join(MISSING)}: apt-get install slurmctld slurmd slurm-client munge"
    ),
]

CONFIGURATION = """\
ClusterName=okosu
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0
SlurmdParameters=config_overrides
KillWait=5
NodeName=big[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{second}] CPUs=2 RealMemory=500 Feature=big
NodeName=small1 NodeHostname={host} NodeAddr=127.0.0.1 Port={third} CPUs=2 RealMemory=500 Feature=small
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
PROGRAM = """\
#!/bin/sh
read -r line <"$0"
exec sleep ${1:-0.02}
"""


def free_ports(count: int) -> list[int]:
    """Neighbouring ports that nobody listens on."""
    for first in range(20000 + secrets.randbelow(20000), 60000, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return [*range(first, first + count)]
    raise AssertionError("no free ports")


def until(what: str, true: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + 1200
    while not true():
        assert time.monotonic() < end, f"{what}\n{log.read_text() if log.exists() else ''}"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands reach the cluster. All its daemons have ended afterwards."""
    # munged wants its socket in a folder that everybody may enter, which pytest's are not.
    folder = Path(tempfile.mkdtemp(prefix="okosu-slurm-"))
    folder.chmod(0o711)
    host, (controller, first, second, third) = socket.gethostname().partition(".")[0], free_ports(4)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=host,
            controller=controller,
            user=getpass.getuser(),
            folder=folder,
            first=first,
            second=second,
            third=third,
        )
    )
    (folder / "state").mkdir()
    for node in ("big1", "big2", "small1"):
        (folder / f"spool-{node}").mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(64))
    key.chmod(0o600)
    env = {**os.environ, "PATH": PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    env.pop("SLURM_JOB_ID", None)
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> None:
        with (folder / f"{words[0]}.log").open("ab") as log:
            started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env))

    try:
        socket_at = folder / "munge.socket"
        names = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        start("munged", "--foreground", f"--socket={socket_at}", *names)
        until("munged does not start", socket_at.exists, folder / "munged.log")
        start("slurmctld", "-D", "-c")
        for node in ("big1", "big2", "small1"):
            start("slurmd", "-D", "-N", node)
        sinfo = ["sinfo", "-h", "-N", "-t", "idle", "-o", "%N"]
        until(
            "the nodes do not come up",
            lambda: subprocess.run(sinfo, env=env, capture_output=True, check=False).stdout.count(b"\n") == 3,
            folder / "slurmctld.log",
        )
        yield env
    finally:
        with contextlib.suppress(OSError):
            subprocess.run(["scancel", "-f", "-u", getpass.getuser()], env=env, check=False, capture_output=True)
        for one in reversed(started):
            one.send_signal(signal.SIGTERM)
        for one in started:
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
        shutil.rmtree(folder, ignore_errors=True)


def okosu(cluster: dict[str, str], at: Path, *words: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "okosu", *words]
    return subprocess.run(run, env=cluster, cwd=at, capture_output=True, text=True, check=False)


def words_of(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def ended(cluster: dict[str, str]) -> bool:
    said = subprocess.run(["squeue", "-h", "-o", "%i"], env=cluster, capture_output=True, text=True, check=True)
    return not said.stdout.strip()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (path := tmp_path / "nap").write_text(PROGRAM)
    path.chmod(0o755)
    return path


TRIAL = ["--levers", "none", "--arm", "mine=X=1", "--max-rounds", "2", "--budget", "60s", "--no-warm"]


def test_one_trial_on_each_kind_of_node_and_an_array_come_back(
    cluster: dict[str, str], tmp_path: Path, program: Path
) -> None:
    folder = tmp_path / "shared by all"
    done = okosu(cluster, tmp_path, "try", "--slurm", "each", "--json", str(folder), *TRIAL, "--", str(program))
    assert done.returncode == 0, done.stderr
    first, second = sorted(done.stdout.splitlines(), key=lambda line: "small" in line)
    assert "features big, " in first
    assert "one of big[1-2]" in first
    assert "features small, " in second
    array = ["--slurm-array", "1-2%1", "--slurm-option=--constraint=small"]
    done = okosu(cluster, tmp_path, "try", *array, "--json", str(folder), *TRIAL, "--", str(program))
    assert done.returncode == 0, done.stderr
    until("the jobs do not end", lambda: ended(cluster), folder / "job-1.log")
    records = sorted(path.name for path in folder.glob("*.json"))
    assert [name.partition("-")[0] for name in records] == ["big1", "small1", "small1", "small1"]
    assert [name for name in records if "_" in name] == [
        name for name in records if name.endswith(("_1.json", "_2.json"))
    ]
    collected = okosu(cluster, tmp_path, "collect", str(folder))
    assert collected.returncode == 0, collected.stderr
    assert "1 kind of machine, 4 finished trials" in words_of(collected.stdout)
    assert "not counted" not in words_of(collected.stdout)
    # The nodes share this machine, so another kind has to be made up; the record is as of a node with other microcode.
    path = folder / records[1]
    held = json.loads(path.read_text())
    held["machine"]["microcode"] = "0xother"
    path.write_text(json.dumps(held))
    collected = okosu(cluster, tmp_path, "collect", str(folder))
    assert "2 kinds of machine, 4 finished trials" in words_of(collected.stdout)
    assert "microcode 0xother" in words_of(collected.stdout)


def test_what_fails_is_cancelled_or_waits_is_said(cluster: dict[str, str], tmp_path: Path, program: Path) -> None:
    folder = tmp_path / "records"
    submit = ["try", "--json", str(folder), *TRIAL]

    def job(*words: str) -> str:
        done = okosu(cluster, tmp_path, *submit, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[1].rstrip(":")

    def table() -> str:
        return words_of(okosu(cluster, tmp_path, "collect", str(folder)).stdout)

    def shows(words: str) -> Callable[[], bool]:
        return lambda: words in table()

    # Slurm may be slow on a busy machine, so each state is waited for by itself. The nodes are one machine, on which
    # one trial measures at a time: the failing job has to end before the long one begins.
    failing = job("--slurm", "big1", "--", "/bin/false")
    until(
        "the failing job does not end",
        lambda: "its log ends: okosu: " in table().partition(f"job {failing}: ")[2],
        folder / "x",
    )
    long = job("--slurm", "small1", "--budget", "1h", "--", str(program), "3600")
    waiting = job("--slurm", "small1", "--", str(program))
    until(
        "the long job does not begin",
        shows(f"small1-{long}.json: not finished after 0 rounds: it is running"),
        folder / f"job-{long}.log",
    )
    until(
        "the third job does not wait",
        shows(f"job {waiting}: no record: it waits in Slurm's queue (PENDING"),
        folder / f"job-{waiting}.log",
    )
    subprocess.run(["scancel", long], env=cluster, check=True)
    until("the jobs do not end", lambda: ended(cluster), folder / f"job-{long}.log")
    said = table()
    assert "Slurm says CANCELLED" in said
    assert "1 finished trial" in said
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"{program} 3600" not in running


def test_a_node_that_does_not_exist_is_refused_by_slurm(cluster: dict[str, str], tmp_path: Path, program: Path) -> None:
    done = okosu(cluster, tmp_path, "try", "--slurm", "nosuch", "--json", "out", "--", str(program))
    assert done.returncode == 1
    assert "Invalid node name specified" in done.stderr
    assert not list((tmp_path / "out").iterdir())


def test_what_levers_reach_the_ranks_of_srun(cluster: dict[str, str], tmp_path: Path) -> None:
    """What docs/CLUSTER.md says of MPI: okosu before srun reaches ranks by the environment alone, behind it by all."""
    show = ["sh", "-c", 'echo "$GLIBC_TUNABLES $(grep Cpus_allowed_list /proc/self/status)"']
    levers = ["run", "--superpage=thp", "--pin=list:0", "--"]
    srun = ["srun", "-n1", "--nodelist=big1"]
    plain = subprocess.run([*srun, *show], env=cluster, cwd=tmp_path, capture_output=True, text=True, check=True)
    all_cpus = plain.stdout.split()[-1]
    before = okosu(cluster, tmp_path, *levers, *srun, *show)
    assert before.stdout.split()[0] == "glibc.malloc.hugetlb=1", before.stderr
    assert before.stdout.split()[-1] == all_cpus
    behind = [*srun, sys.executable, "-m", "okosu", *levers, *show]
    done = subprocess.run(behind, env=cluster, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout.split()[0], done.stdout.split()[-1]) == ("glibc.malloc.hugetlb=1", "0")
