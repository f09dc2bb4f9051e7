/* SPDX-License-Identifier: Apache-2.0 */
/* A small service that misbehaves as it is told, and its load.
 *
 * service MODE PORT        accept connections on PORT, read a byte from each and send one back
 * service ask PORT COUNT   make COUNT connections, one after another; print their number */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int die(const char *what)
{
    perror(what);
    return 1;
}

static struct sockaddr_in at(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int ask(const char *port, int count)
{
    struct sockaddr_in address = at(port);

    for (int i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        char byte = 'q';

        if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
            return die("connect");
        if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
            return die("no answer");
        close(fd);
    }
    printf("answers=%d\n", count);
    return 0;
}

static void leave(int signal)
{
    _exit(signal == SIGTERM ? 0 : 1);
}

int main(int argc, char **argv)
{
    const char *mode = argv[1], *port = argv[2];
    struct sockaddr_in address = at(port);
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    size_t size = 4 << 20;
    char *from = malloc(size), *to = malloc(size);

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(mode, "ask") == 0)
        return ask(port, argc > 3 ? atoi(argv[3]) : 1);
    if (strcmp(mode, "leaves") == 0)
        signal(SIGTERM, leave);
    if (strcmp(mode, "stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
    if (strcmp(mode, "leaves-child") == 0 && fork() == 0)
        for (;;)
            pause();
    if (strcmp(mode, "daemon") == 0 && daemon(1, 1))
        return die("daemon");
    memset(from, 1, size);
    for (int i = 0; i < 8; i++)
        memcpy(to, from, size);
    printf("starting with %d\n", to[size - 1]);
    if (strcmp(mode, "dies-at-once") == 0) {
        fprintf(stderr, "no such configuration\n");
        return 3;
    }
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (strcmp(mode, "never-ready") != 0 &&
        (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 64)))
        return die("bind");
    printf("listening on %s\n", port);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        char byte;

        if (fd < 0) {
            pause();
            continue;
        }
        if (read(fd, &byte, 1) == 1) {
            if (strcmp(mode, "dies-under-load") == 0)
                abort();
            if (strcmp(mode, "silent") != 0 && write(fd, "a", 1) == 1)
                shutdown(fd, SHUT_WR);
        }
        if (strcmp(mode, "silent") != 0)
            close(fd);
    }
}
