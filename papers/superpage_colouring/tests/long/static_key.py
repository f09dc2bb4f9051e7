# SPDX-License-Identifier: Apache-2.0
"""Whether a kernel survives the switching of a static key on CPUs that run at once. No test: QEMU has a race there.

    python -m papers.superpage_colouring.tests.long.static_key [SWITCHES]

switches vm.numa_stat, a key of the page allocator's, on a kernel without okosu's series, while three processes fork,
touch and free memory. lab/README.md says what came of it.
"""

from __future__ import annotations

import sys

from lab.run import guest, qemu
from lab.run.outcome import GuestError

SWITCHES = 2000
TIMEOUT_S = 1800.0
# The loads run at low priority, so that the loop need not wait for them.
SCRIPT = """
for seed in 1 2 3; do (while :; do nice -n 19 "$0" 1 200 60 $seed > /dev/null; done) & done
renice -n -20 $$ > /dev/null
n=0
while [ $n -lt $1 ]; do echo $((n % 2)) > /proc/sys/vm/numa_stat; n=$((n + 1)); echo $n; done
kill $(jobs -p)
"""


def main() -> None:
    """Print how many switches there were, and the kernel's last words if it did not survive them."""
    wanted = sys.argv[1] if sys.argv[1:] else str(SWITCHES)
    command = ["sh", "-c", SCRIPT, str(guest.program("colour_stress")), wanted]
    try:
        heard = qemu.run(qemu.build(series=()), command, cpus=2, memory="256M", timeout=TIMEOUT_S)
        done, log = heard.stdout, heard.log
    except GuestError as error:
        done, log = bytes(error.heard.streams["stdout"]), error.heard.log
    print((done.decode().split() or ["0"])[-1], "switches")
    print("\n".join(line for line in log.splitlines() if "Oops" in line or " Code: " in line or " RIP: 0010" in line))


if __name__ == "__main__":
    main()
