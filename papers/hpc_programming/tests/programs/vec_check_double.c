/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check's sizes and addresses, double. */
#define T double
#define INTEGER (1 << 20)
#define R(name) d##name
#define MATH(name) name
#define WHOLE vec_check_double
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
#include "vec_check_type.h"
