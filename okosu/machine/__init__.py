# SPDX-License-Identifier: Apache-2.0
"""What this machine is: facts read from /proc and /sys below a replaceable root, never a judgement."""

from okosu.machine.facts import differences, facts, notes
from okosu.machine.kinds import apart, kind, stored
from okosu.machine.model import Machine
from okosu.machine.read import read, state
from okosu.machine.tarball import capture, unpacked

__all__ = [
    "Machine",
    "apart",
    "capture",
    "differences",
    "facts",
    "kind",
    "notes",
    "read",
    "state",
    "stored",
    "unpacked",
]
