# SPDX-License-Identifier: Apache-2.0
"""What the series hugetlb-prezero adds to structures and code, for its cover letter:

python -m papers.zero_offload.tests.long.series_figures
"""

from __future__ import annotations

from lab.tests.long.base import BASE
from lab.tests.long.series_figures import Subject, show

# By base: the options, and those that are there for tests.
OPTIONS = {
    "6.12": (
        ("FOLIO_ZERO_RANGES", "HUGETLB_PREZERO", "HUGETLB_PREZERO_DMA", "HUGETLB_PREZERO_USER"),
        ("FOLIO_ZERO_KUNIT_TEST", "HUGETLB_PREZERO_DEBUG", "HUGETLB_PREZERO_MOCK"),
    ),
    "7.3": (("HUGETLB_PREZERO",), ("HUGETLB_PREZERO_KUNIT_TEST",)),
}
SUBJECT = Subject("hugetlb-prezero", *OPTIONS[BASE], {"mm/hugetlb.o": ("page", "folio", "hstate", "resv_map")})

if __name__ == "__main__":
    show(SUBJECT)
