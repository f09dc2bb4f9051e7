# SPDX-License-Identifier: Apache-2.0
"""The machine in a LiteX system, simulated whole from its pins: its programs use LiteX's RAM, UART and registers."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, litex_soc
from papers.scheduling_hardware.machine import ISAS
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = [
    *NEEDS,
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
]
# LiteX's own registers by its own header: the one that reads 0x12345678 after reset, errors of its bus, its UART.
REGISTERS = """\
#include <generated/csr.h>
#include <pthread.h>
#include <stdint.h>
#define REGISTER(address) (*(volatile uint32_t *)(address))
static void say(const char *text)
{
    while (*text) {
        while (REGISTER(CSR_UART_TXFULL_ADDR))
            ;
        REGISTER(CSR_UART_RXTX_ADDR) = (uint8_t)*text++;
    }
}
static void *other(void *argument)
{
    REGISTER(CSR_CTRL_SCRATCH_ADDR) += 1;
    return argument;
}
int main(void)
{
    pthread_t thread;
    if (REGISTER(CSR_CTRL_SCRATCH_ADDR) != 0x12345678)
        return 1;
    if (pthread_create(&thread, 0, other, 0) != 0 || pthread_join(thread, 0) != 0)
        return 2;
    if (REGISTER(CSR_CTRL_SCRATCH_ADDR) != 0x12345679 || REGISTER(CSR_CTRL_BUS_ERRORS_ADDR) != 0)
        return 3;
    if ((REGISTER(CSR_OKOSU_RUNNING_ADDR) & 3) == 0)
        return 4;
    say("more than the sixteen bytes that LiteX's UART holds\\n");
    return 42;
}
"""


@pytest.fixture(params=ISAS)
def isa(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if not shutil.which(cross_compile.COMPILERS[name]):
        pytest.skip(f"{cross_compile.COMPILERS[name]} is not installed (tools/setup/lab-deps.sh)")
    try:
        litex_soc.check_litex()
    except OkosuError as error:
        # pytest tells no reason of a skipped test in its short form, but warnings it does.
        warnings.warn(f"{error.what}, so no system of it is simulated: {litex_soc.INSTALL}", stacklevel=1)
        pytest.skip(f"{error.what}: {litex_soc.INSTALL}")
    return name


def test_what_threads_print_leaves_by_litexs_uart_to_the_last_byte(isa: str) -> None:
    done = litex_soc.simulate([str(ROOM / "dv/board/talks.c"), "--", "one", "two"], isa)
    lines = done.stdout.decode().splitlines()
    said = [f"{who} says line {n}, which is longer than sixteen bytes" for who in ("main", "other") for n in range(3)]
    assert sorted(lines[:-1]) == said, done.stderr
    assert lines[-1] == "2 arguments, the last two"
    assert done.returncode == 93


def test_a_program_uses_litexs_registers_by_litexs_header(isa: str, tmp_path: Path) -> None:
    (source := tmp_path / "registers.c").write_text(REGISTERS)
    done = litex_soc.simulate([str(source)], isa)
    assert (done.stdout, done.returncode) == (b"more than the sixteen bytes that LiteX's UART holds\n", 42), done.stderr


def test_a_system_whose_registers_are_out_of_reach_is_refused(isa: str) -> None:
    from papers.scheduling_hardware import litex_machine

    class Far:
        mem_map = {"csr": 0xF000_0000}  # noqa: RUF012

    with pytest.raises(ValueError, match="out of the processors' reach"):
        litex_machine.add_machine(Far(), isa=ISAS.index(isa))
