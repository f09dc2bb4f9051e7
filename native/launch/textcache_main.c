/* SPDX-License-Identifier: Apache-2.0 */
/* okosu-textcache: brings the code of files onto 2 MiB pages in the page cache or back onto small
 * ones, or says where it lies. A trial calls it before each run, and users to undo what okosu-run
 * did. */
#include "textcache.h"

#include "base/json.h"
#include "base/message.h"
#include "base/now.h"

#include <stdio.h>
#include <string.h>

enum { NOT_ALL = 1 };

static const char help[] =
    "usage: okosu-textcache huge|small|show FILE...\n"
    "\n"
    "Bring the code of each program or library onto 2 MiB pages in the page cache, or onto\n"
    "small ones, by dropping its pages there and reading them anew; show only looks. It needs\n"
    "the right to read the files. One line of JSON for each file says how many KiB of code\n"
    "could be on huge pages, and how many are.\n"
    "\n"
    "Exit status: 0; 1 if a file does not lie as it was asked for; 125 for a mistake here.\n";

/* Whether the file lies as asked for. */
static bool handle(const char *path, bool show, bool huge)
{
    struct okosu_textcache text;
    uint64_t begun = okosu_now();
    int rc =
        show ? okosu_textcache_look(path, &text) : okosu_textcache_bring(path, huge, true, &text);
    struct okosu_json json = okosu_json_begin(stdout);

    okosu_json_string(&json, "file", path);
    okosu_json_unsigned(&json, "whole_kb", text.whole_kb);
    okosu_json_unsigned(&json, "huge_kb", text.huge_kb);
    okosu_json_number(&json, "seconds", (double)(okosu_now() - begun) / 1e9, 4);
    okosu_json_string(&json, "why", rc ? strerror(-rc) : text.why);
    okosu_json_end(&json);
    return show || (rc == 0 && text.huge_kb == (huge ? text.whole_kb : 0));
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    bool show = strcmp(word, "show") == 0, huge = strcmp(word, "huge") == 0, all = true;

    if (strcmp(word, "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (argc < 3 || (!show && !huge && strcmp(word, "small") != 0)) {
        okosu_message("nothing to do", "its first word is huge, small or show, and files follow",
                      "okosu-textcache show FILE");
        return OKOSU_EXIT_FAILED;
    }
    for (int i = 2; i < argc; i++)
        all &= handle(argv[i], show, huge);
    if (fflush(stdout)) {
        okosu_message("stdout cannot be written", "it is closed or full", NULL);
        return OKOSU_EXIT_FAILED;
    }
    return all ? 0 : NOT_ALL;
}
