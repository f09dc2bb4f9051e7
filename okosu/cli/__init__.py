# SPDX-License-Identifier: Apache-2.0
"""The commands of okosu: one file each, found by directory scan."""
