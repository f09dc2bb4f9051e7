# SPDX-License-Identifier: Apache-2.0
"""The machine as a part of a LiteX system on a chip: a Wishbone master with a CSR for its exit status.

    from papers.scheduling_hardware.litex_machine import add_machine
    add_machine(soc, threads=32)

In the system, data memory is at 0x90000000, where the machine's processors expect it. From there on they reach a window
of `window` bytes with loads and stores of words: what the system has in it, such as LiteX's CSRs, is theirs, too. What
they print leaves by the system's UART, and the word with which a program ends is in the machine's CSR `status`. Text is
in the machine's own memories, which begin with the file that the macro OKOSU_TEXT names.
"""

from __future__ import annotations

from typing import Any

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from litex.soc.interconnect.csr import CSRStatus, CSRStorage
from migen import ClockSignal, If, Instance, ResetSignal, Signal

from papers.scheduling_hardware import board

DATA_BASE, DEVICES = 0x9000_0000, 0xBF00_0000
WINDOW = 0x40_0000
# Where the machine's and the UART's banks of CSRs lie, so that their addresses are known before the system is complete.
_UART_BANK, _MACHINE_BANK = 30, 31


class Machine(LiteXModule):  # type: ignore[misc]
    """The machine with its master port, `bus`; `ended` rises with the program's end, and its exit status is in a CSR.

    `console` and `status` are the addresses of the CSRs that stand for the machine's two devices, `has_room` says that
    the console takes a byte: until then its store waits, and the bus with it.
    """

    def __init__(self, console: int, status: int, has_room: Any, parameters: dict[str, int]) -> None:
        pes = parameters["NumPes"]
        self.bus = bus = wishbone.Interface(data_width=32, adr_width=30, addressing="word")
        self.ended = ended = Signal()
        self._status = CSRStorage(32, description="The word with which the program ended.")
        self._running = CSRStatus(pes, description="Which processors run a thread.")
        self.running = running = Signal(pes)
        self.status = self._status.storage
        address, stb = Signal(30), Signal()
        self.specials += Instance(
            "wishbone_machine",
            **{f"p_{name}": value for name, value in parameters.items()},
            i_clk_i=ClockSignal(),
            i_rst_ni=~ResetSignal(),
            o_wb_cyc_o=bus.cyc,
            o_wb_stb_o=stb,
            o_wb_we_o=bus.we,
            o_wb_adr_o=address,
            o_wb_dat_o=bus.dat_w,
            o_wb_sel_o=bus.sel,
            i_wb_dat_i=bus.dat_r,
            i_wb_ack_i=bus.ack,
            i_wb_err_i=bus.err,
            # LiteX's cycles are classic ones: a word is out when it is answered.
            i_wb_stall_i=~bus.ack & ~bus.err,
            o_running_o=running,
        )
        is_console = address == DEVICES >> 2
        self.comb += [
            bus.stb.eq(stb & (~is_console | has_room)),
            bus.adr.eq(address),
            If(is_console, bus.adr.eq(console >> 2)),
            If(address == (DEVICES + 4) >> 2, bus.adr.eq(status >> 2)),
            self._running.status.eq(running),
        ]
        self.sync += If(self._status.re, ended.eq(1))


def add_machine(
    soc: Any,
    name: str = "okosu",
    pes: int = 2,
    threads: int = 16,
    watches: int = 8,
    context: int = 1,
    isa: int = 0,
    imem_words: int = 16384,
    window: int = WINDOW,
) -> Machine:
    """Add the machine to a system that has a UART and data memory at DATA_BASE; return it.

    `context` and `isa` count as in doc/INTERFACES.md; `window` is how much the processors reach from DATA_BASE on.
    """
    csrs = soc.mem_map["csr"]
    if not DATA_BASE <= csrs < DATA_BASE + window:
        raise ValueError(f"CSRs at {csrs:#x} are out of the processors' reach: put mem_map['csr'] into the window")
    soc.csr.locs.pop("uart", None)
    soc.csr.add("uart", n=_UART_BANK)
    soc.csr.add(name, n=_MACHINE_BANK)
    parameters = {
        "NumPes": pes,
        "Threads": threads,
        "Watches": watches,
        "Context": context,
        "ImemWords": imem_words,
        "DmemWords": window // 4,
        "Isa": isa,
    }
    bank = soc.csr.paging
    machine = Machine(csrs + bank * _UART_BANK, csrs + bank * _MACHINE_BANK, soc.uart.tx_fifo.sink.ready, parameters)
    setattr(soc, name, machine)
    soc.bus.add_master(name, master=machine.bus)
    for source in board.sources():
        if source.parent.name != "board":
            soc.platform.add_source(str(source))
    return machine
