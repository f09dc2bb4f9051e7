/* SPDX-License-Identifier: Apache-2.0 */
/* serve: the socket: admits clients, and passes messages between them and the broker. */
#pragma once

#include "options.h"
#include "store.h"

struct zerod_server;

/* Listen. 0; or -errno, and the error has been printed. */
int zerod_serve_open(struct zerod_server **server, const struct zerod_options *options,
                     struct zerod_store *store);
/* Serve until `stop_fd` is readable. 0 or -errno. */
int zerod_serve_run(struct zerod_server *server, int stop_fd);
/* Ends all connections and removes the name of the socket. NULL is allowed. */
void zerod_serve_close(struct zerod_server *server);
