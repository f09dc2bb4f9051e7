# SPDX-License-Identifier: Apache-2.0
"""Numbers as a person reads them: no more digits than the measurement carries, and a unit that fits the size."""

from __future__ import annotations

import math
import textwrap
from unicodedata import category

DASH = "–"
_THIN = "\N{NARROW NO-BREAK SPACE}"
PERCENT = f"{_THIN}%"
_SCALES = {
    "s": ((600.0, 60.0, "min"), (1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (1e-6, 1e-6, "µs"), (0.0, 1e-9, "ns")),
    "MiB": ((1024.0**2, 1024.0**2, "TiB"), (1024.0, 1024.0, "GiB"), (1.0, 1.0, "MiB"), (0.0, 1 / 1024, "KiB")),
}
"""Unit of a record -> (from which size, what one is, its name), the largest first."""


def significant(value: float, digits: int = 3) -> str:
    """The value with `digits` significant digits, never in exponent form between 1e-6 and 1e15."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    size = math.floor(math.log10(abs(value)))
    if not -6 <= size < 15:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - size)}f}"


def ratio_decimals(interval: tuple[float, float] | None) -> int:
    """How many decimals a ratio is shown with: two significant digits of its interval's width, but at least 2 decimals.

    No more than six digits in all, so that any interval fits a column of a terminal.
    """
    width = interval[1] - interval[0] if interval else 0.0
    if interval is None or not 0 < width < math.inf:
        return 3
    most = 5 - max(0, math.floor(math.log10(abs(interval[1]) or 1)))
    return max(0, min(most, max(2, 1 + math.ceil(-math.log10(width)))))


def ratio(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A ratio with the decimals that its interval justifies, or a dash."""
    return DASH if value is None else f"{value:.{ratio_decimals(interval)}f}"


def bounds(interval: tuple[float, float] | None) -> str:
    """An interval such as "0.641 – 0.674", or a dash."""
    if interval is None:
        return DASH
    decimals = ratio_decimals(interval)
    return f"{interval[0]:.{decimals}f}{_THIN}{DASH}{_THIN}{interval[1]:.{decimals}f}"


def percent(share: float, digits: int = 2) -> str:
    """0.0125 as "1.3 %", with `digits` significant digits; anything but zero shows at least one of them."""
    # Of the rounded number: 0.0999…, with two digits, is 0.10 and not 0.100.
    size = math.floor(math.log10(float(f"{abs(share * 100):.{digits - 1}e}"))) if share else 0
    return f"{share * 100:.{min(3, max(0, digits - 1 - size))}f}{_THIN}%"


def setting(share: float) -> str:
    """A share that a user chose, with no more digits than the user gave: 0.01 as "1 %"."""
    return f"{share * 100:.6g}{_THIN}%"


def count(value: float) -> str:
    """A count with its thousands apart: 1 049 112."""
    return f"{round(value):,}".replace(",", _THIN)


def large(value: float) -> str:
    """A large count with three digits: 1.23 G, 45.6 M, 789 k."""
    for one, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= one:
            return f"{significant(value / one)}{_THIN}{name}"
    return f"{value:g}"


def counted(number: int, noun: str) -> str:
    """1 round, 12 rounds."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def size(bytes_: float) -> str:
    """A size in the largest binary unit in which it is at least one: 48 KiB, 1 MiB, 23.5 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if bytes_ < 1024:
            return f"{bytes_:.3g} {unit}" if bytes_ < 100 else f"{bytes_:.0f} {unit}"
        bytes_ /= 1024
    return f"{bytes_:.3g} TiB"


def scale(value: float, unit: str) -> tuple[float, str]:
    """(size of the unit, its name) of the unit in which a sample of this size reads best."""
    if value == 0:
        return 1.0, unit
    for least, one, name in _SCALES.get(unit, ()):
        if abs(value) >= least:
            return one, name
    return 1.0, unit


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """A sample in its unit: times and sizes are scaled, counts are grouped, any other unit is left as it is."""
    one, name = scale(value, unit)
    if unit in ("faults", "switches"):
        return count(value)
    whole = abs(value) >= 1e5 and float(value).is_integer() and one == 1
    text = count(value) if whole else significant(value / one, digits)
    return f"{text}{_THIN}{name}" if name else text


def duration(seconds: float) -> str:
    """A planned time as it would be typed: 90s, 10m, 2h."""
    for one, name in ((3600, "h"), (60, "m")):
        if seconds >= one and seconds % one == 0:
            return f"{seconds / one:g}{name}"
    return f"{seconds:g}s"


def plain(text: str) -> str:
    """The text for a terminal: special spaces become ordinary ones."""
    return text.replace(_THIN, " ")


def wrapped(text: str, width: int, first: str = "", then: str = "") -> str:
    """The text in lines for a terminal. A path, a command or another long word is not broken, so that it can be
    copied.
    """
    return textwrap.fill(
        plain(text), width, initial_indent=first, subsequent_indent=then, break_on_hyphens=False, break_long_words=False
    )


def shorten(text: str, most: int) -> str:
    """The text, with its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def printable(text: str) -> str:
    """The text with control characters made visible, including those that change the direction of writing."""
    return "".join(c if c.isprintable() or c == "\n" or category(c) == "Zs" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
