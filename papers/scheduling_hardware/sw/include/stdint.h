/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own, which it does not take where it expects a C library. */
#include <stdint-gcc.h>
