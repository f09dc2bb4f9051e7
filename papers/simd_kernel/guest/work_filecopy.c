/* SPDX-License-Identifier: Apache-2.0 */
/* work_filecopy SIZE BLOCKS REPETITIONS: copies a file of BLOCKS times SIZE bytes in memory to
 * another by read and write through a buffer of SIZE bytes; an operation is one read and one write.
 * It stresses the page cache's lookup and its copies to and from the user: memcpy of SIZE bytes,
 * split where a page ends. It is the shape of UnixBench's "file copy" (256, 1024 and 4096 bytes;
 * 500, 2000 and 8000 blocks). The destination's pages are allocated before, not while it is timed.
 * Filling and checking use large pieces, so that they are few system calls. */
#include "work.h"

#define PIECE 65536

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void fill(int fd, size_t total)
{
    static unsigned char piece[PIECE];

    for (size_t done = 0; done < total; done += PIECE) {
        size_t size = smaller(PIECE, total - done);

        work_fill(piece, size, (unsigned)done);
        work_write(fd, piece, size);
    }
}

static void check(int from, int to, size_t total)
{
    static unsigned char a[PIECE], b[PIECE];

    if (lseek(from, 0, SEEK_SET) || lseek(to, 0, SEEK_SET))
        work_fail("lseek");
    for (size_t done = 0; done < total; done += PIECE) {
        size_t size = smaller(PIECE, total - done);

        work_read(from, a, size);
        work_read(to, b, size);
        if (memcmp(a, b, size))
            work_wrong("file copy");
    }
}

int main(int argc, char **argv)
{
    long numbers[3];

    work_arguments(argc, argv, "SIZE BLOCKS REPETITIONS", 3, numbers);
    size_t size = (size_t)numbers[0], total = size * (size_t)numbers[1];
    unsigned char *buffer = work_buffer(size);
    int from = work_file("from", total), to = work_file("to", total);
    fill(from, total);
    double start = work_now();
    for (long rep = 0; rep < numbers[2]; rep++) {
        if (lseek(from, 0, SEEK_SET) || lseek(to, 0, SEEK_SET))
            work_fail("lseek");
        for (long block = 0; block < numbers[1]; block++) {
            work_read(from, buffer, size);
            work_write(to, buffer, size);
        }
    }
    double seconds = work_now() - start;
    check(from, to, total);
    work_report(numbers[1] * numbers[2], seconds, 2LL * (long long)total * numbers[2]);
    return 0;
}
