# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/SERVICES.md, as they stand there, for one round each."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs/SERVICES.md").read_text()
EXAMPLES = dict(re.findall(r"^### ([^\n]+)\n.*?^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
NEEDS = {
    "redis": ("redis-server", "redis-benchmark"),
    "memcached": ("memcached", "memcslap"),
    "nginx with wrk": ("nginx", "wrk"),
    "PostgreSQL with pgbench": ("initdb", "pgbench"),
}
PATH = ":".join([os.environ["PATH"], "/usr/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))])


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user may enter and write to."""
    with tempfile.TemporaryDirectory(prefix="okosu-services-", dir="/tmp") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_there_is_an_example_for_each_service() -> None:
    assert EXAMPLES.keys() == NEEDS.keys()


@pytest.mark.parametrize("name", NEEDS)
def test_the_example_measures_and_proves(name: str, folder: Path) -> None:
    if missing := [program for program in NEEDS[name] if not shutil.which(program, path=PATH)]:
        pytest.skip(f"{missing[0]} is not installed")
    as_other = []
    if name.startswith("PostgreSQL") and os.geteuid() == 0:
        # It refuses root, and the checkout may lie where others cannot enter.
        if subprocess.run(["runuser", "-u", "postgres", "--", sys.executable, "-c", "import okosu"]).returncode:
            pytest.skip("the user postgres cannot read this checkout")
        as_other = ["runuser", "-u", "postgres", "--"]
    out = folder / "trial.json"
    # Levers that are named are all judged, whatever the pilot's runs took.
    more = f"--levers copy,pin,retain,superpage --max-rounds 1 --no-warm --json {out}"
    shell = f'okosu() {{ {sys.executable} -m okosu "$@" {more}; }}\n{EXAMPLES[name]}'
    env = os.environ | {"PATH": PATH, "HOME": str(folder), "TMPDIR": str(folder)}
    done = subprocess.run([*as_other, "/bin/sh", "-c", shell], env=env, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    verdicts = {verdict["arm"]: verdict for verdict in json.loads(out.read_text())["verdicts"]}
    assert verdicts["copy"]["applied"] is True, verdicts["copy"]
    assert verdicts["copy"]["rounds"] == 1
    assert [path.name for path in folder.iterdir() if path.name.startswith("okosu-service-")] == []
