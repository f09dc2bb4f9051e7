# SPDX-License-Identifier: Apache-2.0
"""libokosu as it is installed: a C and a C++ program built with it by pkg-config, its headers, and its exported
symbols.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What gets installed depends on the options and the prefix with which the build tree was configured.
pytestmark = pytest.mark.checkout
BUILD = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build"))

USER = """
#include <okosu/clock.h>
#include <okosu/copy.h>
#include <okosu/cpu.h>
#include <okosu/place.h>
#include <okosu/vec.h>
#include <okosu/zero.h>
#include <stdio.h>

int main(void)
{
    double x[4] = {1, 2, 3, 4}, y[4];
    struct okosu_place_memory memory;
    struct okosu_clock clock;
    struct okosu_cpuset mask;

    okosu_copy(y, x, sizeof(x));
    okosu_vec_daxpy(2, x, y, 4);
    okosu_zero(x, sizeof(double));
    if (okosu_clock_read(&clock) || okosu_place_mask(&mask))
        return 1;
    if (okosu_place_alloc(&memory, 5000, OKOSU_PLACE_FIRST_TOUCH, NULL, OKOSU_PLACE_TOUCH) == 0)
        okosu_place_free(&memory);
    printf("%.0f %.0f %d %d\\n", okosu_vec_ddot(x, y, 4), okosu_vec_dsum(x, 4), clock.tick_hz > 1e6,
           okosu_cpuset_count(&mask) > 0);
    return 0;
}
"""
# The ddot of {0, 2, 3, 4} and {3, 6, 9, 12}, and the sum of the first, 9.
EXPECTED = "87 9 1 1\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of an installation."""
    if not (BUILD / "build.ninja").exists():
        pytest.skip("needs the build tree")
    folder = tmp_path_factory.mktemp("installed")
    if " " in str(folder):
        pytest.skip("pkgconf puts a sysroot whose name has spaces in front of itself")
    command = [
        sys.executable,
        "-m",
        "mesonbuild.mesonmain",
        "install",
        "-C",
        str(BUILD),
        "--no-rebuild",
        "--quiet",
        "--destdir",
        str(folder),
    ]
    # Under sudo, meson would run the install as the user who called sudo.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return folder


@pytest.fixture(scope="module")
def pc(installed: Path) -> Path:
    (path,) = installed.rglob("okosu.pc")
    return path


def parse(pc: Path, root: Path, *, static: bool) -> list[str]:
    """Replaces pkg-config where it is not installed: the flags that a .pc file gives."""
    variables: dict[str, str] = {}
    fields: dict[str, str] = {}
    for line in pc.read_text().splitlines():
        if found := re.match(r"(\w+)=(.*)$", line):
            variables[found[1]] = found[2]
        elif found := re.match(r"([\w.]+): ?(.*)$", line):
            fields[found[1]] = found[2]

    def expand(text: str) -> str:
        while "${" in text:
            text = re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], text)
        return text

    words = [*fields["Cflags"].split(), *fields["Libs"].split(), *(fields["Libs.private"].split() if static else [])]
    return [re.sub(r"^(-[IL])", rf"\g<1>{root}", expand(word)) for word in words]


