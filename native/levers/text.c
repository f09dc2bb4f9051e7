/* SPDX-License-Identifier: Apache-2.0 */
/* Text: code on small pages costs each process a page fault for every 64 KiB of it, and the CPU more
 * entries of its TLB. */
#include "lever.h"

#include "elffile.h"
#include "textcache.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LISTING_LIMIT 65536

static int needs_huge_pages(struct okosu_plan *plan, const struct okosu_context *context)
{
    char size[32];
    int rc = okosu_plan_needs_thp(plan, context, "a kernel with CONFIG_TRANSPARENT_HUGEPAGE");

    if (rc)
        return rc;
    if (okosu_file_read(size, sizeof(size), context->root,
                        "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") > 0 &&
        strtoull(size, NULL, 10) != OKOSU_ELF_BLOCK)
        return okosu_plan_refuse(plan, -ENOTSUP, "a huge page is not of 2 MiB here",
                                 "a kernel with base pages of 4 KiB");
    return 0;
}

/* Adds the file if huge pages can map any of its code; *why is set where they cannot. One file may
 * have several names, of which links are followed, so that it is brought once. */
static int add_file(struct okosu_plan *plan, const struct okosu_context *context, const char *name,
                    const char **why)
{
    char path[PATH_MAX];
    struct okosu_elf_code code;
    const char *reason;
    char release[256] = "";
    int fd, rc;

    if (!realpath(name, path)) {
        *why = strerror(errno);
        return 0;
    }
    for (size_t i = 0; i < plan->text_count; i++) {
        if (strcmp(plan->text[i], path) == 0)
            return 0;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        *why = strerror(errno);
        return 0;
    }
    rc = okosu_elf_code(fd, &code);
    reason = code.why;
    if (!rc && code.count) {
        (void)okosu_file_read(release, sizeof(release), context->root,
                              "/proc/sys/kernel/osrelease");
        reason = okosu_textcache_lacking(fd, &code, release);
    }
    close(fd);
    if (rc || reason) {
        *why = rc ? "it is no ELF file of this machine" : reason;
        return 0;
    }
    if (plan->text_count == OKOSU_PLAN_TEXT)
        return 0;
    plan->text[plan->text_count] = okosu_arena_strndup(&plan->arena, path, strlen(path));
    return plan->text[plan->text_count++] ? 0 : -ENOMEM;
}

/* What the loader would map, as it prints it: "\tNAME => PATH (0xADDRESS)" or "\tPATH (0x...)". It
 * resolves names as it does for the program, and runs nothing of that. */
static char *list_libraries(struct okosu_plan *plan, const struct okosu_program *program)
{
    char *const argv[] = {program->loader, (char *)"--list", program->image, NULL};
    char *text = okosu_arena_alloc(&plan->arena, LISTING_LIMIT);
    posix_spawn_file_actions_t actions;
    size_t length = 0;
    int ends[2];
    pid_t pid;

    if (!text || pipe2(ends, O_CLOEXEC))
        return NULL;
    if (posix_spawn_file_actions_init(&actions)) {
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    if (posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
        posix_spawn(&pid, program->loader, &actions, NULL, argv, plan->env.entries))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (pid > 0) {
        ssize_t got = read(ends[0], text + length, LISTING_LIMIT - 1 - length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return text;
}

static int add_libraries(struct okosu_plan *plan, const struct okosu_context *context)
{
    char *text = list_libraries(plan, context->program), *line, *rest = text;
    const char *ignored;
    int rc = 0;

    while (!rc && rest && (line = strsep(&rest, "\n"))) {
        char *path = strstr(line, " => "), *end = strstr(line, " (0x");

        path = path ? path + strlen(" => ") : line + strspn(line, "\t ");
        if (*path != '/' || !end)
            continue;
        *end = '\0';
        rc = add_file(plan, context, path, &ignored);
    }
    return rc;
}

static int add_own(struct okosu_plan *plan, const struct okosu_context *context, const char **why)
{
    int rc = add_file(plan, context, context->program->image, why);

    if (!rc && context->program->loader)
        rc = add_libraries(plan, context);
    return rc;
}

static int add_named(struct okosu_plan *plan, const struct okosu_context *context,
                     const char *files, const char **why)
{
    int rc = 0;

    for (const char *at = files; *at && !rc;) {
        size_t length = strcspn(at, ":");
        char *path = okosu_arena_strndup(&plan->arena, at, length);

        if (!path)
            return -ENOMEM;
        if (length)
            rc = add_file(plan, context, path, why);
        at += length + (at[length] != '\0');
    }
    return rc;
}

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    const char *files = okosu_lever_parameter(value, "cache"),
               *why = "there is no file in the list";
    int rc;

    if (!files && strcmp(value, "cache") != 0)
        return okosu_plan_refuse(plan, -EINVAL, "there is no such choice", "see okosu-run --help");
    rc = needs_huge_pages(plan, context);
    if (rc)
        return rc;
    plan->text_count = 0;
    rc = files ? add_named(plan, context, files, &why) : add_own(plan, context, &why);
    if (rc)
        return rc;
    if (!plan->text_count)
        return okosu_plan_refuse(
            plan, -ENOENT,
            okosu_arena_printf(
                &plan->arena, "%s: %s",
                files ? files : okosu_arena_printf(&plan->arena, "%s", context->program->image),
                why),
            files ? "name libraries or programs with at least 2 MiB of code"
                  : "okosu try, which finds what it starts and loads, or --text=cache:FILE");
    plan->text_lever = "text=cache";
    return 0;
}

static const struct okosu_value values[] = {
    {.value = "cache",
     .doc = "of the program and the libraries that it names, in the page cache, which all programs "
            "share; it stays until okosu-textcache small FILE or until memory is short"},
    {.value = "cache:FILES",
     .doc = "of these programs and libraries, with colons between them, whoever loads them"},
    {0},
};

static const char *const observes[] = {"files", NULL};

const struct okosu_lever okosu_lever_text = {
    .name = "text",
    .doc = "2 MiB pages for code and constants",
    .default_value = "cache",
    .values = values,
    .observes = observes,
    .apply = apply,
};
