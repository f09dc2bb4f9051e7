# SPDX-License-Identifier: Apache-2.0
"""The statistics of okosu: pure functions of numbers."""
