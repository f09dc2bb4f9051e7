# SPDX-License-Identifier: Apache-2.0
"""okosu lab as it is typed, with a source and a kernel that are files of a few lines."""

from __future__ import annotations

import hashlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import shebang

from lab.tests import lab_fake, obeys

pytestmark = [lab_fake.needs_git, pytest.mark.unspaced]


# A program in the kernel's place: it runs the job's command on this machine and reports as a guest does.
LINUX = f"""\
{shebang.python()}
import os, subprocess, sys
words = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
lines = [int(words[f"ssl{{n}}"].rpartition(":")[2]) for n in range(3)]
job = open(os.path.dirname(words["init"]) + "/job", "rb").read().decode().split("\\0")
os.write(1, b"Linux version 6.12\\n")
os.write(lines[2], b"start\\n")
done = subprocess.run([w[4:] for w in job if w.startswith("arg=")], stdout=lines[0], stderr=lines[1])
os.write(lines[2], f"exit {{done.returncode}} 0.5\\n".encode())
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    lab_fake.kernel_with_series(tmp_path / "kernel")
    lab_fake.source(tmp_path / "linux", LINUX)
    # This kernel runs as UML on any CPU, on one with AMX as well.
    (tmp_path / "linux/arch/x86/um/shared/sysdep/ptrace.h").write_text("extern unsigned long host_fp_size;\n")
    (tools := tmp_path / "tools").mkdir()
    for name in ("flex", "bison", "bc", "xz", "dpkg-buildpackage", "dh_builddeb", "depmod", "rsync"):
        (tools / name).symlink_to("/bin/true")
    return {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "OKOSU_ROOM": str(tmp_path / "kernel"),
        "PATH": f"{os.environ['PATH']}:{tools}",
    }


def okosu(environment: dict[str, str], *words: str, **options) -> subprocess.CompletedProcess[bytes]:  # type: ignore[no-untyped-def]
    argv = [sys.executable, "-m", "okosu", "lab", *words]
    return subprocess.run(argv, env=environment, check=False, **{"capture_output": True, **options})


@pytest.fixture
def kernel(tmp_path: Path) -> list[str]:
    return ["uml", "--series", "one", "--kernel-source", str(tmp_path / "linux")]


def test_build_prints_the_folder_and_nothing_else(
    environment: dict[str, str], kernel: list[str], tmp_path: Path
) -> None:
    done = okosu(environment, "build", *kernel)
    assert done.returncode == 0
    assert done.stderr.startswith(b"okosu: the series were made on Linux 6.12.7-1; this is 6.12.7-")
    assert done.stderr.count(b"\n") == 1
    folder = Path(done.stdout.decode().strip())
    assert (folder / "linux").is_file()
    done = okosu(environment, "build", *kernel, "--fragment", "more", "--json", "-")
    told = obeys.its_schema(done.stdout)
    assert told["schema"] == "okosu.lab-build/1"
    assert (told["series"], told["fragments"]) == (["one"], ["um", "more"])
    assert told["path"] != str(folder)


def test_install_puts_the_kernel_where_the_user_says_and_replaces_its_own(
    environment: dict[str, str], kernel: list[str], tmp_path: Path
) -> None:
    (folder := tmp_path / "bin").mkdir()
    file = folder / "linux.okosu"
    for text in ("one", "two"):
        with (tmp_path / "linux/fake-linux").open("a") as source:
            source.write(f"# {text}\n")
        done = okosu(environment, "install", *kernel, str(folder))
        assert (done.returncode, done.stdout) == (0, f"{file}\n".encode())
        assert f"\n  {file} mem=256M root=/dev/root rootfstype=hostfs rootflags=/ ro ".encode() in done.stderr
        assert file.read_bytes() == (tmp_path / "linux/fake-linux").read_bytes()
        assert os.access(file, os.X_OK)
        told = obeys.its_schema((folder / "linux.okosu.json").read_bytes())
        assert (told["series"], told["file"]) == (["one"], str(file))
        assert told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert sorted(path.name for path in folder.iterdir()) == ["linux.okosu", "linux.okosu.json"]


def test_install_takes_a_file_and_prints_its_record(
    environment: dict[str, str], kernel: list[str], tmp_path: Path
) -> None:
    done = okosu(environment, "install", *kernel, "mine", "--json", "-", cwd=tmp_path)
    assert obeys.its_schema(done.stdout) == obeys.its_schema((tmp_path / "mine.json").read_bytes())
    assert (tmp_path / "mine").is_file()


def foreign(what: str, file: Path) -> None:
    """Make of an installed kernel something that was not installed."""
    if what == "no record":
        file.with_name("linux.okosu.json").unlink()
    elif what == "another record":
        file.with_name("linux.okosu.json").write_text('{"schema": "another/1"}\n')
    elif what == "a record alone":
        file.unlink()
        file.with_name("linux.okosu.json").write_text("{}\n")
    elif what == "a link":
        file.replace(file.with_name("elsewhere"))
        file.symlink_to("elsewhere")
    elif what == "a folder":
        file.unlink()
        file.mkdir()
        (file / "linux").write_text("the user's\n")
    else:
        file.write_bytes(file.read_bytes() + b"# changed\n")


@pytest.mark.parametrize(
    "what", ["no record", "another record", "a record alone", "a link", "a folder", "another content"]
)
def test_install_does_not_replace_what_it_did_not_write(
    environment: dict[str, str], kernel: list[str], tmp_path: Path, what: str
) -> None:
    (folder := tmp_path / "bin").mkdir()
    assert okosu(environment, "install", *kernel, str(folder)).returncode == 0
    foreign(what, folder / "linux.okosu")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    okosu(environment, "cache", "--clear")
    done = okosu(environment, "install", *kernel, str(folder))
    assert done.returncode == 125
    first, why, fix = done.stderr.decode().splitlines()
    assert first.endswith("linux.okosu is not replaced")
    assert why.startswith("  why: ")
    assert fix.startswith("  fix: remove ")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    # It was refused before anything was built.
    assert okosu(environment, "cache").stdout.decode().split()[:2] == ["0.0", "MB"]


def test_install_says_where_nothing_can_be_installed(
    environment: dict[str, str], kernel: list[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for place, why in (("nowhere/", "there is no such folder"), ("nowhere/linux", "no such"), ("file/", "is a file")):
        done = okosu(environment, "install", *kernel, str(tmp_path) + f"/{place}")
        assert done.returncode == 125
        assert why in done.stderr.decode()
    assert okosu(environment, "install", *kernel, "--dry-run", str(tmp_path)).stdout.decode().splitlines()[-1] == (
        f"install: {tmp_path}/linux.okosu"
    )
    assert not (tmp_path / "linux.okosu").exists()
    assert not (tmp_path / "cache").exists()


@pytest.fixture
def package(tmp_path: Path) -> list[str]:
    (tmp_path / "small.config").write_text('CONFIG_A=y\nCONFIG_LOCALVERSION="-theirs"\nCONFIG_TRUSTED="a.pem"\n')
    words = ["--config", str(tmp_path / "small.config"), "--kernel-source", str(tmp_path / "linux")]
    return ["package", *words, "--out", str(tmp_path / "debs")]


def test_package_makes_packages_of_the_configuration_with_the_series_options(
    environment: dict[str, str], package: list[str], tmp_path: Path
) -> None:
    done = okosu(environment, *package, "--json", str(tmp_path / "package.json"))
    assert done.returncode == 0, done.stderr
    image, headers = map(Path, done.stdout.decode().split())
    # The user's system keeps its linux-libc-dev.
    assert sorted(path.name for path in (tmp_path / "debs").iterdir()) == sorted([image.name, headers.name])
    assert image.name.startswith("linux-image-6.12.7-okosu_6.12.7-")
    assert headers.name.startswith("linux-headers-6.12.7-okosu_6.12.7-")
    assert image.read_text().splitlines() == [
        "CONFIG_A=y",
        'CONFIG_LOCALVERSION="-okosu"',
        'CONFIG_TRUSTED=""',
        "CONFIG_REFUSED_BY_STOCK=y",
    ]
    told = obeys.its_schema((tmp_path / "package.json").read_text())
    assert (told["series"], told["release"]) == (["one"], "6.12.7-okosu")
    assert told["config"] == str(tmp_path / "small.config")
    assert told["packages"] == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (image, headers)}
    assert f"+okosu{told['key'][:8]}_amd64.deb" in image.name
    how = done.stderr.decode()
    assert how.startswith("Nothing was installed.")
    for part in (f"apt install {image}\n", "with Linux 6.12.7-okosu' && reboot", "purge linux-image-6.12.7-okosu\n"):
        assert part in how


def test_package_is_kept_by_what_it_is_made_from(
    environment: dict[str, str], package: list[str], tmp_path: Path
) -> None:
    first = okosu(environment, *package).stdout
    (tmp_path / "debs" / Path(first.decode().split()[0]).name).unlink()
    assert okosu(environment, *package, "--series", "one").stdout == first
    assert Path(first.decode().split()[0]).is_file()
    assert (tmp_path / "cache/okosu/lab/packaged").read_text() == "once\n"
    (tmp_path / "small.config").write_text("CONFIG_A=m\n")
    stock = okosu(environment, *package, "--stock").stdout
    assert (
        Path(stock.decode().split()[0]).read_text() == 'CONFIG_A=m\nCONFIG_LOCALVERSION="-okosu"\nCONFIG_TRUSTED=""\n'
    )
    assert len({first, stock, okosu(environment, *package).stdout}) == 3
    assert (tmp_path / "cache/okosu/lab/packaged").read_text() == "once\n" * 3


def test_package_refuses_before_it_builds(environment: dict[str, str], package: list[str], tmp_path: Path) -> None:
    lab_fake.add_series(tmp_path / "other", "two")
    (tmp_path / "other/series/two").rename(tmp_path / "kernel/series/two")
    for path in (tmp_path / "kernel/series/two").iterdir():
        path.write_text(path.read_text().replace("REFUSED_BY_STOCK", "NOBODY_SETS"))
    (tmp_path / "text").write_text("no configuration\n")
    for words, status, why in (
        (["--series", "one,two"], 125, "no config/package.fragment sets an option of it"),
        (["--series", "three"], 125, "there is one, two"),
        (["--base", "7.3"], 125, "sets an option of any of them"),
        (["--config", str(tmp_path / "nowhere")], 125, "No such file"),
        (["--config", str(tmp_path / "text")], 125, "no line of it sets a symbol"),
        (["--out", str(tmp_path / "text")], 125, "it is a file"),
        (["--base", "5.0"], 2, "there is 6.12, 7.3"),
    ):
        done = okosu(environment, *package, *words)
        assert (done.returncode, len(done.stderr.splitlines())) == (status, 3), done.stderr
        assert why in done.stderr.decode()
    assert not (tmp_path / "cache/okosu/lab/packaged").exists()
    assert not (tmp_path / "debs").exists()


def test_package_says_what_does_not_take_effect_and_what_does_not_compile(
    environment: dict[str, str], package: list[str], tmp_path: Path
) -> None:
    (tmp_path / "linux/broken.c").touch()
    assert b"this is broken" in okosu(environment, *package).stderr
    with (tmp_path / "kernel/config/package.fragment").open("a") as fragment:
        fragment.write("CONFIG_REFUSED=y\n")
    done = okosu(environment, *package)
    assert done.returncode == 125
    assert done.stderr.startswith(b"okosu: the kernel's configuration does not take CONFIG_REFUSED=y\n")
    assert not (tmp_path / "debs").exists()


def test_package_as_a_dry_run_does_nothing(environment: dict[str, str], package: list[str], tmp_path: Path) -> None:
    done = okosu(environment, *package, "--dry-run")
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert lines[1:3] == [
        "series: one (2 patches)",
        f"configuration: {tmp_path}/small.config, and on it 3 symbols of package",
    ]
    assert "bindeb-pkg" in lines[3]
    assert lines[-1] == f"put in: {tmp_path}/debs"
    # What has to be fetched first is named and not fetched.
    package[2] = "cloud-amd64"
    done = okosu(environment, *package, "--dry-run", "--stock", "--base", "7.3")
    assert done.stdout.startswith(b"fetched first: linux-config-7.3 of somewhere; ")
    assert not (tmp_path / "debs").exists()
    assert not (tmp_path / "cache").exists()


def test_progress_is_shown_on_a_terminal_and_taken_away(environment: dict[str, str], kernel: list[str]) -> None:
    ours, theirs = pty.openpty()
    done = okosu(environment, "build", *kernel, capture_output=False, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:
        pass
    os.close(ours)
    assert done.returncode == 0
    assert b"\r\x1b[Kapplying one" in shown
    assert shown.endswith(b"\r\x1b[K")


def test_run_hands_over_output_and_status(environment: dict[str, str], kernel: list[str], tmp_path: Path) -> None:
    words = ["--json", str(tmp_path / "run.json"), "--", "sh", "-c", "printf 'a\\0b'; echo e >&2; exit 9"]
    done = okosu(environment, "run", *kernel, *words)
    assert (done.returncode, done.stdout, done.stderr) == (9, b"a\0b", b"e\n")
    told = obeys.its_schema((tmp_path / "run.json").read_text())
    assert (told["schema"], told["status"], told["seconds"]) == ("okosu.lab-run/1", 9, 0.5)
    assert "stdout" not in told


def test_run_shows_the_kernels_messages_only_when_asked(environment: dict[str, str], kernel: list[str]) -> None:
    assert okosu(environment, "run", *kernel, "--", "true").stderr == b""
    assert okosu(environment, "run", *kernel, "--console", "--", "true").stderr == b"Linux version 6.12\n"


def test_run_with_json_on_stdout_prints_nothing_else(environment: dict[str, str], kernel: list[str]) -> None:
    done = okosu(environment, "run", *kernel, "--json", "-", "--", "echo", "hello")
    told = obeys.its_schema(done.stdout)
    assert (told["stdout"], told["log"], told["built"]["series"]) == ("hello\n", "Linux version 6.12\n", ["one"])


def test_a_reader_that_goes_away_ends_the_guest(environment: dict[str, str], kernel: list[str]) -> None:
    okosu(environment, "build", *kernel)
    words = [sys.executable, "-m", "okosu", "lab", "run", *kernel, "--", "sh", "-c", "yes; sleep 600"]
    child = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.read(2) == b"y\n"
    child.stdout.close()
    assert child.wait() == 1


def test_dry_run_does_nothing(environment: dict[str, str], kernel: list[str], tmp_path: Path) -> None:
    done = okosu(environment, "run", *kernel, "--kernel-arg", "um_copy=sse2", "--dry-run", "--", "echo", "a b")
    assert done.returncode == 0
    for part in (b"one (2 patches)", b"um_copy=sse2", b"run: echo 'a b'"):
        assert part in done.stdout
    assert not (tmp_path / "cache").exists()


def test_a_failure_of_ours_is_125(environment: dict[str, str], kernel: list[str], tmp_path: Path) -> None:
    (tmp_path / "linux/broken.c").touch()
    done = okosu(environment, "run", *kernel, "--", "true")
    assert done.returncode == 125
    assert done.stderr.startswith(
        b"okosu: the kernel does not compile\n  why: broken.c:1:1: error: this is broken\n  fix: "
    )


def test_the_cache_is_listed_and_cleared(environment: dict[str, str], kernel: list[str]) -> None:
    okosu(environment, "run", *kernel, "--", "true")
    told = obeys.its_schema(okosu(environment, "cache", "--json", "-").stdout)
    assert sorted({name.partition("/")[0] for name in told["bytes"]}) == ["guest", "kernel", "tree"]
    done = okosu(environment, "cache", "--clear")
    assert done.stdout.decode().split() == ["0.0", "MB", "in", told["folder"]]
    assert okosu(environment, "run", *kernel, "--", "true").returncode == 0
