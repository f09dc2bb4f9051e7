/* SPDX-License-Identifier: Apache-2.0 */
/* serve: one thread, which never waits for a client: a client that does not take its answer is
 * disconnected. */
#include "serve.h"

#include "broker.h"
#include "listen.h"
#include "prove.h"

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* After this long without a descriptor for a new client, it looks again. */
#define RETRY_MS 100
#define NS_PER_MS UINT64_C(1000000)

struct peer {
    struct zerod_client client;
    int fd;
    uint64_t greets; /* ns: the time by which it must have said HELLO */
};

struct zerod_server {
    struct zerod_store *store;
    const struct zerod_options *options;
    struct zerod_listener listener;
    int spare; /* closed to accept and turn away a client when descriptors run out */
    size_t count;
    struct peer **peers;
    struct pollfd *polled; /* the stop descriptor, the listener, one for each peer */
};

static struct peer *peer_of(struct zerod_client *client)
{
    return (struct peer *)((char *)client - offsetof(struct peer, client));
}

/* Called with the store's lock held, by either thread. A connection that ends here is noticed by
 * poll(). */
static void answer(struct zerod_client *client, const struct okosu_wire *message, int fd)
{
    struct peer *peer = peer_of(client);
    struct iovec part = {.iov_base = (void *)message, .iov_len = sizeof(*message)};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    struct cmsghdr *rights;

    if (fd >= 0) {
        head.msg_control = control.room;
        head.msg_controllen = sizeof(control.room);
        rights = CMSG_FIRSTHDR(&head);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
    }
    if (sendmsg(peer->fd, &head, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        shutdown(peer->fd, SHUT_RDWR);
}

static bool is_allowed(const struct zerod_options *options, uid_t uid)
{
    if (uid == geteuid())
        return true;
    for (size_t i = 0; i < options->allowed_count; i++) {
        if (options->allowed[i] == uid)
            return true;
    }
    return false;
}

static void say_refused(const struct zerod_server *server, const struct ucred *who, const char *why)
{
    if (server->options->verbose)
        okosu_complain(0, why, NULL, "process %d of user %u was turned away", who->pid, who->uid);
}

static size_t count_of(const struct zerod_server *server, uid_t uid)
{
    size_t count = 0;

    for (size_t i = 0; i < server->count; i++)
        count += server->peers[i]->client.uid == uid;
    return count;
}

/* 0: it has become a client, and its socket belongs to the server. */
static int admit(struct zerod_server *server, int fd)
{
    struct ucred who;
    socklen_t size = sizeof(who);
    struct peer *peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
        return -errno;
    if (!is_allowed(server->options, who.uid)) {
        say_refused(server, &who, "--allow does not name this user");
        return -EACCES;
    }
    if (server->count == server->options->clients) {
        say_refused(server, &who, "there are as many clients as --clients allows");
        return -EMFILE;
    }
    if (count_of(server, who.uid) >= server->options->user_clients) {
        say_refused(server, &who, "the user has as many as --user-clients allows");
        return -EDQUOT;
    }
    peer = calloc(1, sizeof(*peer));
    if (!peer)
        return -ENOMEM;
    peer->fd = fd;
    peer->greets = zerod_now() + server->options->greeting_ms * NS_PER_MS;
    peer->client = (struct zerod_client){.uid = who.uid, .answer = answer};
    pthread_mutex_lock(&server->store->lock);
    zerod_broker_join(server->store, &peer->client);
    pthread_mutex_unlock(&server->store->lock);
    server->peers[server->count++] = peer;
    return 0;
}

static void let_go(struct zerod_server *server, size_t index)
{
    struct peer *peer = server->peers[index];

    pthread_mutex_lock(&server->store->lock);
    zerod_broker_leave(server->store, &peer->client);
    pthread_mutex_unlock(&server->store->lock);
    close(peer->fd);
    free(peer);
    server->peers[index] = server->peers[--server->count];
}

/* A client wants to connect and there is no descriptor for it. Without the spare descriptor the
 * client would stay in the queue, and poll() would return at once for ever. */
static void turn_away(struct zerod_server *server)
{
    int fd;

    if (server->spare < 0)
        return;
    close(server->spare);
    fd = accept4(server->listener.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_one(struct zerod_server *server)
{
    int fd = accept4(server->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            turn_away(server);
        return;
    }
    if (admit(server, fd))
        close(fd);
}

/* Receive one message of one client. False: it has left, or must be disconnected. Descriptors that
 * came along are never installed, because the call provides no room for them. */
static bool hear(struct zerod_server *server, struct peer *peer)
{
    char bytes[sizeof(struct okosu_wire) + 1];
    struct iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t size = recvmsg(peer->fd, &head, MSG_DONTWAIT);
    int rc;

    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    if (!size || head.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return false;
    pthread_mutex_lock(&server->store->lock);
    rc = zerod_broker_message(server->store, &peer->client, bytes, (size_t)size);
    pthread_mutex_unlock(&server->store->lock);
    return !rc;
}

/* Disconnects the clients that have not said HELLO in time; returns how many ms poll() may wait. */
static int expect_greetings(struct zerod_server *server)
{
    uint64_t now = zerod_now(), first = UINT64_MAX;

    for (size_t i = server->count; i-- > 0;) {
        const struct peer *peer = server->peers[i];

        if (peer->client.shelf)
            continue;
        if (peer->greets <= now)
            let_go(server, i);
        else if (peer->greets < first)
            first = peer->greets;
    }
    if (server->spare < 0)
        return RETRY_MS;
    return first == UINT64_MAX ? -1 : (int)((first - now) / NS_PER_MS) + 1;
}

/* Each client with a message is served once per round, so that none can keep the others waiting. */
int zerod_serve_run(struct zerod_server *server, int stop_fd)
{
    for (;;) {
        struct pollfd *polled = server->polled;
        int patience = expect_greetings(server), ready;

        polled[0] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = server->listener.fd, .events = POLLIN};
        for (size_t i = 0; i < server->count; i++)
            polled[2 + i] = (struct pollfd){.fd = server->peers[i]->fd, .events = POLLIN};
        ready = poll(polled, 2 + server->count, patience);
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (server->spare < 0)
            server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (ready <= 0)
            continue;
        if (polled[0].revents)
            return 0;
        /* Clients are served from the last one down: a client that is disconnected is replaced by
         * the last one, which has been served already. */
        for (size_t i = server->count; i-- > 0;) {
            if (polled[2 + i].revents && !hear(server, server->peers[i]))
                let_go(server, i);
        }
        if (polled[1].revents)
            accept_one(server);
    }
}

int zerod_serve_open(struct zerod_server **out, const struct zerod_options *options,
                     struct zerod_store *store)
{
    struct zerod_server *server = calloc(1, sizeof(*server));
    int rc = -ENOMEM;

    if (!server)
        goto out;
    server->store = store;
    server->options = options;
    server->peers = calloc(options->clients, sizeof(struct peer *));
    server->polled = calloc(options->clients + 2, sizeof(*server->polled));
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    server->listener = (struct zerod_listener){.fd = -1, .lock = -1};
    if (!server->peers || !server->polled)
        goto out;
    rc = zerod_listen(&server->listener, options->socket, options->allowed_count > 0);
    if (!rc) {
        *out = server;
        return 0;
    }
    server->listener = (struct zerod_listener){.fd = -1, .lock = -1};
out:
    if (rc == -ENOMEM)
        okosu_message("there is no memory for the clients' table", NULL, "--clients=NUMBER");
    zerod_serve_close(server);
    return rc;
}

void zerod_serve_close(struct zerod_server *server)
{
    if (!server)
        return;
    while (server->count)
        let_go(server, server->count - 1);
    zerod_listen_end(&server->listener);
    if (server->spare >= 0)
        close(server->spare);
    free(server->polled);
    free(server->peers);
    free(server);
}
