# SPDX-License-Identifier: Apache-2.0
"""Tests of the machine in rtl/ import its own tools by name."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "rtl" / "dv"))
