# SPDX-License-Identifier: Apache-2.0
"""Which arms of a session changed what ran after them (docs/METHOD.md, section 6)."""

from __future__ import annotations

from okosu.stats import carry
from okosu.trial.session import Session


def by(session: Session) -> list[carry.CarryOver]:
    """The arms after which base took a different time than after the others."""
    times, before = session.base_history()
    return carry.by_predecessor(times, before, session.plan.options.min_effect)
