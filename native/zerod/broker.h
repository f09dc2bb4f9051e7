/* SPDX-License-Identifier: Apache-2.0 */
/* broker: what a client's messages do to the store. No socket is touched here. */
#ifndef ZEROD_BROKER_H
#define ZEROD_BROKER_H

#include "store.h"

/* With the store's lock held, all three. */
void zerod_broker_join(struct zerod_store *store, struct zerod_client *client);
/* One message, `size` bytes as they came. 0: it was answered, or will be. -EPROTO: the client is
 * to be let go. */
int zerod_broker_message(struct zerod_store *store, struct zerod_client *client, const void *bytes,
                         size_t size);
/* The client is gone: what it held is cleared, all of it. It is not answered any more. */
void zerod_broker_leave(struct zerod_store *store, struct zerod_client *client);

#endif
