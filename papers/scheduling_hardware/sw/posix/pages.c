/* SPDX-License-Identifier: Apache-2.0 */
/* Memory by the page, from the heap. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    void *pages;

    (void)address;
    (void)protection;
    (void)file;
    (void)offset;
    if (size == 0 || (flags & MAP_FIXED) != 0) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    if ((flags & MAP_ANONYMOUS) == 0) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    pages = aligned_alloc(PAGE, size);
    if (pages == NULL) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return memset(pages, 0, size);
}

int munmap(void *address, size_t size)
{
    if (((uintptr_t)address & (PAGE - 1)) != 0 || address == NULL || size == 0) {
        errno = EINVAL;
        return -1;
    }
    free(address);
    return 0;
}

int mlock(const void *address, size_t size)
{
    (void)address;
    (void)size;
    return 0;
}

int munlock(const void *address, size_t size)
{
    return mlock(address, size);
}

int mlockall(int flags)
{
    (void)flags;
    return 0;
}

int munlockall(void)
{
    return 0;
}
