/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the OKOSU_* variables without allocating. */
#include "config.h"

#include "evidence.h"

#include "base/file.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

struct okosu_config okosu_config = {.children = true, .density = OKOSU_DEFAULT_DENSITY};

char *okosu_config_get(char **env, const char *name)
{
    size_t len = strlen(name);

    for (; env && *env; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    }
    return NULL;
}

static bool read_number(char **env, const char *name, size_t least, size_t most, size_t *out)
{
    const char *text = okosu_config_get(env, name);
    size_t value;

    if (!text || !*text)
        return false;
    if (!okosu_file_number(&text, most, &value) || *text || value < least) {
        okosu_reason_add(OKOSU_WHY_BAD_VALUE);
        return false;
    }
    *out = value;
    return true;
}

static bool read_flag(char **env, const char *name, bool absent)
{
    const char *text = okosu_config_get(env, name);

    if (!text || !*text)
        return absent;
    if (strcmp(text, "1") != 0 && strcmp(text, "0") != 0) {
        okosu_reason_add(OKOSU_WHY_BAD_VALUE);
        return absent;
    }
    return *text == '1';
}

static enum okosu_tier read_tier(char **env)
{
    const char *text = okosu_config_get(env, "OKOSU_SUPERPAGE");

    if (!text || !*text)
        return OKOSU_TIER_NONE;
    if (strcmp(text, "thp") == 0)
        return OKOSU_TIER_THP;
    if (strcmp(text, "small") == 0)
        return OKOSU_TIER_SMALL;
    if (strcmp(text, "shared") == 0)
        return OKOSU_TIER_SHARED;
    if (strcmp(text, "hugetlb") == 0)
        return OKOSU_TIER_HUGETLB;
    okosu_reason_add(OKOSU_WHY_BAD_VALUE);
    return OKOSU_TIER_NONE;
}

static void read_pin_list(char **env)
{
    const char *text = okosu_config_get(env, "OKOSU_PIN");
    unsigned count = 0;
    size_t cpu;

    okosu_config.pin_count = 0;
    if (!text || !*text)
        return;
    while (count < OKOSU_PIN_LIST_MAX && okosu_file_number(&text, OKOSU_CPU_LIMIT - 1, &cpu)) {
        okosu_config.pin_list[count++] = (uint16_t)cpu;
        if (*text == '\0') {
            okosu_config.pin_count = count;
            return;
        }
        if (*text++ != ',')
            break;
    }
    okosu_reason_add(OKOSU_WHY_BAD_VALUE);
}

/* A program may change its directory before the evidence is written, so the path is made
 * absolute. */
static void read_proof(char **env)
{
    const char *text = okosu_config_get(env, "OKOSU_PROOF");
    char *out = okosu_config.proof;
    size_t used = 0;

    out[0] = '\0';
    if (!text || !*text)
        return;
    if (*text != '/') {
        if (!getcwd(out, PATH_MAX - 1)) {
            out[0] = '\0';
            return;
        }
        used = strlen(out);
        out[used++] = '/';
    }
    if (used + strlen(text) >= PATH_MAX) {
        out[0] = '\0';
        return;
    }
    memcpy(out + used, text, strlen(text) + 1);
}

/* OpenMP places its own threads when it was given places, unless the user switched binding off. */
static bool openmp_binds(char **env)
{
    const char *bind = okosu_config_get(env, "OMP_PROC_BIND");

    if (bind && (*bind == 'f' || *bind == 'F'))
        return false;
    return bind || okosu_config_get(env, "OMP_PLACES") ||
           okosu_config_get(env, "GOMP_CPU_AFFINITY") || okosu_config_get(env, "KMP_AFFINITY");
}

void okosu_config_read(char **env)
{
    struct okosu_config *c = &okosu_config;
    size_t value;

    c->tier = read_tier(env);
    c->retain = read_flag(env, "OKOSU_RETAIN", false);
    c->children = read_flag(env, "OKOSU_CHILDREN", true);
    c->verbose = read_flag(env, "OKOSU_VERBOSE", false);
    c->budget_given = read_number(env, "OKOSU_BUDGET", 0, SIZE_MAX / 2, &c->budget);
    if (read_number(env, "OKOSU_DENSITY", 1, 100, &value))
        c->density = (unsigned)value;
    c->openmp_binds = openmp_binds(env);
    read_pin_list(env);
    read_proof(env);
    if (c->proof[0] && read_number(env, "OKOSU_PROOF_SIGNAL", 1, SIGRTMAX, &value))
        c->proof_signal = (int)value;
    /* The inert library makes no system call, so it is asked only where the answer matters. */
    if (read_number(env, "OKOSU_ROOT_PID", 1, INT_MAX, &value) && (!c->children || c->pin_count))
        c->is_root = (pid_t)value == getpid();

    if (!c->children && !c->is_root) {
        c->tier = OKOSU_TIER_NONE;
        c->retain = false;
    }
}
