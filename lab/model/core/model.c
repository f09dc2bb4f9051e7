/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define PAGE_BYTES (1u << PAGE_SHIFT)
#define NUMBER_DIGITS 3

int model_make(struct model *model, const struct shape *shape, FILE *out)
{
    *model = (struct model){.shape = *shape, .out = out};
    model->cpus = calloc(shape->cpus, sizeof(*model->cpus));
    if (!model->cpus || pages_make(&model->pages, shape->kernel_pages) ||
        caches_make(&model->caches, &model->shape))
        goto out;
    for (uint32_t cpu = 0; cpu < shape->cpus; cpu++)
        if (tlbs_make(&model->cpus[cpu].tlbs, &model->shape, cpu))
            goto out;
    return 0;
out:
    model_free(model);
    return -ENOMEM;
}

void model_free(struct model *model)
{
    for (uint32_t cpu = 0; model->cpus && cpu < model->shape.cpus; cpu++)
        tlbs_free(&model->cpus[cpu].tlbs);
    free(model->cpus);
    model->cpus = NULL;
    caches_free(&model->caches);
    pages_free(&model->pages);
}

static uint64_t executed(const struct model *model, enum mode mode)
{
    uint64_t sum = 0;

    for (int lane = 0; lane < MODEL_LANES; lane++)
        sum += model->executed[mode][lane];
    return sum;
}

void model_turn(struct model *model, uint32_t cpu)
{
    for (int mode = 0; mode < MODES; mode++) {
        uint64_t now = executed(model, (enum mode)mode);

        model->cpus[model->turn].counts[mode].instructions += now - model->credited[mode];
        model->credited[mode] = now;
    }
    model->turn = cpu;
}

/* Write the counts of every CPU and set them to 0. */
static void close_counts(struct model *model, const char *what)
{
    model_turn(model, model->turn);
    for (uint32_t cpu = 0; cpu < model->shape.cpus; cpu++) {
        report_counts(model, what, cpu);
        memset(model->cpus[cpu].counts, 0, sizeof(model->cpus[cpu].counts));
    }
    fflush(model->out);
}

void model_finish(struct model *model)
{
    /* A region that the program never ended is written as "unfinished". */
    close_counts(model, model->inside ? "unfinished" : "outside");
}

/* Drop the shortcuts: they depend on the size of the page. */
static void forget_shortcuts(struct model *model)
{
    for (uint32_t cpu = 0; cpu < model->shape.cpus; cpu++)
        memset(model->cpus[cpu].shortcuts, 0, sizeof(model->cpus[cpu].shortcuts));
}

static void obey(struct model *model, const struct message *message)
{
    uint64_t number[2] = {0};

    for (int i = 0; i < 2 * NUMBER_DIGITS; i++)
        number[i / NUMBER_DIGITS] |= message->digit[i] << PAGE_SHIFT * (i % NUMBER_DIGITS);
    if (message->kind == MARK_LABEL) {
        model->label = number[0];
        return;
    }
    forget_shortcuts(model);
    if (!pages_announce(&model->pages, number[0], number[1], message->digit[MARK_DIGITS - 1]))
        model->broken++;
}

/* Take an access of the program, while a message is being sent, as its next digit. */
static void listen(struct model *model, struct cpu *cpu, bool store, uint64_t address,
                   uint32_t bytes)
{
    struct message *message = &cpu->message;

    if (store || bytes != 1 || (message->taken && address >> PAGE_SHIFT != message->page)) {
        model->broken++;
        cpu->listening = false;
        return;
    }
    message->page = address >> PAGE_SHIFT;
    message->digit[message->taken++] = address % PAGE_BYTES;
    if (message->taken == MARK_DIGITS) {
        cpu->listening = false;
        obey(model, message);
    }
}

/* Begin to count again. The TLBs are emptied, because flushes were not followed while asleep. */
static void wake(struct model *model)
{
    for (uint32_t cpu = 0; cpu < model->shape.cpus; cpu++)
        tlbs_flush(&model->cpus[cpu].tlbs);
    forget_shortcuts(model);
    model->awake = true;
}

void model_mark(struct model *model, uint32_t cpu, uint32_t code)
{
    bool wrong = model->cpus[cpu].listening;

    if (!model->awake && code != MARK_SLEEP)
        wake(model);
    model->cpus[cpu].listening = false;
    switch (code) {
    case MARK_BEGIN:
    case MARK_END:
        if (model->inside == (code == MARK_BEGIN)) {
            wrong = true;
            break;
        }
        if (code == MARK_END)
            close_counts(model, "region");
        else
            close_counts(model, "outside");
        model->inside = code == MARK_BEGIN;
        break;
    case MARK_FORGET:
        pages_forget(&model->pages);
        forget_shortcuts(model);
        break;
    case MARK_PAGES:
    case MARK_LABEL:
        model->cpus[cpu].message = (struct message){.kind = (enum mark)code};
        model->cpus[cpu].listening = true;
        break;
    case MARK_SLEEP:
        model->awake = model->inside;
        wrong |= model->inside;
        break;
    default:
        wrong = true;
    }
    model->broken += wrong;
}

