// SPDX-License-Identifier: Apache-2.0
// What the blocks of SSH-m have in common.

package ssh_pkg;

  import okosu_pkg::*;

  parameter int unsigned ReadyLists = 16;

  // Where a thread is. Exactly one of these holds for each id, and those marked * are the states in which it is in a list.
  typedef enum logic [3:0] {
    ThreadFree       = 4'd0,  // * free list
    ThreadGranted    = 4'd1,  // its id waits in a PE's pool
    ThreadReady      = 4'd2,  // * a ready list
    ThreadHeld       = 4'd3,  // ready, but its context is still being saved
    ThreadDispatched = 4'd4,  // in a PE's prefetch slot
    ThreadRunning    = 4'd5,
    ThreadJoining    = 4'd6,  // blocked: waits for the exit of another thread
    ThreadWaiting    = 4'd7,  // * blocked: in the list of a watched word
    ThreadZombie     = 4'd8
  } thread_state_e;

  typedef struct packed {
    thread_state_e state;
    gen_t          generation;
    prio_t         prio;
    logic          detached;
    logic          has_joiner;
    tid_t          joiner;
    // A thread that never ran: word0 and word1 are its entry and argument. Else word0 is what its last command
    // returns, err that command's error; of a zombie word0 is the return value.
    logic          cold;
    logic [7:0]    err;
    logic [31:0]   word0;
    logic [31:0]   word1;
    // The PE that has its context in a bank or is still saving it.
    logic          has_home;
    pe_t           home;
    // The watch at which a waiting thread waits.
    logic [5:0]    watch;
    // A waiting thread has a deadline; a held one goes behind all others of its list.
    logic          timed;
  } thread_t;

  typedef enum logic [2:0] {
    ListNone     = 3'd0,
    ListPushTail = 3'd1,
    ListPushHead = 3'd2,
    ListPop      = 3'd3,
    // Takes out the element behind `prev`; the first element is taken out by ListPop.
    ListUnlink   = 3'd4,
    // Puts an element in behind `prev`.
    ListInsert   = 3'd5,
    // The first of one list goes behind the last, or before the first, of another.
    ListMoveTail = 3'd6,
    ListMoveHead = 3'd7
  } list_op_e;

  // Wide enough for 16 ready lists, the free list and 64 watches.
  parameter int unsigned MostLists = 128;
  typedef logic [$clog2(MostLists)-1:0] list_t;
  parameter list_t FreeList = list_t'(ReadyLists);
  parameter list_t FirstWatchList = list_t'(ReadyLists + 1);

  typedef logic [43:0] time_t;

  // What the engine whose cycle it is does. `ready`: the thread of `entry` becomes ready, and the ready unit fills in its state
  // and its list; `op` then says where it comes from: from no list (ListNone), or from the head of the one looked at (ListPop).
  typedef struct packed {
    logic       write;
    tid_t       tid;
    thread_t    entry;
    logic       ready;
    // The place of a ready thread, where it overrides the policy: before all others of its list, or behind them.
    logic       at_head;
    logic       at_tail;
    list_op_e   op;
    // The list that is pushed to.
    list_t      to;
    tid_t       prev;
    logic       send;
    logic       more;
    sched_msg_t msg;
    // A thread's state or a PE's changed so that dispatching may find something now.
    logic       stirs;
  } action_t;

  function automatic sched_msg_t message(msg_op_e op, pe_t pe, tid_t tid, logic [11:0] aux, logic [31:0] data);
    return '{op: op, pe: pe, tid: tid, aux: aux, data: data};
  endfunction

  function automatic list_t list_of_watch(logic [5:0] watch);
    return FirstWatchList + list_t'(watch);
  endfunction

endpackage
