/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz: okosu-run --inspect over damaged copies of programs, in one process, for a sanitizer to
 * watch. Built and run by tests/native/test_launcher_inspect.py: fuzz_inspect FILE ROUNDS SEED,
 * where FILE is a program to damage. */
#include "elffile.h"
#include "inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The table of levers is not linked here. */
const struct okosu_lever *const okosu_lever_table[] = {NULL};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The parsers read the headers, so most of the damage is done there, with values that provoke
 * overflows. */
static void damage(unsigned char *bytes, size_t *size, size_t whole, uint64_t *random)
{
    static const uint64_t tempting[] = {0,          1,          7,          0xff,      0xffff,
                                        0x7fffffff, 0xffffffff, UINT64_MAX, INT64_MAX, 1 << 20};
    unsigned changes = 1 + next_random(random) % 8;

    *size = next_random(random) % 4 ? whole : next_random(random) % (whole + 1);
    for (unsigned i = 0; i < changes; i++) {
        size_t reach = next_random(random) % 4 ? 1024 : whole;
        size_t at = next_random(random) % (reach < whole ? reach : whole);
        uint64_t value =
            next_random(random) % 2 ? tempting[next_random(random) % 10] : next_random(random);
        size_t width = (size_t)1 << next_random(random) % 4;

        memcpy(bytes + at, &value, width < whole - at ? width : whole - at);
    }
    if (next_random(random) % 16 == 0)
        memcpy(bytes, "#!/usr/bin/env ", 15);
}

/* Nothing that is brought lies outside the file, its last page apart. */
static void check_code(int fd, size_t size)
{
    struct okosu_elf_code code;

    if (okosu_elf_code(fd, &code))
        return;
    for (unsigned i = 0; i < code.count; i++) {
        if (!code.runs[i].size || code.runs[i].offset % OKOSU_ELF_BLOCK ||
            code.runs[i].size % OKOSU_ELF_BLOCK ||
            code.runs[i].offset + code.runs[i].size > size + 4096)
            abort();
    }
}

static int run(const unsigned char *original, size_t whole, unsigned rounds, uint64_t random)
{
    unsigned char *bytes = malloc(whole);
    unsigned kinds[OKOSU_KIND_FOREIGN + 1] = {0}, errors = 0;
    int fd = memfd_create("fuzz", 0), rc = bytes && fd >= 0 ? 0 : -ENOMEM;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    for (unsigned i = 0; i < rounds && rc == 0; i++) {
        struct okosu_arena arena = {0};
        struct okosu_program program = {.path = path};
        struct okosu_env env;
        size_t size;

        memcpy(bytes, original, whole);
        damage(bytes, &size, whole, &random);
        if (ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
            rc = -EIO;
        else if (okosu_env_init(&env, &arena, environ))
            rc = -ENOMEM;
        else if (okosu_inspect_read(&arena, &env, &program))
            errors++;
        else
            kinds[program.kind]++;
        if (rc == 0)
            check_code(fd, size);
        if (rc == 0)
            okosu_env_free(&env);
        okosu_arena_free(&arena);
    }
    for (int kind = 0; kind <= OKOSU_KIND_FOREIGN; kind++)
        printf("%s %u\n", okosu_inspect_kind(kind), kinds[kind]);
    printf("errors %u\n", errors);
    if (fd >= 0)
        close(fd);
    free(bytes);
    return rc;
}

int main(int argc, char **argv)
{
    unsigned char *original;
    FILE *file;
    size_t size;
    int rc;

    if (argc != 4)
        return 2;
    file = fopen(argv[1], "re");
    original = malloc(1 << 20);
    size = file && original ? fread(original, 1, 1 << 20, file) : 0;
    rc = size ? run(original, size, (unsigned)atoi(argv[2]), strtoull(argv[3], NULL, 10) | 1)
              : -EINVAL;
    if (file)
        fclose(file);
    free(original);
    return rc ? 1 : 0;
}
