/* SPDX-License-Identifier: Apache-2.0 */
/* Carry: calls that the kernel refuses although the plan expected them to work are reported as a
 * lever that was not applied. */
#include "carry.h"

#include "helper.h"
#include "print.h"
#include "textcache.h"

#include "base/message.h"
#include "base/now.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Report a call that failed; an exit status under --strict, else 0. */
static int refused(struct okosu_launch *launch, const char *lever, const char *call, int error,
                   const char *why, const char *fix)
{
    return okosu_complain(launch->options.strict ? OKOSU_EXIT_FAILED : 0, why, fix,
                          "%s not applied: %s: %s", lever, call, strerror(error));
}

/* The fix that leaves out the lever of "name=value". */
static const char *without(struct okosu_plan *plan, const char *lever)
{
    return okosu_arena_printf(&plan->arena, "okosu-run --skip=%.*s", (int)strcspn(lever, "="),
                              lever);
}

static int set_affinity(struct okosu_launch *launch)
{
    struct okosu_plan *plan = &launch->plan;
    struct okosu_cpuset effective = {0};

    if (syscall(SYS_sched_setaffinity, 0, sizeof(plan->affinity.bits), plan->affinity.bits))
        return refused(launch, plan->affinity_lever, "sched_setaffinity", errno,
                       errno == EINVAL
                           ? "none of the CPUs is both online and in the cpuset of this process"
                           : "a seccomp filter or the container does not allow it",
                       without(plan, plan->affinity_lever));
    /* The kernel silently drops CPUs that are not online or not in the cpuset. */
    if (syscall(SYS_sched_getaffinity, 0, sizeof(effective.bits), effective.bits) > 0 &&
        !okosu_cpuset_equal(&effective, &plan->affinity))
        okosu_complain(0,
                       okosu_arena_printf(&plan->arena, "requested CPUs %s, the kernel gave %s",
                                          okosu_print_cpus(plan, &plan->affinity),
                                          okosu_print_cpus(plan, &effective)),
                       "choose among the CPUs that are online and in the cpuset",
                       "%s applied in part", plan->affinity_lever);
    return 0;
}

static int set_policy(struct okosu_launch *launch)
{
    struct okosu_plan *plan = &launch->plan;
    bool nodes = *okosu_print_nodes(plan) != '\0';

    /* The kernel reads one bit less than it is told. */
    if (syscall(SYS_set_mempolicy, plan->policy, nodes ? plan->nodes : NULL,
                nodes ? OKOSU_NODE_LIMIT + 1 : 0) == 0)
        return 0;
    if (errno == EPERM)
        return refused(launch, plan->policy_lever, "set_mempolicy", EPERM,
                       "the container's seccomp profile does not allow it without CAP_SYS_NICE",
                       okosu_arena_printf(&plan->arena, "docker run --cap-add SYS_NICE ..., or %s",
                                          without(plan, plan->policy_lever)));
    return refused(launch, plan->policy_lever, "set_mempolicy", errno,
                   errno == ENOSYS ? "this kernel is built without CONFIG_NUMA"
                                   : "the kernel does not take these nodes",
                   without(plan, plan->policy_lever));
}

/* What this program gets, all others get too, and it outlives the program: so it is said when it is
 * done, and only then. */
