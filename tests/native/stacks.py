# SPDX-License-Identifier: Apache-2.0
"""The levers that load a library into a program, alone and together, as options of okosu-run: what must harm nobody."""

from __future__ import annotations

LEVERS = {
    "none": [],
    "placebo": ["--placebo"],
    "superpage": ["--superpage=small"],
    "retain": ["--retain"],
    "copy": ["--copy"],
    "prezero": ["--prezero"],
    "threads": ["--threads"],
    "ascii": ["--ascii"],
    "stack with superpage": ["--pin", "--superpage=thp", "--retain", "--copy"],
    "stack with prezero": ["--pin", "--copy", "--prezero"],
    "stack with threads": ["--superpage=thp", "--retain", "--copy", "--threads"],
    "stack with ascii": ["--superpage=thp", "--retain", "--copy", "--ascii"],
}
