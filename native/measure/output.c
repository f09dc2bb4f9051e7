/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the program's standard output; see output.h.
 *
 * A file takes the disk's time and a pipe that wakes its reader at each write takes the program's.
 * So the pipe is made as large as an unprivileged process may make it, and after each look that
 * emptied it the reader stays away for as long as a fast writer needs to fill it again. Nobody
 * waits on the pipe meanwhile, and a write costs what it costs into a buffer. */
#include "output.h"

#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    PIPE_SIZE = 1 << 20, /* fs.pipe-max-size, unless it was changed */
    /* Small enough that a signal is seen soon: at most this much is digested before the next look
     * for one. */
    PIECE = 1 << 17,
    /* Bytes that a writer puts into a pipe in a nanosecond at most. */
    FASTEST = 2,
};

static unsigned char piece[PIECE];

int okosu_output_begin(struct okosu_output *output, int *stream, bool copied,
                       const sigset_t *awaited)
{
    int ends[2], size;

    okosu_digest_begin(&output->digest);
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    output->signals = signalfd(-1, awaited, SFD_CLOEXEC);
    if (output->signals < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK)) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        if (output->signals >= 0)
            close(output->signals);
        return -error;
    }
    /* Where the user's pipes take too much memory already, this one stays small. */
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
    size = fcntl(ends[1], F_GETPIPE_SZ);
    output->delay_ns = size > 0 ? (uint64_t)size / FASTEST : 0;
    output->pipe = ends[0];
    output->copy = *stream;
    if (!copied) {
        close(*stream);
        output->copy = -1;
    }
    *stream = ends[1];
    return 0;
}

static void copy_out(struct okosu_output *output, const unsigned char *at, size_t size)
{
    while (size && !output->error) {
        ssize_t put = write(output->copy, at, size);
        if (put < 0 && errno != EINTR)
            output->error = errno;
        if (put > 0) {
            at += put;
            size -= (size_t)put;
        }
    }
}

/* Returns how much was read; less than a piece means that the pipe is empty now. */
static size_t read_piece(struct okosu_output *output)
{
    ssize_t got = read(output->pipe, piece, sizeof(piece));

    if (got == 0) {
        close(output->pipe);
        output->pipe = -1;
    }
    if (got <= 0)
        return 0;
    okosu_digest_add(&output->digest, piece, (size_t)got);
    if (output->copy >= 0)
        copy_out(output, piece, (size_t)got);
    return (size_t)got;
}

static int signal_of(const struct okosu_output *output)
{
    struct signalfd_siginfo info;

    return read(output->signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

int okosu_output_await(struct okosu_output *output, uint64_t deadline)
{
    while (output->pipe >= 0) {
        struct pollfd ready[2] = {{.fd = output->signals, .events = POLLIN},
                                  {.fd = output->pipe, .events = POLLIN}};
        uint64_t now = okosu_now(), wake = deadline;
        bool looks = now >= output->next_ns;
        if (now >= deadline)
            return 0;
        if (!looks && output->next_ns < wake)
            wake = output->next_ns;
        struct timespec patience = okosu_timespec(wake - now);
        ppoll(ready, looks ? 2 : 1, &patience, NULL);
        if (ready[0].revents)
            return signal_of(output);
        /* A program that has ended leaves a pipe without writers: POLLHUP. */
        if (looks && ready[1].revents && read_piece(output) < PIECE)
            output->next_ns = okosu_now() + output->delay_ns;
    }
    return 0;
}

void okosu_output_end(struct okosu_output *output)
{
    if (output->signals < 0)
        return;
    /* What has outlived the tree, outside it, may write for ever. */
    for (size_t got = 1, left = PIPE_SIZE; output->pipe >= 0 && got && got <= left; left -= got)
        got = read_piece(output);
    if (output->pipe >= 0)
        close(output->pipe);
    if (output->copy >= 0)
        close(output->copy);
    close(output->signals);
    output->pipe = output->copy = output->signals = -1;
}
