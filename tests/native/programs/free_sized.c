/* SPDX-License-Identifier: Apache-2.0 */
/* The C23 functions of a libc that has them: they free what libc's own malloc gave out. */
#include <stddef.h>

void __libc_free(void *p);
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);

void free_sized(void *p, size_t size)
{
    (void)size;
    __libc_free(p);
}

void free_aligned_sized(void *p, size_t align, size_t size)
{
    (void)align, (void)size;
    __libc_free(p);
}
