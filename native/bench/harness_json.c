/* SPDX-License-Identifier: Apache-2.0 */
/* Harness, output: one JSON object a line. */
#include "harness_internal.h"

#include "base/json.h"

#include <okosu/cpu.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct okosu_json begin(struct bench *bench, const char *type)
{
    struct okosu_json json = okosu_json_begin(bench->out);

    okosu_json_string(&json, "type", type);
    return json;
}

/* Seven digits are more than any clock here has. */
static void number(struct okosu_json *json, const char *name, double value)
{
    okosu_json_number(json, name, value, 7);
}

void bench_header_print(struct bench *bench)
{
    struct okosu_json json = begin(bench, "header");
    char features[256] = "", model[64] = "";

    okosu_cpu_names(okosu_cpu_features(), features, sizeof(features));
    okosu_cpu_model(model, sizeof(model));
    okosu_json_string(&json, "bench", bench->program->name);
    okosu_json_unsigned(&json, "version", 2);
    okosu_json_string(&json, "library", "okosu " OKOSU_VERSION);
    okosu_json_string(&json, "model", model);
    okosu_json_string(&json, "features", features);
    number(&json, "tick_hz", bench->clock.tick_hz);
    okosu_json_unsigned(&json, "overhead_ticks", bench->overhead);
    number(&json, "cycles_per_tick", bench->cycles_per_tick);
    okosu_json_int(&json, "cpu", bench->cpu);
    okosu_json_unsigned(&json, "seed", bench->options.seed);
    okosu_json_unsigned(&json, "rounds", bench->options.rounds);
    okosu_json_bool(&json, "smoke", bench->options.smoke);
    okosu_json_open(&json, "caches", '{');
    okosu_json_unsigned(&json, "L1d", bench->caches.l1d);
    okosu_json_unsigned(&json, "L2", bench->caches.l2);
    okosu_json_unsigned(&json, "L3", bench->caches.l3);
    okosu_json_close(&json, '}');
    okosu_json_end(&json);
    fflush(bench->out);
}

void bench_routines_print(struct bench *bench)
{
    for (const struct bench_routine *routine = bench->program->routines; routine->name; routine++) {
        struct okosu_json json = begin(bench, "routine");

        okosu_json_string(&json, "name", routine->name);
        number(&json, "bytes_per_item", routine->bytes_per_item);
        number(&json, "flops_per_item", routine->flops_per_item);
        okosu_json_string(&json, "item", routine->item ? routine->item : "element");
        okosu_json_string(&json, "doc", routine->doc);
        okosu_json_end(&json);
    }
}

void bench_list_variant(struct bench *bench, const struct okosu_variant *variant)
{
    struct okosu_json json = begin(bench, "variant");
    char needs[256] = "";

    okosu_cpu_names(variant->needs, needs, sizeof(needs));
    okosu_json_string(&json, "name", variant->name);
    okosu_json_string(&json, "needs", needs);
    okosu_json_bool(&json, "usable", (variant->needs & ~okosu_cpu_features()) == 0);
    okosu_json_string(&json, "doc", variant->doc);
    okosu_json_end(&json);
}

const struct bench_routine *bench_routine_find(const struct bench *bench, const char *name)
{
    const struct bench_routine *routine = bench->program->routines;

    while (routine->name && strcmp(routine->name, name) != 0)
        routine++;
    return routine->name ? routine : NULL;
}

void bench_row_print(struct bench *bench, const struct bench_point *point,
                     const struct bench_row *row, const double *samples, const unsigned *rounds,
                     const double *loads, size_t count, unsigned dropped, unsigned shared)
{
    const struct bench_routine *routine = bench_routine_find(bench, row->routine);
    struct okosu_json json = begin(bench, "row");

    okosu_json_string(&json, "routine", row->routine);
    okosu_json_string(&json, "variant", row->variant);
    okosu_json_string(&json, "kind", row->kind);
    okosu_json_string(&json, "library", row->library ? row->library : "okosu " OKOSU_VERSION);
    okosu_json_string(&json, "config", row->config ? row->config : "");
    okosu_json_unsigned(&json, "n", point->n);
    okosu_json_unsigned(&json, "footprint", point->footprint);
    okosu_json_string(&json, "place",
                      point->place ? point->place : bench_place(bench, point->footprint));
    okosu_json_open(&json, "align", '[');
    okosu_json_unsigned(&json, NULL, point->align[0]);
    okosu_json_unsigned(&json, NULL, point->align[1]);
    okosu_json_close(&json, ']');
    okosu_json_string(&json, "mode", point->mode);
    number(&json, "bytes_per_item", routine ? routine->bytes_per_item : 0);
    number(&json, "flops_per_item", routine ? routine->flops_per_item : 0);
    okosu_json_unsigned(&json, "items", point->items ? point->items : point->n);
    okosu_json_string(&json, "unit", point->unit ? point->unit : "cycles");
    okosu_json_open(&json, "samples", '[');
    for (size_t i = 0; i < count; i++)
        /* A batch of 50 microseconds has some 100 000 ticks. */
        okosu_json_number(&json, NULL, samples[i], 6);
    okosu_json_close(&json, ']');
    okosu_json_open(&json, "rounds", '[');
    for (size_t i = 0; i < count; i++)
        okosu_json_unsigned(&json, NULL, rounds ? rounds[i] : i);
    okosu_json_close(&json, ']');
    okosu_json_open(&json, "loads", '[');
    for (size_t i = 0; loads && i < count; i++)
        okosu_json_number(&json, NULL, loads[i], 3);
    okosu_json_close(&json, ']');
    okosu_json_unsigned(&json, "dropped", dropped);
    okosu_json_unsigned(&json, "shared", shared);
    okosu_json_unsigned(&json, "point", bench->points);
    okosu_json_open(&json, "extra", '{');
    if (row->extra)
        okosu_json_raw(&json, NULL, row->extra);
    okosu_json_close(&json, '}');
    okosu_json_end(&json);
    bench->rows++;
}

void bench_values(struct bench *bench, const struct bench_point *point, const struct bench_row *row,
                  const double *samples, size_t count)
{
    bench_row_print(bench, point, row, samples, NULL, NULL, count, 0, 0);
    fflush(bench->out);
}

void bench_note(struct bench *bench, const char *format, ...)
{
    struct okosu_json json = begin(bench, "note");
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    okosu_json_string(&json, "text", text);
    okosu_json_end(&json);
    free(text);
}

void bench_absent(struct bench *bench, const char *variant, const char *why, const char *fix)
{
    struct okosu_json json;

    for (size_t i = 0; i < bench->absent_count; i++)
        if (bench->absent[i] && strcmp(bench->absent[i], variant) == 0)
            return;
    if (bench->absent_count < BENCH_NAMES_LIMIT)
        bench->absent[bench->absent_count++] = strdup(variant);
    json = begin(bench, "absent");
    okosu_json_string(&json, "variant", variant);
    okosu_json_string(&json, "why", why ? why : "");
    okosu_json_string(&json, "fix", fix ? fix : "");
    okosu_json_end(&json);
}
