/* SPDX-License-Identifier: Apache-2.0 */
/* Lever: one row for each lever, and the launch plan that the rows fill. Nothing here changes the
 * system. */
#pragma once

#include "base/arena.h"
#include "base/env.h"

#include <okosu/cpulist.h>

#include <stdbool.h>
#include <stddef.h>

/* What PROGRAM is, which decides how it can be reached. The names are those that --inspect
 * prints. */
enum okosu_kind {
    OKOSU_KIND_GLIBC,
    OKOSU_KIND_STATIC_GLIBC,
    OKOSU_KIND_STATIC,
    OKOSU_KIND_GO,
    OKOSU_KIND_MUSL,
    OKOSU_KIND_FOREIGN
};

struct okosu_program {
    char *path;  /* the file that execve gets */
    char *image; /* the ELF file that will run: path, or the interpreter of a script */
    /* Its dynamic loader, if that is the launcher's own and so may be asked; or NULL. */
    char *loader;
    bool script; /* PROGRAM is a script, and image its interpreter */
    enum okosu_kind kind;
    unsigned glibc; /* 2.36 is 236; 0 where not known */
    bool hugetlb_tunable;
    bool setuid; /* set-user-ID, set-group-ID or file capabilities */
    bool preloadable;
    bool without_header; /* neither ELF nor #!: the shell gets it, as execvp has it */
    const char *why;     /* why it cannot be preloaded; "" if it can */
};

/* The facts that levers decide by. */
struct okosu_context {
    const char *root;    /* OKOSU_ROOT or "/": where /proc and /sys are read */
    const char *self;    /* path of this launcher, for the texts of fixes */
    const char *library; /* path of the preload library; NULL unless the program is preloadable */
    const char *missing; /* what helps where the library itself, not the program, is why; or NULL */
    const struct okosu_program *program;
    struct okosu_cpuset inherited; /* the CPUs that this process may use now */
    bool inherited_known;
    bool no_fork;
    bool rebind;
    bool may_collapse; /* CAP_SYS_NICE is effective */
    bool adopts;       /* this process would be given the helper as its child (init, subreaper) */
};

/* Why a lever is not applied: the parts of the message after "NAME=VALUE not applied". */
struct okosu_refusal {
    const char *what; /* the call that failed or NULL */
    const char *why;
    const char *fix;
};

struct okosu_note {
    bool always; /* a warning; otherwise only --verbose shows it */
    const char *what;
    const char *why;
    const char *fix;
};

struct okosu_setting {
    const char *name;
    const char *value;
};

#define OKOSU_NODE_LIMIT 1024
#define OKOSU_PLAN_TUNABLES 16
#define OKOSU_PLAN_HOOKS 8
#define OKOSU_PLAN_NOTES 16
#define OKOSU_PLAN_BESIDE 4
#define OKOSU_PLAN_TEXT 64

/* Everything that will happen from here to the program's first instruction. */
struct okosu_plan {
    struct okosu_arena arena;
    struct okosu_env env;

    struct okosu_setting tunables[OKOSU_PLAN_TUNABLES];
    size_t tunable_count;
    const char *added_tunables; /* okosu's part of GLIBC_TUNABLES; NULL: none */
    struct okosu_setting
        hooks[OKOSU_PLAN_HOOKS]; /* variables for the preload library, set if it is loaded */
    size_t hook_count;
    struct okosu_note notes[OKOSU_PLAN_NOTES];
    size_t note_count;
    struct okosu_refusal refusal; /* of the lever that is being applied */

    const char *affinity_lever; /* "pin=compact"; NULL: the mask stays */
    struct okosu_cpuset affinity;
    const char *policy_lever; /* "numa=local"; NULL: the policy stays */
    int policy;               /* MPOL_... */
    unsigned long nodes[OKOSU_NODE_LIMIT / (8 * sizeof(unsigned long))];
    const char *helper_lever;    /* "superpage=collapse"; NULL: no helper */
    const char *text_lever;      /* "text=cache"; NULL: the page cache stays */
    char *text[OKOSU_PLAN_TEXT]; /* the files whose code it brings onto huge pages */
    size_t text_count;
    bool preload;
    const char *beside[OKOSU_PLAN_BESIDE]; /* libraries loaded behind the preload library */
    size_t beside_count;
    const char *prime; /* OKOSU_PRIME_LIBRARY where a tunable needs it; NULL: not loaded */
};

