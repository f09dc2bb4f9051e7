# SPDX-License-Identifier: Apache-2.0
# Prints `lines` lines of a log that never was, the same ones everywhere: whole numbers below 2^53 only.
BEGIN {
    x = 1
    for (line = 1; line <= lines; line++) {
        x = x * 16807 % 2147483647
        y = int(x / 65536)
        printf "%08d session %07x from 10.%d.%d.%d took %d us, state %s\n", line, int(x / 8),
            y % 4, y % 50, y % 251, y * 7 % 9973, y % 5 ? "done" : "retried"
    }
}
