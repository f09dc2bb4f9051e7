/* SPDX-License-Identifier: Apache-2.0 */
/* listen: the name of the socket, which has one owner at a time, even after a daemon that was
 * killed. */
#ifndef ZEROD_LISTEN_H
#define ZEROD_LISTEN_H

struct zerod_listener {
    int fd, lock;
    const char *path;
};

/* 0; or -errno, and the error has been printed. */
int zerod_listen(struct zerod_listener *listener, const char *path, int others);
void zerod_listen_end(struct zerod_listener *listener);

#endif
