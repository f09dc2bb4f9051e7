/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect: what the kernel and ld.so will make of a file, found out before it runs and without
 * running it. */
#include "inspect.h"

#include "elffile.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* How much the kernel reads of a script's first line, and how many interpreters it follows. */
#define LINE_BYTES 256
#define DEPTH_LIMIT 5

#define LOADER_BYTES (4UL << 20)

/* The first glibc with glibc.malloc.hugetlb. */
#define HUGETLB_GLIBC 235

const char *okosu_inspect_kind(enum okosu_kind kind)
{
    static const char *const names[] = {"glibc", "static-glibc", "static", "go", "musl", "foreign"};

    return names[kind];
}

static int executable(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return errno == ENOTDIR ? -ENOENT : -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
        return -EACCES;
    return 0;
}

int okosu_inspect_find(struct okosu_arena *arena, const struct okosu_env *env, const char *name,
                       struct okosu_program *program)
{
    const char *path = okosu_env_get(env, "PATH");
    int rc = -ENOENT;

    if (!*name)
        return -ENOENT;
    if (strchr(name, '/')) {
        program->path = okosu_arena_strndup(arena, name, strlen(name));
        return program->path ? executable(name) : -ENOMEM;
    }
    for (path = path ? path : "/bin:/usr/bin";; path++) {
        size_t length = strcspn(path, ":");
        char *file =
            okosu_arena_printf(arena, "%.*s%s%s", (int)length, path, length ? "/" : "./", name);
        int found = file ? executable(file) : -ENOMEM;

        if (found == 0 || found == -ENOMEM) {
            program->path = file;
            return found;
        }
        /* As shells do: a file without execute permission is remembered while the search goes
         * on; a folder that may not be entered holds none. */
        if (found == -EACCES && rc == -ENOENT && access(file, F_OK) == 0) {
            program->path = file;
            rc = found;
        }
        path += length;
        if (!*path)
            return rc;
    }
}

/* NAME of "env [-S] [VAR=VALUE] NAME": what env will look up by PATH. */
static char *env_target(struct okosu_arena *arena, const char *argument)
{
    for (;;) {
        size_t length;

        argument += strspn(argument, " \t");
        /* The option -S may be joined to the words that it splits. */
        if (strncmp(argument, "-S", 2) == 0)
            argument += 2;
        argument += strspn(argument, " \t");
        length = strcspn(argument, " \t");
        if (length == 0)
            return NULL;
        if (*argument != '-' && !memchr(argument, '=', length))
            return okosu_arena_strndup(arena, argument, length);
        argument += length;
    }
}

/* The program that runs the script whose first bytes are in `line`: "" if there is no #! line. NULL
 * when there is no memory. A program that env would not find is left for env to report. */
static char *interpreter_of(struct okosu_arena *arena, const struct okosu_env *env, char *line)
{
    struct okosu_program target = {0};
    char *path, *argument, *base, *name;

    if (strncmp(line, "#!", 2) != 0)
        return okosu_arena_strndup(arena, "", 0);
    line[strcspn(line, "\n")] = '\0';
    path = line + 2 + strspn(line + 2, " \t");
    argument = path + strcspn(path, " \t");
    if (*argument)
        *argument++ = '\0';
    base = strrchr(path, '/');
    if (base && strcmp(base, "/env") == 0) {
        name = env_target(arena, argument);
        if (name && okosu_inspect_find(arena, env, name, &target) == 0)
            return target.path;
    }
    return okosu_arena_strndup(arena, path, strlen(path));
}

/* From program->path to the ELF file, which stays open in *fd. 0 with *fd = -1: neither ELF nor
 * script. */
static int follow(struct okosu_arena *arena, const struct okosu_env *env,
                  struct okosu_program *program, int *fd)
{
    program->image = program->path;
    for (unsigned depth = 0; depth <= DEPTH_LIMIT; depth++) {
        char line[LINE_BYTES + 1] = {0}, *next;
        ssize_t got;
        int rc;

        *fd = open(program->image, O_RDONLY | O_CLOEXEC);
        if (*fd < 0)
            return -errno;
        got = pread(*fd, line, LINE_BYTES, 0);
        if (got >= 4 && memcmp(line, "\177ELF", 4) == 0)
            return 0;
        close(*fd);
        *fd = -1;
        if (got < 0)
            return -EIO;
        next = interpreter_of(arena, env, line);
        if (!next)
            return -ENOMEM;
        if (!*next) {
            /* execvp gives such a file to the shell; like the shells, not if it is plainly no
             * text. */
            if (program->script || got == 0 || memchr(line, '\0', (size_t)got))
                return 0;
            program->without_header = true;
            next = okosu_arena_strndup(arena, "/bin/sh", strlen("/bin/sh"));
        }
        program->script = true;
        program->image = next;
        rc = next ? executable(next) : -ENOMEM;
        if (rc)
            return rc;
    }
    return -ELOOP;
}

static int our_interpreter(struct dl_phdr_info *info, size_t size, void *result)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **)result = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    /* Iteration ends here, because the first object is the program itself. */
    return 1;
}

static unsigned version_at(const char *text)
{
    char *end;
    unsigned long major = strtoul(text, &end, 10), minor;

    if (end == text || *end != '.' || major > 9)
        return 0;
    minor = strtoul(end + 1, NULL, 10);
    return minor < 100 ? (unsigned)(major * 100 + minor) : 0;
}

/* A loader's text of --version; read whole, since it is a few hundred KiB and only a foreign one is
 * looked into. */
