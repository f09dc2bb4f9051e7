/* SPDX-License-Identifier: Apache-2.0 */
/* Memory by the page (4 KiB), from the heap, cleared, at no address that could be asked for. There
 * are no files to map and no objects to share with other processes. */
#ifndef SYS_MMAN_H
#define SYS_MMAN_H

#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_ANON MAP_ANONYMOUS
#define MAP_FAILED ((void *)-1)
#define MCL_CURRENT 1
#define MCL_FUTURE 2

/* MAP_FAILED and ENODEV (no MAP_ANONYMOUS), EINVAL (MAP_FIXED, or a size of 0), ENOMEM. */
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
/* The whole of what mmap gave; -1 and EINVAL: not aligned. */
int munmap(void *address, size_t size);
/* All memory is there all the time. */
int mlock(const void *address, size_t size);
int munlock(const void *address, size_t size);
int mlockall(int flags);
int munlockall(void);
/* -1 and ENOSYS. */
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);

#endif
