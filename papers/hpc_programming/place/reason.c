/* SPDX-License-Identifier: Apache-2.0 */
/* place: the reason of a failure, kept for each thread. */
#include "reason.h"

#include "base/file.h"
#include "nodes.h"

#include <okosu/place.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char reason[320];

const char *okosu_place_reason(void)
{
    return reason;
}

void okosu_place_begin(void)
{
    reason[0] = '\0';
}

int okosu_place_fail(int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    return rc;
}

/* A seccomp filter is in force in this process. */
static bool filtered(void)
{
    char status[8192], mode[16];

    return okosu_file_read(status, sizeof(status), "/", "/proc/self/status") > 0 &&
           okosu_file_field(status, "Seccomp", mode, sizeof(mode)) == 0 && strcmp(mode, "0") != 0;
}

const char *okosu_place_text(const struct okosu_cpuset *set, char text[PLACE_LIST])
{
    if (okosu_cpulist_format(set, text, PLACE_LIST - 4) < 0)
        strcat(text, ",...");
    return *text ? text : "none";
}

int okosu_place_refused(const char *call, int error)
{
    if (error == EPERM && filtered())
        return okosu_place_fail(-EPERM,
                                "%s: a seccomp filter forbids it, as containers do whose "
                                "profile wants CAP_SYS_NICE for it",
                                call);
    if (error == ENOSYS && filtered() && okosu_place_numa("/"))
        return okosu_place_fail(-ENOSYS, "%s: a seccomp filter hides it", call);
    if (error == ENOSYS && okosu_place_numa("/"))
        return okosu_place_fail(-ENOSYS,
                                "%s: the kernel has NUMA nodes, but an emulator or a "
                                "sandbox hides the call",
                                call);
    if (error == ENOSYS)
        return okosu_place_fail(-ENOSYS, "%s: this kernel was built without NUMA", call);
    return okosu_place_fail(-error, "%s: %s", call, strerror(error));
}
