/* SPDX-License-Identifier: Apache-2.0 */
/* cuda-mailbox: a GPU program of one block that never ends waits for work in host memory, so that a
 * clearing costs the CPU a store instead of a launch.
 *
 * It occupies a multiprocessor permanently, keeps the GPU from saving power, and is ended by a
 * driver with a time limit for GPU programs (on a GPU with a display): so it is used only if it is
 * named. */
#include "cuda_mailbox.h"
#include "cuda_driver.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

/* The offsets are those of struct cuda_mailbox, asserted below. Thread 0 waits for a job, all
 * threads clear it in lines of 16 bytes each, and thread 0 reports it after the stores of all
 * threads have reached the system. */
static const char program[] =
    ".version 6.4\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry zerod_mailbox(.param .u64 box_parameter)\n"
    ".maxntid " NUMBER(
        CUDA_MAILBOX_THREADS) ", 1, 1\n"
                              "{\n"
                              "    .reg .pred %others, %ready, %stop, %none, %end;\n"
                              "    .reg .b32 %thread, %done, %posted, %word, %slot, %zero;\n"
                              "    .reg .b64 %box, %offset, %entry, %at, %bytes, %limit;\n"
                              "    .shared .align 8 .b64 job[2];\n"
                              "    ld.param.u64 %box, [box_parameter];\n"
                              "    cvta.to.global.u64 %box, %box;\n"
                              "    mov.u32 %thread, %tid.x;\n"
                              "    setp.ne.u32 %others, %thread, 0;\n"
                              "    mov.u32 %done, 0;\n"
                              "    mov.u32 %zero, 0;\n"
                              "NEXT:\n"
                              "    @%others bra TOGETHER;\n"
                              "LOOK:\n"
                              "    ld.acquire.sys.global.u32 %posted, [%box];\n"
                              "    setp.ne.u32 %ready, %posted, %done;\n"
                              "    @%ready bra TAKE;\n"
                              "    ld.relaxed.sys.global.u32 %word, [%box+128];\n"
                              "    setp.ne.u32 %stop, %word, 0;\n"
                              "    @%stop bra LEAVE;\n"
                              "    nanosleep.u32 500;\n"
                              "    bra LOOK;\n"
                              "LEAVE:\n"
                              "    mov.u64 %at, 0;\n"
                              "    mov.u64 %bytes, 0;\n"
                              "    bra TELL;\n"
                              "TAKE:\n"
                              "    and.b32 %slot, %done, 15;\n"
                              "    mul.wide.u32 %offset, %slot, 16;\n"
                              "    add.u64 %entry, %box, %offset;\n"
                              "    ld.relaxed.sys.global.u64 %at, [%entry+192];\n"
                              "    ld.relaxed.sys.global.u64 %bytes, [%entry+200];\n"
                              "TELL:\n"
                              "    st.shared.u64 [job], %at;\n"
                              "    st.shared.u64 [job+8], %bytes;\n"
                              "TOGETHER:\n"
                              "    bar.sync 0;\n"
                              "    ld.shared.u64 %at, [job];\n"
                              "    ld.shared.u64 %bytes, [job+8];\n"
                              "    setp.eq.u64 %none, %at, 0;\n"
                              "    @%none ret;\n"
                              "    cvta.to.global.u64 %at, %at;\n"
                              "    add.u64 %limit, %at, %bytes;\n"
                              "    mul.wide.u32 %offset, %thread, 16;\n"
                              "    add.u64 %at, %at, %offset;\n"
                              "FILL:\n"
                              "    setp.ge.u64 %end, %at, %limit;\n"
                              "    @%end bra FILLED;\n"
                              "    st.global.v4.u32 [%at], {%zero, %zero, %zero, %zero};\n"
                              "    add.u64 %at, %at, 16384;\n"
                              "    bra FILL;\n"
                              "FILLED:\n"
                              "    fence.acq_rel.sys;\n"
                              "    bar.sync 0;\n"
                              "    add.u32 %done, %done, 1;\n"
                              "    @%others bra NEXT;\n"
                              "    st.release.sys.global.u32 [%box+64], %done;\n"
                              "    bra NEXT;\n"
                              "}\n";

_Static_assert(offsetof(struct cuda_mailbox, done) == 64, "[%box+64]");
_Static_assert(offsetof(struct cuda_mailbox, stop) == 128, "[%box+128]");
_Static_assert(offsetof(struct cuda_mailbox, job) == 192, "[%entry+192]");
_Static_assert(CUDA_MAILBOX_JOBS == 16 && CUDA_MAILBOX_THREADS * 16 == 16384, "15; 16384");

