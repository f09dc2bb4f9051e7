// SPDX-License-Identifier: Apache-2.0
// What a machine of PicoRV32 cores has beside the sources in files.f and the core itself; relative to the folder of this file.
rtl/foreign/pcpi_ssh.sv
rtl/foreign/picorv32_pe.sv
rtl/foreign/picorv32_machine.sv
