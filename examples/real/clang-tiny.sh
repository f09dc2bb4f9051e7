#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a file of four lines twenty times, as a build starts its compiler. Debian package: clang.
set -eu
input=${TMPDIR:-/tmp}/okosu-clang-tiny.c

if [ ! -f "$input" ]; then
    printf '#include <stdio.h>\nint main(void)\n{\n    return puts("okosu") < 0;\n}\n' >"$input.$$"
    mv "$input.$$" "$input"
fi
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    clang -c -o /dev/null "$input"
done
