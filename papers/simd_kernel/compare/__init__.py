# SPDX-License-Identifier: Apache-2.0
"""What stands beside the published values, a module for each part of the paper."""

from __future__ import annotations

from collections.abc import Iterator

Beside = Iterator[tuple[str, float | None, str]]
"""The id of a published entry, ours (None: not there), and the line on why they differ."""
