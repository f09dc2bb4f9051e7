// SPDX-License-Identifier: Apache-2.0
// The machine on a ULX3S (Lattice ECP5): PLL, machine, block RAM behind Wishbone, console on the serial port of its USB plug.
//
// Ports are named as the board's constraints name its pins; `ftdi_rxd` is what the board sends. 115200 baud, 8N1. Configuration is the reset:
// block RAM begins with the program, and a second start would find its data changed. While the program runs, led[n] shows that PE n runs a
// thread; when it has ended, led[7] is on and the others are the low bits of its exit status. Bytes wait for the line in a buffer of 16, and a
// store to the console waits, and with it the memory bus, while that is full.

module ulx3s_top #(
  parameter int unsigned NumPes    = 2,
  parameter int unsigned Threads   = 16,
  parameter int unsigned Watches   = 8,
  parameter int unsigned Context   = 1,
  parameter int unsigned ImemWords = 16384,
  parameter int unsigned DmemWords = 32768,
  // The machine's clock is 600 MHz divided by this, which is what the oscillator makes; a multiple of 24.
  parameter int unsigned ClockDivisor = 48,
  parameter int unsigned Baud      = 115200
) (
  input  logic       clk_25mhz,
  output logic       ftdi_rxd,
  output logic [7:0] led
);

  localparam int unsigned ClockHz = 600_000_000 / ClockDivisor;

  // Clock and reset, which ends four cycles after the PLL has locked.

  logic       clk, locked, rst_n;
  logic [3:0] started_q;
  EHXPLLL #(
    .CLKI_DIV    (ClockDivisor / 24),
    .CLKFB_DIV   (1),
    .CLKOP_DIV   (ClockDivisor),
    .CLKOP_ENABLE("ENABLED"),
    .CLKOP_CPHASE(ClockDivisor / 2 - 1),
    .FEEDBK_PATH ("CLKOP")
  ) u_pll (
    .CLKI        (clk_25mhz),
    .CLKFB       (clk),
    .PHASESEL1   (1'b0),
    .PHASESEL0   (1'b0),
    .PHASEDIR    (1'b0),
    .PHASESTEP   (1'b0),
    .PHASELOADREG(1'b0),
    .STDBY       (1'b0),
    .PLLWAKESYNC (1'b0),
    .RST         (1'b0),
    .ENCLKOP     (1'b0),
    .CLKOP       (clk),
    .LOCK        (locked)
  );
  always_ff @(posedge clk or negedge locked) begin
    if (!locked) started_q <= '0;
    else started_q <= {started_q[2:0], 1'b1};
  end
  assign rst_n = started_q[3];

  // Machine and memory.

  logic              cyc, stb, wb_we, ack, err, stall, busy, re, we, error, print, stream, exit_now;
  logic [31:2]       adr;
  logic [31:0]       dat, dat_back, addr, wdata, rdata, status;
  logic [3:0]        sel, be;
  logic [7:0]        letter;
  logic [NumPes-1:0] running;

  wishbone_machine #(
    .NumPes   (NumPes),
    .Threads  (Threads),
    .Watches  (Watches),
    .Context  (Context),
    .ImemWords(ImemWords),
    .DmemWords(DmemWords)
  ) u_machine (
    .clk_i     (clk),
    .rst_ni    (rst_n),
    .wb_cyc_o  (cyc),
    .wb_stb_o  (stb),
    .wb_we_o   (wb_we),
    .wb_adr_o  (adr),
    .wb_dat_o  (dat),
    .wb_sel_o  (sel),
    .wb_dat_i  (dat_back),
    .wb_ack_i  (ack),
    .wb_err_i  (err),
    .wb_stall_i(stall),
    .running_o (running)
  );

  wishbone_slave u_slave (
    .clk_i      (clk),
    .rst_ni     (rst_n),
    .wb_cyc_i   (cyc),
    .wb_stb_i   (stb),
    .wb_we_i    (wb_we),
    .wb_adr_i   (adr),
    .wb_dat_i   (dat),
    .wb_sel_i   (sel),
    .wb_dat_o   (dat_back),
    .wb_ack_o   (ack),
    .wb_err_o   (err),
    .wb_stall_o (stall),
    .busy_i     (busy),
    .mem_re_o   (re),
    .mem_we_o   (we),
    .mem_addr_o (addr),
    .mem_wdata_o(wdata),
    .mem_be_o   (be),
    .mem_rdata_i(rdata),
    .mem_error_i(error)
  );

  shared_memory #(
    .Words(DmemWords)
  ) u_memory (
    .clk_i   (clk),
    .rst_ni  (rst_n),
    .re_i    (re),
    .we_i    (we),
    .addr_i  (addr),
    .wdata_i (wdata),
    .be_i    (be),
    .rdata_o (rdata),
    .error_o (error),
    .print_o (print),
    .stream_o(stream),
    .char_o  (letter),
    .exit_o  (exit_now),
    .status_o(status)
  );

  // Console: output and errors are one line. A byte comes a cycle after its store was taken, so another one may be on its way.

  logic       waits, sends, has_room;
  logic [7:0] sent;
  logic [4:0] room;
  assign busy = addr[29] && room < 5'd2;
  fifo #(
    .Width(8),
    .Depth(16)
  ) u_waiting (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .valid_i(print),
    .ready_o(has_room),
    .data_i (letter),
    .valid_o(waits),
    .ready_i(sends),
    .data_o (sent),
    .room_o (room)
  );
  uart_tx #(
    .Divisor((ClockHz + Baud / 2) / Baud)
  ) u_uart (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .valid_i(waits),
    .ready_o(sends),
    .data_i (sent),
    .tx_o   (ftdi_rxd)
  );

  logic       ended_q;
  logic [6:0] status_q;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      ended_q  <= 1'b0;
      status_q <= '0;
    end else if (exit_now && !ended_q) begin
      ended_q  <= 1'b1;
      status_q <= status[6:0];
    end
  end
  assign led = ended_q ? {1'b1, status_q} : 8'(running);

  logic unused;
  assign unused = ^{stream, status[31:7], has_room};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (rst_n) Ulx3sTopLosesNoByte : assert (!print || has_room);
  end
`endif

endmodule
