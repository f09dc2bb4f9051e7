/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the proof (see proof.h). */
#include "proof.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void okosu_proof_identify(struct okosu_proof *proof)
{
    proof->pid = getpid();
    prctl(PR_GET_NAME, proof->comm, 0, 0, 0);
    /* A process name may hold any byte; only those that need no escape are kept. */
    for (char *s = proof->comm; *s; s++)
        *s = *s < ' ' || *s > '~' || *s == '"' || *s == '\\' ? '?' : *s;
}

void okosu_proof_open(struct okosu_json *json, const struct okosu_proof *proof)
{
    okosu_json_open(json, NULL, '{');
    okosu_json_int(json, "pid", proof->pid);
    okosu_json_string(json, "comm", proof->comm);
}

void okosu_proof_close(struct okosu_json *json, struct okosu_proof *proof)
{
    const struct okosu_line *line = json->line;

    okosu_json_close(json, '}');
    okosu_put_char(json->line, '\n');
    if (!proof->mapped) {
        okosu_line_append(proof->path, line);
    } else if (!line->cut && line->used <= proof->room) {
        memcpy(proof->mapped, line->text, line->used);
        proof->mapped += line->used;
        proof->room -= line->used;
    }
}
