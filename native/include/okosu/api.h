/* SPDX-License-Identifier: Apache-2.0 */
/* api: marks what libokosu.so exports. */
#ifndef OKOSU_API_H
#define OKOSU_API_H

#define OKOSU_API __attribute__((visibility("default")))

#endif
