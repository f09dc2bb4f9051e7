# SPDX-License-Identifier: Apache-2.0
"""`python -m okosu`: the same as the okosu command."""

import sys

from okosu.cli.main import main

sys.exit(main())
