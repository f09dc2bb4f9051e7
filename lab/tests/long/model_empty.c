/* SPDX-License-Identifier: GPL-2.0-only */
/* A plugin with an empty callback for each memory access: what the model's speed is measured by. */
#include "../../model/plugin/qemu_api.h"

QEMU_API_EXPORT int qemu_plugin_version = QEMU_API_VERSION;

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

QEMU_API_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                        char **argv)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
