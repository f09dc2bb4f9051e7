# SPDX-License-Identifier: Apache-2.0
"""What reports and summaries show of the paper's records."""
