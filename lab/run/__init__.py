# SPDX-License-Identifier: Apache-2.0
"""What a kernel is booted on (User-Mode Linux, QEMU), what runs there, and what came out."""
