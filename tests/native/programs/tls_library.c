/* SPDX-License-Identifier: Apache-2.0 */
/* A library to dlopen: thread-local data, and a constructor and destructor that allocate. */
#include <stdlib.h>
#include <string.h>

int check_library(void);

static __thread char local[512] = "per thread";
static char *large, *small;

__attribute__((constructor)) static void enter(void)
{
    large = calloc(1, (size_t)3 << 20);
    small = malloc(100);
}

__attribute__((destructor)) static void leave(void)
{
    free(large);
    free(small);
}

int check_library(void)
{
    if (!large || !small || large[0] || large[((size_t)3 << 20) - 1] || strcmp(local, "per thread"))
        return 1;
    large[5] = 0;
    local[0] = 'P';
    return local[0] == 'P' && (local[0] = 'p') ? 42 : 2;
}
