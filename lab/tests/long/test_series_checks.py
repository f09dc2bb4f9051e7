# SPDX-License-Identifier: Apache-2.0
"""What the kernel's own scripts say of what each series adds, beside what they said before it: make test-lab-full.

Comments of functions (kernel-doc), the descriptions of files in sysfs, the documents as Sphinx reads them, and
Coccinelle's rules (coccicheck). A line number changes with each line that is added, so messages are compared without.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.kernel import series, source, tree
from lab.kernel.series import Series
from lab.tests.long.base import BASE
from lab.tests.long.kernel_commits import NEEDS_SMATCH, SMATCH

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

DOCUMENTS = "Documentation/"
ABI = "Documentation/ABI/"
# Where the scripts are, by what they are called since Linux 7.0 and before.
KERNEL_DOC = ("tools/docs/kernel-doc", "scripts/kernel-doc")
# A message: the file, the line if there is one, and what is said of it.
_MESSAGE = re.compile(r"^(?:(?:Warning|Error|warning|error): )?(\S+?\.\w+):(?:\d+(?:[:-]\d+)*:?)? *(.*)$", re.M)

_LINE = re.compile(r"line \d+")


@pytest.fixture(scope="module", params=series.names(BASE))
def of(request: pytest.FixtureRequest) -> Series:
    return series.find(request.param, BASE)


@pytest.fixture(scope="module")
def before() -> Path:
    return source.find(base=BASE).path


@pytest.fixture(scope="module")
def after(of: Series) -> Path:
    return tree.patched(source.find(base=BASE), [of])


def touched(of: Series, folder: Path, *endings: str) -> list[str]:
    """Return the files that the series touches which are in this tree, by the ends of their names."""
    return sorted(path for path in of.touched if path.endswith(endings) and (folder / path).is_file())


def messages(folder: Path, said: str) -> Counter[str]:
    """Return the messages in what a script printed: FILE: TEXT, and how often."""
    text = said.replace(f"{folder}/", "")
    return Counter(f"{path}: {_LINE.sub('line', what)}" for path, what in _MESSAGE.findall(text))


def new(check: Callable[[Path], Counter[str]], before: Path, after: Path) -> Counter[str]:
    """Return what a check says of the tree with the series and did not say of the one without."""
    return check(after) - check(before)


def run(folder: Path, *words: str | Path, **env: str) -> tuple[int, str]:
    """Return a script's exit status and what it printed."""
    asked = ["nice", *map(str, words)]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **env})
    return done.returncode, done.stdout + done.stderr


def said(folder: Path, *words: str | Path) -> str:
    return run(folder, *words)[1]


def test_comments_of_functions_are_as_kernel_doc_wants_them(of: Series, before: Path, after: Path) -> None:
    def check(folder: Path) -> Counter[str]:
        script = next(path for name in KERNEL_DOC if (path := folder / name).is_file())
        files = touched(of, folder, ".c", ".h")
        return messages(folder, said(folder, script, "-none", "-Wall", *files)) if files else Counter()

    assert new(check, before, after) == Counter()


def test_a_comment_that_is_wrong_is_found(before: Path, tmp_path: Path) -> None:
    script = next(path for name in KERNEL_DOC if (path := before / name).is_file())
    (tmp_path / "wrong.c").write_text("/**\n * f - does\n * @b: what is not there\n */\nint f(int a)\n{\n}\n")
    assert messages(tmp_path, said(tmp_path, script, "-none", "-Wall", "wrong.c"))


def test_descriptions_of_files_in_sysfs_can_be_read(of: Series, before: Path, after: Path) -> None:
    files = [path for path in touched(of, after, "") if path.startswith(ABI)]
    if not files:
        pytest.skip("the series describes no file in sysfs")

    def check(folder: Path) -> Counter[str]:
        python, perl = folder / "tools/docs/get_abi.py", folder / "scripts/get_abi.pl"
        words = ["python3", python] if python.is_file() else ["perl", perl]
        text = said(folder, *words, "--dir", ABI, "validate")
        return Counter(line for line in text.splitlines() if any(Path(path).name in line for path in files))

    assert new(check, before, after) == Counter()
    # And each is among what is described.
    for path in files:
        assert re.search(r"^What:\t+/sys/", (after / path).read_text(), re.M), path


@pytest.mark.skipif(not shutil.which("sphinx-build"), reason="sphinx-build is missing: apt-get install python3-sphinx")
def test_the_documents_are_read_without_a_new_warning(of: Series, before: Path, after: Path, tmp_path: Path) -> None:
    documents = [path for path in touched(of, after, ".rst") if path.startswith(DOCUMENTS)]
    if not documents:
        pytest.skip("the series changes no document")
    # The folders that have an index, which make takes by themselves.
    folders = {next(str(up) for up in Path(path).parents if (after / up / "index.rst").is_file()) for path in documents}
    names = " ".join(sorted(folder.removeprefix(DOCUMENTS) for folder in folders))

    def check(folder: Path) -> Counter[str]:
        # The documentation is built beside its sources, which make writes to.
        copy = tmp_path / ("with" if folder == after else "without")
        subprocess.run(["cp", "-al", f"{folder}/.", copy], check=True)
        words = ("make", "htmldocs", f"SPHINXDIRS={names}", "SPHINXOPTS=-j1")
        # Debian's Sphinx and YAML are those of Debian's Python, whatever else is called python3.
        path = f"/usr/bin:{os.environ['PATH']}"
        status, text = run(copy, *words, PATH=path, PYTHONDONTWRITEBYTECODE="1")
        assert status == 0, text[-3000:]
        return messages(copy, text)

    assert new(check, before, after) == Counter()


@pytest.mark.skipif(not shutil.which("spatch"), reason="spatch is missing: apt-get install coccinelle")
def test_coccinelle_s_rules_find_nothing_new(of: Series, before: Path, after: Path) -> None:
    def check(folder: Path) -> Counter[str]:
        files = [path for path in touched(of, folder, ".c") if not path.startswith("tools/")]
        found: Counter[str] = Counter()
        for rule in sorted((folder / "scripts/coccinelle").rglob("*.cocci")) if files else []:
            words = ["spatch", "-D", "report", "--very-quiet", "--no-includes", "--cocci-file", rule, *files]
            found += messages(folder, said(folder, *words))
        return found

    assert new(check, before, after) == Counter()


@pytest.mark.skipif(not shutil.which("spatch"), reason="spatch is missing: apt-get install coccinelle")
def test_what_coccinelle_s_rules_are_against_is_found(before: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.c").write_text("int f(int a)\n{\n\tif (a) {\n\t\ta = 1;\n\t};\n\treturn a;\n}\n")
    rule = before / "scripts/coccinelle/misc/semicolon.cocci"
    words = ["spatch", "-D", "report", "--very-quiet", "--no-includes", "--cocci-file", rule, "wrong.c"]
    assert messages(tmp_path, said(tmp_path, *words))


@NEEDS_SMATCH
def test_what_smatch_is_against_is_found(tmp_path: Path) -> None:
    wrong = "int f(int *p)\n{\n\tint a = *p;\n\n\tif (!p)\n\t\treturn 1;\n\treturn a;\n}\n"
    (tmp_path / "wrong.c").write_text(wrong)
    assert "wrong.c:5 f() warn: variable dereferenced before check" in said(
        tmp_path, str(SMATCH), "-p=kernel", "wrong.c"
    )
