# SPDX-License-Identifier: Apache-2.0
"""Batch scripts for Slurm, and handing them to an sbatch of ours; the real one is in tests/long/test_slurm.py."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warm_okosu import okosu

from okosu.cli._slurm import again
from okosu.cluster import slurm
from okosu.errors import USAGE_ERROR, OkosuError

SBATCH = """\
#!/bin/sh
# Takes jobs as sbatch does, and numbers them; a node called bad does not exist.
if grep -q '^#SBATCH --nodelist=bad' "$2"; then
    echo "sbatch: error: Batch job submission failed: Invalid node name specified" >&2
    exit 1
fi
number=$(($(cat "$TAKEN" 2>/dev/null || echo 6) + 1))
echo $number >"$TAKEN"
cp "$2" "$TAKEN.$number"
echo "$number;cluster"
"""
SINFO = """\
#!/bin/sh
cat <<'END'
n1|batch|idle|zen4,ib|2:64:2|768000|(null)
n1|long|idle|zen4,ib|2:64:2|768000|(null)
n2|batch|allocated|zen4,ib|2:64:2|768000|(null)
n3|batch|down*|zen4,ib|2:64:2|768000|(null)
g1|batch|mixed|zen4,ib|2:64:2|768000|gpu:a100:4
old7|batch|drained|(null)|1:8:1|64000|(null)
END
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with an sbatch and an sinfo on the PATH."""
    (tools := tmp_path / "bin").mkdir()
    for name, text in (("sbatch", SBATCH), ("sinfo", SINFO)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("TAKEN", str(tmp_path / "taken"))
    return tmp_path


def submit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return okosu("try", *words, cwd=folder)


@given(st.lists(st.from_regex(r"[a-z]{1,3}-?[0-9]{0,3}", fullmatch=True), min_size=1, max_size=12))
def test_names_of_nodes_are_the_same_compressed_and_read_back(names: list[str]) -> None:
    names = [name.rstrip("-") for name in names]
    assert sorted(slurm.hosts(slurm.compressed(names))) == sorted(set(names))


def test_names_of_nodes_in_slurms_notation() -> None:
    assert slurm.hosts("n[1-3,07],gpu2") == ["n1", "n2", "n3", "n07", "gpu2"]
    assert slurm.hosts("r[1-2]n[08-10],r1n08") == ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]
    assert slurm.compressed(["n10", "n9", "n07", "n08", "login"]) == "login,n[9,07-08,10]"


@pytest.mark.parametrize(
    "text", ["", ",", "n[", "n[1-", "n[2-1]", "n[a]", "a b", "n[1-999999999]", "n[1-9999][1-9999]", "-n1"]
)
def test_what_names_no_nodes_is_refused(text: str) -> None:
    with pytest.raises(OkosuError) as caught:
        slurm.hosts(text)
    assert caught.value.status == USAGE_ERROR


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [("3", [3]), ("1-4", [1, 2, 3, 4]), ("0-9:3", [0, 3, 6, 9]), ("1-8%2", [*range(1, 9)]), ("7,5-6", [5, 6, 7])],
)
def test_tasks_of_an_array(spec: str, wanted: list[int]) -> None:
    assert slurm.tasks(spec) == wanted


@pytest.mark.parametrize("spec", ["", "x", "4-1", "1-3%0", "1%2%3", "1-", "1,,2", "1-999999", "-1"])
def test_what_is_no_array_is_refused(spec: str) -> None:
    with pytest.raises(OkosuError, match="is no array"):
        slurm.tasks(spec)


def test_a_node_runs_the_words_that_were_typed_without_those_about_slurm() -> None:
    typed = [
        "--slurm",
        "n1",
        "--budget",
        "5m",
        "--slurm-option=--account=x",
        "--json=/s",
        "--seed=3",
        "--dry-run",
        "--",
    ]
    assert again([*typed, "./a", "--slurm", "n1"], 3) == ["--budget", "5m", "--seed=3", "--", "./a", "--slurm", "n1"]
    assert again(["--slurm-array", "1-2", "--json", "f", "./a", "b"], 2) == ["--", "./a", "b"]


def test_the_script_does_what_it_says(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (python := cluster / "it's python").write_text('#!/bin/sh\npwd\nprintf "[%s]" "$@"\n')
    python.chmod(0o755)
    folder = cluster / "with space 100%"
    monkeypatch.chdir(cluster)
    text = slurm.trial(
        "n1", "./a b", ["--budget", "1m", "--", "./a b", "x;y"], str(python), folder, 601.0, {"array": "1-2"}
    )
    for shell in (["sh", "-n"], ["shellcheck", "-"]):
        if shutil.which(shell[0]):
            done = subprocess.run(shell, input=text, text=True, check=False, capture_output=True)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    options = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert "#SBATCH --time=11" in options
    assert "#SBATCH --job-name=okosu-a_b" in options
    assert f'#SBATCH --output="{cluster}/with space 100%%/job-%A_%a.log"' in options
    assert {"#SBATCH --nodes=1", "#SBATCH --exclusive", "#SBATCH --mem=0", "#SBATCH --array=1-2"} < set(options)
    env = {"SLURMD_NODENAME": "n1", "SLURM_JOB_ID": "8", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "2"}
    done = subprocess.run(["sh"], input=text, text=True, check=True, capture_output=True, env=env)
    where, words = done.stdout.split("\n")
    assert where == str(cluster)
    told = ["-m", "okosu", "try", "--json", f"{folder}/n1-7_2.json", "--budget", "1m", "--", "./a b", "x;y"]
    assert words == "".join(f"[{word}]" for word in told)
    python.unlink()
    done = subprocess.run(["sh"], input=text, text=True, check=False, capture_output=True, env=env)
    assert done.returncode == 127
    assert f"okosu: n1 has no {python}" in done.stderr


@pytest.mark.unspaced
def test_a_job_for_each_node_is_submitted_and_its_script_kept(cluster: Path) -> None:
    done = submit(cluster, "--slurm", "n[1-2]", "--json", "out", "--budget", "20m", "--", "true", "x y")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "job 7: n1\njob 8: n2\n"
    assert "okosu collect out" in done.stderr
    assert sorted(path.name for path in (cluster / "out").iterdir()) == ["job-7.sh", "job-8.sh"]
    text = (cluster / "out" / "job-8.sh").read_text()
    assert text == (cluster / "taken.8").read_text()
    assert "#SBATCH --nodelist=n2\n" in text
    assert "#SBATCH --time=30\n" in text
    assert text.endswith(f"""-m okosu try --json {cluster}/out/"$node-$job".json --budget 20m -- true 'x y'\n""")


def test_dry_run_prints_the_scripts_and_does_nothing(cluster: Path) -> None:
    done = submit(
        cluster, "--slurm-array", "1-3%2", "--slurm-option=--partition=big", "--json", "out", "--dry-run", "true"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("#!/bin/sh\n")
    assert "#SBATCH --array=1-3%2\n#SBATCH --partition=big\n" in done.stdout
    assert not (cluster / "out").exists()
    assert not (cluster / "taken").exists()


def test_each_takes_one_node_of_every_kind_that_slurm_knows_and_that_is_up(cluster: Path) -> None:
    done = submit(cluster, "--slurm", "each", "--json", "out", "--", "true")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "job 7: features zen4,ib, 2:64:2 sockets:cores:threads, 768000 MB, one of n[1-2]"
    assert second.endswith("gpu:a100:4, one of g1")
    script = (cluster / "out" / "job-7.sh").read_text()
    assert "#SBATCH --partition=batch,long\n#SBATCH --exclude=g1,n3,old7\n" in script


def test_a_node_that_does_not_exist_is_an_error_and_leaves_no_draft(cluster: Path) -> None:
    done = submit(cluster, "--slurm", "n1,bad,n2", "--json", "out", "--", "true")
    assert done.returncode == 1
    assert done.stdout == "job 7: n1\n"
    assert "okosu: sbatch failed (exit status 1)" in done.stderr
    assert "why: Batch job submission failed: Invalid node name specified" in done.stderr
    assert [path.name for path in (cluster / "out").iterdir()] == ["job-7.sh"]


def test_where_there_is_no_slurm_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = submit(tmp_path, "--slurm", "n1", "--json", "out", "--", "true")
    assert done.returncode == 1
    assert "okosu: sbatch cannot be run" in done.stderr
    assert "--dry-run" in done.stderr
    assert slurm.states(["7"]) is None


def test_squeue_that_knows_none_of_the_jobs_is_no_failure(cluster: Path) -> None:
    (squeue := cluster / "bin" / "squeue").write_text(
        "#!/bin/sh\necho slurm_load_jobs error: Invalid job id specified >&2; exit 1\n"
    )
    squeue.chmod(0o755)
    assert slurm.states(["7"]) == {}
    squeue.write_text("#!/bin/sh\necho slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1\n")
    assert slurm.states(["7"]) is None
    squeue.write_text("#!/bin/sh\nprintf '7_1|RUNNING|None\\n7_2|PENDING|Priority\\n'\n")
    assert slurm.states(["7"]) == {"7_1": "RUNNING", "7_2": "PENDING: Priority"}
