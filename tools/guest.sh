#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what a guest of the lab's tests needs: QEMU for x86-64, and what packs its file system. Silent when it is there.
set -eu
complete() {
    command -v qemu-system-x86_64 >/dev/null && command -v cpio >/dev/null && command -v busybox >/dev/null
}

complete && exit 0
install='apt-get install -y --no-install-recommends qemu-system-x86 cpio busybox-static'
as=''
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as=sudo
fi
if ! command -v apt-get >/dev/null || { [ "$(id -u)" -ne 0 ] && [ -z "$as" ]; }; then
    echo "okosu: placement is not checked on a machine of several nodes" >&2
    echo "  why: qemu-system-x86_64, cpio or busybox is missing, and this user cannot install them" >&2
    echo "  fix: $install   (as root; Debian or Ubuntu)" >&2
    exit 1
fi
echo "installing what is missing: $as $install" >&2
$as env DEBIAN_FRONTEND=noninteractive sh -c "$install >/dev/null 2>&1 || { apt-get update -qq && $install >/dev/null; }"
