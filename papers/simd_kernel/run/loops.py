# SPDX-License-Identifier: Apache-2.0
"""What a loop of C source does, and in which function it stands, guessed from the text without parsing C."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

What = Literal["clear", "fill", "copy", "reduce", "compute", "other"]
WHAT: dict[What, str] = {
    "clear": "stores zero",
    "fill": "stores one value that is not zero",
    "copy": "stores what it loaded",
    "reduce": "sums or compares into a variable",
    "compute": "stores what it computed from memory",
    "other": "not told by its text",
}

_HEAD = re.compile(r"\b(for|while|do|\w*for_each\w*)\b")
_BEFORE, _LONGEST = 3, 40
"""Lines above the place that the compiler names in which the loop may begin; the most lines of a loop that are read."""
_FUNCTION = re.compile(r"(\w+)\s*\([^;]*$")
_NOT_A_FUNCTION = {"if", "for", "while", "switch", "return", "sizeof", "__attribute__", "__acquires", "__releases"}
_INDEX = r"\[[^\[\]=;]*(?:\[[^\[\]=;]*\][^\[\]=;]*)*\]"
_MEMORY = rf"(?:\*+\s*\(?\w[\w>.()+-]*|\w[\w>.()-]*\s*{_INDEX}(?:{_INDEX}|[\w.>-])*)"
_STORE = re.compile(rf"(?P<to>{_MEMORY})\s*(?P<op>[-+|&^*/]|<<|>>)?=(?!=)\s*(?P<value>[^;]+);")
_SCALAR = re.compile(rf"\b\w+\s*(?:[-+|&^*]|<<|>>)?=(?!=)[^;]*{_MEMORY}")
_ZERO = re.compile(r"^(?:0[xX]?0*[uUlL]*|NULL|false|'\\0'|\([\w\s]+\)\s*0)$")


def function_at(lines: Sequence[str], line: int) -> str:
    """Return the name of the function that holds line `line` (from 1), "" outside of any.

    It relies on the kernel's style: only the braces of a function's body stand in the first column.
    """
    last = line - 1
    for at in range(last if last < len(lines) else -1, -1, -1):
        text = lines[at].rstrip()
        if text in ("}", "};") and at < last:
            return ""
        if text == "{":
            return _name_above(lines, at)
    return ""


def _name_above(lines: Sequence[str], brace: int) -> str:
    """Return the name of the function whose body begins at line `brace`: its head may take several lines."""
    head = ""
    for at in range(brace - 1, max(-1, brace - 12), -1):
        text = lines[at]
        if not text.strip() or text.startswith(("}", "#", " */")) or text.rstrip().endswith(";"):
            break
        head = f"{text.strip()} {head}"
    names: list[str] = re.findall(r"(\w+)\s*\(", head)
    # A macro that makes a whole function (SYSCALL_DEFINE3(read, …)) has its name as first argument.
    if names and re.fullmatch(r"[A-Z][A-Z0-9_]*", names[0]):
        found = re.search(rf"{names[0]}\s*\(\s*(\w+)", head)
        return f"{'sys_' if 'SYSCALL' in names[0] else ''}{found[1]}" if found else names[0]
    return next((name for name in names if name not in _NOT_A_FUNCTION), "")


def text_at(lines: Sequence[str], line: int) -> str:
    """Return the source of the loop at line `line` (from 1): from its head to the end of its body, on one line."""
    head = next((at for at in range(line - 1, max(-1, line - 2 - _BEFORE), -1) if _HEAD.search(_code(lines, at))), None)
    if head is None:
        return _code(lines, line - 1).strip()
    text, depth, opened = "", 0, False
    for at in range(head, min(len(lines), head + _LONGEST)):
        code = _code(lines, at)
        text += " " + code.strip()
        begin = _HEAD.search(code) if at == head else None
        for letter in code[begin.start() if begin else 0 :]:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(letter, 0)
            opened |= letter == "{"
            if depth <= 0 and (letter == "}" or (letter == ";" and not opened)):
                return text.strip()
    return text.strip()


def what_at(lines: Sequence[str], line: int) -> What:
    """Return what the loop at line `line` does, as far as its text shows."""
    text = text_at(lines, line)
    head = _HEAD.search(text)
    if head is None:
        return "other"
    body = _body(text[head.start() :])
    if re.search(r"\bINIT_HLIST_HEAD\(", body):
        return "clear"
    if store := _STORE.search(body):
        return _store(store["op"] or "", store["value"].strip())
    return "reduce" if _SCALAR.search(body) else "other"


def _store(operator: str, value: str) -> What:
    if operator:
        return "compute"
    if _ZERO.match(value):
        return "clear"
    if re.fullmatch(_MEMORY + r"(?:\+\+|--)?", value):
        return "copy"
    return "compute" if re.search(_MEMORY, value) else "fill"


def _body(loop: str) -> str:
    """Return a loop's text without its head in parentheses, or all of it where the body is empty."""
    depth = 0
    for at, letter in enumerate(loop):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and depth == 0:
            rest = loop[at + 1 :].strip()
            return loop if rest in (";", "") else rest
    return loop


def _code(lines: Sequence[str], at: int) -> str:
    """Return a line without the comments that begin on it."""
    if not 0 <= at < len(lines):
        return ""
    text = re.sub(r"/\*.*?\*/", "", lines[at])
    return re.sub(r"(//|/\*).*$", "", text)
