/* SPDX-License-Identifier: Apache-2.0 */
/* work_pageread SIZE BLOCKS REPETITIONS: reads a file of BLOCKS times SIZE bytes that lies in the
 * page cache, by reads of SIZE bytes; an operation is one read. With a SIZE of many pages it stresses
 * little but the copy to the user, which goes by pages: memcpy of 4096 bytes. Each block
 * is checked against a number that was written at its beginning and at its end.
 *
 * BLOCKS 1 stands for a program that reads a whole file into memory, as compilers, interpreters and
 * version control do, again and again. Two files are read: one of 256 KiB, of the order of a source
 * file or an index, which with the buffer stays in a second-level cache of 512 KiB and more; and
 * one of 4 MiB, a library or a large object file, which comes from the third level. Files larger
 * than all caches are left out: there every routine waits for the memory. */
#include "work.h"

int main(int argc, char **argv)
{
    long numbers[3];

    work_arguments(argc, argv, "SIZE BLOCKS REPETITIONS", 3, numbers);
    size_t size = (size_t)numbers[0];
    if (size < 2 * sizeof(long)) {
        fprintf(stderr, "a block holds two numbers: SIZE >= %zu\n", 2 * sizeof(long));
        return 2;
    }
    unsigned char *buffer = work_buffer(size);
    int fd = work_file("cached", size * (size_t)numbers[1]);
    work_fill(buffer, size, 1);
    for (long block = 0; block < numbers[1]; block++) {
        memcpy(buffer, &block, sizeof(block));
        memcpy(buffer + size - sizeof(block), &block, sizeof(block));
        work_write(fd, buffer, size);
    }
    double start = work_now();
    for (long rep = 0; rep < numbers[2]; rep++) {
        if (lseek(fd, 0, SEEK_SET))
            work_fail("lseek");
        for (long block = 0; block < numbers[1]; block++) {
            memset(buffer, 0, sizeof(block));
            work_read(fd, buffer, size);
            if (memcmp(buffer, &block, sizeof(block)) ||
                memcmp(buffer + size - sizeof(block), &block, sizeof(block)))
                work_wrong("page cache read");
        }
    }
    double seconds = work_now() - start;
    work_report(numbers[1] * numbers[2], seconds, (long long)size * numbers[1] * numbers[2]);
    return 0;
}
