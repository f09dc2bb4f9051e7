# SPDX-License-Identifier: Apache-2.0
"""One folder a paper, with all that is the paper's; common/ holds what they share."""
