// SPDX-License-Identifier: Apache-2.0
// SSH-s's register unit: the prefetch slot, the banks, and who runs in which.
//
// A dispatched thread comes into the slot by one message or two. It is loaded when its context is in a bank: it may still be in one
// (it blocked here), else it is filled into a free one, for which another may have to be spilled first. The core is started on a
// loaded thread as soon as it parks (`run_o`, in the same cycle). Banks are spilled for a thread in the slot, for EVICT, and
// ahead of need when there is more than one and none is free; `released_o` then names the thread, until `released_taken_i`.
// START, RECALLED and KEPT are offered in the same way.
// A PE that has gone idle at a barrier (`idles_i`) learns by RELEASE, one message to all PEs, that its thread goes on, and puts it
// into the slot. In SOFT mode nothing is loaded; the library takes the slot by NEXT (`take_i`).
// In LOCAL mode the one bank is saved to the PE's own memory of `Contexts` contexts and restored from it, and the thread stays at home;
// contexts leave that memory for EVICT, and ahead of need when no place of it is free.

module register_unit
  import okosu_pkg::*;
#(
  parameter bit          Soft  = 1'b0,
  parameter int unsigned Banks = 4,
  // Contexts that the PE's own memory holds in LOCAL mode; 0: there is no such memory.
  parameter int unsigned Contexts = 0,
  // Derived from the parameters above; not to be set.
  parameter int unsigned BankWidth  = Banks > 1 ? $clog2(Banks) : 1,
  parameter int unsigned PlaceWidth = Contexts > 1 ? $clog2(Contexts) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // At reset PE 0 runs thread 0.
  input  logic                  first_i,

  // The core's state, and what the running thread does in this cycle.
  input  logic                  parked_i,
  input  logic [BankWidth-1:0]  bank_i,
  input  logic                  park_i,
  input  logic                  stop_i,
  input  logic                  keep_i,
  input  logic                  take_i,
  output logic                  run_o,
  output logic [BankWidth-1:0]  run_bank_o,
  output logic                  running_o,
  output handle_t               self_o,

  // Messages to and from the scheduler bus.
  input  logic                  dispatch0_i,
  input  logic                  dispatch1_i,
  input  logic                  recall_i,
  input  logic                  evict_i,
  input  logic                  idles_i,
  input  logic                  release_i,
  input  sched_msg_t            heard_i,
  output logic                  start_o,
  output logic                  released_o,
  output logic                  recalled_o,
  output logic                  kept_o,
  output tid_t                  start_tid_o,
  output tid_t                  released_tid_o,
  output tid_t                  answer_tid_o,
  input  logic                  start_taken_i,
  input  logic                  released_taken_i,
  input  logic                  answer_taken_i,

  // The thread in the slot; `next_o`: it can run now; `at_hand_o`: it could, once it is loaded.
  output logic                  next_o,
  output logic                  at_hand_o,
  // This PE has a thread that does not run yet, and no other that runs.
  output logic                  switching_o,
  output handle_t               next_handle_o,
  output logic                  next_cold_o,
  output logic [31:0]           next_word0_o,
  output logic [31:0]           next_word1_o,
  output logic [7:0]            next_err_o,
  output logic                  load_o,
  output logic [BankWidth-1:0]  load_bank_o,

  output logic                  engine_start_o,
  output context_job_e          engine_job_o,
  output logic [BankWidth-1:0]  engine_bank_o,
  output logic [PlaceWidth-1:0] engine_place_o,
  output tid_t                  engine_tid_o,
  input  logic                  engine_busy_i,
  input  logic                  engine_done_i
);

  typedef logic [BankWidth-1:0] bank_t;
  typedef logic [PlaceWidth-1:0] place_t;

  localparam bit Local = Contexts > 0;

  logic             running_q, booted_q;
  handle_t          self_q;
  // A bank is marked when its thread is to run elsewhere.
  logic [Banks-1:0] used_q, used_d, marked_q;
  tid_t             bank_tid_q[Banks];
  bank_t            turn_q, engine_bank_q;
  place_t           engine_place_q;
  // The engine brings a context into a bank; takes one to memory, from a bank or from the PE's own memory; saves a bank there.
  logic             filling_q, spilling_q, migrating_q, saving_q;

  logic        slot_q, whole_q, loaded_q, resident_q;
  handle_t     handle_q;
  logic        cold_q;
  logic [31:0] word0_q, word1_q;
  logic [7:0]  err_q;
  bank_t       slot_bank_q;

  logic        start_q, released_q, recall_q;
  tid_t        start_tid_q, released_tid_q, released_tid_d, recall_tid_q, engine_tid_q;
  handle_t     handle_d;
  // The thread whose context has left is the one in the slot.
  logic        same_q;

  // The thread that ran last waits at the barrier of a watch, and nothing has been dispatched since.
  logic       barrier_q, released_here;
  logic [5:0] barrier_watch_q;
  assign released_here = release_i && barrier_q && heard_i.data[5:0] == barrier_watch_q;

  assign running_o      = running_q;
  assign self_o         = self_q;
  assign next_handle_o  = handle_q;
  assign next_cold_o    = cold_q;
  assign next_word0_o   = word0_q;
  assign next_word1_o   = word1_q;
  assign next_err_o     = err_q;
  assign start_o        = start_q;
  assign start_tid_o    = start_tid_q;
  assign released_o     = released_q;
  assign released_tid_o = released_tid_q;

  // A START that is still to be sent holds the next one back; so does a RELEASED of the same thread, which SSH-m must hear first.
  assign at_hand_o  = slot_q && whole_q && !recall_q && !start_q && !(released_q && same_q);
  assign next_o     = at_hand_o && (Soft || loaded_q);
  assign run_o      = !Soft && next_o && (parked_i || park_i);
  assign run_bank_o = slot_bank_q;
  assign switching_o = parked_i && slot_q;

  // Banks.

  logic [Banks-1:0] parked;
  logic             any_free, any_parked, is_resident, any_marked;
  bank_t            free_bank, victim, resident_bank, marked_bank;

  always_comb begin
    any_free      = 1'b0;
    free_bank     = '0;
    is_resident   = 1'b0;
    resident_bank = '0;
    any_marked    = 1'b0;
    marked_bank   = '0;
    any_parked    = 1'b0;
    victim        = '0;
    for (int unsigned n = 0; n < Banks; n++) begin
      parked[n] = used_q[n] && (parked_i || bank_i != bank_t'(n)) && !(slot_q && loaded_q && slot_bank_q == bank_t'(n));
      if (!used_q[n]) begin
        any_free  = 1'b1;
        free_bank = bank_t'(n);
      end
      if (parked[n] && bank_tid_q[n] == handle_q.tid) begin
        is_resident   = 1'b1;
        resident_bank = bank_t'(n);
      end
      if (parked[n] && marked_q[n]) begin
        any_marked  = 1'b1;
        marked_bank = bank_t'(n);
      end
    end
    // The next parked bank behind the last victim, round and round.
    for (int unsigned n = 0; n < Banks; n++) begin
      if (parked[n] && bank_t'(n) <= turn_q && !any_parked) begin
        any_parked = 1'b1;
        victim     = bank_t'(n);
      end
    end
    for (int unsigned n = Banks; n > 0; n--) begin
      if (parked[n-1] && bank_t'(n - 1) > turn_q) begin
        any_parked = 1'b1;
        victim     = bank_t'(n - 1);
      end
    end
  end

  // The PE's own memory of contexts.

  logic   stored, has_place, leaves, claim, migrated;
  place_t stored_place, free_place, leave_place;
  tid_t   leave_tid;
  assign claim    = saving_q && engine_done_i;
  assign migrated = migrating_q && engine_done_i;
  if (Local) begin : gen_directory
    context_directory #(
      .Places(Contexts)
    ) u_directory (
      .clk_i,
      .rst_ni,
      .find_tid_i     (handle_q.tid),
      .keep_i         (slot_q),
      .found_o        (stored),
      .found_index_o  (stored_place),
      .free_o         (has_place),
      .free_index_o   (free_place),
      .claim_i        (claim),
      .claim_index_i  (engine_place_q),
      .claim_tid_i    (engine_tid_q),
      .claim_marked_i (marked_q[engine_bank_q] || (evict_i && heard_i.tid == engine_tid_q)),
      // A thread that runs has its context in the bank only.
      .release_found_i(run_o && stored),
      .release_i      (migrated),
      .release_index_i(engine_place_q),
      .evict_i        (evict_i),
      .evict_tid_i    (heard_i.tid),
      .leave_o        (leaves),
      .leave_index_o  (leave_place),
      .leave_tid_o    (leave_tid),
      .leave_taken_i  (engine_start_o && engine_job_o == JobMigrate)
    );
  end else begin : gen_no_directory
    assign stored       = 1'b0;
    assign stored_place = '0;
    assign has_place    = 1'b0;
    assign free_place   = '0;
    assign leaves       = 1'b0;
    assign leave_place  = '0;
    assign leave_tid    = '0;
    logic unused_directory;
    assign unused_directory = ^{claim, migrated, engine_place_q};
  end

  // The next job of the engine.

  logic wants_load, free_engine, spill_ahead, engine_fills;
  assign free_engine = !engine_busy_i && !filling_q && !spilling_q && !migrating_q && !saving_q && !Soft;
  assign wants_load  = slot_q && whole_q && !loaded_q && !recall_q;
  // With several banks one is kept free.
  assign spill_ahead = !Local && any_parked && !any_free && (wants_load || Banks > 1);

  always_comb begin
    engine_start_o = 1'b0;
    engine_job_o   = JobCold;
    engine_bank_o  = free_bank;
    engine_place_o = stored_place;
    engine_tid_o   = handle_q.tid;
    load_o         = 1'b0;
    load_bank_o    = resident_bank;
    if (engine_done_i && filling_q) begin
      load_o      = 1'b1;
      load_bank_o = engine_bank_q;
    end else if (free_engine) begin
      if (wants_load && is_resident) begin
        load_o = 1'b1;
      end else if (wants_load && any_free) begin
        engine_start_o = 1'b1;
        engine_job_o   = cold_q ? JobCold : stored ? JobRestore : JobFill;
      end else if (Local && wants_load && any_parked && has_place) begin
        engine_start_o = 1'b1;
        engine_job_o   = JobSave;
        engine_bank_o  = victim;
        engine_place_o = free_place;
        engine_tid_o   = bank_tid_q[victim];
      end else if (leaves && !released_q) begin
        engine_start_o = 1'b1;
        engine_job_o   = JobMigrate;
        engine_place_o = leave_place;
        engine_tid_o   = leave_tid;
      end else if (!released_q && (spill_ahead || (any_marked && !wants_load))) begin
        engine_start_o = 1'b1;
        engine_job_o   = JobSpill;
        engine_bank_o  = any_marked ? marked_bank : victim;
        engine_tid_o   = bank_tid_q[engine_bank_o];
      end
    end
  end
  assign engine_fills = engine_start_o && engine_job_o inside {JobCold, JobFill, JobRestore};

  // Answers to RECALL.

  logic drop;
  // Not while the slot's bank is being filled: the engine would write into a bank that is not the thread's any more.
  assign recalled_o   = recall_q && !filling_q && slot_q && whole_q && handle_q.tid == recall_tid_q;
  assign kept_o       = recall_q && !filling_q && !recalled_o;
  assign answer_tid_o = recall_tid_q;
  assign drop         = recalled_o && answer_taken_i;

  always_comb begin
    handle_d       = handle_q;
    released_tid_d = released_tid_q;
    if (dispatch0_i) handle_d = '{generation: heard_i.aux[GenWidth-1:0], tid: heard_i.tid};
    if (released_here) handle_d = self_q;
    if (engine_done_i && (spilling_q || migrating_q)) released_tid_d = engine_tid_q;
  end

  always_comb begin
    used_d = used_q;
    if (stop_i && !keep_i) used_d[bank_i] = 1'b0;
    if (engine_done_i && (spilling_q || saving_q)) used_d[engine_bank_q] = 1'b0;
    if (engine_fills) used_d[free_bank] = 1'b1;
    if (drop && loaded_q && !resident_q) used_d[slot_bank_q] = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q  <= 1'b0;
      booted_q   <= 1'b0;
      used_q     <= Banks'(1);
      turn_q     <= '0;
      slot_q     <= 1'b0;
      whole_q    <= 1'b0;
      loaded_q   <= 1'b0;
      resident_q <= 1'b0;
      marked_q    <= '0;
      spilling_q  <= 1'b0;
      filling_q   <= 1'b0;
      migrating_q <= 1'b0;
      saving_q    <= 1'b0;
      start_q     <= 1'b0;
      released_q  <= 1'b0;
      recall_q    <= 1'b0;
      self_q     <= '{generation: gen_t'(1), tid: '0};
      barrier_q  <= 1'b0;
    end else begin
      booted_q <= 1'b1;
      used_q   <= used_d;
      if (!booted_q) running_q <= first_i;

      if (stop_i) running_q <= 1'b0;
      if (run_o || take_i) begin
        running_q <= 1'b1;
        self_q    <= handle_q;
        slot_q    <= 1'b0;
        loaded_q  <= 1'b0;
      end
      if (drop) begin
        slot_q   <= 1'b0;
        loaded_q <= 1'b0;
      end

      if (dispatch0_i) begin
        slot_q   <= 1'b1;
        whole_q  <= heard_i.aux[GenWidth+1];
        loaded_q <= 1'b0;
      end
      if (dispatch1_i) whole_q <= 1'b1;
      if (released_here) begin
        slot_q   <= 1'b1;
        whole_q  <= 1'b1;
        loaded_q <= 1'b0;
      end
      if (idles_i) barrier_q <= 1'b1;
      else if (dispatch0_i || released_here) barrier_q <= 1'b0;
      if (load_o) begin
        loaded_q   <= 1'b1;
        resident_q <= !filling_q;
      end

      if (engine_done_i) begin
        spilling_q  <= 1'b0;
        filling_q   <= 1'b0;
        migrating_q <= 1'b0;
        saving_q    <= 1'b0;
      end
      if (engine_start_o) begin
        filling_q   <= engine_fills;
        spilling_q  <= engine_job_o == JobSpill;
        migrating_q <= engine_job_o == JobMigrate;
        saving_q    <= engine_job_o == JobSave;
        if (engine_job_o == JobSpill) turn_q <= engine_bank_o;
      end
      // A thread that has left its bank already will be RELEASED, which answers EVICT as well.
      for (int unsigned n = 0; n < Banks; n++) begin
        if (!used_d[n]) marked_q[n] <= 1'b0;
        else if (evict_i && used_q[n] && bank_tid_q[n] == heard_i.tid) marked_q[n] <= 1'b1;
      end

      if (run_o || take_i) start_q <= 1'b1;
      else if (start_taken_i) start_q <= 1'b0;
      if (engine_done_i && (spilling_q || migrating_q)) released_q <= 1'b1;
      else if (released_taken_i) released_q <= 1'b0;
      if (recall_i) recall_q <= 1'b1;
      else if (answer_taken_i) recall_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    handle_q       <= handle_d;
    released_tid_q <= released_tid_d;
    same_q         <= released_tid_d == handle_d.tid;
    if (dispatch0_i) begin
      cold_q   <= heard_i.aux[GenWidth];
      word0_q  <= heard_i.data;
      err_q    <= ErrNone;
    end
    if (dispatch1_i) begin
      word1_q <= heard_i.data;
      err_q   <= heard_i.aux[7:0];
    end
    if (released_here) begin
      cold_q   <= 1'b0;
      word0_q  <= '0;
      err_q    <= ErrNone;
    end
    if (idles_i) barrier_watch_q <= heard_i.data[5:0];
    if (load_o) slot_bank_q <= load_bank_o;
    if (engine_start_o) begin
      engine_bank_q  <= engine_bank_o;
      engine_place_q <= engine_place_o;
      engine_tid_q   <= engine_tid_o;
    end
    if (engine_fills) bank_tid_q[free_bank] <= handle_q.tid;
    if (!booted_q) bank_tid_q[0] <= '0;
    if (run_o || take_i) start_tid_q <= handle_q.tid;
    if (recall_i) recall_tid_q <= heard_i.tid;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RegisterUnitHasRoomForWhatIsDispatched : assert (!(dispatch0_i || released_here) || !slot_q);
      RegisterUnitIsReleasedOnlyWhenIdle : assert (!released_here || (parked_i && !running_q));
      RegisterUnitSpillsNeverTheRunningBank :
      assert (!(engine_start_o && engine_job_o inside {JobSpill, JobSave} && !parked_i && engine_bank_o == bank_i));
      RegisterUnitRunsOnlyWhatIsLoaded : assert (!run_o || (loaded_q && used_q[slot_bank_q]));
      RegisterUnitIsAskedForOneThreadAtATime : assert (!(recall_i && recall_q));
    end
  end
`endif

endmodule
