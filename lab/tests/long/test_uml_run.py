# SPDX-License-Identifier: Apache-2.0
"""Commands on a real kernel under User-Mode Linux: make test-lab."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import guest, uml
from lab.run.outcome import GuestError
from lab.tests.long.uml_guest import OKOSU, ROOT, built, scratch, shell

__all__ = ["built", "scratch"]

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


@pytest.mark.parametrize(
    ("script", "status", "number"),
    [
        ("true", 0, None),
        ("exit 7", 7, None),
        ("kill -SEGV $$", 139, 11),
        ("kill -KILL $$", 137, 9),
        ("no-such-program", 127, None),
    ],
)
def test_the_commands_end_is_handed_back(built: Built, script: str, status: int, number: int | None) -> None:
    outcome = shell(built, script)
    assert (outcome.status, outcome.signal) == (status, number)
    assert outcome.boot_seconds > 0
    assert outcome.seconds > 0
    assert "Linux version 6.12" in outcome.log
    assert outcome.stdout == b""


def test_a_program_that_is_not_there_or_not_executable(built: Built) -> None:
    assert uml.run(built, ["/no/such/program"]).status == 127
    outcome = uml.run(built, ["/etc/passwd"])
    assert outcome.status == 126
    assert b"/etc/passwd: Permission denied" in outcome.stderr


def test_bytes_come_out_as_they_went_in(built: Built, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4096 + b"\r\n\n\0end"
    (tmp_path / "data").write_bytes(data)
    outcome = shell(built, f"cat {tmp_path}/data; cat {tmp_path}/data >&2; printf 'no line'")
    assert outcome.stdout == data + b"no line"
    assert outcome.stderr == data


def test_a_slow_reader_loses_nothing(built: Built) -> None:
    seen = bytearray()

    def slowly(stream: str, data: bytes) -> None:
        if stream == "stdout":
            seen.extend(data)
            time.sleep(0.01)

    outcome = shell(built, "seq 1 200000", on_data=slowly)
    assert bytes(seen) == outcome.stdout == b"".join(b"%d\n" % n for n in range(1, 200001))


def test_output_comes_while_the_command_runs(built: Built) -> None:
    times: list[float] = []

    def note(stream: str, _: bytes) -> None:
        if stream == "stdout":
            times.append(time.monotonic())

    # A busy machine may let this process wait for the most of the first of these times.
    for seconds in (2, 20, 200):
        times.clear()
        shell(built, f"echo one; sleep {seconds}; echo two", on_data=note, timeout=1800.0)
        if times[-1] - times[0] > seconds / 2:
            break
    assert times[-1] - times[0] > seconds / 2


def test_the_commands_surroundings(
    built: Built, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OKOSU_SECRET", "1")
    (tmp_path / "file").write_text("here\n")
    script = """
        id -u; pwd; cat file; echo "[$OKOSU_SECRET$USER]"; wc -c < /dev/stdin; ls -A /tmp | wc -l
        touch /tmp/written-here /run/x /dev/shm/x && echo memory; touch file /etc/x 2>/dev/null || echo read-only
        tty; test -t 1 || echo pipe; ls /proc/self/fd | wc -l; nproc; test -d /sys/kernel/debug && echo debug
    """
    outcome = shell(built, script)
    # /tmp has the entries that lead to the current folder and to the out folder of this run.
    kept = len({path.relative_to("/tmp").parts[0] for path in (tmp_path, scratch) if path.is_relative_to("/tmp")})
    wanted = [
        "0",
        str(tmp_path),
        "here",
        "[]",
        "0",
        str(kept),
        "memory",
        "read-only",
        "not a tty",
        "pipe",
        "4",
        "1",
        "debug",
    ]
    lines = outcome.stdout.decode().split("\n")[:-1]
    assert lines == wanted, outcome.console


def test_the_out_folder_is_the_hosts(built: Built, tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "out"
    outcome = shell(
        built,
        'echo hello > "$OKOSU_OUT/file"; mkdir "$OKOSU_OUT/deep"; ln "$OKOSU_OUT/file" "$OKOSU_OUT/deep/same"',
        out=out,
    )
    assert outcome.status == 0, outcome.console
    assert (out / "file").read_text() == "hello\n"
    assert {"file", "deep/same"} <= set(outcome.files)
    assert stat.S_IMODE((out / "file").stat().st_mode) == 0o644


def test_an_out_folder_within_the_current_one(
    built: Built, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (spaced := scratch / "a b").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spaced))
    outcome = shell(built, "echo x > results/f; echo y > g", out=Path("results"))
    assert b"cannot create g: Read-only file system" in outcome.stderr
    assert (tmp_path / "results/f").read_text() == "x\n"
    spaced.rmdir()


def test_a_large_file_is_whole_when_the_guest_has_ended(built: Built) -> None:
    outcome = shell(built, "head -c 30000000 /dev/zero | tr '\\0' x > $OKOSU_OUT/large")
    assert outcome.files["large"].read_bytes() == b"x" * 30_000_000


def test_another_root(built: Built, tmp_path: Path) -> None:
    for name in ("proc", "sys", "dev", "tmp", "run", "bin"):
        (tmp_path / name).mkdir()
    shutil.copy(guest.program("work_transpose"), tmp_path / "bin/work")
    outcome = uml.run(built, ["/bin/work", "8", "10", "1"], root=tmp_path, memory="64M", timeout=600)
    assert outcome.status == 0, outcome.console
    assert json.loads(outcome.stdout)["ops"] == 640
    assert uml.run(built, ["/bin/true"], root=tmp_path, memory="64M", timeout=600).status == 127
    (tmp_path / "proc").rmdir()
    with pytest.raises(GuestError) as caught:
        uml.run(built, ["/bin/work", "8", "10", "1"], root=tmp_path, memory="64M", timeout=600)
    assert "proc" in caught.value.why


def test_the_command_line(built: Built, tmp_path: Path) -> None:
    words = [
        "--json",
        str(tmp_path / "run.json"),
        "--memory",
        "64M",
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2; exit 9",
    ]
    done = subprocess.run([*OKOSU, *words], capture_output=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (9, b"out\n", b"err\n")
    told = json.loads((tmp_path / "run.json").read_text())
    assert (told["status"], told["signal"], told["built"]["key"]) == (9, None, built.key)
    done = subprocess.run(
        [*OKOSU, "--console", "--json", "-", "--", "echo", "out"], capture_output=True, cwd=ROOT, check=False
    )
    told = json.loads(done.stdout)
    assert (told["stdout"], told["status"]) == ("out\n", 0)
    assert b"Linux version" in done.stderr


def test_an_ordinary_user_can_run_it(built: Built, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("this user is one")
    place = Path(
        subprocess.run(["mktemp", "-d", "/tmp/okosu-user-XXXXXX"], capture_output=True, text=True).stdout.strip()
    )
    try:
        shutil.copytree(ROOT / "okosu", place / "okosu")
        shutil.copytree(ROOT / "lab", place / "lab")
        shutil.copytree(built.path, place / "built")
        for path in [place, *place.rglob("*")]:
            shutil.chown(path, 65534, 65534)
        script = (
            "from pathlib import Path; from lab.run import uml; from lab.kernel.build import Built\n"
            f"b = Built(Path('{place}/built'), '', '', '', (), (), {built.any_xstate})\n"
            "o = uml.run(b, ['sh', '-c', 'id -u; echo x > $OKOSU_OUT/f; exit 5'], memory='64M')\n"
            "print(o.status, o.stdout, o.files['f'].stat().st_uid)"
        )
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "PYTHONPATH": str(place)}
        words = [*drop, sys.executable, "-c", script]
        done = subprocess.run(
            words, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.stdout == "5 b'0\\n' 65534\n", done.stderr
    finally:
        shutil.rmtree(place)


def test_an_installed_kernel_runs_by_the_line_that_is_printed(built: Built, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "okosu", "lab", "install", "uml", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    line = done.stderr.splitlines()[-1].strip()
    assert line.startswith(f"{tmp_path}/linux.okosu mem=")
    ours, theirs = pty.openpty()
    # The kernel keeps files of its own below HOME, and TERM decides what a shell prints.
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "TERM": "dumb"}
    with subprocess.Popen(shlex.split(line), env=env, stdin=theirs, stdout=theirs, stderr=theirs) as kernel:
        os.close(theirs)
        late = threading.Timer(300, kernel.kill)
        late.start()
        shown, asked = b"", False
        # Reading fails once the kernel has closed the terminal's other side.
        with contextlib.suppress(OSError):
            while block := os.read(ours, 65536):
                shown += block
                # What is typed before the shell has its terminal is lost.
                if not asked and shown.endswith(b"# "):
                    os.write(ours, b"uname -sr; busybox poweroff -f\n")
                    asked = True
        late.cancel()
        os.close(ours)
    assert kernel.returncode == 0, shown.decode(errors="replace")
    assert b"\nLinux 6.12" in shown
