# SPDX-License-Identifier: Apache-2.0
"""Stands in for `cc` in tests that compile a C program and run it: builds it for AArch64, to be run under qemu-user.

The requested output becomes a script that starts the emulator; the program itself lies beside it, with the suffix
.aarch64.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    # The sanitizers' shadow memory does not fit into the address space that the emulator leaves.
    words = [word for word in argv if not word.startswith(("-fsanitize", "-fno-sanitize"))]
    place = words.index("-o") + 1
    script = Path(words[place]).resolve()
    words[place] = f"{script}.aarch64"
    status = subprocess.run(["aarch64-linux-gnu-gcc", *words], check=False).returncode
    if status == 0:
        script.write_text(f'#!/bin/sh\nexec qemu-aarch64-static -L /usr/aarch64-linux-gnu "{words[place]}" "$@"\n')
        script.chmod(0o755)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
