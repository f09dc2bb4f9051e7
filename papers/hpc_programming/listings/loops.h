/* SPDX-License-Identifier: Apache-2.0 */
/* loops: the listings of section 5 of the paper, under names that tell them apart (the paper uses
 * dsum_sse and dsumsq_sse twice). Arguments as there: x and y on 16-byte boundaries for every _sse
 * form; n a multiple of 2, of 8 for the forms with 4 accumulators, and then at least 8. */
#ifndef OKOSU_PAPERS_HPC_LOOPS_H
#define OKOSU_PAPERS_HPC_LOOPS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Section 5.3: the sum. */
double hpc_dsum(double x[], int n);
double hpc_dsum_sse_1(double x[], int n);
double hpc_dsum_sse_4(double x[], int n);

/* Section 5.4: the sum of squares. */
double hpc_dsumsq(double x[], int n);
double hpc_dsumsq_sse_1(double x[], int n);
double hpc_dsumsq_sse_4(double x[], int n);

/* Section 5.5: the dot product. */
double hpc_ddot(double x[], double y[], int n);
double hpc_ddot_sse_4(double x[], double y[], int n);

/* Section 5.6: y = y + a x. The two take their arguments in different orders, as in the paper. */
void hpc_daxpy(double y[], double a, double x[], int n);
void hpc_daxpy_sse(double a, double x[], double y[], int n);

#ifdef __cplusplus
}
#endif

#endif
