# SPDX-License-Identifier: Apache-2.0
"""How a kernel is made: the source, the series on it, its configuration, the build."""
