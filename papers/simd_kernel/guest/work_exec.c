/* SPDX-License-Identifier: Apache-2.0 */
/* work_exec REPETITIONS: replaces itself by itself, by execve; each is an operation. It stresses
 * the tearing down and building up of an address space, reading the program's head, copying
 * arguments and environment to the new stack, and page faults. It is the shape of UnixBench's
 * "execl". The count and the start time are handed on in two more arguments, which are not for users. */
#include "work.h"

#define DIGITS 32

int main(int argc, char **argv)
{
    char left_text[DIGITS], start_text[DIGITS];

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: %s REPETITIONS\n", argv[0]);
        return 2;
    }
    long reps = work_number(argv[1]);
    long left = argc == 4 ? strtol(argv[2], NULL, 10) : reps;
    double start = argc == 4 ? strtod(argv[3], NULL) : work_now();

    if (left == 0) {
        work_report(reps, work_now() - start, 0);
        return 0;
    }
    snprintf(left_text, sizeof(left_text), "%ld", left - 1);
    snprintf(start_text, sizeof(start_text), "%.9f", start);
    execl("/proc/self/exe", argv[0], argv[1], left_text, start_text, (char *)NULL);
    work_fail("exec of /proc/self/exe");
}
