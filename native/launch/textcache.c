/* SPDX-License-Identifier: Apache-2.0 */
/* Textcache: the kernel makes a huge page of the page cache when a mapping with MADV_HUGEPAGE reads a
 * block that is not there yet, if the file system has large folios. Nothing is touched by loads,
 * because a file that is truncated meanwhile would raise SIGBUS: MADV_POPULATE_READ fails instead. */
#include "textcache.h"

#include "elffile.h"

#include "base/avail.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

struct code {
    int fd;
    struct okosu_elf_code elf;
};

struct mapping {
    char *space; /* what is to be unmapped */
    size_t room;
    char *blocks;
};

/* KiB of files that this process maps by huge pages. */
static uint64_t mapped_huge_kb(void)
{
    char text[8192], field[32];

    if (okosu_file_slurp("/proc/self/smaps_rollup", text, sizeof(text)) <= 0 ||
        okosu_file_field(text, "FilePmdMapped", field, sizeof(field)))
        return 0;
    return strtoull(field, NULL, 10);
}

static int map_run(const struct code *code, const struct okosu_elf_blocks *run,
                   struct mapping *mapping)
{
    size_t room = run->size + OKOSU_ELF_BLOCK;
    char *space = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t skew;

    if (space == MAP_FAILED)
        return -errno;
    skew = (uintptr_t)space % OKOSU_ELF_BLOCK;
    *mapping = (struct mapping){space, room, space + (skew ? OKOSU_ELF_BLOCK - skew : 0)};
    /* As ld.so maps it: MADV_COLLAPSE takes executable mappings only. */
    if (mmap(mapping->blocks, run->size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, code->fd,
             (off_t)run->offset) == MAP_FAILED) {
        int error = errno;

        munmap(space, room);
        return -error;
    }
    return 0;
}

static void unmap_run(const struct mapping *mapping)
{
    munmap(mapping->space, mapping->room);
}

static int open_code(const char *path, struct code *code)
{
    struct stat st;
    int rc = 0;

    code->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (code->fd < 0)
        return -errno;
    if (fstat(code->fd, &st))
        rc = -errno;
    else if (!S_ISREG(st.st_mode))
        rc = -EINVAL;
    else
        rc = okosu_elf_code(code->fd, &code->elf);
    if (rc)
        close(code->fd);
    return rc;
}

/* One page of each block tells how the block is mapped. All are mapped together, because each look
 * at smaps walks all that this process has. */
static int look(const struct code *code, struct okosu_textcache *text)
{
    static uint64_t own_kb = UINT64_MAX;
    struct mapping mappings[OKOSU_ELF_RUNS];
    unsigned mapped = 0;
    uint64_t now_kb;
    int rc = 0;

    if (own_kb == UINT64_MAX)
        own_kb = mapped_huge_kb();
    text->whole_kb = text->huge_kb = 0;
    for (; mapped < code->elf.count; mapped++) {
        const struct okosu_elf_blocks *run = &code->elf.runs[mapped];

        rc = map_run(code, run, &mappings[mapped]);
        if (rc)
            break;
        for (uint64_t at = 0; at < run->size; at += OKOSU_ELF_BLOCK) {
            /* A block that cannot be read is not huge. */
            (void)madvise(mappings[mapped].blocks + at, 1, MADV_POPULATE_READ);
        }
        text->whole_kb += run->size / 1024;
    }
    if (!rc && text->whole_kb) {
        now_kb = mapped_huge_kb();
        text->huge_kb = now_kb > own_kb ? now_kb - own_kb : 0;
    }
    while (mapped)
        unmap_run(&mappings[--mapped]);
    return rc;
}

/* Kernels with READ_ONLY_THP_FOR_FS collapse code in place, whoever maps it. */
static bool collapse_run(const struct code *code, const struct okosu_elf_blocks *run)
{
    struct mapping mapping;
    bool done;

    if (map_run(code, run, &mapping))
        return false;
    done = madvise(mapping.blocks, run->size, MADV_COLLAPSE) == 0;
    unmap_run(&mapping);
    return done;
}

static int read_run(const struct code *code, const struct okosu_elf_blocks *run, bool huge)
{
    struct mapping mapping;
    int rc = map_run(code, run, &mapping);

    if (rc)
        return rc;
    if (huge && madvise(mapping.blocks, run->size, MADV_HUGEPAGE))
        rc = -errno;
    if (!rc && madvise(mapping.blocks, run->size, MADV_POPULATE_READ))
        rc = -errno;
    unmap_run(&mapping);
    return rc;
}

/* No pages of the run may be mapped here when they are dropped. Neither dropping nor collapsing takes
 * dirty pages, as of a program that was just built. */
static int bring_run(const struct code *code, const struct okosu_elf_blocks *run, bool huge)
{
    int rc;

    /* A failure shows in what is found afterwards. */
    (void)sync_file_range(code->fd, (off_t)run->offset, (off_t)run->size,
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                              SYNC_FILE_RANGE_WAIT_AFTER);
    if (huge && collapse_run(code, run))
        return 0;
    rc = -posix_fadvise(code->fd, (off_t)run->offset, (off_t)run->size, POSIX_FADV_DONTNEED);
    return rc ? rc : read_run(code, run, huge);
}

static int bring(const struct code *code, bool huge)
{
    int rc = 0;

    for (unsigned i = 0; i < code->elf.count && !rc; i++)
        rc = bring_run(code, &code->elf.runs[i], huge);
    return rc;
}

static uint64_t bytes_of(const struct code *code)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < code->elf.count; i++)
        bytes += code->elf.runs[i].size;
    return bytes;
}

