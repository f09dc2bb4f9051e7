/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/libc.h"

#include <string.h>

struct okosu_libc okosu_libc = {memcpy, memmove, memset};
