/* SPDX-License-Identifier: Apache-2.0 */
/* listen: a daemon that was killed leaves the name of its socket behind; a lock that the kernel
 * releases when its owner ends shows whether the name is still in use. */
#include "listen.h"

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int complain(const char *path, int error, const char *fix)
{
    char what[256];

    snprintf(what, sizeof(what), "%s cannot be served", path);
    okosu_message(what, error == EWOULDBLOCK ? "another okosu-zerod serves it" : strerror(error),
                  fix);
    return -error;
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

int zerod_listen(struct zerod_listener *listener, const char *path, int others)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc;

    *listener = (struct zerod_listener){.fd = -1, .lock = -1, .path = path};
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
    /* Nobody can connect between bind and chmod, because the socket is not listening yet. */
    if (!rc && (bind(listener->fd, (struct sockaddr *)&address, sizeof(address)) ||
                chmod(path, others ? 0666 : 0600) || listen(listener->fd, 64)))
        rc = -errno;
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
        unlink(listener->path);
        close(listener->fd);
    }
    if (listener->lock >= 0)
        close(listener->lock);
}
