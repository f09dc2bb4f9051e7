/* SPDX-License-Identifier: Apache-2.0 */
/* listen: the socket's name, of which there is one owner, also after a daemon that was killed. */
#ifndef ZEROD_LISTEN_H
#define ZEROD_LISTEN_H

struct zerod_listener {
    int fd, lock;
    const char *path;
};

/* 0; or -errno, and it was said why. */
int zerod_listen(struct zerod_listener *listener, const char *path, int others);
void zerod_listen_end(struct zerod_listener *listener);

#endif
