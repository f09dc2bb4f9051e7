# SPDX-License-Identifier: Apache-2.0
"""The lab: kernels built from Debian's source with okosu's series, and guests that run one command on them."""
