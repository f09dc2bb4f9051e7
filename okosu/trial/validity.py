# SPDX-License-Identifier: Apache-2.0
"""Whether a run counts, decided before its time is looked at: it must end and print as base did, and prove its
effect.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

from okosu.errors import LAUNCHER_FAILED, OkosuError, told
from okosu.levers.base import Lever
from okosu.records.measurement import Measurement
from okosu.records.types import BASE, Arm, Plan, Proof
from okosu.trial.runs import Run

NOT_APPLIED, WRONG_OUTPUT, UNAVAILABLE = "NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE"
CANNOT_MATTER = "CANNOT MATTER"
ANY_OUTPUT = "--check true (any output will do) or --check CMD (reads the output on stdin, exits 0 if it is right)"


def ending(status: int | None, signal_number: int | None) -> str:
    """How a process ended, in words."""
    if signal_number is not None:
        try:
            return f"killed by {signal.Signals(signal_number).name}"
        except ValueError:
            return f"killed by signal {signal_number}"
    return f"exit status {status}"


def wrong(run: Run, plan: Plan) -> str:
    """Why the run does not count ("" when it does): time-out, another ending than base's, another output, no metric."""
    m, reference = run.measurement, plan.reference
    assert reference is not None
    if run.failed:
        return run.failed
    if m.timed_out:
        return f"it did not end within the time-out ({m.wall_ns / 1e9:.3g} s)"
    if (m.status, m.signal) != (reference.status, reference.signal):
        was = ending(reference.status, reference.signal)
        return f"it ended with {ending(m.status, m.signal)}, base with {was}" + _last_line(run)
    if run.check_failed:
        return run.check_failed
    if not plan.options.check and run.digest != reference.digest:
        return "its standard output is not base's"
    if run.value is None:
        return "the metric was not found in its output, or is not a positive number"
    return ""


def refused(run: Run, plan: Plan) -> str:
    """Why okosu-run did not start the program with the arm's levers, in its own words; "" where it did."""
    assert plan.reference is not None
    if run.measurement.status != LAUNCHER_FAILED or plan.reference.status == LAUNCHER_FAILED:
        return ""
    return told(run.stderr).get("okosu", "")


def _last_line(run: Run) -> str:
    lines = run.stderr.strip().splitlines()
    return f" ({lines[-1][:100]})" if lines else ""


def unsteady(first: Run, second: Run, why: str) -> OkosuError:
    """What to say of a program whose first two runs without any lever are not alike."""
    if second.check_failed:
        return OkosuError(f"base does not pass its check: {why}", "every run must pass it to count", "mend --check CMD")
    if second.value is None:
        return OkosuError(
            f"base's run cannot be judged: {why}", "--metric regex:… reads stdout, then stderr", "mend the pattern"
        )
    if first.digest != second.digest:
        return OkosuError(
            "the program prints something else each time it runs",
            "a run counts only if its output is right, and base's output differs between two runs",
            ANY_OUTPUT,
        )
    return OkosuError(
        f"base does not end the same way twice: {why}", "only equal runs can be compared", "a steadier input"
    )


def changed(what: str, why: str) -> OkosuError:
    """What to say of a program that does not do what it did in its first run, although no lever is applied."""
    return OkosuError(
        f"the program itself changed: {what}: {why}",
        "a run counts only if it ends and prints as the first run did, and no lever is to blame for this",
        f"{ANY_OUTPUT}, or an input that gives the same output each time",
    )


def accuse(again: Callable[[Arm], Run], plan: Plan, arm: Arm, failed: Run, why: str) -> None:
    """Return if it is the arm that changes the program's ending or output; else raise the OkosuError that says so.

    Base runs again, for the output may have changed by itself; and so does the arm, for the program may fail now and
    then.
    """
    if its := wrong(again(plan.arm(BASE)), plan):
        raise changed("base, run again, does not do as in its first run", its)
    if not failed.measurement.timed_out and not wrong(again(arm), plan):
        raise changed(f"{arm.name} failed once, and not when it ran again", why)


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
