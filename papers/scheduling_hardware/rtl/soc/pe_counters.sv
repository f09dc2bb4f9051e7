// SPDX-License-Identifier: Apache-2.0
// Where a PE's cycles go: each cycle is counted once, as idle or as {section of the program} x {execute, memory wait, scheduler wait}.
//
// Section s is the text from `start_i[s]` up to `end_i[s]`; section 0, what is in none of them, is the user's program. The bounds are
// those of the library's functions that create, join, switch, lock, and do the rest; the simulator sets them before the start, and
// reads the counters where they are: ports for them would slow it down.
// While the hardware brings the next thread (`switching_i`) the PE is in section `SwitchSection` and waits for the scheduler.

module pe_counters #(
  parameter int unsigned Sections      = 6,
  parameter int unsigned SwitchSection = 3
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        idle_i,
  input  logic        switching_i,
  input  logic [31:0] pc_i,
  input  logic        waits_memory_i,
  input  logic        waits_sched_i,
  input  logic [Sections-1:1][31:0]       start_i,
  input  logic [Sections-1:1][31:0]       end_i
);

  localparam int unsigned Idle = 3 * Sections;

  logic [47:0]        count_q[Idle+1]  /* verilator public_flat_rd */;
  logic [4:0]         which;
  logic [47:0]        total_q;

  always_comb begin
    which = '0;
    for (int unsigned s = 1; s < Sections; s++) begin
      if (pc_i >= start_i[s] && pc_i < end_i[s]) which = 5'(3 * s);
    end
    if (switching_i) which = 5'(3 * SwitchSection + 2);
    else if (waits_memory_i) which = which + 5'd1;
    else if (waits_sched_i) which = which + 5'd2;
    if (idle_i) which = 5'(Idle);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned n = 0; n <= Idle; n++) count_q[n] <= '0;
      total_q <= '0;
    end else begin
      count_q[which] <= count_q[which] + 48'd1;
      total_q        <= total_q + 48'd1;
    end
  end

`ifndef SYNTHESIS
  logic [47:0] sum;
  always_comb begin
    sum = '0;
    for (int unsigned n = 0; n <= Idle; n++) sum += count_q[n];
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) PeCountersSumToAllCycles : assert (sum == total_q);
  end
`endif

endmodule
