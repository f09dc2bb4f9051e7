# SPDX-License-Identifier: Apache-2.0
"""A trial: `run` compares variants of a program by paired, interleaved, complete runs, and judges them."""

from __future__ import annotations

from okosu.trial.conduct import new, resume, run
from okosu.trial.rounds import Watcher
from okosu.trial.session import Session

__all__ = ["Session", "Watcher", "new", "resume", "run"]
