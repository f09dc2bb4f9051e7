/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: one process holds them all, so that they can be timed in turn; hence one thread each,
 * symbols of their own, and the floating-point state put back as it was. */
#include "peers.h"

#include "peers_description.h"

#include "base/message.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIX "make peers"

/* RTLD_DEEPBIND lets each peer find its own symbols before another's; the sanitizers' runtime
 * cannot be used with it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOAD (RTLD_NOW | RTLD_LOCAL)
#else
#define LOAD (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

static const char *const known[] = {"openblas-debian",
                                    "openblas-debian-forced",
                                    "openblas-pypi",
                                    "openblas-pypi-forced",
                                    "openblas-numpy",
                                    "blas-reference",
                                    "blis",
                                    "aocl",
                                    "mkl",
                                    "eigen",
                                    "gcc",
                                    "clang"};

/* dlsym() returns a function's address as a data pointer; memcpy converts it without a cast that C
 * does not define. */
static peers_function *find(void *handle, const char *name)
{
    void *address = dlsym(handle, name);
    peers_function *function;

    memcpy(&function, &address, sizeof(function));
    return function;
}

/* A variable of the environment and its former value. */
struct saved {
    char *name, *value;
};

static void set_variables(const struct peers_description *about, struct saved *saved)
{
    for (size_t i = 0; i < about->variable_count; i++) {
        const char *equals = strchr(about->variables[i], '=');
        const char *before;

        saved[i].name = strndup(about->variables[i], (size_t)(equals - about->variables[i]));
        if (saved[i].name == NULL)
            continue;
        before = getenv(saved[i].name);
        saved[i].value = before ? strdup(before) : NULL;
        setenv(saved[i].name, equals + 1, 1);
    }
}

static void restore_variables(struct saved *saved, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (saved[i].name && saved[i].value)
            setenv(saved[i].name, saved[i].value, 1);
        else if (saved[i].name)
            unsetenv(saved[i].name);
        free(saved[i].name);
        free(saved[i].value);
    }
}

static void *load_file(const char *directory, const char *file, char *why, size_t size)
{
    char path[4096];
    void *handle;

    /* Without a slash the loader would search its own directories. */
    snprintf(path, sizeof(path), "%s%s/%s", *directory == '/' ? "" : "./", directory, file);
    handle = dlopen(path, LOAD);
    if (handle == NULL)
        snprintf(why, size, "it can't be loaded: %s", dlerror());
    return handle;
}

/* Any library may set the thread's floating-point mode when it is loaded (-ffast-math does). */
static void *load(const struct peers_description *about, const char *directory, char *why,
                  size_t size)
{
    void *handle = NULL;
    fenv_t state;

    fegetenv(&state);
    for (size_t i = 0; i < about->need_count; i++)
        if (load_file(directory, about->needs[i], why, size) == NULL)
            goto out;
    handle = load_file(directory, about->library, why, size);
    if (handle && about->threads) {
        void (*threads)(int) = (void (*)(int))find(handle, about->threads);

        if (threads)
            threads(1);
    }
out:
    fesetenv(&state);
    return handle;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void fill(struct peer *peer, const char *name, const struct peers_description *about,
                 void *handle)
{
    *peer = (struct peer){.name = strdup(name),
                          .version = strdup(about->version),
                          .kind = strdup(about->kind ? about->kind : "peer"),
                          .multiple = about->multiple ? strtoul(about->multiple, NULL, 10) : 0,
                          .alignment = about->alignment ? strtoul(about->alignment, NULL, 10) : 0,
                          .config = strdup(about->config ? about->config : ""),
                          .symbols = strdup(about->symbols),
                          .handle = handle,
                          .report = copy(about->report),
                          .report_map = copy(about->report_map),
                          .report_id = copy(about->report_blis)};
    peer->call = strcmp(about->call, "plain") == 0     ? PEER_PLAIN
                 : strcmp(about->call, "cblas64") == 0 ? PEER_CBLAS64
                                                       : PEER_CBLAS32;
    if (peer->report_id) {
        peer->report_string = strchr(peer->report_id, ' ');
        if (peer->report_string)
            *peer->report_string++ = '\0';
    }
}

static void add_config(struct peer *peer, const char *text)
{
    char *longer;

    if (text == NULL || *text == '\0')
        return;
    if (asprintf(&longer, "%s%s%s", peer->config, *peer->config ? ", " : "", text) < 0)
        return;
    free(peer->config);
    peer->config = longer;
}

/* The first match of the pattern in the names of the files that are mapped. */
static void ask_map(struct peer *peer)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4352], seen[1024] = "";
    regex_t pattern;

    if (maps == NULL)
        return;
    if (regcomp(&pattern, peer->report_map, REG_EXTENDED) == 0) {
        while (fgets(line, sizeof(line), maps)) {
            regmatch_t match;

            if (regexec(&pattern, line, 1, &match, 0) != 0)
                continue;
            line[match.rm_eo] = '\0';
            if (strstr(seen, line + match.rm_so) == NULL &&
                strlen(seen) + strlen(line + match.rm_so) + 2 < sizeof(seen))
                strcat(strcat(seen, *seen ? " " : ""), line + match.rm_so);
        }
        regfree(&pattern);
    }
    fclose(maps);
    add_config(peer, seen);
}

