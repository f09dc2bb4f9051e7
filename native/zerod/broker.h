/* SPDX-License-Identifier: Apache-2.0 */
/* broker: applies a client's messages to the store. No socket is touched here. */
#pragma once

#include "store.h"

/* All three functions are called with the store's lock held. */
void zerod_broker_join(struct zerod_store *store, struct zerod_client *client);
/* Handle one message of `size` bytes as received. 0: it was answered, or will be. -EPROTO: the
 * client must be disconnected. */
int zerod_broker_message(struct zerod_store *store, struct zerod_client *client, const void *bytes,
                         size_t size);
/* The client is gone: everything it held will be cleared, and nothing more is sent to it. */
void zerod_broker_leave(struct zerod_store *store, struct zerod_client *client);
