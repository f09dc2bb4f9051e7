/* SPDX-License-Identifier: GPL-2.0-only */
/* The model as a TCG plugin of QEMU: -plugin okosu-model.so,shape=FILE,out=FILE[,node-bytes=N]
 *
 * For x86-64 machines whose CPUs take turns in one thread (-accel tcg,thread=single): the counts
 * are not protected against threads. An instruction in the upper half of the addresses is the
 * kernel's. `out` receives a line of JSON for each region and CPU (core/report.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/decode.h"
#include "../core/model.h"
#include "../core/words.h"
#include "frames.h"
#include "qemu_api.h"

QEMU_API_EXPORT int qemu_plugin_version = QEMU_API_VERSION;

static struct model model;
static struct frames *frames; /* by CPU */

/* Bits of a callback's argument: whether the instruction is the kernel's, and whether it has a REP. */
enum { DATA_KERNEL = 1, DATA_STRING = 2 };

static enum mode mode_at(uint64_t address)
{
    return address >> 47 ? MODE_KERNEL : MODE_USER;
}

/* The memory of each NUMA node in bytes; 0 means that there is one node. */
static uint64_t node_bytes;

/* QEMU 7.2 adds the start of the node's memory to a physical address once too often. */
static uint64_t corrected(uint64_t physical)
{
    return node_bytes ? physical - physical / (2 * node_bytes) * node_bytes : physical;
}

/* Ask QEMU for the physical address; false for a device's. */
static bool ask(qemu_plugin_meminfo_t info, uint64_t address, uint64_t *physical)
{
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, address);

    if (!where || qemu_plugin_hwaddr_is_io(where))
        return false;
    *physical = corrected(qemu_plugin_hwaddr_phys_addr(where));
    return true;
}

/* A page that moved without a flush would make every number wrong: one answer in FRAMES_ASK is
 * compared with QEMU's. */
__attribute__((cold)) static void compare(qemu_plugin_meminfo_t info, uint64_t address,
                                          uint64_t physical)
{
    uint64_t now;

    if (ask(info, address, &now) && now == physical)
        return;
    fprintf(stderr, "okosu-model: the page of %#" PRIx64 " moved without a flush\n", address);
    abort();
}

static bool locate(struct frames *of, qemu_plugin_meminfo_t info, uint64_t address,
                   uint64_t *physical)
{
    struct frame *frame = frames_place(of, address);
    uint64_t tag = frames_tag(of, address), offset = address % (1u << FRAMES_PAGE_SHIFT);

    if (frame->page != tag) {
        if (!ask(info, address, physical))
            return false;
        *frame = (struct frame){tag, *physical - offset};
        return true;
    }
    *physical = frame->physical + offset;
    if (++of->asked % FRAMES_ASK == 0)
        compare(info, address, *physical);
    return true;
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    uintptr_t kind = (uintptr_t)data;
    enum mode mode = kind & DATA_KERNEL ? MODE_KERNEL : MODE_USER;
    uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info);
    uint64_t physical;
    bool store;

    if (!model.awake)
        return;
    store = qemu_plugin_mem_is_store(info);
    if (!locate(&frames[cpu], info, address, &physical))
        model_io(&model, cpu, mode);
    else if (kind & DATA_STRING)
        model_string_access(&model, cpu, mode, store, address, physical, bytes);
    else
        model_access(&model, cpu, mode, store, address, physical, bytes);
}

static void on_mark(unsigned cpu, void *data)
{
    model_mark(&model, cpu, (uint32_t)(uintptr_t)data);
}

static void on_string(unsigned cpu, void *data)
{
    uint64_t at = (uint64_t)(uintptr_t)data;

    model_string(&model, cpu, mode_at(at), at);
}

static void on_flush(unsigned cpu, void *data)
{
    frames_empty(&frames[cpu]);
    model_flush_tlb(&model, cpu, (enum mode)(uintptr_t)data);
}

static void on_block(unsigned cpu, void *data)
{
    if (model.turn != cpu)
        model_turn(&model, cpu);
}

static void instrument(struct qemu_plugin_insn *insn, size_t index)
{
    uint64_t at = qemu_plugin_insn_vaddr(insn);
    enum mode mode = mode_at(at);
    uintptr_t data = mode == MODE_KERNEL ? DATA_KERNEL : 0;
    uint32_t code;
    enum instruction kind = decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), &code);

    if (kind == INSTRUCTION_MARK) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)code);
        return;
    }
    if (kind == INSTRUCTION_STRING) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_string, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)at);
        data |= DATA_STRING;
    } else {
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   &model.executed[mode][index % MODEL_LANES], 1);
    }
    if (kind == INSTRUCTION_FLUSH)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_flush, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)mode);
    /* One callback for loads and stores: QEMU 7.2 also calls one registered for stores at loads, and
     * one registered for loads at stores only. */
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     (void *)data);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);

    if (model.shape.cpus > 1)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
    for (size_t i = 0; i < count; i++)
        instrument(qemu_plugin_tb_get_insn(tb, i), i);
}

static void on_exit_(qemu_plugin_id_t id, void *data)
{
    model_finish(&model);
    fclose(model.out);
    model_free(&model);
    free(frames);
}

static const char *value_of(const char *name, int argc, char **argv)
{
    size_t length = strlen(name);

    for (int i = 0; i < argc; i++)
        if (!strncmp(argv[i], name, length) && argv[i][length] == '=')
            return argv[i] + length + 1;
    return NULL;
}

static int refuse(const char *what, const char *why)
{
    fprintf(stderr, "okosu-model: %s: %s\n", what, why);
    return -1;
}

static int set_up(const char *shape_path, const char *out_path)
{
    char why[128] = "";
    struct shape shape;
    FILE *file = fopen(shape_path, "r"), *out;
    int error;

    if (!file)
        return refuse(shape_path, strerror(errno));
    error = shape_read(file, &shape, why, sizeof(why));
    fclose(file);
    if (error)
        return refuse(shape_path, why);
    out = fopen(out_path, "w");
    if (!out)
        return refuse(out_path, strerror(errno));
    frames = calloc(shape.cpus, sizeof(*frames));
    if (!frames || model_make(&model, &shape, out)) {
        free(frames);
        fclose(out);
        return refuse("the model", strerror(ENOMEM));
    }
    for (uint32_t cpu = 0; cpu < shape.cpus; cpu++)
        frames_empty(&frames[cpu]);
    return 0;
}

QEMU_API_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                        char **argv)
{
    const char *shape = value_of("shape", argc, argv), *out = value_of("out", argc, argv);
    const char *node = value_of("node-bytes", argc, argv);

    if (info->version.min > QEMU_API_VERSION || info->version.cur < QEMU_API_VERSION)
        return refuse("this QEMU", "its plugin interface has no version 1");
    if (!info->system_emulation || strcmp(info->target_name, "x86_64"))
        return refuse(info->target_name, "the model is for machines of x86_64");
    if (!shape || !out)
        return refuse("arguments", "shape=FILE and out=FILE are needed");
    if (node && !words_number(node, 1u << FRAMES_PAGE_SHIFT, 1ull << 40, &node_bytes))
        return refuse("node-bytes", "the memory of one of several nodes, in bytes");
    if (set_up(shape, out))
        return -1;
    if (info->system.smp_vcpus > (int)model.shape.cpus)
        return refuse(shape, "the machine has more CPUs");
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
    return 0;
}
