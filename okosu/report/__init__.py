# SPDX-License-Identifier: Apache-2.0
"""From record files to one self-contained HTML page. It reads records and nothing else."""
