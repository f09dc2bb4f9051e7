# SPDX-License-Identifier: Apache-2.0
"""Records: what is stored of every measurement, its schemas, and reading and writing it."""
