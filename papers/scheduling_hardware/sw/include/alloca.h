/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALLOCA_H
#define ALLOCA_H

#undef alloca
#define alloca(size) __builtin_alloca(size)

#endif
