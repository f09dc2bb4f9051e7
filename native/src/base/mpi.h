/* SPDX-License-Identifier: Apache-2.0 */
/* Mpi: which of the ranks on this machine this process is, as the MPI or batch launcher says. */
#pragma once

#include "base/env.h"

struct okosu_mpi {
    const char *source; /* the variable that names the rank; NULL outside MPI */
    unsigned rank;      /* 0 .. size - 1 */
    unsigned size;      /* ranks on this machine; 1 when it is not known */
};

/* 0; -EINVAL when the variables contradict each other (then *mpi names the source). */
int okosu_mpi_read(const struct okosu_env *env, struct okosu_mpi *mpi);