static void ask(struct peer *peer)
{
    if (peer->report) {
        char *(*report)(void) = (char *(*)(void))find(peer->handle, peer->report);

        if (report)
            add_config(peer, report());
    }
    if (peer->report_id && peer->report_string) {
        int (*id)(void) = (int (*)(void))find(peer->handle, peer->report_id);
        char *(*string)(int) = (char *(*)(int))find(peer->handle, peer->report_string);

        if (id && string)
            add_config(peer, string(id()));
    }
    if (peer->report_map)
        ask_map(peer);
}

static void drop(struct peer *peer)
{
    free(peer->name);
    free(peer->version);
    free(peer->kind);
    free(peer->config);
    free(peer->symbols);
    free(peer->report);
    free(peer->report_id);
    free(peer->report_map);
}

static sigjmp_buf illegal;

static void on_illegal(int number)
{
    siglongjmp(illegal, number);
}

/* A peer that was built for another processor raises SIGILL: it is then absent, and the program
 * goes on. */
static int check_one(struct peer *peer, peers_check *check, char *why, size_t size)
{
    struct sigaction action = {.sa_handler = on_illegal}, before;
    int rc;

    sigaction(SIGILL, &action, &before);
    if (sigsetjmp(illegal, 1) == 0) {
        rc = check(peer, why, size);
        if (rc == 0)
            ask(peer);
    } else {
        snprintf(why, size, "it uses instructions that this processor does not have");
        rc = -EINVAL;
    }
    sigaction(SIGILL, &before, NULL);
    return rc;
}

static int load_one(struct bench *bench, const char *directory, const char *name,
                    peers_check *check, struct peer *peer)
{
    struct saved saved[PEERS_VARIABLES_LIMIT] = {{NULL, NULL}};
    struct peers_description about;
    char path[4096], why[1024] = "out of memory";
    bool good = false;

    snprintf(path, sizeof(path), "%s/%s.peer", directory, name);
    if (peers_description_read(&about, path, why, sizeof(why)) == 0) {
        void *handle;

        set_variables(&about, saved);
        handle = load(&about, directory, why, sizeof(why));
        if (handle) {
            fill(peer, name, &about, handle);
            good = peer->name && peer->version && peer->kind && peer->config && peer->symbols &&
                   check_one(peer, check, why, sizeof(why)) == 0;
            if (!good)
                drop(peer);
        }
        restore_variables(saved, about.variable_count);
    }
    if (!good)
        bench_absent(bench, name, why, "delete its description, then: " FIX);
    free(about.text);
    return good ? 1 : 0;
}

static int described(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 5 && strcmp(entry->d_name + length - 5, ".peer") == 0;
}

/* Whether a directory describes a peer of this name. */
static bool is_described(const char *const *directories, const char *name)
{
    char path[4096];
    bool found = false;

    for (; *directories && !found; directories++) {
        snprintf(path, sizeof(path), "%s/%s.peer", *directories, name);
        found = access(path, F_OK) == 0;
    }
    return found;
}

/* Append the peers of one directory. 0 or -errno. */
static int load_directory(struct bench *bench, const char *directory, peers_check *check,
                          struct peer **peers, long *count)
{
    struct dirent **entries = NULL;
    int found = scandir(directory, &entries, described, alphasort), error = 0;
    struct peer *more;

    if (found < 0)
        return -errno;
    more = realloc(*peers, ((size_t)*count + (size_t)found + 1) * sizeof(**peers));
    if (more)
        *peers = more;
    else
        error = -ENOMEM;
    for (int i = 0; i < found; i++) {
        char *name = entries[i]->d_name;

        name[strlen(name) - 5] = '\0';
        if (!error && bench_wants_variant(bench, name))
            *count += load_one(bench, directory, name, check, &(*peers)[*count]);
        free(entries[i]);
    }
    free(entries);
    return error;
}

long peers_load(struct bench *bench, const char *const *directories, peers_check *check,
                struct peer **peers)
{
    long count = 0;
    int error = 0;

    *peers = NULL;
    setenv("OMP_NUM_THREADS", "1", 1);
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        if (bench_wants_variant(bench, known[k]) && !is_described(directories, known[k]))
            bench_absent(bench, known[k],
                         *directories ? "it is not in the directory of peers"
                                      : "no directory of peers was named (--peers)",
                         FIX);
    for (; *directories && !error; directories++)
        error = load_directory(bench, *directories, check, peers, &count);
    if (error) {
        okosu_message("the peers can't be looked up", strerror(-error), FIX);
        peers_free(*peers, count);
        *peers = NULL;
        return error;
    }
    return count;
}

peers_function *peers_symbol(const struct peer *peer, const char *routine)
{
    char name[256];

    /* The pattern was checked when it was read. */
    snprintf(name, sizeof(name), peer->symbols, routine);
    return find(peer->handle, name);
}

void peers_free(struct peer *peers, long count)
{
    for (long i = 0; i < count; i++)
        drop(&peers[i]);
    free(peers);
}
