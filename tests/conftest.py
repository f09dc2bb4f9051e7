# SPDX-License-Identifier: Apache-2.0
"""What holds for every test."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let SIGINT mean what it means to a program on a terminal.

    A shell starts what it runs in the background with SIGINT ignored; children would inherit that, and the tests that
    interrupt them would wait for ever.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
