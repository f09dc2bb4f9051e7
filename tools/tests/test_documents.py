# SPDX-License-Identifier: Apache-2.0
"""What the documents and the examples of help name is there: files, commands with their options, targets of make."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

from okosu import native
from okosu.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "lab/**/*.md", "papers/**/*.md", "results/*.md")
    for path in ROOT.glob(pattern)
)
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
ENDS = "py|c|h|cpp|sv|S|toml|sh|md|json|txt|fragment|sby|vlt|svg"
PATH = re.compile(rf"[\w.*-]+(/[\w.*+-]+)*\.({ENDS})|[\w-]+(/[\w.*-]+)+/?")
ELSEWHERE = re.compile(r"Documentation/|scripts/|records/|tests/run_tests\.py$|(.*/)?NODE-JOB\.json$|job-NUMBER\.sh$")
"""Files of Linux and of libhugetlbfs, records, and what jobs of Slurm write, which are not in the repository."""
PLACEHOLDER = re.compile(r"(?<![A-Za-z])(NAME|PAPER|AREA)(?![A-Za-z])")
TOPS = {path.name for path in ROOT.iterdir() if path.is_dir()}
BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def spans(text: str) -> list[str]:
    """The spans of code in sentences."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", BLOCK.sub("", text))]


def lines(text: str) -> list[str]:
    """The lines of the blocks of code."""
    return [line for block in BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()[1:-1]]


@cache
def tree() -> list[str]:
    """Every file and folder of the checkout, as "/PATH"."""
    skipped = re.compile(r"^(\.|build|records$|dist$)")
    tops = [path for path in ROOT.iterdir() if not skipped.match(path.name)]
    below = [path for top in tops if top.is_dir() for path in top.rglob("*")]
    return [f"/{path.relative_to(ROOT)}" for path in [*tops, *below]]


def is_there(word: str, document: Path) -> bool:
    """Whether the path is one from the root or from the document's folder, or the end of one."""
    pattern = PLACEHOLDER.sub("*", word).rstrip("/")
    if any(True for base in (ROOT, document.parent) for _ in base.glob(pattern)):
        return True
    end = re.compile(re.escape(f"/{pattern}").replace(r"\*", "[^/]*") + "$")
    return any(end.search(path) for path in tree())


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_files_that_a_document_names_are_there(document: Path) -> None:
    # What a block of records names may not have been measured yet, and then is said to be lacking there.
    text = re.sub(r"\nNot recorded yet: [^\n]*\n", "", document.read_text())
    words = {word.strip(",;:()'\"").rstrip(".") for span in spans(text) for word in span.split()}
    missing = [
        word
        for word in sorted(words)
        if PATH.fullmatch(word) and not ELSEWHERE.match(word) and ("." in word or word.split("/")[0] in TOPS)
        if not is_there(word, document)
    ]
    links = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text)
    assert missing + [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_sentences_of_a_document_wrap_at_100_columns(document: Path) -> None:
    typed = re.sub(r"<!-- records: .*?<!-- end -->", "", BLOCK.sub("", document.read_text()), flags=re.DOTALL)
    long = [line for line in typed.splitlines() if len(line) > 100 and not line.startswith(("|", "    "))]
    assert [line for line in long if "<!-- figure:" not in line and "](" not in line] == []


@cache
def options() -> dict[str, set[str]]:
    """The options of each command, and of "lab COMMAND" of each of the lab's."""

    def flags(parser: argparse.ArgumentParser) -> set[str]:
        return {flag for action in parser._actions for flag in action.option_strings}

    found = {}
    for name, module in main.commands().items():
        if name == "run":
            continue
        parser = main._parser(name, module)
        found[name] = flags(parser)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {f"{name} {below}": flags(own) for below, own in action.choices.items()}
    # `okosu run` hands its options to the launcher.
    said = subprocess.run([native.find("okosu-run"), "--help"], capture_output=True, text=True, check=True).stdout
    found["run"] = set(re.findall(r"--[\w-]+", said)) | {"--from", "--help"}
    return found


def wrong(span: str) -> str:
    """What is wrong with the command of okosu in a span of code, "" if nothing, or if there is none."""
    said = re.search(r"(?:^|[\s(])(?:\.venv/bin/)?okosu +([a-z].*)", re.split(r"(?:^| )#", span)[0])
    if not said:
        return ""
    lexer = shlex.shlex(said[1], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        words = said[1].split()
    ends = [i for i, word in enumerate(words) if word in ("--", "|", "&", "&&", ";", ">", "…")]
    words = words[: min(ends, default=len(words))]
    name = words[0]
    if name == "lab" and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
        name = f"lab {words[1]}"
    if name not in options():
        return f"no command {name}"
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options()[name]]
    return f"{name} has no {', '.join(unknown)}" if unknown else ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_commands_that_a_document_shows_exist_with_their_options(document: Path) -> None:
    text = document.read_text()
    shown = [*spans(text), *lines(text)]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    bad = [f"{span}: {why}" for span in shown if (why := wrong(span))]
    bad += [span for span in shown for made in re.findall(r"^make ([a-z-]+)", span) if made not in targets]
    bad += [
        span
        for span in shown
        for module in re.findall(r"python -m ((?:okosu|lab|papers|tests)[\w.]*)", span)
        if not PLACEHOLDER.search(module) and importlib.util.find_spec(module) is None
    ]
    assert bad == []


def test_examples_in_help_are_commands_with_options_that_exist() -> None:
    modules = [*main.commands().values(), *main.commands()["lab"].commands().values()]
    examples = [main.EXAMPLES, *(module.EXAMPLES for module in modules)]
    assert [f"{line}: {why}" for text in examples for line in text.splitlines() if (why := wrong(line))] == []


@pytest.mark.parametrize(
    ("span", "why"),
    [
        ("okosu try --levers pin -- ./app --no-such", ""),
        ("okosu try --no-such -- ./app", "try has no --no-such"),
        ("okosu tyr -- ./app", "no command tyr"),
        ("okosu lab biuld uml", "no command lab biuld"),
        ("okosu lab speed rtl --pes 8 --pse 8   # measured", "lab speed has no --pse"),
        (".venv/bin/okosu run --superpage=thp --supperpage=thp -- true", "run has no --supperpage=thp"),
    ],
)
def test_a_wrong_command_is_noticed(span: str, why: str) -> None:
    assert wrong(span) == why


def test_a_missing_file_is_noticed() -> None:
    assert not is_there("docs/NO-SUCH.md", ROOT / "README.md")
    assert not is_there("papers/NAME/no_such.py", ROOT / "README.md")
    assert is_there("papers/NAME/paper.py", ROOT / "README.md")
