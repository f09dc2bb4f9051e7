#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole test suite. As root: first the tests marked `privileged` or `checkout`, then everything else as an
# unprivileged user.
set -eu
cd "$(dirname "$0")/.."
tools/lint.sh
tools/sanitize.sh
if [ "$(id -u)" -ne 0 ]; then
    exec .venv/bin/python -m pytest -m 'not privileged' "$@"
fi
.venv/bin/python -m pytest -p no:cacheprovider -m 'privileged or checkout' "$@"
# The unprivileged user may not be able to enter the checkout (/root is often closed): it gets a copy.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
chmod 755 "$copy"
cp -a --reflink=auto okosu tests examples native lab papers docs schemas README.md pyproject.toml tools meson.build meson_options.txt Makefile build .venv conftest.py "$copy"
mkdir -p "$copy/home" "$copy/tmp"
chown 65534:65534 "$copy/home" "$copy/tmp"
cd "$copy"
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env -i \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$copy/home" TMPDIR="$copy/tmp" LANG=C.UTF-8 PYTHONPATH="$copy" PYTHONDONTWRITEBYTECODE=1 CI="${CI:-}" \
    .venv/bin/python -m pytest -p no:cacheprovider -m 'not privileged and not checkout' "$@"
