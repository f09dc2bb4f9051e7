# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM and SIGHUP alike end a command as Ctrl-C does: by an exception, so that all that it started ends."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

from okosu.errors import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TOGETHER_S = 2.0
"""A signal this soon after another is taken for the same wish: a closed terminal sends several."""

_holds = 0
_waiting: int | None = None
_last = -TOGETHER_S


def stoppable() -> None:
    """Let the signals raise Stopped in the main thread, from now on. Those that the caller ignores stay ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _arrived)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Do something as a whole: a signal that arrives meanwhile raises Stopped at its end."""
    global _holds, _waiting
    _holds += 1
    try:
        yield
    finally:
        _holds -= 1
    if not _holds and _waiting is not None:
        number, _waiting = _waiting, None
        raise Stopped(number)


def _arrived(number: int, _: FrameType | None) -> None:
    global _last, _waiting
    now = time.monotonic()
    if now - _last < TOGETHER_S:
        return
    _last = now
    if _holds:
        _waiting = number
        return
    raise Stopped(number)
