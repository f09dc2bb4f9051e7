# SPDX-License-Identifier: Apache-2.0
"""The paper scheduling-hardware: the machine in rtl/, what simulates and proves it, its evaluation."""

from __future__ import annotations

from pathlib import Path

ROOM = Path(__file__).parent
"""The folder with files.f, rtl/, sim/, sw/, dv/ and formal/."""
