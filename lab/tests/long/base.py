# SPDX-License-Identifier: Apache-2.0
"""The base on which the long tests of series try them: the one that OKOSU_BASE names, or the default one."""

from __future__ import annotations

import os

from lab.kernel import base

BASE = os.environ.get("OKOSU_BASE", base.DEFAULT)
