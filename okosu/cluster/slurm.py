# SPDX-License-Identifier: Apache-2.0
"""Slurm: batch scripts, handing them to sbatch, asking squeue. Slurm decides when and where a job runs; okosu does
not."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from okosu.errors import OkosuError, usage

_RANGE = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST = 65536


def script(
    name: str, directives: Sequence[str], about: Sequence[str], at: Path, folder: Path | str, lines: Sequence[str]
) -> str:
    """A script for `sbatch`: its directives, comments `about` it, then `lines`, run in `at` with `folder` made."""
    return "\n".join(
        [
            "#!/bin/sh",
            *(f"#SBATCH {word}" for word in (f"--job-name={name}", *directives)),
            *(f"# {line}" for line in about),
            "set -eu",
            f"cd {shlex.quote(str(at))}",
            f"mkdir -p {shlex.quote(str(folder))}",
            *lines,
            "",
        ]
    )


def trial(
    what: str,
    program: str,
    words: Sequence[str],
    python: str,
    folder: Path,
    limit_s: float,
    where: Mapping[str, str],
    options: Sequence[str] = (),
) -> str:
    """A script that runs `okosu try WORDS` in the present folder of one node, with its records in `folder`.

    `what` is the node or nodes in words, `where` the options of sbatch that choose it, without the dashes; "array" may
    be one of them. `options` are more of them, which win over okosu's own. `limit_s` is rounded up to minutes.
    """
    log, job = "%j", '"$SLURM_JOB_ID"'
    if "array" in where:
        log, job = "%A_%a", '"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"'
    output = f"{str(folder).replace('%', '%%')}/job-{log}.log"
    directives = [
        "--nodes=1",
        "--ntasks=1",
        "--exclusive",
        "--mem=0",
        f"--time={-int(-limit_s // 60)}",
        "--no-requeue",
        f"--output={_quoted(output)}",
        *(f"--{name}={_quoted(value)}" for name, value in where.items()),
        *options,
    ]
    about = [
        f"One trial of okosu on one node, with no other job beside it: {what}.",
        "It writes NODE-JOB.json into the folder after every round. What all nodes found:",
        f"  okosu collect {shlex.quote(str(folder))}",
    ]
    lines = [
        f"python={shlex.quote(python)}",
        'node="${SLURMD_NODENAME:?sbatch sets it}"',
        f"job={job}",
        'if ! [ -x "$python" ]; then',
        '    echo "okosu: $node has no $python: its folder must be one that all nodes share" >&2',
        "    exit 127",
        "fi",
        f'exec "$python" -m okosu try --json {shlex.quote(str(folder))}/"$node-$job".json {shlex.join(words)}',
    ]
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(program).name)
    return script(f"okosu-{name}", directives, about, Path.cwd(), folder, lines)


def _quoted(value: str) -> str:
    """A value as sbatch reads it behind #SBATCH, where blanks end it."""
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"' if re.search(r"[\s\"'\\#]", value) else value


def hosts(text: str) -> list[str]:
    """The names of nodes in Slurm's notation: "n[1-3,07],gpu2". OkosuError (2) for what is none."""
    found: list[str] = []
    for word in re.findall(r"(?:[^,\[]|\[[^\]]*\]?)+", text):
        parts = re.split(r"\[([^\]]*)\]", word.strip())
        choices = [_numbers(part) if at % 2 else [part] for at, part in enumerate(parts)]
        found += ["".join(choice) for choice in itertools.islice(itertools.product(*choices), _MOST + 1)]
        if len(found) > _MOST:
            raise _no_nodes(text)
    if not found or not all(_NAME.fullmatch(name) for name in found):
        raise _no_nodes(text)
    return list(dict.fromkeys(found))


def compressed(names: Sequence[str]) -> str:
    """The names as `hosts` reads them, in their order where they are sorted: runs of numbers become a range."""
    words: list[str] = []
    runs = itertools.groupby(sorted(set(names), key=_by_number), key=lambda name: _split(name)[0])
    for prefix, group in runs:
        spans: list[list[str]] = []
        for number in (_split(name)[1] for name in group):
            if not number:
                words.append(prefix)
            elif spans and int(number) == int(spans[-1][-1]) + 1 and len(number) == len(spans[-1][-1]):
                spans[-1].append(number)
            else:
                spans.append([number])
        said = ",".join(f"{span[0]}-{span[-1]}" if len(span) > 1 else span[0] for span in spans)
        if said:
            words.append(prefix + (said if said.isdecimal() else f"[{said}]"))
    return ",".join(words)


def _split(name: str) -> tuple[str, str]:
    head = name.rstrip("0123456789")
    return head, name[len(head) :]


def _by_number(name: str) -> tuple[str, int, int]:
    head, number = _split(name)
    return head, len(number), int(number or 0)


def _numbers(text: str) -> list[str]:
    found: list[str] = []
    for word in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if not match or int(match[2] or 0) - int(match[1]) > _MOST:
            return ["?"]
        found += [str(n).zfill(len(match[1])) for n in range(int(match[1]), int(match[2] or match[1]) + 1)]
    return found


