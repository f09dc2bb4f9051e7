// SPDX-License-Identifier: Apache-2.0
// What a board has beside the sources in files.f; relative to the folder of this file (verilator -F).
rtl/soc/wishbone_machine.sv
rtl/board/uart_tx.sv
rtl/board/ulx3s_top.sv
