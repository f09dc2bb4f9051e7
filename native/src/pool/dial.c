/* SPDX-License-Identifier: Apache-2.0 */
/* dial: the client's side of the socket. */
#include "pool/dial.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* How long to wait for the daemon's greeting; a slower daemon is treated as absent. */
#define PATIENCE_S 5

static int trust(int fd)
{
    struct ucred who;
    socklen_t size = sizeof(who);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
        return -errno;
    return who.uid == 0 || who.uid == geteuid() ? 0 : -EACCES;
}

int okosu_dial_wait(int fd, int seconds)
{
    struct timeval patience = {.tv_sec = seconds};

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
        return -errno;
    return 0;
}

int okosu_dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, rc;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    rc = okosu_dial_wait(fd, PATIENCE_S);
    if (!rc)
        rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : trust(fd);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

/* The one descriptor that came with the message, or -1. */
static int descriptor_of(struct msghdr *head)
{
    struct cmsghdr *part = CMSG_FIRSTHDR(head);
    int fd = -1;

    if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
        part->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(part), sizeof(fd));
    return fd;
}

int okosu_dial_ask(int fd, struct okosu_wire *message, int *file)
{
    struct okosu_wire asked = *message;
    struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t size;

    if (file) {
        *file = -1;
        head.msg_control = control.room;
        head.msg_controllen = sizeof(control.room);
    }
    do
        size = send(fd, &asked, sizeof(asked), MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof(asked))
        return -ECONNRESET;
    do
        size = recvmsg(fd, &head, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    if (size >= 0 && file)
        *file = descriptor_of(&head);
    if (size == (ssize_t)sizeof(*message) && !(head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
        message->kind == asked.kind && message->tag == asked.tag && message->status <= 0)
        return message->status;
    if (file && *file >= 0) {
        close(*file);
        *file = -1;
    }
    return -ECONNRESET;
}
