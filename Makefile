# SPDX-License-Identifier: Apache-2.0
# Thin: every target calls the tool that does the work.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := build
.PHONY: build demo test test-lab test-lab-full lint bench deps lab-deps peers clean schemas

build: .venv/.stamp-run
	@. .venv/bin/activate && { [ -f build/build.ninja ] || meson setup build >/dev/null; } && ninja -C build --quiet

demo: build
	@tools/demo.sh

test: build .venv/.stamp-test
	@tools/checks/test.sh

test-lab: build .venv/.stamp-test .venv/.stamp-rtl
	@tools/checks/test-lab.sh

# The long tests, and those that build kernels by the dozen (every commit of the series whole, the survey): tens of minutes more.
test-lab-full: build .venv/.stamp-test .venv/.stamp-rtl
	@OKOSU_LAB=full tools/checks/test-lab.sh

lint: build .venv/.stamp-test
	@tools/checks/lint.sh

bench: build
	@.venv/bin/ninja -C build --quiet tools/measure/overheads/launch_overhead tools/measure/overheads/alloc_bench
	@tools/measure/overheads/overheads.sh

schemas: build
	@.venv/bin/python -m okosu.records.schema --write

deps:
	@tools/setup/deps.sh

# The packages with which `okosu lab` builds, boots, simulates, proves and synthesises; never part of the main job.
lab-deps: .venv/.stamp-rtl
	@tools/setup/lab-deps.sh

# The libraries that `okosu bench blas1` compares with; optional.
peers: .venv/.stamp-run
	@papers/hpc_programming/bench/peers.sh

.venv/.stamp-run: pyproject.toml tools/setup/venv.sh lab/entry_points.txt papers/entry_points.txt
	@tools/setup/deps.sh && tools/setup/venv.sh run report

.venv/.stamp-test: .venv/.stamp-run
	@tools/setup/venv.sh test test

.venv/.stamp-rtl: .venv/.stamp-run
	@tools/setup/venv.sh rtl rtl

clean:
	@rm -rf build build-*
