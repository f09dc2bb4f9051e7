# SPDX-License-Identifier: Apache-2.0
"""Signals end a command as Ctrl-C does, and never in the middle of what must be done as a whole."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from okosu import stops
from okosu.errors import Stopped


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in stops.SIGNALS}
    for number in stops.SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    monkeypatch.setattr(stops, "_last", -stops.TOGETHER_S)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", stops.SIGNALS)
def test_a_signal_raises_once_however_often_it_comes(number: int) -> None:
    stops.stoppable()
    with pytest.raises(Stopped) as stopped:
        os.kill(os.getpid(), number)
    assert stopped.value.number == number
    os.kill(os.getpid(), signal.SIGHUP)


def test_what_must_be_whole_is_finished_first() -> None:
    stops.stoppable()
    done = []

    def whole() -> None:
        with stops.held():
            with stops.held():
                os.kill(os.getpid(), signal.SIGTERM)
                done.append("inner")
            done.append("outer")
        done.append("never")

    with pytest.raises(Stopped):
        whole()
    assert done == ["inner", "outer"]
    with stops.held():
        done.append("after")


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stops.stoppable()
    os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
