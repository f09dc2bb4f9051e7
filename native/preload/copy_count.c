/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of counters and their sums (see copy_count.h). */
#include "copy_count.h"

#include "export.h"

#include <stdbool.h>

/* Pages of zeros until a thread counts in them: a program of one thread touches one slot. */
static struct okosu_count_slot slots[OKOSU_COUNT_SLOTS];
static atomic_uint taken;

__thread struct okosu_count_slot *okosu_count_mine;

struct okosu_count_slot *okosu_count_take(void)
{
    unsigned next = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);

    okosu_count_mine = &slots[next % OKOSU_COUNT_SLOTS];
    return okosu_count_mine;
}

static unsigned used(void)
{
    unsigned count = atomic_load_explicit(&taken, memory_order_relaxed);

    return count < OKOSU_COUNT_SLOTS ? count : OKOSU_COUNT_SLOTS;
}

void okosu_count_restart(void)
{
    for (unsigned s = 0; s < used(); s++) {
        for (int kind = 0; kind < OKOSU_COUNT_KINDS; kind++) {
            for (int c = 0; c < OKOSU_COUNT_CLASSES; c++) {
                atomic_store(&slots[s].classes[kind][c].calls, 0);
                atomic_store(&slots[s].classes[kind][c].bytes, 0);
            }
        }
        atomic_store(&slots[s].timed_ns, 0);
    }
}

static void sum(enum okosu_count_kind kind, int c, uint64_t *calls, uint64_t *bytes)
{
    *calls = *bytes = 0;
    for (unsigned s = 0; s < used(); s++) {
        *calls += atomic_load_explicit(&slots[s].classes[kind][c].calls, memory_order_relaxed);
        *bytes += atomic_load_explicit(&slots[s].classes[kind][c].bytes, memory_order_relaxed);
    }
}

static void put_kind(struct okosu_json *json, enum okosu_count_kind kind,
                     const char *const names[3])
{
    uint64_t calls, bytes, all_calls = 0, all_bytes = 0;

    okosu_json_open(json, names[0], '{');
    for (int c = 0; c < OKOSU_COUNT_CLASSES; c++) {
        char name[24] = "";
        struct okosu_line bound = OKOSU_LINE(name);

        sum(kind, c, &calls, &bytes);
        if (!calls)
            continue;
        okosu_put_number(&bound, (uint64_t)1 << c);
        okosu_json_open(json, name, '[');
        okosu_json_unsigned(json, NULL, calls);
        okosu_json_unsigned(json, NULL, bytes);
        okosu_json_close(json, ']');
        all_calls += calls;
        all_bytes += bytes;
    }
    okosu_json_close(json, '}');
    okosu_json_unsigned(json, names[1], all_calls);
    okosu_json_unsigned(json, names[2], all_bytes);
}

void okosu_count_put(struct okosu_json *json, bool timed)
{
    uint64_t ns = 0;

    put_kind(json, OKOSU_COUNT_COPY, (const char *const[]){"classes", "calls", "bytes"});
    put_kind(json, OKOSU_COUNT_SET, (const char *const[]){"set_classes", "set_calls", "set_bytes"});
    if (!timed)
        return;
    for (unsigned i = 0; i < used(); i++)
        ns += atomic_load_explicit(&slots[i].timed_ns, memory_order_relaxed);
    okosu_json_unsigned(json, "timed_ns", ns);
    okosu_json_unsigned(json, "timed_above", OKOSU_COUNT_TIMED_ABOVE);
}
