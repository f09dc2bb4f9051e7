# SPDX-License-Identifier: Apache-2.0
"""What a thread costs with the lever threads and without: an empty routine that is created and joined, one and two
std::async tasks of 5 us at a time, in turns with glibc alone, each against glibc's run of the same round.

`python tools/measure/threads.py [ROUNDS]` (default 9) prints one table; `chrt -r 1` before it (as root) keeps other
programs away. A C++ compiler (`c++`) is needed.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from okosu import native

SOURCE = r"""
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <pthread.h>

using Clock = std::chrono::steady_clock;

static void *empty(void *given)
{
    return given;
}

static int busy(std::chrono::nanoseconds time)
{
    auto end = Clock::now() + time;
    int turns = 0;

    while (Clock::now() < end)
        turns++;
    return turns;
}

static void create_and_join()
{
    pthread_t thread;

    if (pthread_create(&thread, nullptr, empty, nullptr) || pthread_join(thread, nullptr))
        std::abort();
}

static void task()
{
    std::async(std::launch::async, busy, std::chrono::microseconds(5)).get();
}

static void two_tasks()
{
    auto one = std::async(std::launch::async, busy, std::chrono::microseconds(5));
    auto two = std::async(std::launch::async, busy, std::chrono::microseconds(5));

    one.get();
    two.get();
}

int main(int count, char **words)
{
    int times = count > 2 ? std::atoi(words[2]) : 1;
    const char *what = count > 1 ? words[1] : "";
    auto once = !std::strcmp(what, "task") ? task : !std::strcmp(what, "tasks") ? two_tasks : create_and_join;
    auto begin = Clock::now();

    for (int i = 0; i < times; i++)
        once();
    std::printf("%.3f\n", std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / times);
}
"""
PROGRAMS = {
    "create and join an empty routine, each of 5,000": ("join", "5000", 1.0),
    "a std::async task of 5 us, each of 4,000": ("task", "4000", 1.0),
    "two std::async tasks of 5 us at a time, each of 4,000": ("tasks", "2000", 0.5),
}


def microseconds(command: list[str], share: float) -> float:
    """The time that the program itself says one of its operations took, in microseconds."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return share * float(done.stdout)


def main() -> int:
    """See the head of this file."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    launcher = [str(native.find("okosu-run")), "--threads", "--"]
    print("| program | glibc | `threads` | ratio in the same round |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "threads.cpp"), str(Path(folder, "threads"))
        source.write_text(SOURCE)
        subprocess.run(["c++", "-O2", "-std=c++17", "-o", binary, source, "-lpthread"], check=True)
        for name, (what, times, share) in PROGRAMS.items():
            taken: dict[str, list[float]] = {"glibc": [], "threads": []}
            for _ in range(rounds):
                arms = {"glibc": [binary, what, times], "threads": [*launcher, binary, what, times]}
                for arm in random.sample(list(arms), len(arms)):
                    taken[arm].append(microseconds(arms[arm], share))
            ratios = [mine / base for mine, base in zip(taken["threads"], taken["glibc"], strict=True)]
            cells = [f"{median(taken[arm]):.1f} us" for arm in taken]
            cells.append(f"1/{1 / median(ratios):.1f} ({1 / max(ratios):.1f} to {1 / min(ratios):.1f})")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
