/* SPDX-License-Identifier: Apache-2.0 */
/* Textcache: the code of a program or library on 2 MiB pages in the page cache, and back on small
 * ones. The page cache belongs to all: every process that maps the file afterwards gets these pages,
 * until they are dropped. No other page, and nothing on the disk, is changed; only clean pages that
 * nobody maps are dropped, which is what the kernel allows to anyone who may read the file. */
#pragma once

#include "elffile.h"

#include <stdbool.h>
#include <stdint.h>

struct okosu_textcache {
    uint64_t whole_kb; /* code and constants that huge pages could map */
    uint64_t huge_kb;  /* of these, what a plain mapping gets as huge pages */
    uint64_t was_kb;   /* huge_kb before anything was brought */
    const char *why;   /* why whole_kb is 0, or not all was brought; constant text, or NULL */
};

/* What the page cache holds of a file now; it reads at most one page of each block from the disk. 0
 * or -errno where the file is none, may not be read, or is no ELF file of this machine. */
int okosu_textcache_look(const char *path, struct okosu_textcache *text);
/* Bring the code of the file onto huge pages, or onto small ones: it is read anew from the disk.
 * Where it already lies as asked for, nothing is done, unless `again`. Whether all of it could be
 * brought is for *text to tell. 0 or -errno as above. */
int okosu_textcache_bring(const char *path, bool huge, bool again, struct okosu_textcache *text);
/* Why this code of an open file cannot come to lie on huge pages under the kernel of this release
 * ("6.18.44"); NULL: it may. It changes nothing. */
const char *okosu_textcache_lacking(int fd, const struct okosu_elf_code *code, const char *release);
/* The process that maps the file and keeps its pages where they are; 0: none that is seen. */
int okosu_textcache_user(const char *path);
