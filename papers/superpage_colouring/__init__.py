# SPDX-License-Identifier: Apache-2.0
"""Hayasaka and Shimizu: memory performance by Linux super pages and page colouring."""
