# SPDX-License-Identifier: Apache-2.0
"""okosu: puts to work the hardware that an operating system leaves idle."""

__version__ = "0.1.0"
