# SPDX-License-Identifier: Apache-2.0
"""Kernel sources that the lab fetches, from an archive of two packages that lies in a folder and is signed by a key of
its own."""

from __future__ import annotations

import hashlib
import lzma
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lab import cache
from lab.kernel import base as bases
from lab.kernel import package, source, whole
from okosu.errors import OkosuError

TOOLS = ("apt-get", "dpkg-deb", "gpg", "gpgconf", "gpgv", "xz")
pytestmark = pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"not all of {', '.join(TOOLS)} are there")

PACKAGE, CONFIGURATIONS = "linux-source-7.3", "linux-config-7.3"
MADE_ON, NEWER = "7.3.1-1", "7.3.2-1"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[bases.Base]:
    """Give a base whose suite has the version that the series were made on, and a newer one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bases, "SOURCES", Path("/usr/src/there-is-none"))
    monkeypatch.setattr(package, "ARCHIVE", f"file:{tmp_path / 'archive'}")
    monkeypatch.setattr(package, "KEYRING", tmp_path / "keyring.gpg")
    with TemporaryDirectory(prefix="gpg-") as keys:
        (tmp_path / "keys").symlink_to(keys)
        for name in ("own", "other"):
            (tmp_path / "keys" / name).mkdir(mode=0o700)
            words = ["--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key"]
            gpg(tmp_path, name, *words, f"{name}@example.org", "rsa2048", "sign", "never")
        (tmp_path / "keyring.gpg").write_bytes(gpg(tmp_path, "own", "--export"))
        for version in (MADE_ON, NEWER):
            add(tmp_path, version)
        sign(tmp_path)
        yield bases.Base("7.3", PACKAGE, MADE_ON, "some-suite")
        for name in ("own", "other"):
            said("gpgconf", "--homedir", str(home(tmp_path, name)), "--kill", "gpg-agent")


def home(folder: Path, key: str) -> Path:
    """A short path: gpg's agent listens there, and the name of a socket has at most 107 bytes."""
    return (folder / "keys").resolve() / key


def gpg(folder: Path, key: str, *words: str) -> bytes:
    return said("gpg", "--homedir", str(home(folder, key)), "--batch", "--quiet", *words)


def said(*words: str) -> bytes:
    return subprocess.run(words, check=True, capture_output=True).stdout


def add(folder: Path, version: str) -> None:
    """Add a package to the archive: its source is one file, which holds the version."""
    root = folder / f"root-{version}"
    tarball = root / f"usr/src/there-is-none/{PACKAGE}.tar.xz"
    for path in (root / "DEBIAN", tarball.parent, root / PACKAGE, folder / "archive/pool"):
        path.mkdir(parents=True, exist_ok=True)
    (root / PACKAGE / "Makefile").write_text(version)
    said("tar", "-cJf", str(tarball), "-C", str(root), PACKAGE)
    shutil.rmtree(root / PACKAGE)
    put(folder, root, PACKAGE, version)
    root = folder / f"root-configurations-{version}"
    configurations = root / f"usr/src/there-is-none/{CONFIGURATIONS}"
    for path in (root / "DEBIAN", configurations):
        path.mkdir(parents=True, exist_ok=True)
    with lzma.open(configurations / "config.amd64_none_cloud-amd64.xz", "wt") as file:
        file.write(f'CONFIG_OF="{version}"\n')
    put(folder, root, CONFIGURATIONS, version)


def put(folder: Path, root: Path, name: str, version: str) -> None:
    """Make the package of what is in `root`, and add it to the archive."""
    fields = {"Package": name, "Version": version, "Architecture": "all", "Maintainer": "t", "Description": "t"}
    text = "".join(f"{name}: {value}\n" for name, value in fields.items())
    (root / "DEBIAN/control").write_text(text)
    made = folder / f"archive/pool/{name}_{version}.deb"
    said("dpkg-deb", "--root-owner-group", "-b", str(root), str(made))
    data = made.read_bytes()
    of = f"Filename: pool/{made.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    (folder / f"archive/{name}_{version}.stanza").write_text(f"{text}{of}\n")


def sign(folder: Path, key: str = "own") -> None:
    """Write the lists of the archive's packages, and the list of these, signed."""
    suite = folder / "archive/dists/some-suite"
    native = said("dpkg", "--print-architecture").decode().strip()
    rows = []
    for architecture in (native, "all"):
        lists = suite / f"main/binary-{architecture}/Packages"
        lists.parent.mkdir(parents=True, exist_ok=True)
        lists.write_text("".join(path.read_text() for path in sorted(folder.glob("archive/*.stanza"))))
        digest = hashlib.sha256(lists.read_bytes()).hexdigest()
        rows.append(f" {digest} {lists.stat().st_size} {lists.relative_to(suite)}\n")
    head = "Origin: t\nSuite: some-suite\nCodename: some-suite\nDate: Thu, 26 Nov 2026 00:00:00 UTC\n"
    unsigned, signed = folder / "Release", suite / "InRelease"
    unsigned.write_text(f"{head}Architectures: all {native}\nComponents: main\nSHA256:\n{''.join(rows)}")
    signed.unlink(missing_ok=True)
    gpg(folder, key, "-o", str(signed), "--clearsign", str(unsigned))


def test_the_version_that_the_series_were_made_on_is_fetched_once_and_unpacked(
    base: bases.Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not package.there(base)
    fetched = package.fetch(base)
    assert fetched.version == MADE_ON
    assert package.there(base)
    # Of what apt needed nothing is left, and with the archive gone the package is still there.
    assert sorted(path.name for path in fetched.tarball.parent.iterdir()) == [fetched.tarball.name, "version"]
    shutil.rmtree(tmp_path / "archive")
    assert package.fetch(base) == fetched
    monkeypatch.setattr(bases, "find", lambda name: base)
    found = source.find(base="7.3")
    assert (found.version, (found.path / "Makefile").read_text()) == (MADE_ON, MADE_ON)


def test_where_that_version_has_gone_it_is_the_newest_and_is_named(base: bases.Base, tmp_path: Path) -> None:
    (tmp_path / f"archive/{PACKAGE}_{MADE_ON}.stanza").unlink()
    sign(tmp_path)
    assert package.fetch(base).version == NEWER


def test_the_configuration_of_a_base_that_is_fetched_is_fetched_too(
    base: bases.Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases, "find", lambda name: base)
    assert whole.to_be_fetched(whole.CLOUD, "7.3")
    assert whole.read(whole.CLOUD, "7.3").config == {"OF": f'"{MADE_ON}"'}
    assert not whole.to_be_fetched(whole.CLOUD, "7.3")
    shutil.rmtree(tmp_path / "archive")
    found = whole.read(whole.CLOUD, "7.3")
    assert found.path.parent.parent.parent == cache.root() / "package"
    # The source is another package, which nothing has asked for.
    assert not package.there(base)


def test_an_archive_that_is_signed_by_another_key_is_refused(base: bases.Base, tmp_path: Path) -> None:
    sign(tmp_path, "other")
    refused(base)


def test_a_package_that_is_not_the_one_that_was_signed_is_refused(base: bases.Base, tmp_path: Path) -> None:
    for path in (tmp_path / "archive/pool").iterdir():
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused(base)


def refused(base: bases.Base) -> None:
    with pytest.raises(OkosuError, match="cannot be fetched") as caught:
        package.fetch(base)
    assert caught.value.status == 125
    assert caught.value.why
    assert not package.there(base)
    assert not list((cache.root() / "package").glob(f"*{MADE_ON}"))
