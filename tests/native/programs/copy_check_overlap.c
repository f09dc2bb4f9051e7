/* SPDX-License-Identifier: Apache-2.0 */
/* copy_check: the checks of one routine on ranges that overlap. */
#include "copy_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 130, MOST = 300, MARGIN = 64 };

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = pattern(i);
}

/* One call within `room` bytes of got; `want` holds the same before and after it. */
static bool one_move(const struct subject *subject, unsigned char *got, unsigned char *want,
                     size_t room, size_t to, size_t from, size_t n)
{
    void *back = subject->copy(got + to, got + from, n);

    call_bytes(subject, want + to, want + from, 0, n);
    bool right = back == got + to && memcmp(got, want, room) == 0;
    if (!right)
        printf("%s(n %zu) over a distance of %td\n", subject->name, n,
               (ptrdiff_t)to - (ptrdiff_t)from);
    /* All that was written, and what lies beside it. */
    size_t first = to > MARGIN ? to - MARGIN : 0, end = to + n + MARGIN;
    for (size_t i = first; i < end && i < room; i++)
        got[i] = want[i] = pattern(i);
    return right;
}

/* Sizes to 300 over every distance up to 130, either way. */
bool check_overlap(const struct subject *subject)
{
    static unsigned char got[MOST + 2 * NEAREST + 2 * MARGIN + 64], want[sizeof(got)];
    bool right = true;

    fill(got, sizeof(got));
    fill(want, sizeof(want));
    for (size_t n = 0; right && n <= MOST; n++)
        for (size_t distance = 0; right && distance <= NEAREST; distance++) {
            if (!is_due())
                continue;
            size_t at = MARGIN + (n * 13 + distance * 29) % 64;
            right = one_move(subject, got, want, sizeof(got), at + distance, at, n) &&
                    one_move(subject, got, want, sizeof(got), at, at + distance, n);
        }
    return right;
}

/* Sizes at which vectors loop and string instructions work, over distances below, at and above
 * those of a vector, a line and a page, and over as much as there is. */
bool check_large_overlap(const struct subject *subject)
{
    static const size_t distances[] = {1,   2,    7,    8,    15,   16,   31,   32,   33,    63,
                                       64,  65,   127,  128,  129,  255,  256,  257,  511,   512,
                                       513, 1000, 2047, 2048, 4032, 4095, 4096, 4097, 10000, 40000};
    static const size_t sizes[] = {301,  512,  513,  600,  700,  800,  900,   1024,  1025, 2048,
                                   2049, 3001, 4096, 4133, 5120, 5121, 16385, 33000, 70001};
    enum { ROOM = 70001 + 40000 + 3 * MARGIN };
    static unsigned char got[ROOM], want[ROOM];
    bool right = true;

    fill(got, ROOM);
    fill(want, ROOM);
    for (size_t s = 0; right && s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t n = sizes[s];
        for (size_t d = 0; right && d < sizeof(distances) / sizeof(distances[0]); d++) {
            if (!is_due())
                continue;
            size_t distance = distances[d], at = MARGIN + (s * 13 + d * 29) % 64;
            size_t room = at + distance + n + MARGIN;
            right = one_move(subject, got, want, room, at + distance, at, n) &&
                    one_move(subject, got, want, room, at, at + distance, n);
        }
        for (size_t less = 1; right && less < 70; less += 31)
            right = one_move(subject, got, want, 2 * n + MARGIN < ROOM ? 2 * n + MARGIN : ROOM,
                             n - less < 40000 ? n - less : 40000, 0, n);
    }
    return right;
}
