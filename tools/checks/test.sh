#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole test suite: style and sanitizers, then pytest on all CPUs, and last, one at a time, the tests that want the
# machine to themselves. As root the tests marked `privileged` or `checkout` come first, and all others run as an
# unprivileged user.
set -eu
cd "$(dirname "$0")/../.."
# Each program of the tests would compile these again where it may not write. (pytest compiles the tests, its own way.)
.venv/bin/python -m compileall -q -j 0 -x '/test_[^/]*$' okosu lab papers tests
# The long tests are those of `make test-lab`.
short='--ignore-glob=*/long/*'
# Beside the sanitizers' compiler: what one CPU at a time does.
{
    tools/checks/lint.sh
    [ "$(id -u)" -ne 0 ] || .venv/bin/python -m pytest -p no:cacheprovider "$short" -m '(privileged or checkout) and not long'
} &
others=$!
sanitizers=0
tools/checks/sanitize.sh || sanitizers=$?
wait $others
[ $sanitizers -eq 0 ]

# More than CPUs: many tests only wait.
workers=$((2 * $(nproc) + 1))
suite() {
    which=$1
    shift
    "$@" .venv/bin/python -m pytest -p no:cacheprovider "$short" -n "$workers" --dist worksteal \
        -m "$which and not alone and not long"
    # shellcheck disable=SC2046
    "$@" .venv/bin/python -m pytest -p no:cacheprovider "$short" -m "$which and alone and not long" \
        $(grep -rl --include='test_*.py' 'mark\.alone' tests lab papers tools)
}

if [ "$(id -u)" -ne 0 ]; then
    suite 'not privileged'
    exit
fi
# The unprivileged user may not be able to enter the checkout (/root is often closed): it gets a copy, by links where the
# file system is the same. Both belong to root: nobody else can write to them.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
chmod 755 "$copy"
set -- okosu tests examples native lab papers docs results schemas README.md pyproject.toml tools meson.build meson_options.txt \
    Makefile build .venv conftest.py
cp -al "$@" "$copy" 2>/dev/null || {
    rm -rf "${copy:?}"/*
    cp -a --reflink=auto "$@" "$copy"
}
mkdir -p "$copy/home" "$copy/tmp"
chown 65534:65534 "$copy/home" "$copy/tmp"
cd "$copy"
suite 'not privileged and not checkout' setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$copy/home" TMPDIR="$copy/tmp" \
    LANG=C.UTF-8 PYTHONPATH="$copy" PYTHONDONTWRITEBYTECODE=1 CI="${CI:-}"
