/* SPDX-License-Identifier: Apache-2.0 */
/* Exponentials and logarithms of pairs (pair.h), before they are rounded to a double. */
#ifndef EXPONENTIAL_H
#define EXPONENTIAL_H

#include "pair.h"

/* 2^*exponent (1 + result) is the exponential of x, for |x| < 800. |result| < 0.42, with a relative
 * error of about 2^-58 where *exponent is 0. */
pair exponential_less_1(pair x, int *exponent);
/* The natural logarithm of a finite x > 0, with a relative error of about 2^-65; for x near 1 it is
 * as good as x - 1 is, where that is in the low part. */
pair logarithm(pair x);
/* The natural logarithm of 1 + x for a finite x > -1 that is itself a pair. */
pair logarithm_of_1_and(pair x);

#endif
