/* SPDX-License-Identifier: Apache-2.0 */
/* widest: the width in bits of the widest vectors that this build finds in an x86-64 processor.
 * Meson's option `instructions` sets it, to test and measure here what other processors do. A
 * variable of the environment would not do: resolvers of an IFUNC cannot read one. */
#pragma once

#ifndef OKOSU_WIDEST
#define OKOSU_WIDEST 512
#endif
