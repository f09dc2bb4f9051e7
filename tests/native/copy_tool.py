# SPDX-License-Identifier: Apache-2.0
"""Where the program is that checks okosu's copies, what it reports of the choice, and how it must understand a
profile.
"""

from __future__ import annotations

import errno
import platform
import re

from routine_tool import LAST, Checker, Choice, avoids_512_bits, flags, intel, splits_vectors

USES = ("any", "near", "far")
CHECKER = Checker("copy-check", USES)
run, show = CHECKER.run, CHECKER.show
X86 = platform.machine() == "x86_64"
ISAS = ("sse2", "avx2", "avx512")
ROWS = ("ref", "loop8", "libc") + (
    (
        "rep-movsb",
        "rep-line",
        "block512",
        "avx2-intel",
        "avx512-intel",
        *(f"{kind}{isa}" for kind in ("", "lately-", "nt-") for isa in ISAS),
        *(f"nt-{isa}-intel" for isa in ISAS),
    )
    if X86
    else ("neon", "sve256", "sve512")
)


def lacking() -> set[str]:
    """The variants that this machine cannot run."""
    has = flags()
    needs = {"avx2": "avx2", "avx512": "avx512bw", "lately": "erms", "sve256": "sve", "sve512": "sve"}
    return {row for row in ROWS for name, flag in needs.items() if name in row.split("-") and flag not in has}


def widest() -> str:
    """The variant of the widest vectors that are used unasked."""
    absent = lacking() | ({"avx512"} if avoids_512_bits() else set())
    isa = next(isa for isa in reversed(ISAS) if isa not in absent)
    return f"{isa}-intel" if isa != "sse2" and intel() else isa


def always(use: str) -> tuple[int, str]:
    """The largest size that one variant always copies for this use, whatever was chosen, and that variant."""
    if not X86:
        return 128, "neon"
    own = "sse2" if splits_vectors() or (use == "far" and intel()) else widest()
    return {"sse2": 128, "avx2": 512, "avx512": 1024, "avx2-intel": 256, "avx512-intel": 512}[own], own


def seen(use: str, classes: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What the library reports for these classes of a profile: the profile does not decide the smallest sizes."""
    size, own = always(use)
    rest = [(up_to, variant) for up_to, variant in classes if up_to > size]
    return rest if rest[0][1] == own else [(size, own), *rest]


def profile(text: bytes) -> Choice | int:
    """The classes that a profile gives for each use, or the errno of its refusal."""
    if len(text) >= 16384:
        return errno.EFBIG
    if b"\0" in text:
        return errno.EINVAL
    choice: Choice = {use: [] for use in USES}
    use, before = "any", -1
    for line in re.split(b"[#\r][^\n]*\n|[#\r][^\n]*$|\n", text):
        words = [word for word in re.split(b"[ \t]+", line) if word]
        if words and words[0].startswith(b"["):
            section = re.fullmatch(rb"[ \t]*\[(near|far)\][ \t]*", line)
            if not section or choice[section[1].decode()]:
                return errno.EINVAL
            use, before = section[1].decode(), -1
        elif words:
            if len(words) != 2 or not re.fullmatch(rb"max|[0-9]+", words[0]):
                return errno.EINVAL
            up_to = LAST if words[0] == b"max" else int(words[0])
            if (up_to >= LAST and words[0] != b"max") or up_to <= before or len(choice[use]) == 16:
                return errno.EINVAL
            name = words[1].decode("latin-1")
            if name not in ROWS:
                return errno.ENOENT
            if name in lacking():
                return errno.ENOTSUP
            choice[use].append((up_to, name))
            before = up_to
    named = [classes for classes in choice.values() if classes]
    return choice if named and all(classes[-1][0] == LAST for classes in named) else errno.EINVAL
