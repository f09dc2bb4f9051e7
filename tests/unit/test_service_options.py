# SPDX-License-Identifier: Apache-2.0
"""The options of a service: what is read from the command line, and the command line that measures the same again."""

from __future__ import annotations

import shlex

import pytest

from okosu.cli import _options, main
from okosu.records import types
from okosu.records.types import Options, Plan, Service, TryFile
from okosu.report import commands

SERVICE = ["try", "--service", "redis-server --port {port} --save ''", "--load", "redis-benchmark -p {port} -q"]


def parsed(*more: str) -> Options:
    return _options.parse(main.parse([*SERVICE, "--levers", "pin", *more]))


def test_the_defaults_and_what_replaces_them() -> None:
    plain = parsed()
    assert plain.command == ["redis-server", "--port", "{port}", "--save", ""]
    assert plain.service == Service(load="redis-benchmark -p {port} -q", ready=["tcp:{port}"])
    more = ["--ready", "log:up", "--ready", "cmd:true", "--ready-timeout", "2m", "--stop", "sigint"]
    given = parsed(*more, "--stop-timeout", "30s").service
    assert given is not None
    assert (given.ready, given.ready_s, given.stop, given.grace_s) == (["log:up", "cmd:true"], 120, "INT", 30)


@pytest.mark.parametrize("stop", ["TERM", "QUIT", "redis-cli -p {port} shutdown"])
def test_the_command_that_measures_again_gives_the_same_options(stop: str) -> None:
    options = parsed("--stop", stop, "--ready", "unix:{tmp}/s", "--seed", "7", "--prepare", "touch {tmp}/x")
    file: TryFile = types.begin(TryFile, {}, plan=Plan(options=options))
    line = commands.again(file)
    assert "--port {port} " in line
    assert _options.parse(main.parse(shlex.split(line)[1:])) == options