/* Whether MADV_COLLAPSE takes a mapping of this file: asked with a range that holds no whole block,
 * so that nothing is collapsed. */
static bool collapses(int fd)
{
    const struct code code = {.fd = fd};
    const struct okosu_elf_blocks run = {0, OKOSU_ELF_BLOCK};
    struct mapping mapping = {0};
    bool takes;

    if (map_run(&code, &run, &mapping))
        return false;
    takes = madvise(mapping.blocks, 1, MADV_COLLAPSE) == 0;
    unmap_run(&mapping);
    return takes;
}

/* Whether the kernel lays mappings of the file, as ld.so makes them, so that huge pages fit: not on
 * overlayfs, for one. One mapping may fit by chance; a second one beside it, of an odd size, would
 * not. */
static bool aligns(int fd, const struct okosu_elf_code *code)
{
    const struct okosu_elf_blocks *last = &code->runs[code->count - 1];
    size_t size = last->offset + last->size, odd = size + (size_t)sysconf(_SC_PAGESIZE);
    char *first = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    char *second = mmap(NULL, odd, PROT_READ, MAP_PRIVATE, fd, 0);
    bool fits = first != MAP_FAILED && second != MAP_FAILED &&
                (uintptr_t)first % OKOSU_ELF_BLOCK == 0 && (uintptr_t)second % OKOSU_ELF_BLOCK == 0;

    if (first != MAP_FAILED)
        munmap(first, size);
    if (second != MAP_FAILED)
        munmap(second, odd);
    return fits;
}

const char *okosu_textcache_lacking(int fd, const struct okosu_elf_code *code, const char *release)
{
    static const struct {
        unsigned long magic;
        unsigned major, minor;
        const char *why;
    } since[] = {
        {EXT4_SUPER_MAGIC, 6, 16, "ext4 has large folios from Linux 6.16 on"},
        {XFS_SUPER_MAGIC, 5, 18, "xfs has large folios from Linux 5.18 on"},
        /* Its files lie on another file system, which is not known here. */
        {OVERLAYFS_SUPER_MAGIC, 5, 18, "no file system has large folios before Linux 5.18"},
    };
    unsigned major = 0, minor = 0;
    struct statfs fs;

    if (fstatfs(fd, &fs))
        return strerror(errno);
    if (code->library && !aligns(fd, code))
        return "this kernel maps libraries of that file system at any 4 KiB page";
    if (sscanf(release, "%u.%u", &major, &minor) != 2)
        return NULL;
    for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++) {
        if ((unsigned long)fs.f_type == since[i].magic) {
            bool has =
                major > since[i].major || (major == since[i].major && minor >= since[i].minor);

            return has || collapses(fd) ? NULL : since[i].why;
        }
    }
    return collapses(fd) ? NULL : "its file system has no large folios that okosu knows of";
}

static const char *why_not(const char *path, const struct okosu_textcache *text, bool huge)
{
    if (okosu_textcache_user(path))
        return "a process that runs now maps it, and pages in use stay as they are";
    if (!huge)
        return "the kernel keeps its pages";
    return text->huge_kb ? "the kernel found too few free blocks of 2 MiB"
                         : "this kernel makes no huge pages for code on that file system (ext4 "
                           "does from Linux 6.16 on, xfs from 5.18 on)";
}

int okosu_textcache_look(const char *path, struct okosu_textcache *text)
{
    struct code code;
    int rc;

    *text = (struct okosu_textcache){0};
    rc = open_code(path, &code);
    if (rc)
        return rc;
    text->why = code.elf.why;
    rc = look(&code, text);
    close(code.fd);
    return rc;
}

int okosu_textcache_bring(const char *path, bool huge, bool again, struct okosu_textcache *text)
{
    struct code code;
    int rc;

    *text = (struct okosu_textcache){0};
    rc = open_code(path, &code);
    if (rc)
        return rc;
    text->why = code.elf.why;
    rc = look(&code, text);
    if (rc || !text->whole_kb)
        goto out;
    text->was_kb = text->huge_kb;
    if (!again && text->huge_kb == (huge ? text->whole_kb : 0))
        goto out;
    if (bytes_of(&code) > okosu_avail_bytes("") / 2) {
        text->why = "it is larger than half of the memory that is available";
        goto out;
    }
    rc = bring(&code, huge);
    if (!rc)
        rc = look(&code, text);
    if (!rc && text->huge_kb != (huge ? text->whole_kb : 0))
        text->why = why_not(path, text, huge);
out:
    close(code.fd);
    return rc;
}

static bool maps_file(const char *pid, const char *path)
{
    char name[300], line[PATH_MAX + 128];
    size_t length = strlen(path);
    bool found = false;
    FILE *maps;

    snprintf(name, sizeof(name), "/proc/%s/maps", pid);
    maps = fopen(name, "re");
    if (!maps)
        return false;
    while (!found && fgets(line, sizeof(line), maps)) {
        const char *at = strchr(line, '/');

        found = at && strncmp(at, path, length) == 0 && at[length] == '\n';
    }
    fclose(maps);
    return found;
}

int okosu_textcache_user(const char *path)
{
    char real[PATH_MAX];
    DIR *folder = realpath(path, real) ? opendir("/proc") : NULL;
    struct dirent *entry;
    int found = 0;

    if (!folder)
        return 0;
    while (!found && (entry = readdir(folder))) {
        int pid = atoi(entry->d_name);

        if (pid > 0 && maps_file(entry->d_name, real))
            found = pid;
    }
    closedir(folder);
    return found;
}
