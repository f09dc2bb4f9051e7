/* SPDX-License-Identifier: Apache-2.0 */
/* What deepbind_library.c shows of itself. */
#include <stdlib.h>

struct deep {
    void *(*give)(size_t);
    void (*take)(void *);
    void (*take_by_pointer)(void *);
    void *(*change)(void *, size_t);
};

extern const struct deep deep;
