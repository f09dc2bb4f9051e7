# SPDX-License-Identifier: Apache-2.0
"""The file of a recipe, a lever that is data: okosu/recipes/NAME.toml and a user's own (docs/howto/add-a-recipe.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

RECIPE_SCHEMA = "okosu.recipe/1"
Change = Literal["nothing", "numerics", "ordering", "rules"]
CHANGES: tuple[Change, ...] = ("numerics", "ordering", "rules")
"""What a recipe may change for the user, beside the time: bits of floating-point results, the order or the grouping of
what is printed, or a guarantee (durability, a check that is left out)."""
Few = Annotated[list[str], msgspec.Meta(min_length=1)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Joined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a variable gets besides the value that it has already; without one, this alone."""

    append: str = ""
    prepend: str = ""
    separator: str = " "


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value of a recipe. Texts of `env` may hold {cpus}, {library}, {folder} (the library's), {here} (the
    recipe's folder), {kept} and other names of okosu/recipes/values.py."""

    name: Text
    env: Annotated[dict[str, str | Joined], msgspec.Meta(min_length=1)]
    source: Text
    """Where it comes from: a manual, a version's notes, a paper."""
    needs: list[str] = []
    """Patterns of files, of which the first that exists and is of the program's architecture becomes {library}; "~/"
    is the user's home.
    """
    install: str = ""
    """The line to type where none of `needs` exists."""
    when: str = ""
    """When the value is something else than what the program does by itself: "quota < cpus"."""
    prepare: dict[str, str | Joined] = {}
    """The variables of a run that is made once before, and makes the file {kept} of `env`."""
    proof: Proofs | None = None
    """In the place of the recipe's, where values show in different ways. It takes no word of the runtime (`said`)."""


class ArmOfValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One arm: a ladder of values, of which the first that is proved is used, or a later one that is clearly faster."""

    value: Annotated[list[Value], msgspec.Meta(min_length=1)]


class Except(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Programs among those that match which the recipe is known to harm: by `names` or `symbols` as in `recognise`."""

    why: Text
    """What happens to them, and why: it is told to who asks for the recipe."""
    names: list[str] = []
    symbols: list[str] = []


class Recognise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """By what a program is recognised. One of the first four lists has to match, if there is any; all the others, too.
    Texts are patterns as of fnmatch(3), and upper and lower case differ.
    """

    names: list[str] = []
    """File names of the program, or of the interpreter that runs a script, before and after symbolic links."""
    needed: list[str] = []
    """Libraries that it is linked with, directly or by way of another."""
    sections: list[str] = []
    symbols: list[str] = []
    """Names in its tables of symbols."""
    set: list[str] = []
    """NAME=PATTERN: one of these variables has to be set so."""
    unless: list[str] = []
    """NAME or NAME=PATTERN: none of these variables may be set (so)."""
    mapped: list[str] = []
    """Files of which one has to be mapped by a process of base's pilot run."""
    heaps_mib: Annotated[int, msgspec.Meta(ge=0)] = 0
    """How much has to lie, in base's pilot run, in the heaps of glibc's arenas, of which there must be two at least:
    threads that take memory by malloc. 0 asks for none.
    """
    expect: list[str] = []
    """File names of programs for which a run may well show that it is for them, though no file of theirs says so:
    doctor, which runs nothing, goes by them."""
    excepted: list[Except] = []


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of threads' names: seen in base and not in the arm, and the other way round."""

    absent: list[str] = []
    present: list[str] = []


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the runtime itself says under further variables, with which only pilot runs are made. {file} in a variable
    is a file in which `file`, a regular expression, is searched for; `stderr` is searched for in the standard error.
    """

    env: Annotated[dict[str, str | Joined], msgspec.Meta(min_length=1)]
    stderr: str = ""
    file: str = ""
    matches: Literal["", "fewer", "more"] = ""
    """What is compared with base: the sum of the numbers in the pattern's first group or, without one, how often it is
    found. Where this is empty, the pattern has to be found, and not in base.
    """


class Proofs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What shows that a value took effect: all that is named must hold, and base's own run must not satisfy it."""

    mapped: list[str] = []
    """Files of which one is mapped in the arm and none in base …"""
    unmapped: list[str] = []
    """… or one in base and none in the arm."""
    threads: Literal["", "fewer", "more"] = ""
    thread_names: Names | None = None
    faults: Literal["", "fewer", "more"] = ""
    switches: Literal["", "fewer", "more"] = ""
    """Voluntary context switches."""
    processes: Literal["", "fewer", "more"] = ""
    """All processes, the program itself among them."""
    at_once: Literal["", "fewer", "more"] = ""
    """Processes that lived at one time, at the most."""
    heaps: Literal["", "fewer", "more"] = ""
    """Heaps that glibc's malloc reserved for the arenas of threads."""
    said: Said | None = None


class RecipeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe as its file holds it. `name` is that of the file."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]*$")]
    doc: Text
    """One line: what it does to the program."""
    changes: Change
    recognise: Recognise
    arm: Annotated[list[ArmOfValues], msgspec.Meta(min_length=1)]
    proof: Proofs = Proofs()
    """Of all values that bring none of their own."""
    hazard: str = ""
    """One sentence on what changes; needed unless `changes` is "nothing"."""
    likely: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.05
    """The share of the time that it saved where it helped most: what may help most is tried first."""
    excludes: list[str] = []
    """Levers and recipes that it cannot be stacked with."""
    by_name_only: bool = False
    """It is tried only where --levers names it, since it gives something up that nobody should give up unasked."""