def ask(pc: Path, root: Path, *, static: bool) -> list[str]:
    env = os.environ | {"PKG_CONFIG_LIBDIR": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    command = ["pkg-config", *(["--static"] if static else []), "--cflags", "--libs", "okosu"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.split()


def flags(pc: Path, root: Path, *, static: bool = False) -> list[str]:
    return (ask if shutil.which("pkg-config") else parse)(pc, root, static=static)


def test_the_pc_file_says_what_pkg_config_makes_of_it(installed: Path, pc: Path) -> None:
    if not shutil.which("pkg-config"):
        pytest.skip("needs pkg-config")
    for static in (False, True):
        assert sorted(set(parse(pc, installed, static=static))) == sorted(set(ask(pc, installed, static=static)))


def test_the_program_of_the_documentation(installed: Path, pc: Path, tmp_path: Path) -> None:
    code = re.search(r"```c\n(.*?)```", (ROOT / "docs" / "LIBRARY.md").read_text(), re.DOTALL)
    assert code
    (tmp_path / "dot.c").write_text(code[1])
    subprocess.run(
        ["cc", "-O2", "-Wall", "-Werror", "-o", tmp_path / "dot", tmp_path / "dot.c", *flags(pc, installed)], check=True
    )
    done = subprocess.run(
        [tmp_path / "dot"], env={"LD_LIBRARY_PATH": str(pc.parent.parent)}, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{1000 * sum(i * i for i in range(2048))}\n"
    assert " flop/cycle" in done.stderr


@pytest.mark.parametrize(("compiler", "standard", "suffix"), [("cc", "-std=c11", "c"), ("c++", "-std=c++11", "cc")])
def test_a_program_against_the_installed_library(
    compiler: str, standard: str, suffix: str, installed: Path, pc: Path, tmp_path: Path
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"needs {compiler}")
    source, program = tmp_path / f"user.{suffix}", tmp_path / "user"
    source.write_text(USER)
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    subprocess.run([compiler, standard, *warnings, source, "-o", program, *flags(pc, installed)], check=True)
    env = os.environ | {"LD_LIBRARY_PATH": str(pc.parent.parent)}
    assert subprocess.run([program], env=env, capture_output=True, text=True, check=True).stdout == EXPECTED
    linked = readelf(program, "-d")
    assert "libokosu.so.0]" in linked


def test_a_static_program(installed: Path, pc: Path, tmp_path: Path) -> None:
    source, program = tmp_path / "user.c", tmp_path / "user"
    source.write_text(USER)
    done = subprocess.run(
        ["cc", "-static", source, "-o", program, *flags(pc, installed, static=True)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and "cannot find -lc" in done.stderr:
        pytest.skip("no static libc")
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == EXPECTED


def headers(include: Path) -> list[str]:
    return sorted(path.name for path in include.glob("*.h"))


def test_every_header_is_installed_and_stands_alone(installed: Path, tmp_path: Path) -> None:
    (include,) = (path.parent for path in installed.rglob("okosu/cpu.h"))
    assert {path.name for path in include.iterdir()} >= set(headers(ROOT / "native/include/okosu"))
    for compiler, language, standard in (("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++11")):
        if not shutil.which(compiler):
            continue
        for name in headers(include):
            # The header is included twice, so that its include guard is tested.
            text = f"#include <okosu/{name}>\n#include <okosu/{name}>\nint unit;\n"
            command = [compiler, "-x", language, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
            done = subprocess.run(
                [*command, f"-I{include.parent}", "-"], input=text, text=True, capture_output=True, check=False
            )
            assert done.returncode == 0, f"{name} as {language}: {done.stderr}"


def defined(library: Path, *options: str) -> set[str]:
    out = subprocess.run(
        ["nm", "--defined-only", "--extern-only", "--format=posix", *options, library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return {line.split()[0] for line in out.splitlines() if len(line.split()) > 1 and not line.endswith("]:")}


def test_only_okosus_names_are_exported(installed: Path) -> None:
    (shared,) = (path for path in installed.rglob("libokosu.so.*.*.*") if not path.is_symlink())
    (static,) = installed.rglob("libokosu.a")
    exported = defined(shared, "-D")
    assert {name for name in exported if not name.startswith("okosu_")} == set()
    assert {"okosu_clock_read", "okosu_place_list", "okosu_vec_ddot", "okosu_cpu_features"} <= exported
    assert {name for name in defined(static) if not name.startswith("okosu_")} == set()
    # The exported symbols are exactly those that the headers declare.
    (include,) = (path.parent for path in installed.rglob("okosu/cpu.h"))
    text = "".join(re.sub(r"/\*.*?\*/", "", (include / name).read_text(), flags=re.DOTALL) for name in headers(include))
    declared = set(re.findall(r"OKOSU_API[^;{]*?\b(okosu_\w+)\(", text))
    assert exported == declared


def readelf(library: Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, library], capture_output=True, text=True, check=True).stdout


def constructors(library: Path) -> set[str]:
    """The names of the functions that .init_array points to, from the relocations there."""
    found = re.search(r"\.init_array\s+\w+\s+(\w+) \w+ (\w+)", readelf(library, "-S"))
    assert found, "no .init_array"
    start, size = (int(number, 16) for number in found.groups())
    named = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    names = {int(line[:16], 16): line.split()[2] for line in named.splitlines() if line.split()[1] in ("t", "T")}
    entries = re.findall(r"^(\w+)\s+\w+ R_\w+_RELATIV\w*\s+(\w+)$", readelf(library, "-r"), re.MULTILINE)
    here = [names[int(target, 16)] for offset, target in entries if start <= int(offset, 16) < start + size]
    assert len(here) == size // 8
    return set(here)


def test_the_library_needs_libc_alone_and_runs_nothing_when_loaded(installed: Path) -> None:
    (shared,) = (path for path in installed.rglob("libokosu.so.*.*.*") if not path.is_symlink())
    dynamic = readelf(shared, "-d")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    if any("san" in name for name in needed):
        pytest.skip("a sanitizer's build")
    assert {name.split(".")[0].split("-")[0] for name in needed} <= {"libc", "libm", "libpthread", "ld"}
    assert "[libokosu.so.0]" in dynamic
    # libgcc's constructor reads CPUID for __builtin_cpu_supports; the other one is the compiler's.
    assert constructors(shared) <= {"frame_dummy", "__cpu_indicator_init"}
