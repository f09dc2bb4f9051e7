/* SPDX-License-Identifier: Apache-2.0 */
/* report: --list, --once and --status, which print and end without serving clients. */
#include "report.h"

#include "memory.h"
#include "prove.h"

#include "base/json.h"
#include "base/message.h"
#include "pool/dial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int zerod_report_list(unsigned patience_ms)
{
    for (const struct zerod_engine *const *row = zerod_engines; *row; row++) {
        struct zerod_use use;
        char about[200] = "";
        int rc = zerod_prove(&use, *row, true, patience_ms, about, sizeof(about));
        struct okosu_json json = okosu_json_begin(stdout);

        okosu_json_string(&json, "engine", (*row)->name);
        okosu_json_string(&json, "doc", (*row)->doc);
        okosu_json_bool(&json, "serves", !rc);
        okosu_json_string(&json, "device", rc || !*about ? NULL : about);
        okosu_json_string(&json, "why", rc ? about : NULL);
        okosu_json_end(&json);
        if (!rc)
            use.engine->close(use.state);
    }
    return 0;
}

static size_t not_zero(const unsigned char *at, size_t bytes)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += at[i] != 0;
    return count;
}

/* Clear one unit after the other, and wait for each. Gives the seconds of submitting and of
 * waiting; 0 or -errno. */
static int clear_all(const struct zerod_limits *limits, const struct zerod_use *use,
                     const struct zerod_pins *pins, unsigned char *at, double *posting,
                     double *seconds)
{
    uint64_t begun = zerod_now(), posted = 0;
    int rc = 0;

    for (size_t done = 0; done < limits->high && !rc; done += limits->unit) {
        struct zerod_range range = zerod_pins_range(pins, at + done, limits->unit);
        uint64_t ticket, before = zerod_now();

        rc = use->engine->submit(use->state, &range, &ticket);
        posted += zerod_now() - before;
        if (!rc)
            rc = zerod_wait(use, ticket, limits->patience_ms);
        rc = rc < 0 ? rc : 0;
    }
    *posting = (double)posted * 1e-9;
    *seconds = (double)(zerod_now() - begun) * 1e-9;
    return rc;
}

static void print_once(const char *engine, size_t bytes, size_t left, double seconds,
                       double posting)
{
    struct okosu_json json = okosu_json_begin(stdout);

    okosu_json_string(&json, "engine", engine);
    okosu_json_unsigned(&json, "bytes", bytes);
    okosu_json_unsigned(&json, "not_zero", left);
    okosu_json_number(&json, "seconds", seconds, 7);
    okosu_json_number(&json, "posting_seconds", posting, 7);
    okosu_json_unsigned(&json, "bytes_per_second",
                        seconds > 0 ? (uint64_t)((double)bytes / seconds) : 0);
    okosu_json_end(&json);
}

int zerod_report_once(const struct zerod_limits *limits, const struct zerod_use *use)
{
    size_t bytes = limits->high - limits->high % limits->unit, left = 0;
    int fd = zerod_memory_file(bytes, limits->hugetlb);
    unsigned char *at = fd < 0 ? NULL : zerod_memory_map(fd, bytes, limits->unit, limits->node);
    struct zerod_limits all = *limits;
    double posting = 0, seconds = 0;
    struct zerod_pins pins;
    int rc = at ? okosu_pages_populate(at, bytes) : fd < 0 ? fd : -errno;

    all.high = bytes;
    if (!rc) {
        memset(at, 0xa5, bytes);
        rc = zerod_pins_make(&pins, use, at, bytes, limits->unit);
    }
    if (!rc) {
        rc = clear_all(&all, use, &pins, at, &posting, &seconds);
        left = rc ? 0 : not_zero(at, bytes);
        if (rc != -ETIMEDOUT)
            zerod_pins_drop(&pins, use);
    }
    if (rc)
        okosu_message("memory was not cleared", strerror(-rc), "a smaller --high");
    else
        print_once(use->engine->name, bytes, left, seconds, posting);
    if (at && rc != -ETIMEDOUT)
        zerod_memory_unmap(at, bytes);
    if (fd >= 0)
        close(fd);
    return rc ? rc : left ? -EIO : 0;
}

int zerod_report_status(const char *path)
{
    static const char *const names[OKOSU_WIRE_FIGURES] = {
        "clean", "held", "dirty", "busy", "cap", "clients", "cleared_bytes", "failures"};
    struct okosu_wire message = {.kind = OKOSU_WIRE_STATS};
    struct okosu_json json;
    int fd = okosu_dial(path), rc = fd < 0 ? fd : okosu_dial_ask(fd, &message, NULL);

    if (rc) {
        okosu_complain(rc, strerror(-rc),
                       rc == -ENOENT || rc == -ECONNREFUSED ? "okosu-zerod --socket=PATH &" : NULL,
                       "%s gives no status", path);
    } else {
        json = okosu_json_begin(stdout);
        for (size_t i = 0; i < OKOSU_WIRE_FIGURES; i++)
            okosu_json_int(&json, names[i], (long long)message.figure[i]);
        okosu_json_end(&json);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}