static int bring_text(struct okosu_launch *launch)
{
    struct okosu_plan *plan = &launch->plan;
    const char *lever = plan->text_lever, *why = NULL;
    uint64_t all_kb = 0;

    for (size_t i = 0; i < plan->text_count; i++) {
        const char *path = plan->text[i];
        struct okosu_textcache text;
        int rc = okosu_textcache_bring(path, true, false, &text);

        why = rc ? strerror(-rc) : text.why;
        all_kb += text.huge_kb;
        if (text.huge_kb > text.was_kb)
            okosu_complain(
                0, NULL,
                okosu_arena_printf(&plan->arena, "okosu-textcache small %s undoes it", path),
                "%s: %llu MiB of %s now lie on huge pages in the page cache, for every program "
                "that maps it, and stay there",
                lever, (unsigned long long)text.huge_kb / 1024, path);
        if (text.huge_kb && text.huge_kb < text.whole_kb)
            okosu_complain(0, why, "end what uses it, and try again",
                           "%s applied to %llu of %llu MiB of %s", lever,
                           (unsigned long long)text.huge_kb / 1024,
                           (unsigned long long)text.whole_kb / 1024, path);
    }
    if (all_kb)
        return 0;
    return okosu_complain(launch->options.strict ? OKOSU_EXIT_FAILED : 0, why, without(plan, lever),
                          "%s not applied", lever);
}

static void spin(double seconds)
{
    uint64_t start = okosu_now();

    while ((double)(okosu_now() - start) / 1e9 < seconds)
        ;
}

static int explain_exec(struct okosu_launch *launch, int error)
{
    const char *why = strerror(error), *fix = "check the file";

    if (error == ENOENT) {
        why = "it is there, but the interpreter or loader that it names is not";
        fix = "install the interpreter, or correct the first line of the script";
    } else if (error == E2BIG) {
        why = "the arguments and the environment are longer than the kernel takes";
        fix = "fewer arguments, as with xargs, or a larger stack limit (ulimit -s)";
    } else if (error == ENOEXEC) {
        why = "the kernel knows no such format";
        fix = "a program for this machine, or a script with a #! line";
    } else if (error == EACCES) {
        why = "the file, its interpreter or the file system does not allow execution";
        fix = "chmod +x, or a file system that is not mounted noexec";
    }
    return okosu_complain(OKOSU_EXIT_NOT_EXECUTABLE, why, fix, "%s cannot be executed: %s",
                          launch->program.path, strerror(error));
}

/* Runs the file by /bin/sh, as execvp does. Without --inspect or a lever the program was not
 * looked into, so whether it is text is found out only here. */
static int run_by_shell(struct okosu_launch *launch)
{
    struct okosu_plan *plan = &launch->plan;
    size_t count = 0;
    char first[256];
    FILE *file = fopen(launch->program.path, "re");
    size_t got = file ? fread(first, 1, sizeof(first), file) : 0;
    char **argv;

    if (file)
        fclose(file);
    if (got == 0 || memchr(first, '\0', got) || (got >= 4 && memcmp(first, "\177ELF", 4) == 0))
        return ENOEXEC;
    while (launch->options.program[count])
        count++;
    argv = okosu_arena_alloc(&plan->arena, (count + 2) * sizeof(*argv));
    if (!argv)
        return ENOMEM;
    argv[0] = (char *)"/bin/sh";
    argv[1] = launch->program.path;
    memcpy(argv + 2, launch->options.program + 1, (count - 1) * sizeof(*argv));
    execve(argv[0], argv, plan->env.entries);
    return errno;
}

int okosu_carry_out(struct okosu_launch *launch)
{
    struct okosu_plan *plan = &launch->plan;
    int rc = 0, error;

    if (plan->affinity_lever)
        rc = set_affinity(launch);
    if (rc == 0 && plan->policy_lever)
        rc = set_policy(launch);
    if (rc)
        return rc;
    if (plan->text_lever && bring_text(launch))
        return OKOSU_EXIT_FAILED;
    if (plan->helper_lever) {
        error = okosu_helper_start(&launch->context.inherited, launch->proof);
        if (error && refused(launch, plan->helper_lever, "the helper", -error,
                             "it could not be started", without(plan, plan->helper_lever)))
            return OKOSU_EXIT_FAILED;
    }
    if (launch->options.delay > 0)
        spin(launch->options.delay);
    execve(launch->program.path, launch->options.program, plan->env.entries);
    error = errno == ENOEXEC ? run_by_shell(launch) : errno;
    return explain_exec(launch, error);
}