def _no_nodes(text: str) -> OkosuError:
    fix = "each (one node of each kind), or names of nodes: n[1-3],gpu2 (sinfo -N lists them)"
    return usage(f"--slurm {text!r} names no nodes", "", fix)


def tasks(spec: str) -> list[int]:
    """The numbers of an array's tasks from what --array takes: "0-3,7", "0-9:3", "1-8%2". OkosuError (2) otherwise."""
    found: set[int] = set()
    list_, percent, at_once = spec.partition("%")
    right = not percent or at_once.lstrip("0").isdecimal()
    for word in list_.split(","):
        match = _RANGE.fullmatch(word)
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1) or 1) if match else range(0)
        right = right and 0 < len(numbers) <= _MOST
        found |= set(numbers) if right else set()
    if not right:
        fix = "what sbatch --array takes: 1-4, 0-9:3, 1-20%4 (four at a time)"
        raise usage(f"--slurm-array {spec!r} is no array", "", fix)
    return sorted(found)


def each_kind(options: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """For every kind of node that Slurm tells apart, what it is, and the options of sbatch that mean any node of it.

    Slurm knows no CPU models: nodes differ for it in their features, their sockets, cores and threads, their memory
    and what else they are equipped with (GRES). `options` may hold --partition.
    """
    chosen = [option for option in options if re.match(r"(--partition=|-p)", option)]
    table = _run(["sinfo", "-N", "-h", *chosen, "-o", "%N|%R|%T|%f|%z|%m|%G"], "--slurm each asks sinfo for the nodes")
    kinds: dict[tuple[str, ...], dict[str, set[str]]] = {}
    names: set[str] = set()
    for row in (line.split("|") for line in table.splitlines() if line.count("|") == 6):
        names.add(row[0])
        if not re.match(r"down|drain|fail|maint|unk|future", row[2]):
            nodes = kinds.setdefault(tuple(word.strip() for word in row[3:]), {})
            nodes.setdefault(row[0], set()).add(row[1])
    if not kinds:
        raise OkosuError(
            "--slurm each finds no node that is up", table.strip(), "sinfo -N says what the nodes are doing"
        )
    found = []
    for (features, shape, memory, extra), nodes in kinds.items():
        where = {"partition": ",".join(sorted(set().union(*nodes.values())))} if not chosen else {}
        # Slurm has no option for "any of these nodes"; with all others excluded it takes the first that is free.
        where |= {"exclude": compressed(others)} if (others := [*(names - nodes.keys())]) else {}
        said = [f"features {features}" if features != "(null)" else "no features", f"{shape} sockets:cores:threads"]
        said += [f"{memory} MB", *([extra] if extra != "(null)" else []), f"one of {compressed([*nodes])}"]
        found.append((", ".join(said), where))
    return found


def submit(text: str, folder: Path) -> str:
    """Hand a script to sbatch and return the job's number. The script is kept in the folder as job-NUMBER.sh."""
    draft = folder / ".job.sh"
    draft.write_text(text)
    try:
        said = _run(["sbatch", "--parsable", str(draft)], "--slurm hands its jobs to sbatch")
    except OkosuError:
        draft.unlink()
        raise
    number = said.strip().splitlines()[-1].partition(";")[0] if said.strip() else ""
    if not number.isdecimal():
        raise OkosuError("sbatch named no job", f"it said {said.strip()!r}", "squeue --me says what it took")
    draft.replace(folder / f"job-{number}.sh")
    return number


def states(numbers: Sequence[str]) -> dict[str, str] | None:
    """What Slurm says of these jobs: number (7, or 7_2 for a task) to state and reason ("PENDING: Resources").

    A job that has ended is forgotten after some minutes and is absent. None where there is no Slurm to ask.
    """
    try:
        asked = ["squeue", "-h", "-r", "-t", "all", "-j", ",".join(numbers), "-o", "%i|%T|%r"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Where all are forgotten, squeue calls their numbers invalid.
    if done.returncode and "Invalid job id" not in done.stderr:
        return None
    rows = [line.strip().split("|") for line in done.stdout.splitlines() if line.count("|") == 2]
    return {row[0]: row[1] if row[2] in ("", "None") else f"{row[1]}: {row[2]}" for row in rows}


def _run(words: Sequence[str], why: str) -> str:
    """What the command prints. OkosuError where it is not there or fails."""
    fix = "a machine from which jobs are submitted; okosu try --slurm NODES --dry-run prints the scripts anywhere"
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise OkosuError(f"{words[0]} cannot be run: {error.strerror}", why, fix) from error
    if done.returncode:
        shown = re.sub(rf"^{words[0]}: (error: )?", "", done.stderr.strip(), flags=re.MULTILINE).replace("\n", "; ")
        raise OkosuError(f"{words[0]} failed (exit status {done.returncode})", shown, "sinfo -N lists the nodes")
    return done.stdout
