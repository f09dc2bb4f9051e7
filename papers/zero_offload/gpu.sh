#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures clearing by a GPU on a machine that has one: gpu.sh [FOLDER [OPTIONS]] (default records/DEVICE-DATE; the
# options are those of okosu reproduce). It needs the device's driver and a C compiler, and either a network or Python
# with msgspec, rich, rich-argparse, numpy, meson and ninja.
set -eu
cd "$(dirname "$0")/../.."
# okosu of this checkout, by a Python that nothing was installed into: the papers' commands are registered in a folder of their own.
here() {
    rooms=$(mktemp -d)
    trap 'rm -r "$rooms"' EXIT
    tools/setup/rooms.sh "$rooms"
    export PYTHONPATH="$rooms:$PWD${PYTHONPATH:+:$PYTHONPATH}"
    okosu="python3 -m okosu"
}
if [ -n "${OKOSU_NATIVE:-}" ]; then
    here
elif python3 -c 'import msgspec, numpy, rich_argparse' 2>/dev/null && command -v meson >/dev/null && command -v ninja >/dev/null; then
    [ -f build/build.ninja ] || meson setup build >/dev/null
    ninja -C build --quiet
    here
else
    make build
    .venv/bin/python -m pip install --quiet numpy
    okosu=.venv/bin/okosu
fi
zerod=${OKOSU_NATIVE:-build}/native/zerod/okosu-zerod
list=$("$zerod" --list)
echo "$list"
# Every engine that serves has proved itself.
devices=$(echo "$list" | sed -n 's/^{"engine": "\([a-z-]*\)".*"serves": true.*/\1/p' | grep -v -x nt || true)
[ -n "$devices" ] || { echo "okosu: no device clears here" >&2; exit 1; }
for engine in $devices; do
    "$zerod" --once --engine="$engine" --high=256M
done
name=$(echo "$list" | sed -n 's/.*"device": "\([^"]*\)".*/\1/p' | head -n 1 | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
folder=${1:-records/${name:-gpu}-$(date +%F)}
[ $# -eq 0 ] || shift
mkdir -p "$folder"
$okosu reproduce zero-offload --json "$folder/zero-offload.json" "$@"
echo "records: $folder/zero-offload.json; their summary: okosu report --summary $folder/zero-offload.json -o results/$(basename "$folder")/zero-offload.json"
