#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what must come from the distribution: a C compiler with its headers, and Python's venv. Silent when all is there.
set -eu
cd "$(dirname "$0")/../.."

complete() {
    tools/setup/python.sh >/dev/null && echo 'int main(void) { return 0; }' | cc -x c -include stdio.h -o /dev/null - 2>/dev/null
}

complete && exit 0
install='apt-get install -y --no-install-recommends gcc libc6-dev make python3 python3-venv'
if ! command -v apt-get >/dev/null; then
    echo "okosu: a C compiler, libc headers and Python 3.11 with venv are needed" >&2
    echo "  why: one of them is missing, and this is not a Debian or Ubuntu system" >&2
    echo "  fix: install gcc, the libc headers and python3 (>= 3.11, with venv) with your package manager" >&2
    exit 1
fi
as=''
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        as=sudo
    else
        echo "okosu: packages are missing that only root can install" >&2
        echo "  why: this is not root, and sudo is not available without a password prompt" >&2
        echo "  fix: $install   (as root)" >&2
        exit 1
    fi
fi
echo "installing what is missing: $as $install" >&2
$as env DEBIAN_FRONTEND=noninteractive sh -c "$install >/dev/null || { apt-get update -qq && $install >/dev/null; }"
complete || {
    echo "okosu: the compiler or Python's venv still does not work" >&2
    echo "  why: Python 3.11 or newer is needed; this system has $(python3 --version 2>&1)" >&2
    echo "  fix: Debian 12, Ubuntu 24.04 or newer, or PYTHON=/path/to/python3.11 make build" >&2
    exit 1
}
