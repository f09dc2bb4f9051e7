# SPDX-License-Identifier: Apache-2.0
"""Exact machines: the QEMU plugin, the caches and TLBs of the machines it models, and what it counts."""
