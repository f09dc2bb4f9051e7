/* SPDX-License-Identifier: Apache-2.0 */
/* What a program can do to a block beside writing to it: protect it, move it, lock all memory. */
#include "next.h"
#include "prezero.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

OKOSU_EXPORT int mprotect(void *start, size_t length, int prot)
{
    static int (*next)(void *, size_t, int);

    if (okosu_prezero_owns(start))
        okosu_prezero_changed(start, length);
    if (!next && !okosu_next_find(&next, "mprotect"))
        return (int)syscall(SYS_mprotect, start, length, prot);
    return next(start, length, prot);
}

OKOSU_EXPORT void *mremap(void *old, size_t old_length, size_t new_length, int flags, ...)
{
    static void *(*next)(void *, size_t, size_t, int, ...);
    va_list more;
    void *to;

    va_start(more, flags);
    to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    if (okosu_prezero_owns(old))
        okosu_prezero_changed(old, old_length);
    if (to && okosu_prezero_owns(to))
        okosu_prezero_changed(to, new_length);
    if (!next && !okosu_next_find(&next, "mremap"))
        return (void *)syscall(SYS_mremap, old, old_length, new_length, flags, to);
    return next(old, old_length, new_length, flags, to);
}

/* All of the pool's addresses would be populated and stay in memory. */
OKOSU_EXPORT int mlockall(int flags)
{
    static int (*next)(int);

    okosu_prezero_stop();
    if (!next && !okosu_next_find(&next, "mlockall"))
        return (int)syscall(SYS_mlockall, flags);
    return next(flags);
}
