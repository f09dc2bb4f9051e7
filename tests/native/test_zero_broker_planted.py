# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in the broker and the clearer must be seen by its fuzzer."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from zerod_tool import ROOT, SOURCES, compiled, start, wait

# The consequences of these bugs: a page that is not cleared, one that two programs have, one that late hardware writes
# to, one that is given twice.
PLANTED = {
    "what a gone client's clearing left is clean": ("clearer.c", "} else if (!job->asked) {", "} else {"),
    "late hardware's slot is free at once": (
        "clearer.c",
        "    job->overdue = true;\n    store->failures++;",
        "    job->overdue = true;\n    slot->busy = false;\n    store->failures++;",
    ),
    "a slot is anybody's": (
        "broker.c",
        "slot->state != ZEROD_HELD || slot->client != client",
        "slot->state != ZEROD_HELD",
    ),
    "what is being cleared can be given": ("broker.c", "return slot->busy || slot->pages ? -EBUSY : 0;", "return 0;"),
    "what somebody kept is handed out": (
        "clearer.c",
        "dirty == store->slots && !zerod_memory_is_alone(slot->fd)",
        "false",
    ),
    "a client's cap is one too many": ("broker.c", "client->held >=", "client->held >"),
    "a user's cap is one too many": (
        "broker.c",
        "shelf->in[ZEROD_HELD] + shelf->in[ZEROD_DIRTY] >= user_units",
        "shelf->in[ZEROD_HELD] + shelf->in[ZEROD_DIRTY] > user_units",
    ),
    "a gone client is answered": (
        "broker.c",
        "    slot->client->held--;\n    slot->client = NULL;",
        "    slot->client->held--;",
    ),
    "less is cleared than the unit": (
        "broker.c",
        "store->limits.unit / 4096);\n    zerod",
        "store->limits.unit / 8192);\n    zerod",
    ),
    "a failure counts as done": (
        "clearer.c",
        "    if (it.rc)\n        end_job(clearer, &job, it.rc);\n    else",
        "    if (it.rc)\n        end_job(clearer, &job, 1);\n    else",
    ),
    "who gets no file gets another's": (
        "store.c",
        "        if (store->shelf[i]->uid == uid) {\n            *found = store->shelf[i];\n",
        "        *found = store->shelf[i];\n        if (store->shelf[i]->uid == uid) {\n",
    ),
    "the cap is forgotten": (
        "supply.c",
        "if (store->present == store->slots) {",
        "if (store->present > store->slots) {",
    ),
}


PARTS = ("broker", "clearer", "hand", "memory", "pins", "store", "supply", "broker_fuzz")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def cc(*words: str | Path) -> None:
    include = (f"-I{ROOT / 'native/include'}", f"-I{ROOT / 'native/src'}", f"-I{SOURCES}")
    done = subprocess.run(
        ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g", *SANITIZED, *include, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The fuzzer's unchanged objects, compiled once."""
    folder = tmp_path_factory.mktemp("objects")
    files = {part: SOURCES / f"{part}.c" for part in PARTS} | {"message": ROOT / "native/src/base/message.c"}
    for part, file in files.items():
        cc("-c", file, "-o", folder / f"{part}.o")
    return {part: folder / f"{part}.o" for part in files}


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_seen(name: str, objects: dict[str, Path], tmp_path: Path) -> None:
    file, text, wrong = PLANTED[name]
    whole = (SOURCES / file).read_text()
    assert whole.count(text) == 1
    planted = tmp_path / file
    planted.write_text(whole.replace(text, wrong))
    others = [path for part, path in objects.items() if f"{part}.c" != file]
    cc(planted, *others, "-lpthread", "-o", tmp_path / "fuzz")
    done = subprocess.run([tmp_path / "fuzz", "150000"], capture_output=True, text=True, check=False)
    assert done.returncode != 0, done.stdout
    assert done.stdout.startswith("broker-fuzz: ") or "Sanitizer" in done.stderr


# Bugs in the library's part: memory that nobody clears, or that is cleared in the wrong place.
IN_THE_LIBRARY = {
    "a page too few is asked for": (
        "broker.c",
        ".value = bytes / OKOSU_POOL_PAGE}",
        ".value = bytes / OKOSU_POOL_PAGE - 1}",
    ),
    "a copy of the slot is mapped": ("broker.c", "MAP_SHARED | MAP_FIXED", "MAP_PRIVATE | MAP_FIXED"),
    "what a daemon left is clean": ("supply.c", "        okosu_zero_page(at(pool, index), bytes);\n", ""),
}


@pytest.mark.long
@pytest.mark.parametrize("name", IN_THE_LIBRARY)
def test_a_bug_planted_in_the_library_is_seen(name: str, tmp_path: Path) -> None:
    file, text, wrong = IN_THE_LIBRARY[name]
    pool = tmp_path / "src/pool"
    shutil.copytree(ROOT / "native/src/pool", pool)
    whole = (pool / file).read_text()
    assert whole.count(text) == 1
    (pool / file).write_text(whole.replace(text, wrong))
    check = ROOT / "tests/native/programs/zero_broker_check.c"
    client = compiled(tmp_path, "check", [check, *sorted(pool.glob("*.c"))], f"-I{tmp_path / 'src'}", pool=False)
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        daemon = start(f"{folder}/s", "--cap=64M", "--low=64M", "--high=64M", "--client-cap=32M")
        try:
            wait(lambda: daemon.status()["clean"] == 32)
            words: list[str | Path] = [client, "stress", daemon.socket, "20000", "3", "1"]
            if "left" in name:
                words = [client, "hold", daemon.socket]
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            if "left" in name:
                assert process.stdout
                assert process.stdout.readline() == "holding\n"
                daemon.stop(signal.SIGKILL)
            assert process.wait() == 1
        finally:
            daemon.process.kill()
            daemon.process.wait()
