#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs Debian's chromium for the browser tests; says so and goes on where that cannot be done (those tests then skip).
set -eu
[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || {
    echo "okosu: the report is not checked in a browser (fix: apt-get install chromium, as root)" >&2
    exit 0
}
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 || {
    apt-get update -qq && apt-get install -y --no-install-recommends chromium >/dev/null
}
