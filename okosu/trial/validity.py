# SPDX-License-Identifier: Apache-2.0
"""Whether a run counts, decided before its time is looked at: it must end and print as base did, and prove its
effect.
"""

from __future__ import annotations

import signal

from okosu.levers.base import Lever
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Proof, Reference
from okosu.trial.runs import Run

NOT_APPLIED, WRONG_OUTPUT, UNAVAILABLE = "NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE"


def ending(status: int | None, signal_number: int | None) -> str:
    """How a process ended, in words."""
    if signal_number is not None:
        try:
            return f"killed by {signal.Signals(signal_number).name}"
        except ValueError:
            return f"killed by signal {signal_number}"
    return f"exit status {status}"


def wrong(run: Run, reference: Reference, checked: bool) -> str:
    """Why the run does not count ("" when it does): time-out, another ending, another output, no metric."""
    m = run.measurement
    if m.timed_out:
        return f"it did not end within the time-out ({m.wall_ns / 1e9:.0f} s)"
    if (m.status, m.signal) != (reference.status, reference.signal):
        was = ending(reference.status, reference.signal)
        return f"it ended with {ending(m.status, m.signal)}, base with {was}" + _last_line(run)
    if run.check_failed:
        return run.check_failed
    if not checked and run.digest != reference.digest:
        return "its standard output is not base's"
    if run.value is None:
        return "the metric was not found in its output, or is not a positive number"
    return ""


def _last_line(run: Run) -> str:
    lines = run.stderr.strip().splitlines()
    return f" ({lines[-1][:100]})" if lines else ""


def prove(
    arm: Arm, levers: dict[str, Lever], run: Measurement, base: Measurement, pilot: Measurement | None
) -> Proof | None:
    """The proof of all levers of the arm together; None for arms without levers (base, placebo, the user's own
    variants).
    """
    proofs = [levers[name].proof(value, run, base, pilot) for name, value in arm.levers.items()]
    if not proofs:
        return None
    values = {key: v for p in proofs for key, v in p.values.items()}
    failed = [p for p in proofs if not p.holds]
    return Proof(not failed, "; ".join(p.text for p in failed or proofs), values)
