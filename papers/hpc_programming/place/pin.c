/* SPDX-License-Identifier: Apache-2.0 */
/* place: the CPUs on which the calling thread may run. */
#include "reason.h"

#include <okosu/place.h>

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get_mask(struct okosu_cpuset *cpus)
{
    memset(cpus, 0, sizeof(*cpus));
    if (syscall(SYS_sched_getaffinity, 0, sizeof(cpus->bits), cpus->bits) < 0)
        return okosu_place_refused("sched_getaffinity", errno);
    return 0;
}

int okosu_place_mask(struct okosu_cpuset *cpus)
{
    okosu_place_begin();
    return get_mask(cpus);
}

/* Name the CPUs that were refused, and the reason. */
static int explain(const struct okosu_cpuset *wanted, const struct okosu_cpuset *got)
{
    struct okosu_cpuset missing = okosu_cpuset_without(wanted, got), online, confined, absent;
    char lost[PLACE_LIST], have[PLACE_LIST];

    if (okosu_topo_online("/", &online) == 0) {
        absent = okosu_cpuset_without(&missing, &online);
        if (okosu_cpuset_count(&absent))
            return okosu_place_fail(-ENODEV, "CPU %s is not online; online: %s",
                                    okosu_place_text(&absent, lost),
                                    okosu_place_text(&online, have));
    }
    if (okosu_topo_confined("/", &confined))
        return okosu_place_fail(-EACCES, "CPU %s is not in the cpuset of this process",
                                okosu_place_text(&missing, lost));
    return okosu_place_fail(-EACCES, "CPU %s is not in the cpuset of this process, which has %s",
                            okosu_place_text(&missing, lost), okosu_place_text(&confined, have));
}

static int set_mask(const struct okosu_cpuset *cpus)
{
    return syscall(SYS_sched_setaffinity, 0, sizeof(cpus->bits), cpus->bits) ? errno : 0;
}

int okosu_place_pin(const struct okosu_cpuset *cpus, struct okosu_cpuset *before)
{
    struct okosu_cpuset had, got = {0};
    int rc, error;

    okosu_place_begin();
    if (okosu_cpuset_count(cpus) == 0)
        return okosu_place_fail(-EINVAL, "no CPU was named");
    rc = get_mask(&had);
    if (rc)
        return rc;
    error = set_mask(cpus);
    if (error == EINVAL)
        return explain(cpus, &got);
    if (error)
        return okosu_place_refused("sched_setaffinity", error);
    /* The kernel silently drops CPUs that the cpuset does not allow. */
    rc = get_mask(&got);
    if (!rc && !okosu_cpuset_equal(&got, cpus))
        rc = explain(cpus, &got);
    if (rc) {
        set_mask(&had);
        return rc;
    }
    if (before)
        *before = had;
    return 0;
}

int okosu_place_pin_cpu(unsigned cpu, struct okosu_cpuset *before)
{
    struct okosu_cpuset one = {0};

    okosu_place_begin();
    if (cpu >= OKOSU_CPU_LIMIT)
        return okosu_place_fail(-ENODEV, "there is no CPU %u", cpu);
    okosu_cpuset_add(&one, cpu);
    return okosu_place_pin(&one, before);
}

int okosu_place_unpin(const struct okosu_cpuset *before)
{
    struct okosu_cpuset got = {0};
    int error = set_mask(before);

    okosu_place_begin();
    if (error == EINVAL)
        return explain(before, &got);
    return error ? okosu_place_refused("sched_setaffinity", error) : 0;
}
