#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles one large generated C file and prints a checksum of the assembly. Debian package: gcc.
set -eu
export LC_ALL=C
input=${TMPDIR:-/tmp}/okosu-gcc-compile.c

if [ ! -f "$input" ]; then
    awk 'BEGIN {
        for (f = 0; f < 500; f++) {
            printf "double f%d(double *a, int n)\n{\n    double s = %d;\n", f, f
            for (loop = 0; loop < 3; loop++) {
                printf "    for (int i = %d; i < n; i++) {\n", loop
                printf "        if (a[i] > %d)\n            s += a[i] * %d;\n", (f * 31 + loop) % 97, f % 13 + loop
                printf "        else\n            a[i] = s - a[i %% %d];\n    }\n", f % 7 + loop + 2
            }
            printf "    return %s;\n}\n\n", f ? "s + f" (f - 1) "(a, n - 1)" : "s"
        }
    }' >"$input.$$"
    mv "$input.$$" "$input"
fi
gcc -O2 -S -o - "$input" | cksum
