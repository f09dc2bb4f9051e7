/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check's sizes and addresses, float. */
#define T float
#define INTEGER (64)
#define R(name) s##name
#define MATH(name) name##f
#define WHOLE vec_check_float
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
#include "vec_check_type.h"
