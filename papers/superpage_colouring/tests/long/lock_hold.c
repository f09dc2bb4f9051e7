/* SPDX-License-Identifier: GPL-2.0-only */
/* A plugin of QEMU's that counts the instructions between a spinlock's taking and its release:
 *
 *   -plugin okosu-hold.so,from=ADDRESS,out=FILE
 *
 * A lock is watched once the kernel has taken it as the first one after entering the function at
 * ADDRESS (free_pcppages_bulk() takes zone->lock and no other), because the addresses of the locks
 * are not known before. For x86-64 machines: with one CPU, a CMPXCHG that writes to a free lock
 * takes it, and the next plain write releases it. Only what happens between the guest's marks
 * (core/model.h) counts; a string instruction with a REP is one instruction. `out` receives lines
 * "INSTRUCTIONS HOLDS", the fewest first.
 *
 * With several CPUs each CMPXCHG is counted as a hold, of 0 instructions: how long the lock was
 * held can't be told there. One that has to wait for the lock may be counted twice. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "model.h"
#include "qemu_api.h"

enum { LOCKS = 64, LONGEST = 1 << 20, CPUS = 64 };

QEMU_API_EXPORT int qemu_plugin_version = QEMU_API_VERSION;

static uint64_t executed, from;
static uint64_t locks[LOCKS];
static unsigned known;
static int expected[CPUS]; /* inside the function, which has not taken a lock yet */
static int inside;         /* whether a region of the guest is open */
static int alone;          /* whether there is one CPU */

/* The lock that is held (0: none), the count of instructions when it was taken, and the string
 * instruction counted last. */
static uint64_t held, since, string_at, string_count;

static uint32_t *holds; /* by instructions; the last entry counts all longer ones */
static FILE *out;

/* A spinlock is taken by a LOCK CMPXCHG; on one CPU the kernel replaces the LOCK prefix by DS. */
static int is_cmpxchg(const uint8_t *bytes, size_t size)
{
    return size > 3 && (bytes[0] == 0xf0 || bytes[0] == 0x3e) && bytes[1] == 0x0f &&
           bytes[2] == 0xb1;
}

static int is_known(uint64_t address)
{
    for (unsigned i = 0; i < known; i++)
        if (locks[i] == address)
            return 1;
    return 0;
}

static void take(unsigned cpu, uint64_t address)
{
    if (expected[cpu] && !is_known(address) && known < LOCKS)
        locks[known++] = address;
    expected[cpu] = 0;
    if (held || !is_known(address))
        return;
    if (alone) {
        held = address;
        since = executed;
    } else if (inside) {
        holds[0]++;
    }
}

static void release(void)
{
    uint64_t took = executed - since;

    held = 0;
    if (inside)
        holds[took < LONGEST ? took : LONGEST - 1]++;
}

static void on_locked(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    if (qemu_plugin_mem_is_store(info))
        take(cpu, address);
}

static void on_store(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    if (address == held && held)
        release();
}

static void on_entry(unsigned cpu, void *data)
{
    expected[cpu] = 1;
}

static void on_mark(unsigned cpu, void *data)
{
    uintptr_t code = (uintptr_t)data;

    if (code == MARK_BEGIN || code == MARK_END)
        inside = code == MARK_BEGIN;
}

/* Called at each round of a string instruction, of which only the first counts as an instruction. */
static void on_string(unsigned cpu, void *data)
{
    uint64_t at = (uint64_t)(uintptr_t)data;

    if (string_at != at || string_count != executed)
        executed++;
    string_at = at;
    string_count = executed;
}

static void instrument(struct qemu_plugin_insn *insn)
{
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    size_t size = qemu_plugin_insn_size(insn);
    uint64_t at = qemu_plugin_insn_vaddr(insn);
    uint32_t code;
    enum instruction kind = decode(bytes, size, &code);

    if (kind == INSTRUCTION_MARK)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)code);
    if (kind == INSTRUCTION_STRING)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_string, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)at);
    else
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
    if (!(at >> 47))
        return;
    if (at == from)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_entry, QEMU_PLUGIN_CB_NO_REGS, NULL);
    qemu_plugin_register_vcpu_mem_cb(insn, is_cmpxchg(bytes, size) ? on_locked : on_store,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        instrument(qemu_plugin_tb_get_insn(tb, i));
}

static void on_exit_(qemu_plugin_id_t id, void *data)
{
    for (uint32_t took = 0; took < LONGEST; took++)
        if (holds[took])
            fprintf(out, "%" PRIu32 " %" PRIu32 "\n", took, holds[took]);
    fclose(out);
    free(holds);
}

static int refuse(const char *what, const char *why)
{
    fprintf(stderr, "okosu-hold: %s: %s\n", what, why);
    return -1;
}

QEMU_API_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                        char **argv)
{
    const char *path = NULL;

    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "from=", 5))
            from = strtoull(argv[i] + 5, NULL, 0);
        if (!strncmp(argv[i], "out=", 4))
            path = argv[i] + 4;
    }
    if (!from || !path)
        return refuse("arguments", "from=ADDRESS and out=FILE are needed");
    if (!info->system_emulation || info->system.smp_vcpus > CPUS)
        return refuse("this machine", "its CPUs are too many to be followed");
    alone = info->system.smp_vcpus == 1;
    holds = calloc(LONGEST, sizeof(*holds));
    out = holds ? fopen(path, "w") : NULL;
    if (!out)
        return refuse(path, strerror(errno));
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
    return 0;
}
