# SPDX-License-Identifier: Apache-2.0
"""Saito and Oikawa: utilization of a SIMD unit in the OS kernel."""
