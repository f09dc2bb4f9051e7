# SPDX-License-Identifier: Apache-2.0
"""Recipes: levers that are data. Each is a TOML file of this folder, of the user's or of one that --recipes names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from okosu import levers
from okosu.errors import usage
from okosu.levers.base import Lever
from okosu.recipes.file import load
from okosu.recipes.lever import Recipe

__all__ = ["Recipe", "found", "known", "unasked"]

OWN = Path(__file__).resolve().parent


def folders(named: Sequence[str] = ()) -> list[Path]:
    """Where recipes are looked for: okosu's, the user's, then those named. Of two of one name the later one counts."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    return [OWN, config / "okosu/recipes", *map(Path, named)]


def found(named: Sequence[str] = ()) -> dict[str, Recipe]:
    """Every recipe by name. OkosuError (2) where a file is no recipe, and where a named folder is not there."""
    for name in named:
        if not Path(name).is_dir():
            raise usage(f"--recipes {name}: no such folder", "", "a folder with files NAME.toml")
    paths = [path for folder in folders(named) for path in sorted(folder.glob("*.toml"))]
    made = {path.stem: Recipe(load(path), path) for path in paths}
    return dict(sorted(made.items()))


def known(named: Sequence[str] = ()) -> dict[str, Lever]:
    """okosu-run's levers, and behind them the recipes. OkosuError (2) where a recipe has the name of a lever, or
    excludes something that does not exist.
    """
    compiled, recipes = levers.load(), found(named)
    for name, recipe in recipes.items():
        if name in compiled:
            raise usage(f"{recipe.path}: a lever of okosu is called {name!r}", "", "another name")
        for other in recipe.excludes - compiled.keys() - recipes.keys():
            what = f"{recipe.path}: excludes: there is neither a lever nor a recipe {other!r}"
            raise usage(what, "", "okosu doctor lists the levers; a recipe is called as its file")
    return {**compiled, **recipes}


def unasked(every: Mapping[str, Lever]) -> list[str]:
    """The names of the recipes that need no word of the user. Which of them are for a program, its files tell, and
    base's pilot run.
    """
    return [name for name, lever in every.items() if isinstance(lever, Recipe) and not lever.file.by_name_only]
