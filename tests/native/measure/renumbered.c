/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into okosu-measure: between its listing of the tree and its first kill, a process of
 * the tree ends, is reaped, and another one outside the tree gets its number. The file NUMBER_IN
 * holds the number, and NUMBER_OUT is a named pipe that whoever makes the other process reads and
 * closes when it is there. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t readlink(const char *path, char *target, size_t size)
{
    static int done;
    ssize_t (*next)(const char *, char *, size_t) =
        (ssize_t(*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
    bool ours = strcmp(program_invocation_short_name, "okosu-measure") == 0;
    FILE *file = done || !ours ? NULL : fopen(getenv("NUMBER_IN"), "re");
    int pid = 0, pipe;

    done = 1;
    if (file && fscanf(file, "%d", &pid) == 1 && kill(pid, SIGKILL) == 0) {
        while (kill(pid, 0) == 0)
            usleep(200);
        signal(SIGPIPE, SIG_IGN);
        pipe = open(getenv("NUMBER_OUT"), O_WRONLY | O_CLOEXEC);
        while (write(pipe, "", 1) == 1)
            usleep(200);
        close(pipe);
    }
    if (file)
        fclose(file);
    return next(path, target, size);
}