/* Make a shortcut for an access that the first cache and the first TLB both serve. */
static void remember(struct cpu *cpu, struct shortcut *shortcut, const struct level *first,
                     uint64_t address, uint64_t physical, enum page_size size)
{
    struct array *tlb = cpu->tlbs.holder[0][size];
    uint64_t key = tlbs_key(address, size);

    shortcut->tlb = tlb;
    if (!tlb)
        return;
    shortcut->line = caches_line(first, address);
    shortcut->physical = caches_line(first, physical);
    shortcut->cache_set = caches_set(first, physical);
    shortcut->cache_place = first->array.newest[shortcut->cache_set];
    shortcut->tlb_key = key;
    shortcut->tlb_set = tlbs_set(tlb, key);
    shortcut->tlb_place = tlb->newest[shortcut->tlb_set];
}

/* Put one access through the TLBs and the caches, and count it. */
static void touch(struct model *model, uint32_t number, struct counts *counts, uint64_t address,
                  uint64_t physical, uint32_t bytes)
{
    struct cpu *cpu = &model->cpus[number];
    struct level *first = model->caches.at[number * SHAPE_LEVELS];
    uint64_t line = caches_line(first, physical), last = caches_line(first, physical + bytes - 1);
    struct shortcut *shortcut = &cpu->shortcuts[caches_line(first, address) % MODEL_SHORTCUTS];
    enum page_size size;
    uint32_t translated;

    if (shortcut->tlb && shortcut->line == caches_line(first, address) &&
        shortcut->physical == line && line == last &&
        array_use_at(shortcut->tlb, shortcut->tlb_set, shortcut->tlb_place, shortcut->tlb_key) &&
        array_use_at(&first->array, shortcut->cache_set, shortcut->cache_place, line)) {
        counts->translated[0]++;
        counts->found[0]++;
        return;
    }
    size = pages_size(&model->pages, address);
    translated = tlbs_access(&cpu->tlbs, address, size);
    counts->translated[translated]++;
    if (translated == model->shape.tlb_levels)
        counts->walks[size]++;
    counts->found[caches_access(&model->caches, number, physical, counts->full_lru_misses)]++;
    if (line == last)
        remember(cpu, shortcut, first, address, physical, size);
    while (line++ < last)
        counts->found[caches_access(&model->caches, number, line << first->line_shift,
                                    counts->full_lru_misses)]++;
}

void model_access(struct model *model, uint32_t number, enum mode mode, bool store,
                  uint64_t address, uint64_t physical, uint32_t bytes)
{
    struct cpu *cpu = &model->cpus[number];
    struct counts *counts = &cpu->counts[mode];
    uint32_t in_page = PAGE_BYTES - (uint32_t)(address % PAGE_BYTES);

    if (!model->awake)
        return;
    if (cpu->listening && mode == MODE_USER) {
        listen(model, cpu, store, address, bytes);
        return;
    }
    if (store) {
        counts->stores++;
        counts->store_bytes += bytes;
    } else {
        counts->loads++;
        counts->load_bytes += bytes;
    }
    /* QEMU does not say where the second page lies, so the access is cut at the end of the first. */
    if (bytes > in_page) {
        counts->crossings++;
        bytes = in_page;
    }
    touch(model, number, counts, address, physical, bytes);
}

void model_string(struct model *model, uint32_t number, enum mode mode, uint64_t at)
{
    struct cpu *cpu = &model->cpus[number];
    uint64_t before = executed(model, MODE_USER) + executed(model, MODE_KERNEL);

    /* A round belongs to the instruction before if no other instruction ran in between. */
    if (cpu->string_at == at && cpu->string_count == before)
        return;
    model->executed[mode][0]++;
    cpu->string_at = at;
    cpu->string_count = before + 1;
    cpu->string_line[0] = cpu->string_line[1] = ARRAY_NONE;
}

void model_string_access(struct model *model, uint32_t number, enum mode mode, bool store,
                         uint64_t address, uint64_t physical, uint32_t bytes)
{
    struct cpu *cpu = &model->cpus[number];
    uint64_t line = physical >> model->shape.cache[0].line_shift;

    if (line == cpu->string_line[store] && !cpu->listening) {
        if (store)
            cpu->counts[mode].store_bytes += bytes;
        else
            cpu->counts[mode].load_bytes += bytes;
        return;
    }
    cpu->string_line[store] = line;
    model_access(model, number, mode, store, address, physical, bytes);
}

void model_io(struct model *model, uint32_t cpu, enum mode mode)
{
    if (model->awake)
        model->cpus[cpu].counts[mode].io++;
}

void model_flush_tlb(struct model *model, uint32_t cpu, enum mode mode)
{
    if (!model->awake)
        return;
    tlbs_flush(&model->cpus[cpu].tlbs);
    model->cpus[cpu].counts[mode].flushes++;
}
