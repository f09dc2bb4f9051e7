/* SPDX-License-Identifier: Apache-2.0 */
/* intrinsics: every row of tables 1 and 2 of the paper, done as the table says it is. One JSON line
 * for each; exit status 1 if one does something else.
 *
 * _mm_setr_sd is in table 1 and in no header; what the table says of it is what _mm_setr_pd does,
 * which stands here in its place. */
#include <pmmintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Operands that no optimiser may see through, each of another value. */
static volatile double in_p0 = 3.0, in_p1 = 5.0, in_y0 = 7.0, in_y1 = 11.0, in_z0 = 13.0,
                       in_z1 = 17.0, in_s = 19.0, in_t = 23.0;

static int failures;

static void say(int table, const char *name, const char *detail, __m128d x, double x0, double x1)
{
    double got[2];
    memcpy(got, &x, sizeof(got));
    /* Compared as bytes: -0.0 is not 0.0 here. */
    double want[2] = {x0, x1};
    bool holds = memcmp(got, want, sizeof(got)) == 0;
    failures += !holds;
    printf("{\"table\":%d,\"name\":\"%s\",\"detail\":\"%s\",\"x0\":%.17g,\"x1\":%.17g,"
           "\"want0\":%.17g,\"want1\":%.17g,\"holds\":%s}\n",
           table, name, detail, got[0], got[1], x0, x1, holds ? "true" : "false");
}

static __m128d pair(double low, double high)
{
    double both[2] = {low, high};
    __m128d x;
    memcpy(&x, both, sizeof(x));
    return x;
}

int main(void)
{
    /* `even` is on a 16-byte boundary; `odd` is 8 bytes off, for the rows without a condition. */
    double room[6] __attribute__((aligned(16)));
    double *even = room, *odd = room + 3;
    double p0 = in_p0, p1 = in_p1, y0 = in_y0, y1 = in_y1, z0 = in_z0, z1 = in_z1;
    double s = in_s, t = in_t;
    even[0] = odd[0] = p0;
    even[1] = odd[1] = p1;
    __m128d y = pair(y0, y1), z = pair(z0, z1);

    say(1, "_mm_load_pd", "", _mm_load_pd(even), p0, p1);
    say(1, "_mm_load1_pd", "any boundary", _mm_load1_pd(odd), p0, p0);
    say(1, "_mm_loadr_pd", "", _mm_loadr_pd(even), p1, p0);
    say(1, "_mm_loadu_pd", "any boundary", _mm_loadu_pd(odd), p0, p1);
    say(1, "_mm_load_sd", "any boundary", _mm_load_sd(odd), p0, 0.0);
    say(1, "_mm_loadh_pd", "any boundary", _mm_loadh_pd(y, odd), y0, p0);
    say(1, "_mm_loadl_pd", "any boundary", _mm_loadl_pd(y, odd), p0, y1);
    say(1, "_mm_add_pd", "", _mm_add_pd(y, z), y0 + z0, y1 + z1);
    say(1, "_mm_sub_pd", "", _mm_sub_pd(y, z), y0 - z0, y1 - z1);
    say(1, "_mm_mul_pd", "", _mm_mul_pd(y, z), y0 * z0, y1 * z1);
    say(1, "_mm_div_pd", "", _mm_div_pd(y, z), y0 / z0, y1 / z1);

    odd[0] = odd[1] = -1.0;
    _mm_store_sd(odd, y);
    say(1, "_mm_store_sd", "any boundary; p[1] stays", _mm_loadu_pd(odd), y0, -1.0);
    even[0] = even[1] = -1.0;
    _mm_store_pd(even, y);
    say(1, "_mm_store_pd", "", _mm_loadu_pd(even), y0, y1);
    odd[0] = odd[1] = -1.0;
    _mm_storeu_pd(odd, z);
    say(1, "_mm_storeu_pd", "any boundary", _mm_loadu_pd(odd), z0, z1);

    say(1, "_mm_setzero_pd", "", _mm_setzero_pd(), 0.0, 0.0);
    say(1, "_mm_set_sd", "", _mm_set_sd(s), s, 0.0);
    say(1, "_mm_set1_pd", "", _mm_set1_pd(s), s, s);
    say(1, "_mm_set_pd", "", _mm_set_pd(s, t), t, s);
    say(1, "_mm_setr_sd", "as _mm_setr_pd: the name in the table does not exist", _mm_setr_pd(s, t),
        s, t);
    say(1, "_mm_move_sd", "", _mm_move_sd(y, z), z0, y1);

    even[0] = odd[0] = p0;
    say(2, "_mm_addsub_pd", "", _mm_addsub_pd(y, z), y0 - z0, y1 + z1);
    say(2, "_mm_hadd_pd", "", _mm_hadd_pd(y, z), y0 + y1, z0 + z1);
    say(2, "_mm_hsub_pd", "", _mm_hsub_pd(y, z), y0 - y1, z0 - z1);
    say(2, "_mm_loaddup_pd", "any boundary", _mm_loaddup_pd(odd), p0, p0);
    say(2, "_mm_movedup_pd", "", _mm_movedup_pd(y), y0, y0);
    return failures != 0;
}
