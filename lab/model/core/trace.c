/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* model-trace SHAPE [-v] < TRACE: runs the model without QEMU, for its tests. A statement a line:
 *
 *   access CPU user|kernel load|store ADDRESS PHYSICAL BYTES
 *   string CPU user|kernel AT              a round of the string instruction at AT begins
 *   move CPU user|kernel load|store ADDRESS PHYSICAL BYTES    an access of a round
 *   run CPU user|kernel N                  N instructions
 *   flush CPU user|kernel                  of the TLB
 *   io CPU user|kernel
 *   mark CPU CODE
 *   decode BYTE...                         prints what an instruction is, and a mark's code
 *
 * stdout is what the plugin would write. With -v each access also prints where its line was found
 * and what translated it: levels from 1 on, 0 for memory and for a walk. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "model.h"
#include "words.h"

#define MOST_BYTES 64

static struct model model;

static bool mode_of(const char *word, enum mode *mode)
{
    *mode = strcmp(word, "user") ? MODE_KERNEL : MODE_USER;
    return *mode == MODE_USER || !strcmp(word, "kernel");
}

/* Return the level, from 1, whose count grew; 0 for memory or a walk, which is the last. */
static uint32_t grown(const uint64_t *before, const uint64_t *after, uint32_t levels)
{
    for (uint32_t i = 0; i < levels; i++)
        if (after[i] != before[i])
            return i + 1;
    return 0;
}

static bool access_of(const struct words *words, uint32_t cpu, enum mode mode, bool verbose)
{
    const struct counts *counts = &model.cpus[cpu].counts[mode];
    struct counts before = *counts;
    bool store = !strcmp(words->word[3], "store");
    uint64_t address, physical, bytes;

    if ((!store && strcmp(words->word[3], "load")) ||
        !words_number(words->word[4], 0, UINT64_MAX, &address) ||
        !words_number(words->word[5], 0, 1ull << 52, &physical) ||
        !words_number(words->word[6], 1, MOST_BYTES, &bytes))
        return false;
    if (!strcmp(words->word[0], "move"))
        model_string_access(&model, cpu, mode, store, address, physical, (uint32_t)bytes);
    else
        model_access(&model, cpu, mode, store, address, physical, (uint32_t)bytes);
    if (verbose)
        printf("%" PRIu32 " %" PRIu32 "\n", grown(before.found, counts->found, model.shape.levels),
               grown(before.translated, counts->translated, model.shape.tlb_levels));
    return true;
}

static bool decode_of(const struct words *words)
{
    static const char *const names[] = {"plain", "mark", "string", "flush"};
    uint8_t bytes[WORDS_MOST];
    uint64_t byte;
    uint32_t code = 0;

    for (int i = 1; i < words->count; i++) {
        if (!words_number(words->word[i], 0, 255, &byte))
            return false;
        bytes[i - 1] = (uint8_t)byte;
    }
    printf("%s", names[decode(bytes, (size_t)words->count - 1, &code)]);
    printf(" %" PRIu32 "\n", code);
    return true;
}

/* Carry out a statement about one CPU in one mode. */
static bool about_cpu(const struct words *words, uint32_t cpu, bool verbose)
{
    const char *what = words->word[0];
    uint64_t number;
    enum mode mode;

    if (!mode_of(words->word[2], &mode))
        return false;
    if (words->count == 7 && (!strcmp(what, "access") || !strcmp(what, "move")))
        return access_of(words, cpu, mode, verbose);
    if (words->count == 4 && !strcmp(what, "string") &&
        words_number(words->word[3], 0, UINT64_MAX, &number)) {
        model_turn(&model, cpu);
        model_string(&model, cpu, mode, number);
    } else if (words->count == 4 && !strcmp(what, "run") &&
               words_number(words->word[3], 0, 1ull << 40, &number)) {
        model_turn(&model, cpu);
        model.executed[mode][0] += number;
    } else if (words->count == 3 && !strcmp(what, "flush")) {
        model_flush_tlb(&model, cpu, mode);
    } else if (words->count == 3 && !strcmp(what, "io")) {
        model_io(&model, cpu, mode);
    } else {
        return false;
    }
    return true;
}

static bool statement(const struct words *words, bool verbose)
{
    uint64_t cpu, code;

    if (!strcmp(words->word[0], "decode"))
        return decode_of(words);
    if (words->count < 3 || !words_number(words->word[1], 0, model.shape.cpus - 1, &cpu))
        return false;
    if (strcmp(words->word[0], "mark"))
        return about_cpu(words, (uint32_t)cpu, verbose);
    if (words->count != 3 || !words_number(words->word[2], 0, UINT32_MAX, &code))
        return false;
    model_mark(&model, (uint32_t)cpu, (uint32_t)code);
    return true;
}

static int run(bool verbose)
{
    struct words words = {0};
    int more;

    while ((more = words_next(stdin, &words)) > 0)
        if (!statement(&words, verbose))
            break;
    if (more) {
        fprintf(stderr, "model-trace: line %u: no statement is like this\n", words.line);
        return 2;
    }
    model_finish(&model);
    return 0;
}

int main(int argc, char **argv)
{
    bool verbose = argc == 3 && !strcmp(argv[2], "-v");
    char why[128];
    struct shape shape;
    FILE *file;
    int status;

    if (argc != 2 + verbose) {
        fputs("usage: model-trace SHAPE [-v] < TRACE\n", stderr);
        return 2;
    }
    file = fopen(argv[1], "r");
    if (!file) {
        fprintf(stderr, "model-trace: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    status = shape_read(file, &shape, why, sizeof(why));
    fclose(file);
    if (status) {
        fprintf(stderr, "model-trace: %s: %s\n", argv[1], why);
        return 2;
    }
    status = model_make(&model, &shape, stdout);
    if (status) {
        fprintf(stderr, "model-trace: %s\n", strerror(-status));
        return 1;
    }
    status = run(verbose);
    model_free(&model);
    return status;
}
