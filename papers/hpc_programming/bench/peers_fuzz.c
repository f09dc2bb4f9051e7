/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds the parser of the files NAME.peer with random ones, made of the pieces that real ones have,
 * under the sanitizers. usage: peers-fuzz [COUNT [SEED]]; aborts on the first violated property.
 */
#include "peers_description.h"

#include "base/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const whole = "library lib.so\nversion 1\ncall plain\nsymbols x_%s\n";
static const char *const pieces[] = {
    "library ", "version ", "config ",   "threads ",    "call ",      "symbols ",
    "report ",  "report-",  "blis ",     "report-map ", "needs ",     "env ",
    "plain",    "cblas32",  "cblas64",   "cblas",       "A=1",        "=",
    "lib.so.3", "cblas_%s", "%s%s",      "%n",          "%",          "%%s",
    "\n",       "\n",       "\n",        "\n",          "#",          " ",
    "",         "\xff\xfe", "needs a\n", "env A=1\n",   "\r\n",       "kind ",
    "paper",    "peer",     "multiple ", "8",           "alignment ", "99999"};

/* In a block of its exact size, so that a read past its end is seen. */
static char *make(void)
{
    char text[1024] = "";
    size_t parts = next_random(40);

    if (next_random(2))
        strcat(text, whole);
    for (size_t i = 0; i < parts; i++)
        strcat(text, pieces[next_random(sizeof(pieces) / sizeof(pieces[0]))]);
    return strdup(text);
}

static void within(const struct peers_description *about, const char *value, size_t length)
{
    require(value >= about->text && value + strlen(value) <= about->text + length,
            "a value that is not of the text");
    require(strchr(value, '\n') == NULL, "a value of two lines");
}

static void check(const struct peers_description *about, size_t length)
{
    const char *const must[] = {about->library, about->version, about->call, about->symbols};
    const char *percent;

    for (size_t i = 0; i < 4; i++) {
        require(must[i] != NULL, "a description that lacks something");
        within(about, must[i], length);
    }
    percent = strchr(about->symbols, '%');
    require(percent && percent[1] == 's' && strchr(percent + 1, '%') == NULL,
            "symbols that are no pattern of one name");
    require(strcmp(about->call, "plain") == 0 || strcmp(about->call, "cblas32") == 0 ||
                strcmp(about->call, "cblas64") == 0,
            "a way of calling that is not known");
    require(about->kind == NULL || strcmp(about->kind, "peer") == 0 ||
                strcmp(about->kind, "paper") == 0,
            "a kind that is not known");
    require(about->multiple == NULL || strtoul(about->multiple, NULL, 10) <= 9999, "a multiple");
    require(about->alignment == NULL || strtoul(about->alignment, NULL, 10) <= 9999,
            "an alignment");
    require(about->need_count <= PEERS_NEEDS_LIMIT, "too many needs");
    for (size_t i = 0; i < about->need_count; i++)
        within(about, about->needs[i], length);
    require(about->variable_count <= PEERS_VARIABLES_LIMIT, "too many variables");
    for (size_t i = 0; i < about->variable_count; i++) {
        within(about, about->variables[i], length);
        require(strchr(about->variables[i], '=') != NULL, "a variable without a value");
    }
}

int main(int argc, char **argv)
{
    size_t count = fuzz_begin("peers-fuzz", argc, argv, 50000), accepted = 0;

    for (size_t i = 0; i < count; i++) {
        struct peers_description about;
        char why[200] = "", *text = make();
        size_t length = strlen(text);
        int rc = peers_description_parse(&about, text, why, sizeof(why));

        require(rc == 0 || rc == -EINVAL, "an error that is not EINVAL");
        require((rc == 0) == (*why == '\0'), "an error without a reason, or a reason without one");
        if (rc == 0) {
            check(&about, length);
            accepted++;
        }
        free(about.text);
    }
    printf("%zu descriptions, %zu accepted\n", count, accepted);
    require(accepted > 0 && accepted < count, "every description ends alike");
    return 0;
}
