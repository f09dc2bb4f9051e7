# SPDX-License-Identifier: Apache-2.0
"""Trials on many machines: handed to Slurm as batch jobs, and their records brought together by kind of machine."""
