# SPDX-License-Identifier: Apache-2.0
at_exit { $stderr.puts "okosu: #{GC.count} collections" }
