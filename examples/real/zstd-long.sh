#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compresses a generated text with zstd's long-distance matching and prints a checksum of the result.
# Debian package: zstd.
set -eu
export LC_ALL=C
input=${TMPDIR:-/tmp}/okosu-zstd-long.txt

if [ ! -f "$input" ]; then
    awk -v lines=2000000 -f "$(dirname "$0")/text.awk" >"$input.$$"
    mv "$input.$$" "$input"
fi
zstd --single-thread -10 --long=27 --quiet --stdout "$input" | cksum
