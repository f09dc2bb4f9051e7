# SPDX-License-Identifier: Apache-2.0
"""The okosu command for tests of many command lines: a process that has loaded all of it forks for each of them.

As a module it is the helper `okosu()`; as a program it is that process. It has one thread only, so that its children
may do all that a fresh interpreter may. A test of signals, of start-up or of standard input starts `python -m okosu`.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def _server() -> subprocess.Popen[str]:
    made = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(made.communicate)
    return made


def okosu(
    *argv: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command line of okosu in `cwd` and with the environment `env` (None: those of now)."""
    server = _server()
    assert server.stdin
    assert server.stdout
    with tempfile.TemporaryDirectory() as folder:
        asked = {"argv": argv, "cwd": str(cwd or Path.cwd()), "env": dict(os.environ if env is None else env)}
        server.stdin.write(json.dumps(asked | {"folder": folder}) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        out, err = ((Path(folder) / name).read_text() for name in ("1", "2"))
    return subprocess.CompletedProcess(["okosu", *argv], status, out, err)


def _child(asked: dict[str, str], argv: list[str], env: dict[str, str]) -> None:
    from okosu.cli import main

    gc.enable()
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(f"{asked['folder']}/{stream}", os.O_WRONLY | os.O_CREAT), stream)
    sys.argv = ["okosu", *argv]
    try:
        status = main.main()
    except SystemExit as stopped:
        status = stopped.code if isinstance(stopped.code, int) else int(bool(stopped.code))
    # What else an interpreter does at its end takes far longer than most of these command lines: it frees all that was
    # loaded, each page of which is copied for that.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _serve() -> None:
    from okosu.cli import main

    gc.disable()
    main.commands()
    # What most command lines load only when they need it.
    for name in ("cli._conduct", "cli._resume", "cli._slurm", "cli._table", "levers", "report.export", "report.view"):
        importlib.import_module(f"okosu.{name}")
    for info in pkgutil.iter_modules(importlib.import_module("okosu.levers").__path__, "okosu.levers."):
        importlib.import_module(info.name)
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if not pid:
            _child(asked, asked["argv"], asked["env"])
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    _serve()
