// SPDX-License-Identifier: Apache-2.0
// Types and constants that more than one block of the machine uses. What they mean stands in doc/INTERFACES.md.

package okosu_pkg;

  parameter int unsigned TidWidth = 8;
  parameter int unsigned GenWidth = 8;
  parameter int unsigned PeWidth = 6;
  parameter int unsigned PrioWidth = 4;

  typedef logic [TidWidth-1:0] tid_t;
  typedef logic [GenWidth-1:0] gen_t;
  typedef logic [PeWidth-1:0] pe_t;
  typedef logic [PrioWidth-1:0] prio_t;

  typedef struct packed {
    gen_t generation;
    tid_t tid;
  } handle_t;

  typedef enum logic [1:0] {
    CtxSoft   = 2'd0,
    CtxMem    = 2'd1,
    CtxLocal  = 2'd2,
    CtxBanked = 2'd3
  } ctx_mode_e;

  // Memory bus.

  typedef enum logic [1:0] {
    MemRead     = 2'd0,
    MemWrite    = 2'd1,
    MemExchange = 2'd2,
    MemBurst    = 2'd3
  } mem_kind_e;

  // A burst reads (we = 0) or writes (we = 1) len words from addr on; its words pass one by one through the data handshake.
  typedef struct packed {
    mem_kind_e   kind;
    logic        we;
    logic [31:0] addr;
    logic [31:0] wdata;
    logic [3:0]  be;
    logic [5:0]  len;
  } mem_req_t;

  typedef struct packed {
    logic        valid;
    logic        last;
    logic        error;
    logic [31:0] rdata;
  } mem_rsp_t;

  typedef struct packed {
    logic        valid;
    logic        is_store;
    logic [31:0] addr;
    logic [31:0] data;
    logic [3:0]  be;
  } mem_snoop_t;

  // COP2: the core's requests of SSH-s.

  typedef enum logic [1:0] {
    Cop2Operand = 2'd0,
    Cop2Command = 2'd1,
    Cop2Read    = 2'd2,
    Cop2Control = 2'd3
  } cop2_kind_e;

  // `coming`: the register that the next cycle's request reads, if it is a read. It is said in each cycle, with a request or without.
  typedef struct packed {
    cop2_kind_e  kind;
    logic [4:0]  index;
    logic [4:0]  coming;
    logic [31:0] data;
  } cop2_req_t;

  // done: the request is finished, or the command is on its way; park: the thread stops behind the command. A read is done at once,
  // and has the register that was said to be coming. `park` is said of a command, valid or not: one that is not valid is in front of
  // the core only where the thread is preempted before it, and parks.
  typedef struct packed {
    logic        done;
    logic        park;
    logic [31:0] rdata;
  } cop2_rsp_t;

  parameter logic [4:0] RegArg0 = 5'd0;
  parameter logic [4:0] RegSwap = 5'd4;
  parameter logic [4:0] RegErr = 5'd5;
  parameter logic [4:0] RegRes = 5'd6;
  parameter logic [4:0] RegSelf = 5'd7;
  parameter logic [4:0] RegPe = 5'd8;
  parameter logic [4:0] RegNumPes = 5'd9;
  parameter logic [4:0] RegCycleLow = 5'd10;
  parameter logic [4:0] RegCycleHigh = 5'd11;
  parameter logic [4:0] RegConfig = 5'd12;
  parameter logic [4:0] RegNextPc = 5'd13;
  parameter logic [4:0] RegNextArg = 5'd14;

  typedef enum logic [3:0] {
    CmdCreate   = 4'd0,
    CmdExit     = 4'd1,
    CmdJoin     = 4'd2,
    CmdDetach   = 4'd3,
    CmdYield    = 4'd4,
    CmdWait     = 4'd5,
    CmdWake     = 4'd6,
    CmdBarrier  = 4'd7,
    CmdSetPrio  = 4'd8,
    CmdPolicy   = 4'd9,
    CmdNext     = 4'd10,
    CmdDeadline = 4'd11
  } cmd_e;

  typedef enum logic [1:0] {
    WaitFlag  = 2'd0,
    WaitMutex = 2'd1,
    WaitCond  = 2'd2
  } wait_kind_e;

  typedef enum logic [2:0] {
    PolicyFifo     = 3'd0,
    PolicyRr       = 3'd1,
    PolicyLifo     = 3'd2,
    PolicyPriority = 3'd3,
    PolicyEdf      = 3'd4,
    PolicyAffinity = 3'd5
  } policy_e;

  // Linux's numbers (asm-generic), which the library returns as they are.
  parameter logic [7:0] ErrNone = 8'd0;
  parameter logic [7:0] ErrSrch = 8'd3;
  parameter logic [7:0] ErrAgain = 8'd11;
  parameter logic [7:0] ErrInval = 8'd22;
  parameter logic [7:0] ErrDeadlk = 8'd35;
  parameter logic [7:0] ErrTimedout = 8'd110;
  parameter logic [7:0] ErrBlocked = 8'd255;

  // Scheduler bus.

  typedef enum logic [5:0] {
    MsgCreate0   = 6'd0,
    MsgCreate1   = 6'd1,
    MsgExit      = 6'd2,
    MsgJoin      = 6'd3,
    MsgDetach    = 6'd4,
    MsgYield     = 6'd5,
    MsgWait0     = 6'd6,
    MsgWait1     = 6'd7,
    MsgWait2     = 6'd8,
    MsgWake      = 6'd9,
    MsgBarrier   = 6'd10,
    MsgSetPrio   = 6'd11,
    MsgDeadline0 = 6'd12,
    MsgDeadline1 = 6'd13,
    MsgPolicy    = 6'd14,
    MsgStart     = 6'd15,
    MsgReleased  = 6'd16,
    MsgRecalled  = 6'd17,
    MsgKept      = 6'd18,
    MsgGrant     = 6'd32,
    MsgDispatch0 = 6'd33,
    MsgDispatch1 = 6'd34,
    MsgReply     = 6'd35,
    MsgRecall    = 6'd36,
    MsgEvict     = 6'd37,
    MsgPreempt   = 6'd38,
    MsgRelease   = 6'd39
  } msg_op_e;

  typedef struct packed {
    msg_op_e     op;
    pe_t         pe;
    tid_t        tid;
    logic [11:0] aux;
    logic [31:0] data;
  } sched_msg_t;

  // The fields of aux in DISPATCH0. `whole`: no DISPATCH1 follows.
  typedef struct packed {
    logic [1:0] unused;
    logic       whole;
    logic       cold;
    gen_t       generation;
  } dispatch_aux_t;

  // Banks of the core, as SSH-s reads and writes them.
  parameter logic [5:0] BankHi = 6'd32;
  parameter logic [5:0] BankLo = 6'd33;
  parameter logic [5:0] BankPc = 6'd34;
  parameter logic [5:0] BankWritten = 6'd37;

  // The jobs of the context engine: to bring a context into a bank (a new one, or one from memory or from the PE's own
  // context memory in mode LOCAL), or to take it from a bank or from that memory to its place.
  typedef enum logic [2:0] {
    JobCold    = 3'd0,
    JobFill    = 3'd1,
    JobRestore = 3'd2,
    JobSpill   = 3'd3,
    JobSave    = 3'd4,
    JobMigrate = 3'd5
  } context_job_e;

  // One retired instruction, for lockstep with the golden simulator and for the counters.
  typedef struct packed {
    logic        valid;
    tid_t        tid;
    logic [31:0] pc;
    logic [31:0] instr;
    logic        rd_we;
    logic [4:0]  rd;
    logic [31:0] rd_data;
    logic        trap;
    logic [4:0]  cause;
    logic        mem_valid;
    logic        mem_store;
    logic [31:0] mem_addr;
    logic [31:0] mem_data;
    logic [3:0]  mem_be;
  } retire_t;

endpackage
