# SPDX-License-Identifier: Apache-2.0
"""The record of one number that a kernel of the lab gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import okosu
from okosu.records.types import Record


def record(
    subject: str,
    variant: str,
    metric: str,
    unit: str,
    value: float | None,
    parameters: Mapping[str, str | float] | None = None,
    *,
    platform: Literal["uml", "qemu"] = "uml",
    note: str = "",
) -> Record:
    """Return a record of one sample, or of none where `value` is None: then `note` says why."""
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        platform=platform,
        subject=subject,
        variant=variant,
        stage="bench",
        metric=metric,
        unit=unit,
        samples=[] if value is None else [float(value)],
        parameters=dict(parameters or {}),
        note=note,
    )