struct mailer {
    struct cuda_base base;
    void *module, *function;
    struct cuda_mailbox *box;
    bool running;
};

static void stop_kernel(struct mailer *mailer)
{
    if (!mailer->running)
        return;
    __atomic_store_n(&mailer->box->stop, 1, __ATOMIC_RELEASE);
    cuda.wait_stream(mailer->base.stream);
    mailer->running = false;
}

/* Call while nothing is in progress. 0 or -errno. */
static int start_kernel(struct mailer *mailer)
{
    cuda_pointer box;
    void *parameters[] = {&box};
    int status = cuda.set_current(mailer->base.context);

    memset(mailer->box, 0, sizeof(*mailer->box));
    if (!status)
        status = cuda.pointer(&box, mailer->box, 0);
    if (!status)
        status = cuda.launch(mailer->function, 1, 1, 1, CUDA_MAILBOX_THREADS, 1, 1, 0,
                             mailer->base.stream, parameters, NULL);
    mailer->running = !status;
    return status ? -EIO : 0;
}

static void close_mailbox(void *state)
{
    struct mailer *mailer = state;

    cuda.set_current(mailer->base.context);
    stop_kernel(mailer);
    if (mailer->module)
        cuda.unload(mailer->module);
    if (mailer->box)
        cuda.free_host(mailer->box);
    cuda_base_close(&mailer->base);
    free(mailer);
}

static int open_mailbox(void **state, bool asked, char *about, size_t room)
{
    struct mailer *mailer = asked ? calloc(1, sizeof(*mailer)) : NULL;
    int rc = !asked ? -ENODEV : mailer ? cuda_base_open(&mailer->base, about, room) : -ENOMEM;
    int status;

    if (!asked)
        snprintf(about, room, "it takes part of the GPU for good: --engine=cuda-mailbox");
    if (rc) {
        free(mailer);
        return rc;
    }
    status = cuda.alloc_host((void **)&mailer->box, sizeof(*mailer->box),
                             CUDA_PORTABLE | CUDA_DEVICEMAP);
    if (!status)
        status = cuda.load(&mailer->module, program);
    if (!status)
        status = cuda.function(&mailer->function, mailer->module, "zerod_mailbox");
    if (status) {
        rc = cuda_base_fail("the persistent kernel cannot be had", status, about, room);
        close_mailbox(mailer);
        return rc;
    }
    *state = mailer;
    return 0;
}

/* A driver may let pinning wait until every GPU program has ended, and this one never would. */
static int pin(void *state, void *at, size_t bytes, void **pinned)
{
    struct mailer *mailer = state;

    cuda.set_current(mailer->base.context);
    stop_kernel(mailer);
    return cuda_base_pin(state, at, bytes, pinned);
}

static void unpin(void *state, void *pinned)
{
    struct mailer *mailer = state;

    cuda.set_current(mailer->base.context);
    stop_kernel(mailer);
    cuda_base_unpin(state, pinned);
}

/* There is always room, because fewer jobs are in progress than the mailbox holds. The first one
 * after pinning launches the GPU program. */
static int submit(void *state, const struct zerod_range *range, uint64_t *ticket)
{
    struct mailer *mailer = state;
    int rc = mailer->running ? 0 : start_kernel(mailer);
    uint32_t posted = mailer->box->posted;

    if (rc)
        return rc;
    mailer->box->job[posted % CUDA_MAILBOX_JOBS].at = cuda_base_pointer(range);
    mailer->box->job[posted % CUDA_MAILBOX_JOBS].bytes = range->bytes;
    __atomic_store_n(&mailer->box->posted, posted + 1, __ATOMIC_RELEASE);
    *ticket = posted + 1;
    return 0;
}

static int poll_mailbox(void *state, uint64_t ticket)
{
    struct mailer *mailer = state;
    uint32_t done = __atomic_load_n(&mailer->box->done, __ATOMIC_ACQUIRE);

    if ((int32_t)(done - (uint32_t)ticket) >= 0)
        return 1;
    cuda.set_current(mailer->base.context);
    /* A GPU program that has ended, by itself or by the driver, writes no more. */
    return cuda.query_stream(mailer->base.stream) == CUDA_NOT_READY ? 0 : -EIO;
}

const struct zerod_engine zerod_engine_cuda_mailbox = {
    .name = "cuda-mailbox",
    .doc = "a kernel that never ends on an NVIDIA GPU: asking it costs a store (by name only)",
    .depth = 8,
    .open = open_mailbox,
    .pin = pin,
    .unpin = unpin,
    .chunk = cuda_base_chunk,
    .submit = submit,
    .poll = poll_mailbox,
    .close = close_mailbox,
};
