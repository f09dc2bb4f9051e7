// SPDX-License-Identifier: Apache-2.0
// SSH-m with its scheduler bus, for lockstep with the golden model (sched_model.h). The PEs, the memory and the memory bus are
// played by sched_main.cpp.
//
// Beside what SSH-m shows at its ports, the model is told when SSH-m takes up what it has heard, in the cycle in which it does
// so: the moments are SSH-m's own affair, what follows from their order is not. With `look_i` the thread table, the lists
// and the watches are shown, too.

module sched_top
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned NumPes   = 4,
  parameter int unsigned Threads  = 16,
  parameter int unsigned Watches  = 4,
  parameter int unsigned PoolSize = 4,
  parameter int unsigned Context  = 3,
  parameter int unsigned Staged   = 0
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [43:0]                    cycle_i,

  input  logic [NumPes-1:0]              pe_valid_i,
  input  logic [NumPes-1:0]              pe_more_i,
  input  logic [NumPes-1:0][63:0]        pe_msg_i,
  output logic [NumPes-1:0]              pe_ready_o,
  output logic                           bus_valid_o,
  output logic                           bus_from_master_o,
  output logic [63:0]                    bus_msg_o,

  output logic                           said_valid_o,
  output logic                           said_ready_o,
  output logic [63:0]                    said_o,

  output logic                           mem_valid_o,
  output logic [1:0]                     mem_kind_o,
  output logic [31:0]                    mem_addr_o,
  output logic [31:0]                    mem_wdata_o,
  input  logic                           mem_ready_i,
  input  logic [31:0]                    mem_rdata_i,
  input  logic                           snoop_valid_i,
  input  logic                           snoop_store_i,
  input  logic [31:0]                    snoop_addr_i,
  input  logic [31:0]                    snoop_data_i,
  input  logic [3:0]                     snoop_be_i,

  // A message is taken out of the buffer; the stores to a word are taken up, the word of a command is looked up, a word is
  // watched from now on; a wait is over.
  output logic                           popped_o,
  output logic                           taken_o,
  output logic [31:0]                    taken_addr_o,
  output logic                           found_o,
  output logic                           claimed_o,
  output logic [31:0]                    claimed_addr_o,
  output logic                           expired_o,
  output logic [7:0]                     expired_tid_o,
  // The operation on a list (list_op_e), and the list.
  output logic [2:0]                     list_op_o,
  output logic [7:0]                     list_from_o,
  output logic [7:0]                     list_to_o,
  output logic [7:0]                     list_tid_o,
  output logic [7:0]                     list_prev_o,
  // Nothing is under way: the tables are those of the messages taken so far.
  output logic                           settled_o,

  input  logic                           look_i,
  output logic [Threads-1:0][3:0]        states_o,
  output logic [Threads-1:0][7:0]        next_o,
  output logic [16+Watches:0][7:0]       head_o,
  output logic [16+Watches:0][7:0]       tail_o,
  output logic [16+Watches:0]            empty_o,
  output logic [Watches-1:0]             watched_o,
  output logic [Watches-1:0][31:0]       watch_addr_o
);

  logic       more, room;
  sched_msg_t said, bus_msg;
  sched_msg_t [NumPes-1:0] pe_msg;
  mem_req_t   mem_req;
  mem_rsp_t   mem_rsp;
  mem_snoop_t snoop;

  assign pe_msg      = pe_msg_i;
  assign bus_msg_o   = bus_msg;
  assign said_o      = said;
  assign mem_kind_o  = mem_req.kind;
  assign mem_addr_o  = mem_req.addr;
  assign mem_wdata_o = mem_req.wdata;
  // SSH-m asks for whole words only.
  logic unused_mem_req;
  assign unused_mem_req = ^{mem_req.we, mem_req.be, mem_req.len};
  assign mem_rsp     = '{valid: mem_ready_i, last: mem_ready_i, error: 1'b0, rdata: mem_rdata_i};
  assign snoop       = '{
    valid: snoop_valid_i,
    is_store: snoop_store_i,
    addr: snoop_addr_i,
    data: snoop_data_i,
    be: snoop_be_i
  };

  sched_bus #(
    .NumPes(NumPes)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .master_valid_i(said_valid_o),
    .master_more_i (more),
    .master_msg_i  (said),
    .master_ready_o(said_ready_o),
    .master_room_i (room),
    .pe_valid_i,
    .pe_more_i,
    .pe_msg_i      (pe_msg),
    .pe_ready_o,
    .valid_o       (bus_valid_o),
    .from_master_o (bus_from_master_o),
    .msg_o         (bus_msg)
  );

  ssh_m #(
    .NumPes  (NumPes),
    .Threads (Threads),
    .Watches (Watches),
    .PoolSize(PoolSize),
    .CtxMode (ctx_mode_e'(2'(Context))),
    .Staged  (Staged == 1)
  ) u_ssh_m (
    .clk_i,
    .rst_ni,
    .cycle_i,
    .bus_valid_i(bus_valid_o && !bus_from_master_o),
    .bus_msg_i  (bus_msg),
    .bus_room_o (room),
    .bus_valid_o(said_valid_o),
    .bus_more_o (more),
    .bus_msg_o  (said),
    .bus_ready_i(said_ready_o),
    .mem_valid_o,
    .mem_req_o  (mem_req),
    .mem_ready_i,
    .mem_rsp_i  (mem_rsp),
    .snoop_i    (snoop)
  );

  // All signals from inside SSH-m that the model looks at.

  assign popped_o       = u_ssh_m.in_pop;
  assign taken_o        = u_ssh_m.u_waiting.u_watches.take_i;
  assign taken_addr_o   = {u_ssh_m.u_waiting.u_watches.addr_q[u_ssh_m.u_waiting.u_watches.hit_index_o], 2'b00};
  assign found_o        = u_ssh_m.w_grant && u_ssh_m.u_waiting.state_q == 3'd1;
  assign claimed_o      = u_ssh_m.u_waiting.u_watches.claim_i;
  assign claimed_addr_o = u_ssh_m.u_waiting.u_watches.find_addr_i;
  assign expired_o      = u_ssh_m.u_waiting.expire;
  assign expired_tid_o  = u_ssh_m.c_tid;
  assign settled_o      = u_ssh_m.booted_q && !u_ssh_m.r_busy && !u_ssh_m.d_scans && u_ssh_m.u_waiting.state_q == 3'd0 &&
                          u_ssh_m.u_messages.state_q == 3'd0 && !u_ssh_m.writes;
  // An operation is seen when an engine decides on it, also where the list unit does it a cycle later.
  assign list_op_o      = u_ssh_m.act.op;
  assign list_from_o    = 8'(u_ssh_m.from);
  assign list_to_o      = 8'(u_ssh_m.act.to);
  assign list_tid_o     = u_ssh_m.act.tid;
  assign list_prev_o    = u_ssh_m.act.prev;

  always_comb begin
    states_o     = '0;
    next_o       = '0;
    head_o       = '0;
    tail_o       = '0;
    empty_o      = '0;
    watched_o    = '0;
    watch_addr_o = '0;
    if (look_i) begin
      empty_o   = u_ssh_m.u_lists.empty_q;
      watched_o = u_ssh_m.u_waiting.u_watches.valid_q;
      for (int unsigned t = 0; t < Threads; t++) begin
        states_o[t] = u_ssh_m.u_threads.table_q[t].state;
        next_o[t]   = 8'(u_ssh_m.u_lists.next_q[t]);
      end
      for (int unsigned l = 0; l < 17 + Watches; l++) begin
        head_o[l] = 8'(u_ssh_m.u_lists.head_q[l]);
        tail_o[l] = 8'(u_ssh_m.u_lists.tail_q[l]);
      end
      for (int unsigned w = 0; w < Watches; w++) watch_addr_o[w] = {u_ssh_m.u_waiting.u_watches.addr_q[w], 2'b00};
    end
  end

endmodule
