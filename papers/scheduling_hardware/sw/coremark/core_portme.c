/* SPDX-License-Identifier: Apache-2.0 */
/* CoreMark's clock is the machine's counter of cycles. */
#include "coremark.h"

#include "machine.h"

/* The linker's symbol, whose address is the number (link.ld). */
extern char __okosu_clock_hz[];

ee_u32 default_num_contexts = 1;

static CORE_TICKS started, stopped;

void start_time(void)
{
    started = COP2_READ(10);
}

void stop_time(void)
{
    stopped = COP2_READ(10);
}

CORE_TICKS get_time(void)
{
    return stopped - started;
}

secs_ret time_in_secs(CORE_TICKS ticks)
{
    return (secs_ret)ticks / (secs_ret)(uintptr_t)__okosu_clock_hz;
}

/* Nothing is to be set up; that its types have the sizes that CoreMark wants, it checks itself. */
void portable_init(core_portable *port, int *argc, char **argv)
{
    (void)argc;
    (void)argv;
    port->portable_id = 1;
}

void portable_fini(core_portable *port)
{
    port->portable_id = 0;
}
