# SPDX-License-Identifier: Apache-2.0
"""Mutants of RTL sources: every operator changed, all of them in one copy, of which one is chosen at run time.

It reads SystemVerilog lightly, as far as this project writes it: the right sides of assignments, conditions and the
connections of instances. Each becomes `(K is chosen) ? mutated : original`. Parameters, ports, indices, loops and
assertions stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from papers.scheduling_hardware import planting

# What an operator between two operands becomes, and what one in front of an operand becomes.
BETWEEN = {
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "&": "|",
    "|": "&",
    "^": "|",
    "<<": ">>",
    ">>": "<<",
}
BEFORE = {"~": "", "!": "", "-": "", "&": "|", "|": "&"}
CONSTANTS = {"1'b0": "1'b1", "1'b1": "1'b0"}
OPEN, CLOSE = {"(", "[", "{", "'{"}, {")", "]", "}"}


@dataclass
class Mutant:
    """One operator of the source, and what it becomes."""

    number: int
    file: str
    line: int
    column: int
    was: str
    becomes: str
    source: str


@dataclass
class Source:
    """A file's tokens, and the stretches of it that can be replaced, as pairs of token numbers."""

    text: str
    tokens: list[planting.Token] = field(default_factory=list)

    def __post_init__(self) -> None:
        kept = re.sub(r"`ifndef SYNTHESIS.*?`endif", lambda found: " " * len(found[0]), self.text, flags=re.DOTALL)
        self.tokens = planting.tokens(kept)

    def closing(self, opening: int) -> int:
        """Return the bracket that closes the one at `opening`."""
        depth = 0
        for at in range(opening, len(self.tokens)):
            depth += (self.tokens[at].text in OPEN) - (self.tokens[at].text in CLOSE)
            if depth == 0:
                return at
        raise ValueError(f"no end of the bracket at offset {self.tokens[opening].at}")

    def until(self, begin: int, marks: set[str]) -> int:
        """Return the first of `marks` from `begin` on that is in no bracket."""
        at = begin
        while self.tokens[at].text not in marks:
            at = self.closing(at) + 1 if self.tokens[at].text in OPEN else at + 1
        return at

    def expressions(self) -> Iterator[tuple[int, int, bool]]:
        """Yield each expression that may be mutated: its tokens from, to (without), and whether it is a condition."""
        at = self.until_module()
        while at < len(self.tokens):
            word = self.tokens[at].text
            if word in ("parameter", "localparam", "typedef", "genvar"):
                at = self.until(at, {";"}) + 1
            elif word == "assign":
                end = self.until(at, {";"})
                yield from self.values(self.until(at, {"="}) + 1, end)
                at = end + 1
            elif word in ("always_comb", "always_ff", "function"):
                end = self.procedure_end(at)
                yield from self.statements(at, end)
                at = end
            elif word == "#" and self.tokens[at + 1].text == "(":
                at = self.closing(at + 1) + 1
            elif word == "." and self.tokens[at + 2].text == "(":
                end = self.closing(at + 2)
                yield from self.values(at + 3, end)
                at = end + 1
            elif word in ("for", "if") and self.tokens[at + 1].text == "(":
                at = self.closing(at + 1) + 1
            else:
                at += 1

    def until_module(self) -> int:
        """Return the first token behind the module's ports."""
        at = next(n for n, token in enumerate(self.tokens) if token.text == "module")
        return self.until(at, {";"}) + 1 if self.tokens[at + 2].text != "import" else self.behind_ports(at)

    def behind_ports(self, at: int) -> int:
        """Return the first token behind the ports of a module that imports packages."""
        while self.tokens[at].text not in ("#", "("):
            at += 1
        return self.until(at, {";"}) + 1

    def procedure_end(self, at: int) -> int:
        """Return the token behind an always block or a function."""
        if self.tokens[at].text == "function":
            while self.tokens[at].text != "endfunction":
                at += 1
            return at + 1
        at += 1
        if self.tokens[at].text == "@":
            at = self.closing(at + 1) + 1
        return self.statement_end(at)

    def statement_end(self, at: int) -> int:
        """Return the token behind the statement at `at`, with all of its branches."""
        depth = 0
        while True:
            word = self.tokens[at].text
            depth += word in ("begin", "case")
            depth -= word in ("end", "endcase")
            at += 1
            if depth == 0 and word in (";", "end", "endcase") and self.tokens[at].text != "else":
                return at

    def statements(self, at: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the expressions of a procedure's statements."""
        if self.tokens[at].text == "function":
            at = self.until(at, {";"}) + 1
        else:
            at = self.closing(at + 2) + 1 if self.tokens[at + 1].text == "@" else at + 1
        while at < end:
            word = self.tokens[at].text
            if word == "if":
                close = self.closing(at + 1)
                if self.source_of(at + 2, close) != "!rst_ni":
                    yield at + 2, close, True
                at = close + 1
            elif word in ("case", "for"):
                at = self.closing(at + 1) + 1
            elif word == "begin":
                at += 3 if self.tokens[at + 1].text == ":" else 1
            elif word in ("else", "end", "endcase", "endfunction", "unique", ";"):
                at += 1
            elif word == "return":
                stop = self.until(at, {";"})
                yield from self.values(at + 1, stop)
                at = stop + 1
            else:
                stop = self.until(at, {"=", "<=", ":", ";"})
                if self.tokens[stop].text in ("=", "<="):
                    close = self.until(stop, {";"})
                    yield from self.values(stop + 1, close)
                    stop = close
                at = stop + 1

    def values(self, begin: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Yield a value, or the fields of a pattern one by one, for a pattern has no type within a choice."""
        words = [token.text for token in self.tokens[begin:end]]
        if words[:1] == ["'{"] and self.closing(begin) == end - 1:
            at = begin + 1
            while at < end - 1:
                stop = self.until(at, {",", "}"})
                colon = self.until(at, {":", ",", "}"})
                if colon < stop:
                    yield from self.values(colon + 1, stop)
                at = stop + 1
        elif begin < end and "'{" not in words:
            yield begin, end, False

    def source_of(self, begin: int, end: int) -> str:
        """Return the source from a token to the one before `end`."""
        if begin >= end:
            return ""
        last = self.tokens[end - 1]
        return self.text[self.tokens[begin].at : last.end]

    def changes(self, begin: int, end: int, is_condition: bool) -> Iterator[tuple[int, str, str, str]]:
        """Yield for each mutant of an expression: token, operator, what it becomes, and the mutated source."""
        start = self.tokens[begin].at

        def replaced(at: int, new: str) -> str:
            source, place = self.source_of(begin, end), self.tokens[at].at - start
            return source[:place] + new + source[place + len(self.tokens[at].text) :]

        if is_condition:
            yield begin, "condition", "its negation", f"!({self.source_of(begin, end)})"
        index = 0
        for at in range(begin, end):
            word = self.tokens[at].text
            index += (word == "[") - (word == "]")
            if index:
                continue
            before = self.tokens[at - 1].text if at > begin else ""
            operand = bool(re.fullmatch(r"[\w$']+", before)) or before in CLOSE
            table = BETWEEN if operand else BEFORE
            if word in CONSTANTS:
                yield at, word, CONSTANTS[word], replaced(at, CONSTANTS[word])
            elif word == "?":
                first = self.condition_of(begin, at)
                source, offset = self.source_of(begin, end), self.tokens[first].at - start
                stop = self.tokens[at].at - start
                negated = f"{source[:offset]}!({source[offset:stop]}) {source[stop:]}"
                yield at, "condition", "its negation", negated
            elif word in table and re.fullmatch(r"\W+", word):
                yield at, word, table[word] or "nothing", replaced(at, table[word])

    def condition_of(self, begin: int, question: int) -> int:
        """Return the first token of the condition in front of `?`."""
        depth = 0
        for at in range(question - 1, begin - 1, -1):
            word = self.tokens[at].text
            if depth == 0 and (word in OPEN or word in (",", "?", ":")):
                return at + 1
            depth += (word in CLOSE) - (word in OPEN)
        return begin


def mutate(text: str, name: str, first: int) -> tuple[str, list[Mutant]]:
    """Return the source with all its mutants, numbered from `first`, and what they are."""
    source = Source(text)
    mutants: list[Mutant] = []
    out, copied = "", 0
    for begin, end, is_condition in source.expressions():
        choices = ""
        for at, was, becomes, mutated in source.changes(begin, end, is_condition):
            place = source.tokens[at].at
            line, number = text.count("\n", 0, place) + 1, first + len(mutants)
            column = place - text.rfind("\n", 0, place)
            mutants.append(Mutant(number, name, line, column, was, becomes, text.splitlines()[line - 1].strip()))
            choices += f"({planting.chosen(number)}) ? ({mutated}) : "
        if choices:
            start = source.tokens[begin].at
            original = source.source_of(begin, end)
            out += f"{text[copied:start]}({choices}({original}))"
            copied = start + len(original)
    return out + text[copied:], mutants


def plant(room: Path, names: Sequence[str]) -> list[Mutant]:
    """Put all mutants of these files into the copy in `room`, and what chooses; return the mutants."""
    mutants: list[Mutant] = []
    for name in names:
        text, made = mutate((room / name).read_text(), name, len(mutants) + 1)
        mutants += made
        (room / name).write_text(text)
    planting.add_chooser(room)
    return mutants
