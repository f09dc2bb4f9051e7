/* SPDX-License-Identifier: Apache-2.0 */
/* The three-part error of okosu-measure and okosu-warm: what happened, why, what to do about it. */
#ifndef OKOSU_MEASURE_ERROR_H
#define OKOSU_MEASURE_ERROR_H

enum {
    OKOSU_EXIT_FAILED = 125,
    OKOSU_EXIT_NOT_EXECUTABLE = 126,
    OKOSU_EXIT_NOT_FOUND = 127,
};

/* Print the three parts on stderr, in one write; return STATUS, the exit status to end with. */
__attribute__((format(printf, 4, 5))) int okosu_error_print(int status, const char *why,
                                                            const char *fix, const char *what, ...);

#endif
