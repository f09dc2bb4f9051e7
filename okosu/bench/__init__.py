# SPDX-License-Identifier: Apache-2.0
"""Microbenchmarks: runs the programs okosu-bench-NAME, decodes what they print, and turns it into figures."""
