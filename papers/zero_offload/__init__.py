# SPDX-License-Identifier: Apache-2.0
"""A poster on clearing huge pages in the Linux kernel by an integrated GPU."""
