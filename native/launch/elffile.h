/* SPDX-License-Identifier: Apache-2.0 */
/* Elf: the few facts of an ELF file that decide how a program can be reached. */
#ifndef OKOSU_LAUNCH_ELF_H
#define OKOSU_LAUNCH_ELF_H

#include <limits.h>
#include <stdbool.h>

struct okosu_elf {
    bool foreign; /* another architecture, word size or byte order */
    bool go;
    const char *sanitizer; /* whose runtime it holds or needs: "AddressSanitizer"; NULL: none */
    char interpreter[PATH_MAX]; /* "" in a static program */
};

/* Read the headers from fd. 0; -ENOEXEC: no ELF file; -EBADMSG: one whose headers point outside it;
 * -errno. */
int okosu_elf_read(int fd, struct okosu_elf *elf);
/* Whether the parts of the file that are loaded hold each of `count` strings. 0 or -errno as
 * above. */
int okosu_elf_search(int fd, const char *const *strings, bool *found, unsigned count);

#endif