static unsigned version_inside(const char *path)
{
    static const char label[] = "stable release version ";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    unsigned version = 0;
    char *text, *found;
    ssize_t got;

    if (fd < 0)
        return 0;
    text = calloc(1, LOADER_BYTES + 1);
    got = text ? pread(fd, text, LOADER_BYTES, 0) : -1;
    if (got > 0) {
        found = memmem(text, (size_t)got, label, sizeof(label) - 1);
        version = found ? version_at(found + sizeof(label) - 1) : 0;
    }
    free(text);
    close(fd);
    return version;
}

/* Whether it is the loader that loaded this launcher. */
static bool is_our_loader(const char *path)
{
    const char *ours = NULL;
    struct stat a, b;

    dl_iterate_phdr(our_interpreter, &ours);
    return ours && stat(ours, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Version of the glibc whose dynamic loader is at `path`. Nearly always it is the one that
 * loaded this launcher. Another one (nix, a chroot) names its version in its file name (before
 * 2.34) or in the text that --version prints. */
static unsigned glibc_version(const char *path)
{
    char real[PATH_MAX], *base;

    if (is_our_loader(path))
        return version_at(gnu_get_libc_version());
    if (!realpath(path, real))
        return 0;
    base = strrchr(real, '/') + 1;
    return strncmp(base, "ld-2.", 5) == 0 ? version_at(base + 3) : version_inside(real);
}

static void judge_dynamic(struct okosu_arena *arena, struct okosu_program *program,
                          const char *interpreter)
{
    const char *base = strrchr(interpreter, '/');
    unsigned ours = version_at(gnu_get_libc_version());

    base = base ? base + 1 : interpreter;
    if (strncmp(base, "ld-musl", 7) == 0) {
        program->kind = OKOSU_KIND_MUSL;
        program->why = "it uses musl, for which the preload library is not built";
    } else if (strncmp(base, "ld-linux", 8) == 0 || strncmp(base, "ld64", 4) == 0 ||
               strncmp(base, "ld.so", 5) == 0 || strncmp(base, "ld-2.", 5) == 0) {
        program->kind = OKOSU_KIND_GLIBC;
        program->glibc = glibc_version(interpreter);
        program->hugetlb_tunable = program->glibc >= HUGETLB_GLIBC;
        program->preloadable = program->glibc >= ours;
        program->why = program->preloadable
                           ? ""
                           : okosu_arena_printf(
                                 arena, "its own glibc (%s) is older than the %u.%u of the library",
                                 interpreter, ours / 100, ours % 100);
    } else {
        program->kind = OKOSU_KIND_FOREIGN;
        program->why = okosu_arena_printf(arena, "its loader %s is not glibc's", interpreter);
    }
}

/* A static program does not say whose C library it holds, but glibc's start-up code compares
 * environment names with "GLIBC_TUNABLES", and the table of tunables holds the names of those that
 * it knows. */
static void judge_static(struct okosu_program *program, int fd)
{
    static const char *const marks[] = {"GLIBC_TUNABLES", "glibc.malloc.hugetlb"};
    bool found[2];

    program->kind = OKOSU_KIND_STATIC;
    program->why = "it is linked statically, so nothing can be preloaded";
    if (okosu_elf_search(fd, marks, found, 2) == 0 && found[0]) {
        program->kind = OKOSU_KIND_STATIC_GLIBC;
        program->hugetlb_tunable = found[1];
    }
}

/* The set-group-ID bit without group execution has another meaning (mandatory locking). */
static bool raises_privileges(const struct stat *st)
{
    return (st->st_mode & S_ISUID) || (st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}

static void judge(struct okosu_arena *arena, struct okosu_program *program, int fd)
{
    struct okosu_elf elf;
    struct stat st;
    int rc = fd >= 0 ? okosu_elf_read(fd, &elf) : -ENOEXEC;

    program->kind = OKOSU_KIND_FOREIGN;
    program->why = "it is neither an ELF file nor a script";
    if (rc == -EBADMSG)
        program->why = "its ELF headers are damaged";
    else if (rc && fd >= 0)
        program->why = "it cannot be read";
    if (rc)
        return;
    if (elf.foreign) {
        program->why = "it is built for another architecture";
    } else if (elf.go) {
        program->kind = OKOSU_KIND_GO;
        program->why = "Go's runtime makes its own system calls, past any C library";
    } else if (elf.interpreter[0]) {
        if (is_our_loader(elf.interpreter))
            program->loader = okosu_arena_strndup(arena, elf.interpreter, strlen(elf.interpreter));
        judge_dynamic(arena, program, elf.interpreter);
    } else {
        judge_static(program, fd);
    }
    if (elf.sanitizer && program->preloadable) {
        program->preloadable = false;
        program->why = okosu_arena_printf(arena,
                                          "it is built with %s, whose runtime replaces the same "
                                          "functions and must be loaded first",
                                          elf.sanitizer);
    }
    program->setuid = (fstat(fd, &st) == 0 && raises_privileges(&st)) ||
                      fgetxattr(fd, "security.capability", NULL, 0) > 0;
    if (program->setuid && program->preloadable) {
        program->preloadable = false;
        program->why = "it gains privileges when it starts, and the loader then ignores LD_PRELOAD";
    }
}

int okosu_inspect_read(struct okosu_arena *arena, const struct okosu_env *env,
                       struct okosu_program *program)
{
    struct stat st;
    int fd = -1;
    int rc = follow(arena, env, program, &fd);

    if (rc == -EACCES && program->image == program->path) {
        /* Execute permission without read permission runs, but cannot be looked into. */
        program->kind = OKOSU_KIND_FOREIGN;
        program->why = "it may be executed but not read, so okosu cannot tell what it is";
        program->setuid = stat(program->path, &st) == 0 && raises_privileges(&st);
        return 0;
    }
    if (rc == 0)
        judge(arena, program, fd);
    if (fd >= 0)
        close(fd);
    return rc == 0 && !program->why ? -ENOMEM : rc;
}