struct okosu_value {
    const char *value; /* a part in capitals stands for a parameter: "list:CPUS" */
    const char *doc;
    bool preload; /* works by way of the preload library, where the program can load that */
    bool no_fork; /* refused unless the user asserts that the program does not fork */
};

/* A variable that a lever may set. A variable that only okosu-run sets for its libraries is removed
 * if an outer okosu-run left it in the environment; one that users set themselves is kept. */
struct okosu_variable {
    const char *name;
    bool users;
};

#define OKOSU_PRELOAD_LIBRARY "libokosu-preload.so"
/* Loaded whether or not the preload library is; see native/preload/prime.c. */
#define OKOSU_PRIME_LIBRARY "libokosu-prime.so"

/* apply fills the plan for one value and makes no system call that changes anything. Returns 0;
 * -EINVAL: the value is none (*plan untouched, refusal says why); -ENOMEM; any other -errno: not
 * applicable here, refusal says why and what would help, *plan untouched. */
struct okosu_lever {
    const char *name;
    const char *doc;
    const char *default_value;
    const struct okosu_value *values;       /* ended by a row with a NULL value */
    const struct okosu_variable *variables; /* ended by a row with a NULL name; NULL: none */
    const char *library;                    /* the library that has its hooks; NULL: none has */
    /* What that library provides to the program. Levers that provide the same from different
     * libraries exclude each other. NULL: nothing that another lever provides. */
    const char *serves;
    /* What okosu-measure must observe for the proof besides memory; ended by NULL; NULL: nothing */
    const char *const *observes;
    int (*apply)(struct okosu_plan *plan, const char *value, const struct okosu_context *context);
};

/* The table, generated from the list in meson.build; NULL at its end. */
extern const struct okosu_lever *const okosu_lever_table[];

const struct okosu_lever *okosu_lever_find(const char *name);
/* Whether `value` has the form of one of the lever's rows ("list:0-3" has that of "list:CPUS"). */
bool okosu_lever_accepts(const struct okosu_lever *lever, const char *value);
/* The parameter of `value` if it is "WORD:parameter", else NULL. */
const char *okosu_lever_parameter(const char *value, const char *word);

/* Set the refusal and return `rc`; `why` and `fix` come from the arena or are constant. */
int okosu_plan_refuse(struct okosu_plan *plan, int rc, const char *why, const char *fix);
/* Store a note that is printed once the plan is complete. */
void okosu_plan_note(struct okosu_plan *plan, bool always, const char *what, const char *why,
                     const char *fix);
/* Ask for a glibc tunable. 0 or -ENOMEM; the same name twice keeps the first value. */
int okosu_plan_tunable(struct okosu_plan *plan, const char *name, const char *value);
/* Ask for glibc's own heap on huge pages, and for what has glibc heed that in every run. 0 or
 * -ENOMEM. */
int okosu_plan_huge_heap(struct okosu_plan *plan, const struct okosu_context *context);
/* Set a variable for the preload library if that gets loaded, which `load` demands. 0 or
 * -ENOMEM. */
int okosu_plan_hook(struct okosu_plan *plan, const char *name, const char *value, bool load);
/* Whether two levers exclude each other, because they provide the same. */
bool okosu_lever_excludes(const struct okosu_lever *lever, const struct okosu_lever *other);
/* Load the library of this name, from the preload library's folder, behind that. 0, -ENOMEM, or a
 * refusal where it is not there. */
int okosu_plan_beside(struct okosu_plan *plan, const struct okosu_context *context,
                      const char *name);
/* Write the tunables asked for into GLIBC_TUNABLES behind what the user has there; where the user
 * already set one of them, the user's value stays and a note says so. 0 or -ENOMEM. */
int okosu_plan_compose_tunables(struct okosu_plan *plan);
/* 0 if the program's malloc heeds GLIBC_TUNABLES, else a refusal. */
int okosu_plan_needs_tunables(struct okosu_plan *plan, const struct okosu_context *context);
/* 0 if the kernel gives transparent huge pages to programs that ask for them, else a refusal; `fix`
 * is what would help where the kernel has none at all. */
int okosu_plan_needs_thp(struct okosu_plan *plan, const struct okosu_context *context,
                         const char *fix);
/* 0 if the preload library can be loaded into the program, else a refusal that ends in `fix`. */
int okosu_plan_needs_preload(struct okosu_plan *plan, const struct okosu_context *context,
                             const char *fix);
