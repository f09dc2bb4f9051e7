/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYS_H
#define KEYS_H

struct locals;

/* Call the destructors of a thread's values and free the values. */
void keys_destroy_values(struct locals *locals);

#endif
