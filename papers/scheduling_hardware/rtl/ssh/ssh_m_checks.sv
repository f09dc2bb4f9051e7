// SPDX-License-Identifier: Apache-2.0
// Assertions about SSH-m as a whole; no hardware. It follows every action on the tables in a table of its own.
//
// Each id is in one state and in the list that belongs to it, and in no other: free ids in the free list (or never used), ready
// threads in a ready list, waiting ones in the list of a watched word; all others in none. So
// free + granted + ready + held + dispatched + running + joining + waiting + zombie = Threads.

module ssh_m_checks
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned NumPes  = 8,
  parameter int unsigned Threads = 256,
  parameter int unsigned Lists   = 33
) (
  input logic             clk_i,
  input logic             rst_ni,
  // High once thread 0 is in the table.
  input logic             booted_i,
  input action_t          act_i,
  input list_t            list_i,
  input tid_t             head_i,
  input logic [Lists-1:0] empties_i,
  // Which words are watched, while the waiting unit has nothing under way.
  input logic             rests_i,
  input logic [Lists-ReadyLists-2:0] watched_i
);

  localparam int unsigned IndexWidth = $clog2(Threads);
  localparam list_t Nowhere = '1;
  typedef logic [IndexWidth-1:0] index_t;

  logic [Threads-1:0][3:0]     state_q;
  logic [Threads-1:0][6:0]     where_q;
  logic [Threads-1:0]          used_q, has_joiner_q, joins_q;
  // The time at which a thread was put behind the others of its list; 0: it was put elsewhere in it.
  logic [Threads-1:0][31:0]    stamp_q;
  logic [MostLists-1:0][31:0]  popped_q;
  logic [MostLists-1:0][8:0]   length_q;
  logic [31:0]                 now_q;
  logic [15:0][8:0]            count_q;

  index_t tid;
  logic   pushes, pops, to_tail;
  list_t  where, becomes;
  logic [8:0] in_ready_lists, in_watch_lists, unused_ids;

  assign tid     = index_t'(act_i.tid);
  assign where   = where_q[tid];
  assign to_tail = act_i.op == ListPushTail || act_i.op == ListMoveTail;
  assign pushes  = to_tail || act_i.op == ListPushHead || act_i.op == ListMoveHead || act_i.op == ListInsert;
  assign pops    = act_i.op == ListPop || act_i.op == ListMoveTail || act_i.op == ListMoveHead;
  assign becomes = pushes ? act_i.to : pops || act_i.op == ListUnlink ? Nowhere : where;

  always_comb begin
    in_ready_lists = '0;
    in_watch_lists = '0;
    for (int unsigned l = 0; l < Lists; l++) begin
      if (l < ReadyLists) in_ready_lists += length_q[l];
      if (l > ReadyLists) in_watch_lists += length_q[l];
    end
    unused_ids = 9'($countones(~used_q));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      // Thread 0 runs on PE 0.
      state_q      <= (4 * Threads)'(ThreadRunning);
      where_q      <= '1;
      used_q       <= Threads'(1);
      has_joiner_q <= '0;
      joins_q      <= '0;
      stamp_q      <= '0;
      popped_q     <= '0;
      length_q     <= '0;
      now_q        <= 32'd1;
      count_q      <= '0;
      count_q[ThreadFree]    <= 9'(Threads - 1);
      count_q[ThreadRunning] <= 9'd1;
    end else if (booted_i) begin
      now_q <= now_q + 32'd1;
      if (act_i.write) begin
        state_q[tid]      <= act_i.entry.state;
        used_q[tid]       <= 1'b1;
        has_joiner_q[tid] <= act_i.entry.has_joiner;
        if (act_i.entry.has_joiner) joins_q[index_t'(act_i.entry.joiner)] <= 1'b1;
        if (act_i.ready) joins_q[tid] <= 1'b0;
        if (act_i.entry.state != thread_state_e'(state_q[tid])) begin
          count_q[state_q[tid]]      <= count_q[state_q[tid]] - 9'd1;
          count_q[act_i.entry.state] <= count_q[act_i.entry.state] + 9'd1;
        end
        where_q[tid] <= becomes;
      end
      if (pushes) begin
        length_q[act_i.to] <= length_q[act_i.to] + 9'd1;
        stamp_q[tid]       <= to_tail ? now_q : '0;
      end
      if (pops || act_i.op == ListUnlink) length_q[list_i] <= length_q[list_i] - 9'd1;
      if (pops && stamp_q[tid] != '0) popped_q[list_i] <= stamp_q[tid];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && booted_i) begin
      SshMChangesListsOnlyWithStates : assert (act_i.op == ListNone || act_i.write);
      SshMPopsTheHead : assert (!pops || tid == index_t'(head_i));
      SshMPopsInTheOrderOfPushes : assert (!pops || stamp_q[tid] == '0 || stamp_q[tid] > popped_q[list_i]);
      SshMTakesThreadsFromTheListTheyAreIn :
      assert (!(pops || act_i.op == ListUnlink) || where == list_i);
      SshMPutsThreadsIntoOneListOnly : assert (!pushes || pops || where == Nowhere);
      SshMStateSaysWhichList :
      assert (!act_i.write ||
              (act_i.entry.state == ThreadReady   ? becomes < list_t'(ReadyLists) :
               act_i.entry.state == ThreadFree    ? becomes == FreeList :
               act_i.entry.state == ThreadWaiting ? becomes == list_of_watch(act_i.entry.watch) : becomes == Nowhere));
      SshMHasEachIdInOneState :
      assert (length_q[FreeList] + unused_ids + in_ready_lists + in_watch_lists + count_q[ThreadGranted] +
              count_q[ThreadHeld] + count_q[ThreadDispatched] + count_q[ThreadRunning] + count_q[ThreadJoining] +
              count_q[ThreadZombie] == 9'(Threads));
      SshMKnowsWhatListsAreEmpty : assert (empties_i[ReadyLists] == (length_q[FreeList] == '0));
      SshMRunsAThreadOnAPe : assert (32'(count_q[ThreadRunning]) <= NumPes && 32'(count_q[ThreadDispatched]) <= NumPes);
      SshMGivesAThreadOneJoiner :
      assert (!(act_i.write && act_i.entry.has_joiner && !has_joiner_q[tid]) || !joins_q[index_t'(act_i.entry.joiner)]);
      SshMForgetsNoJoiner :
      assert (!(act_i.write && (act_i.entry.state == ThreadZombie || act_i.entry.state == ThreadJoining)) ||
              (act_i.entry.state == ThreadZombie ? !has_joiner_q[tid] : joins_q[tid]));
      // Threads wait only at words whose stores are watched, and an entry without waiters is released.
      SshMLosesNoWake : assert (!rests_i || watched_i == ~empties_i[Lists-1:ReadyLists+1]);
    end
  end

endmodule
