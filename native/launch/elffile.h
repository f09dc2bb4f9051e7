/* SPDX-License-Identifier: Apache-2.0 */
/* Elf: the few facts of an ELF file that decide how a program can be reached. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct okosu_elf {
    bool foreign; /* another architecture, word size or byte order */
    bool go;
    const char *sanitizer; /* whose runtime it holds or needs: "AddressSanitizer"; NULL: none */
    char interpreter[PATH_MAX]; /* "" in a static program */
};

/* Read the headers from fd. 0; -ENOEXEC: no ELF file; -EBADMSG: one whose headers point outside it;
 * -errno. */
int okosu_elf_read(int fd, struct okosu_elf *elf);
/* Whole blocks of 2 MiB that the program only reads and executes, and whose places in the file and
 * in memory agree modulo 2 MiB, so that huge pages can map them. Bytes of the file. */
struct okosu_elf_blocks {
    uint64_t offset, size;
};

#define OKOSU_ELF_BLOCK (UINT64_C(2) << 20)
#define OKOSU_ELF_RUNS 8

struct okosu_elf_code {
    struct okosu_elf_blocks runs[OKOSU_ELF_RUNS];
    unsigned count;
    bool library;    /* its place in memory is left to the kernel, when ld.so maps it */
    const char *why; /* why there are none; NULL if there are */
};

/* Find these blocks. 0 or -errno as above, -ENOEXEC also for another architecture. */
int okosu_elf_code(int fd, struct okosu_elf_code *code);
/* Whether the parts of the file that are loaded hold each of `count` strings. 0 or -errno as
 * above. */
int okosu_elf_search(int fd, const char *const *strings, bool *found, unsigned count);
