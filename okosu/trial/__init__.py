# SPDX-License-Identifier: Apache-2.0
"""A trial: pilot, plan, rounds, verdicts, confirmation; pure but for the runner."""
