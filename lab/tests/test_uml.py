# SPDX-License-Identifier: Apache-2.0
"""The host's side of User-Mode Linux, with a program in the kernel's place that prints what a kernel would."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
import shebang
from hypothesis import given
from hypothesis import strategies as st

from lab.kernel.build import Built
from lab.run import memory, outcome, platforms, uml
from lab.run.job import Job, guest_path
from lab.run.outcome import GuestError, Heard
from lab.tests import lab_fake
from okosu.errors import OkosuError

# Plays the kernel: writes what PLAY says to the streams that its arguments name.
LINUX = f"""\
{shebang.python()}
import os, re, sys, time
words = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
lines = [int(words[f"ssl{{n}}"].rpartition(":")[2]) for n in range(3)]
job = open(os.path.dirname(words["init"]) + "/job", "rb").read().decode().split("\\0")
def out(data): os.write(lines[0], data)
def err(data): os.write(lines[1], data)
def control(text): os.write(lines[2], text.encode())
def log(text): os.write(1, text.encode())
PLAY
"""

OK = (
    'log("Linux version 6.12\\n"); control("start\\n"); out(b"a\\r\\n\\0\\xff"); err(b"e"); '
    'control("exit 7 1.250000000\\n")'
)


pytestmark = pytest.mark.unspaced


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OKOSU_ROOM", str(tmp_path / "kernel"))
    lab_fake.kernel(tmp_path / "kernel")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def built(folder: Path, play: str) -> Built:
    (folder / "linux").write_text(LINUX.replace("PLAY", play))
    (folder / "linux").chmod(0o755)
    return Built(folder, "0" * 16, "6.12.7-1", "gcc", (), ("um",), any_xstate=True)


def run(folder: Path, play: str, **options):  # type: ignore[no-untyped-def]
    return uml.run(built(folder, play), ["true"], memory="32M", **options)


def test_streams_status_and_times(tmp_path: Path) -> None:
    shown: list[tuple[str, bytes]] = []
    outcome = run(tmp_path, OK, on_data=lambda stream, data: shown.append((stream, data)))
    assert (outcome.status, outcome.signal, outcome.seconds) == (7, None, 1.25)
    assert (outcome.stdout, outcome.stderr, outcome.log) == (b"a\r\n\0\xff", b"e", "Linux version 6.12\n")
    assert outcome.boot_seconds > 0
    assert "Linux version" in outcome.console
    assert "start" not in outcome.console
    assert {stream for stream, _ in shown} == {"stdout", "stderr", "log"}
    assert outcome.files == {}


def test_a_signal_gives_the_shells_status(tmp_path: Path) -> None:
    outcome = run(tmp_path, 'control("start\\nsignal 11 0.5\\n")')
    assert (outcome.status, outcome.signal) == (139, 11)


def test_control_lines_that_come_in_pieces(tmp_path: Path) -> None:
    play = 'for part in ("sta", "rt", "\\nex", "it 3", " 0.", "25\\n"): control(part); time.sleep(0.02)'
    assert run(tmp_path, play).status == 3


def test_files_of_the_guest_and_of_the_kernel(tmp_path: Path) -> None:
    write = (
        'target = next(w for w in job if w.startswith("from="))[5:]; os.makedirs(target + "/deep");'
        'open(target + "/deep/result", "w").write("r"); open("gmon.out", "w").write("g");' + OK
    )
    kept = run(tmp_path, write, out=tmp_path / "out")
    assert sorted(kept.files) == ["deep/result", "gmon.out"]
    assert kept.files["gmon.out"] == tmp_path / "out/gmon.out"
    outcome = run(tmp_path, write)
    folder = outcome.files["gmon.out"].parent
    assert (folder / "deep/result").read_text() == "r"
    del outcome
    assert not folder.exists()


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    for play in (OK, 'log("Kernel panic - not syncing: no init\\n")'):
        for _ in range(2):
            try:
                run(tmp_path, play, out=tmp_path / "out")
            except GuestError:
                continue
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_panic_is_told(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="could not run") as caught:
        run(tmp_path, 'log("[ 1.0] Kernel panic - not syncing: VFS: no root\\n"); sys.exit(134)')
    assert caught.value.why == "kernel panic: VFS: no root"
    assert caught.value.status == 125
    [log] = (tmp_path / "cache/okosu/lab").glob("failed-guest-*.log")
    assert str(log) in caught.value.fix
    assert "VFS: no root" in log.read_text()


def test_a_panic_names_the_exception_that_led_to_it(tmp_path: Path) -> None:
    said = (
        "[ 1.0] BUG: kernel NULL pointer\\n[ 1.0] RIP: 0010:clear+0x1/0x2\\n[ 1.0] Kernel panic - not syncing: Fatal\\n"
    )
    with pytest.raises(GuestError) as caught:
        run(tmp_path, f'log("{said}"); sys.exit(134)')
    assert caught.value.why == "kernel panic: Fatal; BUG: kernel NULL pointer; RIP: 0010:clear+0x1/0x2"


def test_the_logs_of_the_last_guests_that_failed_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "_KEPT_LOGS", 2)
    for why in ("first", "second", "third"):
        with pytest.raises(GuestError):
            run(tmp_path, f'log("Kernel panic - not syncing: {why}\\n"); sys.exit(134)')
    kept = (tmp_path / "cache/okosu/lab").glob("failed-guest-*.log")
    assert sorted(path.read_text().split()[-1] for path in kept) == ["second", "third"]


def test_a_panic_after_the_commands_end_does_not_take_its_status_away(tmp_path: Path) -> None:
    assert run(tmp_path, OK + '; log("Kernel panic - not syncing: late\\n")').status == 7


def test_what_the_first_process_could_not_do(tmp_path: Path) -> None:
    with pytest.raises(GuestError) as caught:
        run(tmp_path, 'control("fail mount /x: No such device\\n")')
    assert caught.value.why == "mount /x: No such device"


@pytest.mark.parametrize(
    "said",
    [
        "Checking that ptrace can change system call numbers...ptrace: Operation not permitted\\n"
        "check_ptrace : expected SIGSTOP, got status = 256",
        "check_ptrace: PTRACE_SETOPTIONS failed: Operation not permitted",
        "Checking syscall emulation for ptrace...missing",
    ],
)
def test_ptrace_that_is_not_permitted(tmp_path: Path, said: str) -> None:
    with pytest.raises(GuestError, match="ptrace is not permitted") as caught:
        run(tmp_path, f'log("{said}\\n"); sys.exit(1)')
    assert "seccomp=unconfined" in caught.value.fix


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "what"), [("", "did not boot"), ('control("start\\n"); out(b"half"); ', "did not end")]
)
def test_over_time(tmp_path: Path, before: str, what: str) -> None:
    pid = tmp_path / "pid"
    play = before + f'log("busy\\n"); open("{pid}", "w").write(str(os.getpid())); time.sleep(10_000)'
    # A busy machine may not start the guest in the first of these times.
    for seconds in (6, 60, 600):
        with pytest.raises(GuestError) as caught:
            run(tmp_path, play, timeout=seconds)
        if pid.exists():
            break
    assert what in str(caught.value)
    assert "busy" in caught.value.why
    assert ("half" in caught.value.why) == bool(before)
    assert not Path(f"/proc/{pid.read_text()}").exists()
    assert bytes(caught.value.heard.streams["stdout"]) == (b"half" if before else b"")


def test_a_kernel_that_just_ends(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="ended before its command did \\(status 3\\)") as caught:
        run(tmp_path, 'log("one\\ntwo\\n"); sys.exit(3)')
    assert "two" in caught.value.why


def test_the_kernels_command_line(tmp_path: Path) -> None:
    one = built(tmp_path, OK)
    fds = {"stdout": 5, "stderr": 6, "control": 7, "log": 8}
    words = uml.arguments(one, Path("/scratch"), fds, "64M", ("um_copy=avx2",))
    for word in ("mem=64M", "uml_dir=.", "ssl0=null,fd:5", "ssl2=null,fd:7", "init=/scratch/init", "um_copy=avx2"):
        assert word in words
    assert guest_path(Path("/a b")) == '"/a b/init"'
    with pytest.raises(OkosuError, match="quotation mark"):
        guest_path(Path('/a"b'))


def test_room_for_the_guests_memory(tmp_path: Path) -> None:
    said: list[str] = []
    assert uml.memory_folder(1 << 20, said.append, shm=tmp_path) == tmp_path
    assert not said
    assert uml.memory_folder(1 << 20, said.append, shm=tmp_path / "none") == tmp_path / "tmp"
    assert "which may be slower" in said[0]
    with pytest.raises(OkosuError, match="no room") as caught:
        uml.memory_folder(1 << 60, shm=tmp_path)
    assert f"{tmp_path} has" in caught.value.why
    assert "--shm-size" in caught.value.fix


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_cannot_be_written_is_not_taken(tmp_path: Path) -> None:
    (closed := tmp_path / "closed").mkdir(mode=0o500)
    assert uml.memory_folder(1 << 20, shm=closed) == tmp_path / "tmp"


def test_a_cpu_with_amx_needs_the_series(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    one = built(tmp_path, OK)
    stock = Built(one.path, one.key, one.version, one.compiler, (), one.fragments, any_xstate=False)
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu sse avx2\n")
    uml.check_host(stock, cpuinfo)
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu sse avx512f amx_bf16 amx_tile\n")
    uml.check_host(one, cpuinfo)
    with pytest.raises(OkosuError, match="on this CPU") as caught:
        uml.check_host(stock, cpuinfo)
    assert "--stock" in caught.value.fix


@pytest.mark.parametrize(
    ("text", "bytes_"), [("32M", 32 << 20), ("1g", 1 << 30), ("65536K", 64 << 20), (" 64M", 64 << 20)]
)
def test_sizes(text: str, bytes_: int) -> None:
    assert memory.size(text) == bytes_


@given(st.text(max_size=12))
def test_no_text_is_a_size_but_a_number_with_a_unit(text: str) -> None:
    try:
        found = memory.size(text)
    except OkosuError:
        return
    assert found >= 32 << 20
    assert text.strip()[:1] in "0123456789"


@given(st.binary(max_size=200))
def test_any_control_line_can_be_read(data: bytes) -> None:
    heard = Heard()
    heard.add("control", data)
    assert heard.ended is None or heard.ended[0] >= 0
    assert heard.failure is None or isinstance(heard.failure, str)


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_a_job_carries_every_word(words: list[str]) -> None:
    text = Job(words, Path("/"), Path("/tmp/out")).encode().decode()
    assert [line[4:] for line in text.split("\0") if line.startswith("arg=")] == words


def test_a_word_with_nul_and_no_word_at_all_are_refused() -> None:
    for words in ([], ["a\0b"]):
        with pytest.raises(OkosuError):
            Job(words, Path("/"), Path("/")).encode()


def test_what_the_command_names_of_tmp_is_kept(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        (Path(place) / "prog").touch()
        relative = f"{Path(place).name}/prog"
        for words, cwd in (
            ([f"{place}/prog"], "/"),
            (["true"], place),
            ([relative], "/tmp"),
            (["sh", "-c", f"cat '{place}/prog';{place}/prog"], "/"),
            ([f"--file={place}/prog"], "/"),
        ):
            assert Job(words, Path(cwd), tmp_path).kept() == [Path(place)]
        for words, cwd in (
            (["/tmp/no such"], "/"),
            (["true"], "/tmp"),
            (["../.."], "/tmp"),
            (["ls /tmp/../tmp/."], "/"),
        ):
            assert Job(words, Path(cwd), tmp_path).kept() == []


def test_in_another_root_nothing_of_tmp_is_kept_and_out_lies_in_run(tmp_path: Path) -> None:
    words = Job([str(tmp_path)], tmp_path, tmp_path, root=tmp_path, chroot=True).encode().decode().split("\0")
    assert not [word for word in words if word.startswith("keep=")]
    assert {"write=/run/okosu-out", f"from={tmp_path}", f"root={tmp_path}", "cwd=/"} <= set(words)
    assert "env=OKOSU_OUT=/run/okosu-out" in words


def test_platforms_are_found_by_name() -> None:
    assert platforms.find("uml").run is uml.run
    with pytest.raises(OkosuError, match="'umk'") as caught:
        platforms.find("umk")
    assert caught.value.status == 2
