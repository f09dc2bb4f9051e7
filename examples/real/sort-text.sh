#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sorts a generated text by its random third field in one large buffer, and prints a checksum of the result.
# Debian package: coreutils.
set -eu
export LC_ALL=C
input=${TMPDIR:-/tmp}/okosu-sort-text.txt

if [ ! -f "$input" ]; then
    awk -v lines=2500000 -f "$(dirname "$0")/text.awk" >"$input.$$"
    mv "$input.$$" "$input"
fi
sort --parallel=1 --buffer-size=1G --key=3,3 "$input" | cksum
