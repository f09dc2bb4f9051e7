# SPDX-License-Identifier: Apache-2.0
"""perf script's samples become the same table as gprof's, and perf runs an image in its place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.errors import OkosuError
from papers.simd_kernel import perf
from papers.simd_kernel.profile import group

TEXT = """\
  100         60012345 memcpy_orig+0x15 (/cache/linux)
  100         60012349 um_copy_sse2+0x1 (/cache/linux)
  100     7f0a34ba343a ptrace+0x3a (/usr/lib/x86_64-linux-gnu/libc.so.6)
  100         60000001 userspace+0x1 (/cache/linux)
  101         00400123 work+0x1 (/cache/linux)
  102           400500 [unknown] (/dev/shm/memory (deleted))
  102           400501 [unknown] (/dev/shm/memory (deleted))
  102           400502 [unknown] (/dev/shm/memory (deleted))
  102           400503 [unknown] (/dev/shm/memory (deleted))
  102           400504 [unknown] (/dev/shm/memory (deleted))
"""


def test_the_kernels_process_is_the_one_with_samples_in_its_image() -> None:
    table = perf.parse(TEXT, "linux", group, 100)
    assert [(row.function, row.samples) for row in table.rows] == [("memcpy", 2), ("(libc.so.6)", 1), ("userspace", 1)]
    assert table.samples == 4
    assert table.rows[0].seconds == pytest.approx(0.02)
    assert table.rows[0].share == pytest.approx(0.5)


def test_no_sample_is_an_empty_table() -> None:
    assert perf.parse("\n", "linux").rows == []


@given(st.text(max_size=60))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        said = f"{perf.parse(text, 'linux').samples} samples of perf script is"
    except OkosuError as error:
        said = error.what
    assert "of perf script is" in said


def test_an_image_is_wrapped_by_a_program_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake, image, folder = tmp_path / "perf", tmp_path / "linux", tmp_path / "scratch"
    folder.mkdir()
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    image.write_text('#!/bin/sh\necho "$1-$2"\nexit 7\n')
    fake.chmod(0o755)
    image.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(fake))
    wrapped = perf.wrap(image, folder)
    assert wrapped == folder / "linux"
    done = subprocess.run([wrapped, "mem=1", "a b"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "mem=1-a b\n")


def test_a_missing_perf_is_an_error_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(OkosuError) as raised:
        perf.wrap(tmp_path / "linux", tmp_path)
    assert "linux-perf" in raised.value.fix
    assert "linux-perf" in perf.why_not()
