/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCHEDULING_H
#define SCHEDULING_H

/* Remember a thread's policy and priority. */
void scheduling_note(unsigned handle, int policy, int priority);

/* Whether this policy has this priority. */
int scheduling_is_valid(int policy, int priority);

#endif
