# SPDX-License-Identifier: Apache-2.0
"""One lock that all want: handed on by the scheduling hardware, which sees the unlocking store, or spun for."""

from __future__ import annotations

from collections.abc import Sequence

from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.run import Run

ROUNDS, INSIDE, OUTSIDE = 20, 10, 50
"""How often each thread takes the lock; steps of 4 cycles with it and without it."""
LOCKS = {"mutex": (), "exchange": ("-DSPIN=1",), "look": ("-DSPIN=2",)}
"""Pthread's mutex, a word that waiters exchange, one that they read until it is free."""


def runs(pes: Sequence[int], per_pe: Sequence[int] = (1, 2)) -> list[Run]:
    """Return the runs: on every PE but main's so many threads, which all want the lock."""
    found = []
    for count in pes:
        machine = Machine(pes=count)
        for several in per_pe:
            threads = several * (count - 1)
            words = tuple(str(number) for number in (threads, ROUNDS, INSIDE, OUTSIDE))
            for name, flags in LOCKS.items():
                told: dict[str, str | float] = {"lock": name, "threads": float(threads), "per_pe": float(several)}
                told |= {"taken": float(threads * (ROUNDS + 1))}
                found.append(Run("contend", words, machine, "ssh", flags, told))
    return found
