# SPDX-License-Identifier: Apache-2.0
"""What the series page-colour adds to structures and code, for its cover letter:

python -m papers.superpage_colouring.tests.long.series_figures
"""

from __future__ import annotations

from lab.tests.long.series_figures import Subject, show

SUBJECT = Subject(
    "page-colour",
    ("PAGE_COLOR",),
    ("PAGE_COLOR_KUNIT_TEST",),
    {"mm/page_alloc.o": ("page", "zone", "per_cpu_pages", "mm_struct", "task_struct")},
)

if __name__ == "__main__":
    show(SUBJECT)
