#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What okosu try is held to, measured beside an earlier version: see tools/measure/acceptance.py --help. It takes hours.
cd "$(dirname "$0")/.."
exec .venv/bin/python tools/measure/acceptance.py "$@"
