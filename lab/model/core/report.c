/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "report.h"

#include <inttypes.h>

static void one(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\": %" PRIu64 ", ", name, value);
}

static void list(FILE *out, const char *name, const uint64_t *values, uint32_t count)
{
    fprintf(out, "\"%s\": [", name);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%" PRIu64, i ? ", " : "", values[i]);
    fputc(']', out);
}

static void mode(const struct model *model, const char *name, const struct counts *counts)
{
    FILE *out = model->out;

    fprintf(out, ", \"%s\": {", name);
    one(out, "instructions", counts->instructions);
    one(out, "loads", counts->loads);
    one(out, "stores", counts->stores);
    one(out, "load_bytes", counts->load_bytes);
    one(out, "store_bytes", counts->store_bytes);
    one(out, "flushes", counts->flushes);
    one(out, "crossings", counts->crossings);
    one(out, "io", counts->io);
    list(out, "found", counts->found, model->shape.levels + 1);
    fputs(", ", out);
    list(out, "full_lru_misses", counts->full_lru_misses, model->shape.levels);
    fputs(", ", out);
    list(out, "translated", counts->translated, model->shape.tlb_levels + 1);
    fputs(", ", out);
    list(out, "walks", counts->walks, SHAPE_SIZES);
    fputc('}', out);
}

void report_counts(const struct model *model, const char *what, uint32_t cpu)
{
    fprintf(model->out,
            "{\"what\": \"%s\", \"label\": %" PRIu64 ", \"cpu\": %" PRIu32 ", \"broken\": %" PRIu64,
            what, model->label, cpu, model->broken);
    mode(model, "user", &model->cpus[cpu].counts[MODE_USER]);
    mode(model, "kernel", &model->cpus[cpu].counts[MODE_KERNEL]);
    fputs("}\n", model->out);
}
