#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compresses a generated text with xz's largest window and prints a checksum of the result.
# Debian package: xz-utils.
set -eu
export LC_ALL=C
input=${TMPDIR:-/tmp}/okosu-xz-window.txt

if [ ! -f "$input" ]; then
    awk -v lines=100000 -f "$(dirname "$0")/text.awk" >"$input.$$"
    mv "$input.$$" "$input"
fi
xz --threads=1 --format=xz -9e --stdout "$input" | cksum
