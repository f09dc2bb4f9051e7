# SPDX-License-Identifier: Apache-2.0
"""The gallery's second trials: what --levers has to say for an arm that an earlier trial recommends."""

from __future__ import annotations

import pytest

from tools.gallery.gallery import Program, levers, subject


@pytest.mark.parametrize(
    ("arm", "options", "wanted"),
    [
        ("superpage", ["--superpage=glibc"], "superpage=glibc"),
        ("superpage+retain", ["--superpage=thp", "--retain=on"], "superpage=thp,retain=on"),
        ("php-jit", ["--env=PHP_INI_SCAN_DIR=:/okosu/recipes/php-jit"], "php-jit"),
        ("text", ["--text=cache:/usr/lib/a.so:/usr/lib/b=c.so"], "text=cache:/usr/lib/a.so:/usr/lib/b=c.so"),
        ("java-c1+superpage", ["--env=JAVA_TOOL_OPTIONS=-X", "--superpage=small"], "java-c1,superpage=small"),
    ],
)
def test_an_arm_is_named_by_its_levers(arm: str, options: list[str], wanted: str) -> None:
    assert levers({"arm": arm, "options": options}) == wanted


def test_a_service_is_tried_by_its_load() -> None:
    assert subject(Program("a", "", ["b", "c"], "")) == ["--", "b", "c"]
    service = Program("a", "", ["load", "x y"], "", service="serve", ready=["one", "two"], options=["--metric", "cpu"])
    assert subject(service) == [
        "--service", "serve", "--ready", "one", "--ready", "two", "--metric", "cpu", "--load", "load 'x y'",
    ]  # fmt: skip
