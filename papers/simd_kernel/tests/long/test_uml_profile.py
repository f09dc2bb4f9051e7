# SPDX-License-Identifier: Apache-2.0
"""The profile and the histogram on a real kernel: its records, and the calls that were asked for."""

from __future__ import annotations

import os

import pytest

from lab.run import guest, uml
from papers.simd_kernel import plan
from papers.simd_kernel.run import histogram, profiling, workloads

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


def test_a_profile_has_memcpy_and_the_kernel_of_each_routine() -> None:
    chosen = workloads.find(["pipe-512", "page-read"])
    # Nine million pages are copied. Where a copy takes 20 ns, some 18 samples of its time are expected, and none has a
    # probability of 1e-8; on a slower processor, more are. A busy machine takes nothing away: samples are of CPU time.
    records = list(profiling.measure(["orig", "sse2"], 1, chosen))
    found = {
        (one.variant, one.parameters["workload"], one.metric, one.parameters.get("function")): one for one in records
    }
    for routine in ("orig", "sse2"):
        (copy,), (whole,) = (
            found[routine, "all", "function", "memcpy"].samples,
            found[routine, "all", "kernel", None].samples,
        )
        assert 0 < copy < whole
        assert found[routine, "pipe-512", "wall", None].samples[0] > 0


@pytest.fixture(scope="module")
def counted() -> tuple[list[histogram.Site], list[histogram.Size]]:
    built = uml.build(fragments=plan.STATS)
    callers, sizes = histogram.counted(built, [str(guest.program("work_pipe")), "512", "1000"])
    return histogram.of_image(callers, built.path / "linux"), sizes


def test_the_histogram_has_the_messages_of_a_pipe(
    counted: tuple[list[histogram.Site], list[histogram.Size]],
) -> None:
    sites, sizes = counted
    exact = {one.size: one.calls for one in sizes if one.kind == "copy"}
    assert 2000 <= exact[512] <= 2100
    names = {site.function for site in sites if site.caller.kind == "copy" and site.caller.classes[9] >= 990}
    assert {"copy_chunk_to_user", "copy_chunk_from_user"} <= names
