/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of /proc; see proc_read.h. */
#include "proc_read.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* status of a kernel built for 8192 CPUs and 1024 nodes is about 6 KiB */
    TEXT_SIZE = 16384,
    PATH_SIZE = 80,
    /* maps and numa_maps have a line a mapping, and a process may have 65530 of them
       (vm.max_map_count) */
    LINES_FIRST = 1 << 16,
    LINES_LIMIT = 64 << 20,
};

long okosu_proc_slurp(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
    return okosu_file_slurp(path, text, size);
}

int okosu_proc_rollup(pid_t pid, pid_t tid, struct okosu_memory *out)
{
    char text[TEXT_SIZE];
    long length = okosu_proc_slurp(pid, tid, "smaps_rollup", text, sizeof(text));

    return length < 0 ? (int)length : okosu_proc_parse_rollup(text, (size_t)length, out);
}

int okosu_proc_status(pid_t pid, pid_t tid, struct okosu_proc_status *out)
{
    char text[TEXT_SIZE];
    long length = okosu_proc_slurp(pid, tid, "status", text, sizeof(text));

    return length < 0 ? (int)length : okosu_proc_parse_status(text, (size_t)length, out);
}

int okosu_proc_stat(pid_t pid, pid_t tid, struct okosu_proc_stat *out)
{
    char text[TEXT_SIZE];
    long length = okosu_proc_slurp(pid, tid, "stat", text, sizeof(text));

    return length < 0 ? (int)length : okosu_proc_parse_stat(text, (size_t)length, out);
}

int okosu_proc_sched(pid_t pid, pid_t tid, struct okosu_proc_sched *out)
{
    char text[TEXT_SIZE];
    long length = okosu_proc_slurp(pid, tid, "schedstat", text, sizeof(text));
    int error = length < 0 ? (int)length : okosu_proc_parse_delay(text, (size_t)length, out);

    if (error)
        return error;
    length = okosu_proc_slurp(pid, tid, "sched", text, sizeof(text));
    return length < 0 ? (int)length : okosu_proc_parse_migrations(text, (size_t)length, out);
}

/* A file with a line a mapping. Returns its length, or -errno with *text NULL. */
static ssize_t slurp_lines(pid_t pid, pid_t tid, const char *file, char **text, bool *cut)
{
    char path[PATH_SIZE];
    size_t length = 0, room = 0;
    ssize_t got = 0;
    int fd;

    *text = NULL;
    *cut = false;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    while (length == room && !*cut) {
        room = room ? room * 2 : LINES_FIRST;
        char *larger = realloc(*text, room);
        if (larger)
            *text = larger;
        got = larger ? okosu_file_read_open(fd, *text + length, room - length) : -ENOMEM;
        if (got < 0)
            break;
        length += (size_t)got;
        *cut = length == LINES_LIMIT;
    }
    close(fd);
    if (got < 0) {
        free(*text);
        *text = NULL;
        return got;
    }
    return (ssize_t)length;
}

int okosu_proc_numa(pid_t pid, pid_t tid, struct okosu_proc_numa *out)
{
    char *text;
    bool cut;
    ssize_t length = slurp_lines(pid, tid, "numa_maps", &text, &cut);

    if (length < 0)
        return (int)length;
    okosu_proc_parse_numa_maps(text, (size_t)length, (unsigned)(sysconf(_SC_PAGESIZE) / 1024), out);
    free(text);
    return 0;
}

ssize_t okosu_proc_maps(pid_t pid, pid_t tid, char **text, bool *cut)
{
    return slurp_lines(pid, tid, "maps", text, cut);
}

pid_t okosu_proc_tgid(pid_t tid)
{
    struct okosu_proc_status status;
    char path[PATH_SIZE], text[TEXT_SIZE];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    long length = okosu_file_slurp(path, text, sizeof(text));
    if (length < 0 || okosu_proc_parse_status(text, (size_t)length, &status))
        return 0;
    return status.tgid;
}

unsigned okosu_proc_thread_count(pid_t pid)
{
    char path[PATH_SIZE];
    struct stat info;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    /* proc_task_getattr: one link a thread, and the two every folder has */
    return stat(path, &info) == 0 && info.st_nlink > 2 ? (unsigned)info.st_nlink - 2 : 0;
}

static int push_pid(struct okosu_pids *list, pid_t pid)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 32;
        pid_t *items = realloc(list->items, room * sizeof(*items));
        if (!items)
            return -ENOMEM;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = pid;
    return 0;
}

static int push_row(struct okosu_proc_rows *list, struct okosu_proc_row row)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        struct okosu_proc_row *items = realloc(list->items, room * sizeof(*items));
        if (!items)
            return -ENOMEM;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = row;
    return 0;
}

/* The numeric names of a folder. */
static int list_numbers(const char *path, struct okosu_pids *out)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int result = 0;

    if (!folder)
        return -errno;
    while (!result && (entry = readdir(folder))) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (*end == '\0' && number > 0)
            result = push_pid(out, (pid_t)number);
    }
    closedir(folder);
    return result;
}

int okosu_proc_threads(pid_t pid, struct okosu_pids *out)
{
    char path[PATH_SIZE];

    memset(out, 0, sizeof(*out));
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    return list_numbers(path, out);
}

/* By the parents of all processes rather than by /proc/PID/task/TID/children, which many kernels
 * are built without. A parent that exits during the listing hands its children to the subreaper
 * (this process), where the next listing finds them. */
int okosu_proc_descendants(pid_t root, struct okosu_proc_rows *out)
{
    struct okosu_pids pids = {0};
    struct okosu_proc_rows all = {0};
    int result = list_numbers("/proc", &pids);

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; !result && i < pids.count; i++) {
        struct okosu_proc_stat stat;
        if (okosu_proc_stat(pids.items[i], pids.items[i], &stat) == 0)
            result = push_row(
                &all, (struct okosu_proc_row){pids.items[i], stat.ppid, stat.state, stat.start});
    }
    for (size_t next = 0; !result; next++) {
        pid_t parent = next ? out->items[next - 1].pid : root;
        for (size_t i = 0; !result && i < all.count; i++) {
            if (all.items[i].ppid == parent)
                result = push_row(out, all.items[i]);
        }
        if (next == out->count)
            break;
    }
    free(pids.items);
    free(all.items);
    return result;
}

bool okosu_proc_is_ending(pid_t pid)
{
    char path[PATH_SIZE], target[1];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return readlink(path, target, sizeof(target)) < 0 && errno == ENOENT;
}

bool okosu_proc_is_launcher(pid_t pid)
{
    char path[PATH_SIZE], target[4096];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    const char *name = strrchr(target, '/');
    name = name ? name + 1 : target;
    return strcmp(name, "okosu-run") == 0 || strcmp(name, "okosu-run (deleted)") == 0;
}
