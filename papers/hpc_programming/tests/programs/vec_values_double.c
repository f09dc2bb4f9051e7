/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check's special values and strides, double. */
#define T double
#define MAX 0x1.fffffffffffffp1023
#define DENORMAL 0x1p-1074
#define R(name) d##name
#define VALUES vec_values_double
#define STRIDES vec_strides_double
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
#include "vec_values_type.h"
