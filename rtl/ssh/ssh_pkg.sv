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
    // Of a waiting thread, the watch it waits at.
    logic [5:0]    watch;
    logic          timed;
  } thread_t;

  typedef enum logic [2:0] {
    ListNone     = 3'd0,
    ListPushTail = 3'd1,
    ListPushHead = 3'd2,
    ListPop      = 3'd3,
    // Takes the element behind `prev` out; of the first element, ListPop.
    ListUnlink   = 3'd4,
    // Puts the element behind `prev`.
    ListInsert   = 3'd5
  } list_op_e;

endpackage
