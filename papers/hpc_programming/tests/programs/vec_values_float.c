/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check's special values and strides, float. */
#define T float
#define MAX 0x1.fffffep127f
#define DENORMAL 0x1p-149f
#define R(name) s##name
#define VALUES vec_values_float
#define STRIDES vec_strides_float
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
#include "vec_values_type.h"
