/* SPDX-License-Identifier: Apache-2.0 */
/* Takes okosu's traces out of an environment, for OKOSU_CHILDREN=0. */
#pragma once

/* Removes from ENV (changed in place, strings included, nothing allocated): the entries of
 * LD_PRELOAD whose file name is one of LIBRARIES (NULL-ended); the pieces of GLIBC_TUNABLES that
 * OKOSU_TUNABLES lists; every variable OKOSU_*. A list that becomes empty is removed. */
void okosu_environ_clean(char **env, const char *const *libraries);
