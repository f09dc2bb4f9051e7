#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rooms.sh DIR: registers in DIR, a folder where Python looks for modules, what lab/ and papers/ add to okosu, as installed packages would
# do it: by entry points.
set -eu
cd "$(dirname "$0")/../.."
for room in lab papers; do
    info=$1/okosu_$room-0.dist-info
    mkdir -p "$info"
    printf 'Metadata-Version: 2.1\nName: okosu-%s\nVersion: 0\n' "$room" >"$info/METADATA"
    cp $room/entry_points.txt "$info"
done
