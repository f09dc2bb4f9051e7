/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdarg.h>

/* Where formatted text goes, byte by byte. */
struct sink {
    void (*put)(struct sink *sink, char byte);
    unsigned long written;
};

void format(struct sink *sink, const char *text, va_list list);

#endif
