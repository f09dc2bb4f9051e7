/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the proof (see proof.h). */
#include "proof.h"

#include <sys/prctl.h>
#include <unistd.h>

void okosu_proof_open(struct okosu_json *json)
{
    char name[17] = "";

    prctl(PR_GET_NAME, name, 0, 0, 0);
    /* A process name may hold any byte; only those that need no escape are kept. */
    for (char *s = name; *s; s++)
        *s = *s < ' ' || *s > '~' || *s == '"' || *s == '\\' ? '?' : *s;
    okosu_json_open(json, NULL, '{');
    okosu_json_int(json, "pid", getpid());
    okosu_json_string(json, "comm", name);
}

void okosu_proof_close(struct okosu_json *json, const char *proof)
{
    okosu_json_close(json, '}');
    okosu_put_char(json->line, '\n');
    okosu_line_append(proof, json->line);
}
