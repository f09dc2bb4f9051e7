/* SPDX-License-Identifier: Apache-2.0 */
/* Mpi: one row for each launcher, the most specific first, because under mpirun inside a Slurm job
 * the variables of both are set. */
#include "base/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads a local size; 0 when the variables do not tell. */
typedef unsigned (*size_reader)(const struct okosu_env *env);

struct source {
    const char *rank;
    const char *size; /* NULL: read_size computes it */
    size_reader read_size;
};

static unsigned read_count(const char *text, unsigned *number)
{
    char *end;
    unsigned long value;

    if (!text || *text < '0' || *text > '9')
        return 0;
    value = strtoul(text, &end, 10);
    if (*end || value > 1000000)
        return 0;
    *number = (unsigned)value;
    return 1;
}

static unsigned number_or(const struct okosu_env *env, const char *name, unsigned otherwise)
{
    unsigned number;

    return read_count(okosu_env_get(env, name), &number) ? number : otherwise;
}

/* Flux does not give the local size; it deals tasks to nodes evenly, the first nodes taking one
 * more. */
static unsigned flux_size(const struct okosu_env *env)
{
    unsigned tasks = number_or(env, "FLUX_JOB_SIZE", 0),
             nodes = number_or(env, "FLUX_JOB_NNODES", 0);

    return nodes ? (tasks + nodes - 1) / nodes : 0;
}

/* "4(x2),3": four tasks on each of two nodes, three on the next. */
static unsigned slurm_tasks_on(const char *text, unsigned node)
{
    while (text && *text >= '0' && *text <= '9') {
        char *end;
        unsigned tasks = (unsigned)strtoul(text, &end, 10), nodes = 1;

        if (strncmp(end, "(x", 2) == 0) {
            nodes = (unsigned)strtoul(end + 2, &end, 10);
            if (*end == ')')
                end++;
        }
        if (node < nodes)
            return tasks;
        node -= nodes;
        text = *end == ',' ? end + 1 : NULL;
    }
    return 0;
}

/* Slurm sets SLURM_LOCALID also in the batch script, whose one process owns all CPUs of the job;
 * only a step has SLURM_STEP_* variables. Where the step does not tell its size, the request by
 * --ntasks-per-node is used. */
static unsigned slurm_size(const struct okosu_env *env)
{
    const char *layout = okosu_env_get(env, "SLURM_STEP_TASKS_PER_NODE");
    unsigned size = slurm_tasks_on(layout, number_or(env, "SLURM_NODEID", 0));

    if (!size && (okosu_env_get(env, "SLURM_STEP_ID") || okosu_env_get(env, "SLURM_STEPID")))
        size = number_or(env, "SLURM_NTASKS_PER_NODE", 0);
    return size;
}

static const struct source sources[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", NULL},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL},
    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", NULL},
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", NULL},
    {"FLUX_TASK_LOCAL_ID", NULL, flux_size},
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", NULL},
    {"SLURM_LOCALID", NULL, slurm_size},
};

int okosu_mpi_read(const struct okosu_env *env, struct okosu_mpi *mpi)
{
    *mpi = (struct okosu_mpi){.size = 1};
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        const struct source *source = &sources[i];
        unsigned rank, size;

        if (!read_count(okosu_env_get(env, source->rank), &rank))
            continue;
        size = source->size ? number_or(env, source->size, 0) : source->read_size(env);
        if (!size)
            continue;
        *mpi = (struct okosu_mpi){.source = source->rank, .rank = rank, .size = size};
        return rank < size ? 0 : -EINVAL;
    }
    return 0;
}
