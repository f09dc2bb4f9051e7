/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYS_PARAM_H
#define SYS_PARAM_H

#include <limits.h>

#define MIN(left, right) ((left) < (right) ? (left) : (right))
#define MAX(left, right) ((left) > (right) ? (left) : (right))

#endif
