/* SPDX-License-Identifier: Apache-2.0 */
/* From reset to main on PE 0: argv, and the settings of the scheduler. */
#include <stdlib.h>

#include "backend.h"

enum { MOST_ARGUMENTS = 63 };

/* The number of arguments, then the strings, each ended by a 0; build.sh writes it. */
extern const unsigned okosu_arguments[];

extern int main(int argc, char **argv);

/* The start-up code branches to it, which reaches 128 KiB. */
__attribute__((section(".text.start.main"))) _Noreturn void okosu_main(void)
{
    static char name[] = "program", *argv[MOST_ARGUMENTS + 2] = {name};
    unsigned argc = 1;
    char *at = (char *)&okosu_arguments[1];

    while (argc <= okosu_arguments[0] && argc <= MOST_ARGUMENTS) {
        argv[argc++] = at;
        while (*at++ != '\0')
            ;
    }
    threads_start();
    exit(main((int)argc, argv));
}
