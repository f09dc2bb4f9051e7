# SPDX-License-Identifier: Apache-2.0
"""No wake-up is lost: every interleaving of threads that wait and signal by the steps of sw/pthread/cond.c.

A step is what no other thread can be in the middle of: one access to memory, or one operation of the scheduler (SSH-m
compares the word and puts the thread to sleep, or takes a store from the bus and wakes, in one cycle; the software back
end holds its lock meanwhile). In a state in which nobody can go on, nobody may sleep for ever while a token is left.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

LOCK, LOOK, READ, UNLOCK, WAIT, ASLEEP, PASS_ON, RETURN, LEAVE, GONE = range(10)
MAKE, LOAD, STORE = 2, 4, 5


@dataclass(frozen=True)
class Waiter:
    """Waits for ever, until a time that may come at any moment ("timed"), or until it is cancelled ("cancelled")."""

    kind: str
    at: int = LOCK
    sequence: int = 0
    leaves: bool = False


@dataclass(frozen=True)
class Signaller:
    """Makes a token with the mutex held and signals without it; an early one makes the token before that."""

    broadcast: bool
    early: bool
    at: int = 0
    sequence: int = 0


@dataclass(frozen=True)
class State:
    """Of all threads, of the mutex and of the condition. `asleep` is in the order of their coming."""

    waiters: tuple[Waiter, ...]
    signallers: tuple[Signaller, ...]
    held: bool = False
    tokens: int = 0
    sequence: int = 0
    asleep: tuple[int, ...] = ()

    def waiter(self, n: int, **changes: object) -> State:
        changed = replace(self.waiters[n], **changes)  # type: ignore[arg-type]
        return replace(self, waiters=(*self.waiters[:n], changed, *self.waiters[n + 1 :]))

    def signaller(self, n: int, **changes: object) -> State:
        changed = replace(self.signallers[n], **changes)  # type: ignore[arg-type]
        return replace(self, signallers=(*self.signallers[:n], changed, *self.signallers[n + 1 :]))

    def woken(self, number: int) -> State:
        """The first so many of those asleep go on."""
        state = replace(self, asleep=self.asleep[number:])
        for n in self.asleep[:number]:
            state = state.waiter(n, at=RETURN)
        return state


def waits(state: State, n: int, fault: str) -> Iterator[State]:
    """What waiter n may do next."""
    me = state.waiters[n]
    match me.at:
        case 0 | 7 if not state.held:  # LOCK, RETURN
            yield replace(state, held=True).waiter(n, at=LEAVE if me.leaves else LOOK)
        case 1 if state.tokens:  # LOOK
            yield replace(state, tokens=state.tokens - 1).waiter(n, at=LEAVE)
        case 1:
            yield state.waiter(n, at=UNLOCK if fault == "reads after unlocking" else READ)
        case 2:  # READ
            after = WAIT if fault == "reads after unlocking" else UNLOCK
            yield state.waiter(n, at=after, sequence=state.sequence)
        case 3:  # UNLOCK
            after = READ if fault == "reads after unlocking" else WAIT
            yield replace(state, held=False).waiter(n, at=after)
        case 4 if me.sequence != state.sequence and fault != "does not compare":  # WAIT
            # Its time may be over as well, and then it leaves although the word has changed.
            yield state.waiter(n, at=RETURN)
            if me.kind == "timed":
                yield state.waiter(n, at=RETURN, leaves=True)
        case 4:
            yield replace(state, asleep=(*state.asleep, n)).waiter(n, at=ASLEEP)
        case 5 if me.kind != "forever":  # ASLEEP
            gone = replace(state, asleep=tuple(other for other in state.asleep if other != n))
            passes_on = me.kind == "cancelled" and fault != "keeps the signal"
            yield gone.waiter(n, at=PASS_ON if passes_on else RETURN, leaves=True)
        case 6:  # PASS_ON
            changed = me.sequence != state.sequence
            state = state.waiter(n, at=RETURN)
            yield replace(state, sequence=state.sequence + 1).woken(1) if changed else state
        case 8:  # LEAVE
            yield replace(state, held=False).waiter(n, at=GONE)
    # One that is cancelled when it has been woken, before it has the mutex, has had a signal that another may want.
    if me.at == RETURN and me.kind == "cancelled" and not me.leaves:
        yield state.waiter(n, at=RETURN if fault == "keeps the signal" else PASS_ON, leaves=True)


def signals(state: State, n: int) -> Iterator[State]:
    """What signaller n may do next."""
    me = state.signallers[n]
    match me.at:
        case 0 if me.early:
            yield replace(state, tokens=state.tokens + 1).signaller(n, at=1)
        case 0:
            yield state.signaller(n, at=1)
        case 1 if not state.held:
            yield replace(state, held=True).signaller(n, at=MAKE)
        case 2 if me.early:  # MAKE
            yield state.signaller(n, at=3)
        case 2:
            yield replace(state, tokens=state.tokens + 1).signaller(n, at=3)
        case 3:
            yield replace(state, held=False).signaller(n, at=LOAD)
        case 4:  # LOAD
            yield state.signaller(n, at=STORE, sequence=state.sequence)
        case 5:  # STORE
            number = len(state.asleep) if me.broadcast else 1
            yield replace(state, sequence=me.sequence + 1).signaller(n, at=6).woken(number)


def explore(first: State, fault: str = "") -> tuple[int, State | None]:
    """How many states there are, and one in which a token is left to somebody who sleeps for ever."""
    seen, todo, lost = {first}, [first], None
    while todo:
        state = todo.pop()
        following = [s for n in range(len(state.waiters)) for s in waits(state, n, fault)]
        following += [s for n in range(len(state.signallers)) for s in signals(state, n)]
        if not following and state.tokens and any(w.at == ASLEEP for w in state.waiters):
            lost = state
        fresh = set(following) - seen
        seen |= fresh
        todo += fresh
    return len(seen), lost


KINDS = ("forever", "timed", "cancelled")
WAITERS = [("forever", other) for other in KINDS] + [("forever", "forever", other) for other in KINDS]
SIGNALLERS = list(itertools.product((False, True), repeat=2))


@pytest.mark.parametrize("kinds", WAITERS, ids="+".join)
def test_no_wake_up_is_lost(kinds: tuple[str, ...]) -> None:
    states = 0
    for first, second in itertools.combinations_with_replacement(SIGNALLERS, 2):
        made = State(tuple(map(Waiter, kinds)), (Signaller(*first), Signaller(*second)))
        count, lost = explore(made)
        states += count
        assert lost is None, lost
    assert states > 1000


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        ("reads after unlocking", ("forever",)),
        ("does not compare", ("forever",)),
        ("keeps the signal", ("cancelled", "forever")),
    ],
)
def test_a_planted_fault_loses_one(fault: str, kinds: tuple[str, ...]) -> None:
    made = State(tuple(map(Waiter, kinds)), (Signaller(broadcast=False, early=False),))
    assert explore(made)[1] is None
    assert explore(made, fault)[1] is not None
