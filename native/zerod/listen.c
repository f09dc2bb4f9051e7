/* SPDX-License-Identifier: Apache-2.0 */
/* listen: a daemon that was killed leaves the name of its socket behind; a lock that the kernel
 * releases when its owner ends shows whether the name is still in use. Under systemd the socket
 * belongs to the service manager, which passes it on as sd_listen_fds(3) describes. */
#include "listen.h"

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int complain(const char *path, int error, const char *fix)
{
    return okosu_complain(-error,
                          error == EWOULDBLOCK ? "another okosu-zerod serves it" : strerror(error),
                          fix, "%s cannot be served", path);
}

static int take_lock(const char *path)
{
    char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
    int fd, error;

    snprintf(name, sizeof(name), "%s.lock", path);
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    error = errno;
    if (fd >= 0)
        close(fd);
    return -error;
}

/* Only a socket is removed, so that a mistyped --socket deletes no file. */
static int remove_old(const char *path)
{
    struct stat about;

    if (lstat(path, &about))
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(about.st_mode))
        return -EEXIST;
    return unlink(path) ? -errno : 0;
}

/* The permissions come from the umask: a chmod() of the path could follow a link that the owner of
 * the folder has put there meanwhile. Called before the daemon has threads of its own. */
static int bind_to(int fd, const struct sockaddr_un *address, bool others)
{
    mode_t before = umask(others ? 0111 : 0177);
    int rc = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : 0;

    umask(before);
    return rc;
}

#define PASSED_FD 3 /* the first descriptor that a service manager passes */

const char *zerod_listen_passed(void)
{
    static struct sockaddr_un address;
    socklen_t size = sizeof(address) - 1; /* so that the name ends */
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

    if (!pid || !count || strtol(pid, NULL, 10) != getpid() || strcmp(count, "1") != 0)
        return NULL;
    if (getsockname(PASSED_FD, (struct sockaddr *)&address, &size) || address.sun_family != AF_UNIX)
        return "what was passed as a socket";
    return address.sun_path;
}

static int option_of(int fd, int name)
{
    int value = -1;
    socklen_t size = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) ? -1 : value;
}

static int adopt(struct zerod_listener *listener, const char *path)
{
    int flags = fcntl(PASSED_FD, F_GETFL);

    if (option_of(PASSED_FD, SO_DOMAIN) != AF_UNIX ||
        option_of(PASSED_FD, SO_TYPE) != SOCK_SEQPACKET ||
        option_of(PASSED_FD, SO_ACCEPTCONN) != 1 || fcntl(PASSED_FD, F_SETFD, FD_CLOEXEC) ||
        fcntl(PASSED_FD, F_SETFL, flags | O_NONBLOCK))
        return complain(path, ESOCKTNOSUPPORT, "ListenSequentialPacket= in the socket's unit");
    listener->fd = PASSED_FD;
    return 0;
}

int zerod_listen(struct zerod_listener *listener, const char *path, bool others)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc;

    *listener = (struct zerod_listener){.fd = -1, .lock = -1};
    if (zerod_listen_passed())
        return adopt(listener, path);
    if (strlen(path) >= sizeof(address.sun_path))
        return complain(path, ENAMETOOLONG, "--socket with a shorter path");
    strcpy(address.sun_path, path);
    listener->lock = take_lock(path);
    if (listener->lock < 0)
        return complain(path, -listener->lock, "another path: --socket=PATH");
    rc = remove_old(path);
    if (!rc) {
        listener->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        rc = listener->fd < 0 ? -errno : 0;
    }
    if (!rc)
        rc = bind_to(listener->fd, &address, others);
    if (!rc) {
        listener->path = path;
        rc = listen(listener->fd, 64) ? -errno : 0;
    }
    if (!rc)
        return 0;
    complain(path, -rc, rc == -EEXIST ? "it is no socket; another path: --socket=PATH" : NULL);
    zerod_listen_end(listener);
    return rc;
}

/* The lock's file is not removed, or two daemons could each hold a lock on a file of that name. */
void zerod_listen_end(struct zerod_listener *listener)
{
    if (listener->fd >= 0) {
        if (listener->path)
            unlink(listener->path);
        close(listener->fd);
    }
    if (listener->lock >= 0)
        close(listener->lock);
}
