// SPDX-License-Identifier: Apache-2.0
// A model of ECP5's PLL, as far as rtl/board uses it: CLKOP is CLKI divided by CLKI_DIV, and locked after 16 of its cycles.
// The real one multiplies CLKI by CLKOP_DIV * CLKFB_DIV / CLKI_DIV for its oscillator, which is to run at 400 to 800 MHz.
// Names of parameters and ports are Lattice's (TN1263, yosys's cells_bb of ECP5), hence their style.

/* verilator lint_off DECLFILENAME */
module EHXPLLL #(
  parameter int CLKI_DIV = 1,
  parameter int CLKFB_DIV = 1,
  parameter int CLKOP_DIV = 8,
  parameter int CLKOP_CPHASE = 0,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter FEEDBK_PATH = "CLKOP"
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic PHASESEL1,
  input  logic PHASESEL0,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic STDBY,
  input  logic PLLWAKESYNC,
  input  logic RST,
  input  logic ENCLKOP,
  output logic CLKOP,
  output logic LOCK
);

  int unsigned count = 0, cycles = 0;
  initial CLKOP = 1'b0;

  /* verilator lint_off BLKSEQ */
  // Both edges of the input are counted, so that CLKI_DIV edges are half a cycle of the output.
  always @(edge CLKI) begin
    if (count == CLKI_DIV - 1) begin
      count = 0;
      CLKOP = !CLKOP;
      if (cycles < 32) cycles = cycles + 1;
    end else begin
      count = count + 1;
    end
  end
  /* verilator lint_on BLKSEQ */
  assign LOCK = cycles == 32;

  initial begin
    PllIsUsedAsItIsModelled : assert (CLKFB_DIV == 1 && FEEDBK_PATH == "CLKOP" && CLKOP_ENABLE == "ENABLED");
    // CLKI is 25 MHz.
    PllOscillatorIsInItsRange : assert (25 * CLKOP_DIV / CLKI_DIV >= 400 && 25 * CLKOP_DIV / CLKI_DIV <= 800);
    PllPhaseIsInItsCycle : assert (CLKOP_CPHASE < CLKOP_DIV);
  end

  // By these the real one is reset, stopped, or given another phase, of which this model has nothing.
  always @(posedge CLKI) begin
    PllIsAskedForNothingElse : assert (!(PHASESEL1 || PHASESEL0 || PHASEDIR || PHASESTEP || PHASELOADREG || STDBY ||
                                         PLLWAKESYNC || RST || ENCLKOP));
  end

  logic unused;
  assign unused = CLKFB;

endmodule
