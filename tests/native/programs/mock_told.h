/* SPDX-License-Identifier: Apache-2.0 */
/* How the tests tell a mock of a library to misbehave. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

/* What it is told, or what the file says that it is told: that may change. */
static inline const char *told(const char *variable)
{
    static _Thread_local char text[64];
    const char *mock = getenv(variable);
    FILE *file;

    if (!mock || *mock != '/')
        return mock ? mock : "";
    file = fopen(mock, "re");
    if (!file || !fgets(text, sizeof(text), file))
        *text = '\0';
    if (file)
        fclose(file);
    return text;
}
