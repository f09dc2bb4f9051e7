/* SPDX-License-Identifier: Apache-2.0 */
/* Peers, descriptions: strict, since a line that was misread would time another library. */
#include "peers_description.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t got;

    if (in == NULL)
        return NULL;
    got = getdelim(&text, &size, '\0', in);
    /* Nothing to read is no error, but an empty text. */
    if (got < 0 && !ferror(in) && text)
        *text = '\0';
    else if (got < 0) {
        free(text);
        text = NULL;
    }
    fclose(in);
    return text;
}

/* 0, or -EINVAL with the reason in why. */
static int read_line(struct peers_description *about, char *line, char *why, size_t size)
{
    const struct {
        const char *keyword;
        const char **value;
    } single[] = {{"library", &about->library},
                  {"version", &about->version},
                  {"config", &about->config},
                  {"threads", &about->threads},
                  {"call", &about->call},
                  {"symbols", &about->symbols},
                  {"report", &about->report},
                  {"report-blis", &about->report_blis},
                  {"report-map", &about->report_map},
                  {"kind", &about->kind},
                  {"multiple", &about->multiple},
                  {"alignment", &about->alignment}};
    char *value = strchr(line, ' ');

    if (*line == '\0' || *line == '#')
        return 0;
    if (value)
        *value++ = '\0';
    for (size_t i = 0; value && i < sizeof(single) / sizeof(single[0]); i++)
        if (strcmp(line, single[i].keyword) == 0) {
            *single[i].value = value;
            return 0;
        }
    if (value && strcmp(line, "needs") == 0 && about->need_count < PEERS_NEEDS_LIMIT) {
        about->needs[about->need_count++] = value;
        return 0;
    }
    if (value && strcmp(line, "env") == 0 && strchr(value, '=') &&
        about->variable_count < PEERS_VARIABLES_LIMIT) {
        about->variables[about->variable_count++] = value;
        return 0;
    }
    snprintf(why, size, "its description has a line \"%s\" that is not understood", line);
    return -EINVAL;
}

/* One %s and no other conversion, for it goes to snprintf. */
static bool good_pattern(const char *pattern)
{
    const char *percent = strchr(pattern, '%');

    return percent && percent[1] == 's' && strchr(percent + 1, '%') == NULL;
}

static bool good_number(const char *text)
{
    size_t length = text ? strspn(text, "0123456789") : 1;

    return !text || (length > 0 && length <= 4 && text[length] == '\0');
}

int peers_description_parse(struct peers_description *about, char *text, char *why, size_t size)
{
    char *rest = text;

    *about = (struct peers_description){.text = text};
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (read_line(about, line, why, size) < 0)
            return -EINVAL;
    if (about->call && strcmp(about->call, "plain") != 0 && strcmp(about->call, "cblas32") != 0 &&
        strcmp(about->call, "cblas64") != 0) {
        snprintf(why, size, "its description has a way of calling \"%s\" that is not known",
                 about->call);
        return -EINVAL;
    }
    if (about->kind && strcmp(about->kind, "peer") != 0 && strcmp(about->kind, "paper") != 0) {
        snprintf(why, size, "its description has a kind \"%s\" that is neither peer nor paper",
                 about->kind);
        return -EINVAL;
    }
    if (!good_number(about->multiple) || !good_number(about->alignment)) {
        snprintf(why, size, "its description has a multiple or an alignment that is no number");
        return -EINVAL;
    }
    if (about->library && about->version && about->call && about->symbols &&
        good_pattern(about->symbols))
        return 0;
    snprintf(why, size, "its description lacks a library, version, call or symbols with one %%s");
    return -EINVAL;
}

int peers_description_read(struct peers_description *about, const char *path, char *why,
                           size_t size)
{
    char *text = read_text(path);

    *about = (struct peers_description){.text = NULL};
    if (text)
        return peers_description_parse(about, text, why, size);
    snprintf(why, size, "its description can't be read: %s", strerror(errno));
    return -EINVAL;
}
