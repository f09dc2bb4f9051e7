/* SPDX-License-Identifier: Apache-2.0 */
/* work_pipe SIZE REPETITIONS: one process writes a message of SIZE bytes into a pipe and reads it
 * back; that is an operation. It stresses the kernel's system call path and, per message, one copy
 * from the user into a pipe buffer and one copy back: two memcpy of SIZE bytes, always of one size.
 * It is the shape of UnixBench's "pipe throughput", which moves 512 bytes. SIZE is at most
 * 65536, the pipe's capacity: beyond it the one process would block. */
#include "work.h"

#define CAPACITY 65536

int main(int argc, char **argv)
{
    static unsigned char sent[CAPACITY], got[CAPACITY];
    long numbers[2];
    int ends[2];

    work_arguments(argc, argv, "SIZE REPETITIONS", 2, numbers);
    size_t size = (size_t)numbers[0];
    if (size > CAPACITY) {
        fprintf(stderr, "a pipe holds %d bytes\n", CAPACITY);
        return 2;
    }
    if (pipe(ends))
        work_fail("pipe");
    work_fill(sent, size, 1);
    double start = work_now();
    for (long i = 0; i < numbers[1]; i++) {
        sent[(size_t)i % size]++;
        work_write(ends[1], sent, size);
        work_read(ends[0], got, size);
        if (memcmp(sent, got, size))
            work_wrong("pipe");
    }
    work_report(numbers[1], work_now() - start, 2LL * numbers[0] * numbers[1]);
    return 0;
}
