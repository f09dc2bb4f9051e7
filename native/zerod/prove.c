/* SPDX-License-Identifier: Apache-2.0 */
/* prove: an engine's report of success is not believed until a CPU has checked the memory. */
#include "prove.h"

#include "pins.h"

#include "base/message.h"
#include "base/now.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define UNIT ((size_t)2 << 20)
#define PAGE ((size_t)4096)
#define SOILED 0xa5

uint64_t zerod_now(void)
{
    return okosu_now();
}

int zerod_wait(const struct zerod_use *use, uint64_t ticket, unsigned patience_ms)
{
    uint64_t end = zerod_now() + patience_ms * UINT64_C(1000000);
    const struct timespec nap = {.tv_nsec = 50000};
    int rc;

    while (!(rc = use->engine->poll(use->state, ticket))) {
        if (zerod_now() > end)
            return -ETIMEDOUT;
        nanosleep(&nap, NULL);
    }
    return rc;
}

/* How many bytes of [from, to) are not `value`. */
static size_t others(const volatile unsigned char *from, const volatile unsigned char *to,
                     unsigned char value)
{
    size_t count = 0;

    while (from < to)
        count += *from++ != value;
    return count;
}

static int look(const unsigned char *at, char *why, size_t room)
{
    size_t left = others(at + UNIT, at + 2 * UNIT - PAGE, 0);
    size_t more =
        others(at, at + UNIT, SOILED) + others(at + 2 * UNIT - PAGE, at + 3 * UNIT, SOILED);

    if (left)
        snprintf(why, room, "it left %zu of %zu bytes as they were", left, UNIT - PAGE);
    else if (more)
        snprintf(why, room, "it wrote to %zu bytes that it was not given", more);
    return left || more ? -EIO : 0;
}

/* *still: whether the engine may still write to the memory. */
static int try_on(const struct zerod_use *use, unsigned char *at, unsigned patience_ms, bool *still,
                  char *why, size_t room)
{
    struct zerod_pins pins;
    struct zerod_range range;
    uint64_t ticket;
    int rc;

    memset(at, SOILED, 3 * UNIT);
    rc = zerod_pins_make(&pins, use, at, 3 * UNIT, UNIT);
    if (rc) {
        snprintf(why, room, "memory cannot be pinned for it: %s", strerror(-rc));
        return rc;
    }
    range = zerod_pins_range(&pins, at + UNIT, UNIT - PAGE);
    rc = use->engine->submit(use->state, &range, &ticket);
    if (!rc)
        rc = zerod_wait(use, ticket, patience_ms);
    *still = rc == -ETIMEDOUT;
    if (rc < 0)
        snprintf(why, room, "it failed to clear memory: %s", strerror(-rc));
    if (!*still)
        zerod_pins_drop(&pins, use);
    return rc < 0 ? rc : look(at, why, room);
}

int zerod_prove(struct zerod_use *use, const struct zerod_engine *engine, bool asked,
                unsigned patience_ms, char *about, size_t room)
{
    int fd, rc = engine->open(&use->state, asked, about, room);
    bool still = false;
    void *at;

    if (rc)
        return rc;
    use->engine = engine;
    use->chunk = 0;
    /* The memory is a file, as the pool's memory is. */
    fd = memfd_create("okosu-proof", MFD_CLOEXEC);
    rc = fd < 0 || ftruncate(fd, 3 * UNIT) ? -errno : 0;
    at = rc ? MAP_FAILED : mmap(NULL, 3 * UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        rc = rc ? rc : -errno;
        snprintf(about, room, "no memory to try it on: %s", strerror(-rc));
    } else {
        rc = try_on(use, at, patience_ms, &still, about, room);
    }
    /* Memory to which a late engine may still write stays mapped. */
    if (at != MAP_FAILED && !still)
        munmap(at, 3 * UNIT);
    if (fd >= 0)
        close(fd);
    if (rc && !still)
        engine->close(use->state);
    return rc;
}

int zerod_choose(struct zerod_use *use, const char *name, unsigned patience_ms, bool verbose)
{
    int rc = -ENOENT;

    for (const struct zerod_engine *const *row = zerod_engines; *row; row++) {
        char about[200] = "";

        if (name && strcmp((*row)->name, name) != 0)
            continue;
        rc = zerod_prove(use, *row, name, patience_ms, about, sizeof(about));
        if (!rc)
            return 0;
        /* Hardware that is present and fails is always reported. */
        if (name || verbose || rc == -EIO)
            okosu_complain(rc, about, name ? "okosu-zerod --list shows those that do" : NULL,
                           "the engine %s does not serve", (*row)->name);
    }
    if (rc == -ENOENT) {
        char fix[80] = "okosu-zerod --list";
        const char *names[16], *near;
        size_t count = 0;

        for (; zerod_engines[count] && count < 16; count++)
            names[count] = zerod_engines[count]->name;
        near = okosu_message_nearest(name, names, count);
        if (near)
            snprintf(fix, sizeof(fix), "did you mean --engine=%s?", near);
        okosu_complain(rc, NULL, fix, "there is no engine %s", name);
    }
    return rc;
}
