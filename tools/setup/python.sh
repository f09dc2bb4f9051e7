#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the Python to build the environment with: the distribution's if it will do (every user can run it), else python3.
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$python"
        exit 0
    fi
done
exit 1
