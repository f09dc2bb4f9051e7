# SPDX-License-Identifier: Apache-2.0
at_exit { $stderr.puts "okosu: YJIT on" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? }
