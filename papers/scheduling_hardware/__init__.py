# SPDX-License-Identifier: Apache-2.0
"""Sasaki and others: scheduling support hardware for multiprocessor systems."""
