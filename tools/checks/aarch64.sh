#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the native part for AArch64 into build-aarch64 (or BUILD=DIR) and runs its unit tests under qemu-user.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build-aarch64}

complete() {
    command -v aarch64-linux-gnu-gcc qemu-aarch64-static >/dev/null && [ -f /usr/aarch64-linux-gnu/include/stdio.h ]
}

install='apt-get install -y --no-install-recommends gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static'
complete || {
    as=''
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            as=sudo
        fi
    fi
    if ! command -v apt-get >/dev/null || { [ "$(id -u)" -ne 0 ] && [ -z "$as" ]; }; then
        echo "okosu: the AArch64 build is not checked" >&2
        echo "  why: aarch64-linux-gnu-gcc, its libc or qemu-aarch64-static is missing, and this user cannot install them" >&2
        echo "  fix: $install   (as root; Debian or Ubuntu)" >&2
        exit 1
    fi
    echo "installing what is missing: $as $install" >&2
    $as env DEBIAN_FRONTEND=noninteractive sh -c "$install >/dev/null 2>&1 || { apt-get update -qq && $install >/dev/null; }"
}

. .venv/bin/activate
[ -f "$build/build.ninja" ] || meson setup --cross-file tools/checks/aarch64.ini --buildtype=release "$build" >/dev/null
ninja -C "$build" --quiet all meson-test-prereq
# Not here: the preload library's test, which reserves 1 TiB of addresses that the emulator cannot lay out. The leak
# checker attaches to the program as a debugger does, which the emulator cannot let it. The time-outs only end what hangs.
names='import json, sys; print(*(t["name"] for t in json.load(sys.stdin) if t["name"] != "preload mechanism"), sep="\0", end="\0")'
meson introspect "$build" --tests | python -c "$names" |
    ASAN_OPTIONS=detect_leaks=0 xargs -0 meson test -C "$build" --print-errorlogs --no-rebuild --timeout-multiplier 20
