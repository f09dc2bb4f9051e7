# SPDX-License-Identifier: Apache-2.0
"""Building a kernel, with a source whose Makefile only says that it compiles."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from processes import lives

from lab import cache
from lab.kernel import base as bases
from lab.kernel import build
from lab.run import guest, uml
from lab.tests import lab_fake
from okosu.errors import OkosuError

pytestmark = [lab_fake.needs_git, pytest.mark.unspaced]


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> build.Recipe:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OKOSU_ROOM", str(tmp_path / "kernel"))
    lab_fake.kernel_with_series(tmp_path / "kernel")
    source = lab_fake.source(tmp_path / "linux")
    # A kernel needs flex, bison and bc; this one does not, and the tests run where they are missing.
    monkeypatch.setattr(build, "_TOOLS", {"make": "make", "git": "git"})
    return replace(uml.RECIPE, series=("one",), objects=10, source=source)


def compiled() -> int:
    log = cache.root() / "compiled"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_a_kernel_is_built_with_its_series_and_kept(recipe: build.Recipe) -> None:
    said: list[str] = []
    built = build.build(recipe, said.append)
    assert sorted(path.name for path in built.path.iterdir()) == [
        ".config", "System.map", "build.log", "linux", "okosu.json", "vmlinux",
    ]  # fmt: skip
    assert "line five\n" in (built.path / "vmlinux").read_text()
    assert (built.path / ".config").read_text() == "CONFIG_A=y\n# CONFIG_B is not set\n"
    assert "CC      file10.o" in (built.path / "build.log").read_text()
    assert (built.version[:7], built.series, built.any_xstate) == ("6.12.7-", ("one",), False)
    assert "applying one" in said
    assert "compiled 5 of about 10" in said
    assert build.build(recipe, said.append) == built
    assert compiled() == 1


def test_whatever_goes_in_makes_another_kernel(recipe: build.Recipe, tmp_path: Path) -> None:
    others = [
        recipe,
        replace(recipe, series=()),
        replace(recipe, fragments=("um", "more")),
        replace(recipe, kcflags="-O3"),
        replace(recipe, cc="cc -O1 gcc"),
    ]
    keys = [build.build(one).key for one in others]
    patch = next((tmp_path / "kernel/series/one").glob("0002*"))
    patch.write_text(patch.read_text().replace("+new\n", "+newer\n"))
    keys.append(build.build(recipe).key)
    (tmp_path / "linux/file.c").write_text("".join(f"line {n}\n" for n in range(21)))
    keys.append(build.build(recipe).key)
    assert len(set(keys)) == len(keys) == 7


def test_a_plan_says_what_would_be_done_and_does_none_of_it(recipe: build.Recipe) -> None:
    text = "\n".join(build.plan(recipe))
    for part in ("Linux 6.12.7-", "one (2 patches)", "2 symbols of um", "ARCH=um", "not there yet"):
        assert part in text
    assert not cache.root().exists()
    build.build(recipe)
    assert "there already" in "\n".join(build.plan(recipe))


def test_a_kernel_of_another_base_is_another_kernel_and_says_so(recipe: build.Recipe, tmp_path: Path) -> None:
    first = build.build(recipe)
    (of := tmp_path / "kernel/series/one/7.3").mkdir()
    for patch in (tmp_path / "kernel/series/one").glob("*.patch"):
        (of / patch.name).write_text(patch.read_text().replace("+new\n", "+newer\n"))
    other = build.build(replace(recipe, base="7.3"))
    assert (first.base, other.base) == ("6.12", "7.3")
    assert first.key != other.key


def test_a_plan_fetches_nothing(recipe: build.Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "SOURCES", tmp_path)
    text = "\n".join(build.plan(replace(recipe, source=None, base="7.3", series=())))
    assert text.splitlines() == [
        "source: Linux 7.3, fetched first: linux-source-7.3 of somewhere; all else is known then",
        "series: none",
    ]
    assert not cache.root().exists()


def test_a_compile_error_is_shown_with_the_log(recipe: build.Recipe) -> None:
    assert recipe.source
    (recipe.source / "broken.c").write_text("")
    with pytest.raises(OkosuError, match="does not compile") as caught:
        build.build(recipe)
    assert "broken.c:1:1: error: this is broken" in caught.value.why
    log = Path(caught.value.fix.rpartition(" ")[2])
    assert "CC      file10.o" in log.read_text()
    assert caught.value.status == 125


def test_symbols_without_effect_are_an_error(recipe: build.Recipe) -> None:
    with pytest.raises(OkosuError, match="CONFIG_REFUSED=y"):
        build.build(replace(recipe, fragments=("um", "refused")))


def test_symbols_of_the_series_are_not_asked_of_the_stock_kernel(recipe: build.Recipe) -> None:
    build.build(replace(recipe, fragments=("um", "one"), series=()))
    with pytest.raises(OkosuError, match="CONFIG_REFUSED_BY_STOCK"):
        build.build(replace(recipe, fragments=("um", "one")))


def test_tools_that_one_kind_of_build_wants_are_named_too_and_may_lie_where_root_s_path_leads() -> None:
    with pytest.raises(OkosuError, match="a-package missing"):
        build.check_tools("true", {"okosu-no-such-tool": "a-package"})
    assert build.environment()["PATH"].endswith(":/usr/sbin:/sbin")


def test_missing_tools_are_named_by_their_packages(recipe: build.Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_TOOLS", {"no-such-tool": "the-package", "make": "make"})
    with pytest.raises(OkosuError, match="the-package") as caught:
        build.build(recipe)
    assert "apt-get install the-package" in caught.value.fix
    monkeypatch.setattr(build, "_TOOLS", {})
    with pytest.raises(OkosuError, match="gcc-99"):
        build.build(replace(recipe, cc="gcc-99"))


SLOW = """
import sys
from dataclasses import replace
from pathlib import Path
from lab.kernel import base as bases
from lab.kernel import build
from lab.run import uml
build._TOOLS = {}
build.build(replace(uml.RECIPE, series=(), objects=10, source=Path(sys.argv[1])))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_ends_and_is_resumed(recipe: build.Recipe, number: int) -> None:
    assert recipe.source
    (recipe.source / "slow.c").write_text("")
    child = subprocess.Popen([sys.executable, "-c", SLOW, str(recipe.source)], stderr=subprocess.DEVNULL)
    pid = cache.root() / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert child.poll() is None
        time.sleep(0.01)
    shell = int(pid.read_text())
    child.send_signal(number)
    child.wait()
    while lives(shell):
        time.sleep(0.01)
    stock = replace(recipe, series=())
    (partial,) = (cache.root() / "kernel").iterdir()
    (partial / "objects" / "kept.o").write_text("")
    os.utime(partial / "objects" / "kept.o", (1, 1))
    # The same tree again: objects that were compiled are kept. The tree still has slow.c, so its sleep is made short.
    slow = recipe.source / "slow.c"
    times = slow.stat()
    makefile = recipe.source / "Makefile"
    made = makefile.stat()
    makefile.write_text(makefile.read_text().replace("sleep 60", "sleep 00"))
    os.utime(makefile, ns=(made.st_atime_ns, made.st_mtime_ns))
    os.utime(slow, ns=(times.st_atime_ns, times.st_mtime_ns))
    said: list[str] = []
    built = build.build(stock, said.append)
    assert built.path == partial.with_name(partial.name.removesuffix(".partial"))
    assert not partial.exists()


def test_guest_programs_are_compiled_once_by_their_contents(recipe: build.Recipe, tmp_path: Path) -> None:
    said: list[str] = []
    folder = guest.build(said.append)
    assert subprocess.run([folder / "init"], check=False).returncode == 0
    assert guest.build(said.append) == folder
    assert said == ["compiling init.c"]
    (tmp_path / "kernel/guest/broken.c").write_text("none\n")
    assert guest.program("init") == guest.program("init", said.append)
    assert said == ["compiling init.c"]
    (tmp_path / "kernel/guest/broken.c").unlink()
    (tmp_path / "kernel/guest/init.c").write_text("int main(void) { return 3; }\n")
    assert subprocess.run([guest.build() / "init"], check=False).returncode == 3
    (tmp_path / "kernel/guest/init.c").write_text("int main(void) { return x; }\n")
    with pytest.raises(OkosuError, match=r"init\.c does not compile") as caught:
        guest.build()
    assert "x" in caught.value.why


def test_what_was_built_is_described_beside_it(recipe: build.Recipe) -> None:
    built = build.build(recipe)
    assert json.loads((built.path / "okosu.json").read_text()) == {"any_xstate": False}
