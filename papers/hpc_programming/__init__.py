# SPDX-License-Identifier: Apache-2.0
"""Kuroda: high-performance programming (II)."""
