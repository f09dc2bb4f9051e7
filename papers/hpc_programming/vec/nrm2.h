/* SPDX-License-Identifier: Apache-2.0 */
/* nrm2: the norm where the plain sum of squares overflowed or may have lost to underflow. */

/* Elements at a time that are scaled into a buffer on the stack, and summed there at full speed. */
#define NRM2_CHUNK 512

/* Scaling by a power of two is exact. If the sum of squares overflowed, an element is above 2^470,
 * and the elements that scaling makes vanish (below 2^63) do not change the sum; if the sum is
 * below 2^-900, so is every square, and scaling makes that of the least denormal 2^-948. */
static __attribute__((noinline)) double dnrm2_scaled(double square, const double *x, size_t n)
{
    const double scale = square > 1 ? 0x1p-600 : 0x1p600;
    double chunk[NRM2_CHUNK], sum = 0;

    while (n) {
        size_t part = n < NRM2_CHUNK ? n : NRM2_CHUNK;

        for (size_t i = 0; i < part; i++)
            chunk[i] = x[i] * scale;
        sum += dsumsq(chunk, part);
        x += part;
        n -= part;
    }
    return sqrt(sum) / scale;
}

/* The square of a float neither overflows nor vanishes in a double. */
static __attribute__((noinline)) float snrm2_scaled(const float *x, size_t n)
{
    double chunk[NRM2_CHUNK], sum = 0;

    while (n) {
        size_t part = n < NRM2_CHUNK ? n : NRM2_CHUNK;

        for (size_t i = 0; i < part; i++)
            chunk[i] = x[i];
        sum += dsumsq(chunk, part);
        x += part;
        n -= part;
    }
    return (float)sqrt(sum);
}

/* A sum of n squares may have lost n * 2^-1022 (where denormals are flushed), which is less than
 * 2^-53 of it from 2^-900 on, for any n. For float the bound depends on n. NaN counts as unsafe and
 * comes out of the scaled path. */
static double dnrm2(const double *x, size_t n)
{
    double square = dsumsq(x, n);

    return square >= 0x1p-900 && square <= DBL_MAX ? sqrt(square) : dnrm2_scaled(square, x, n);
}

static float snrm2(const float *x, size_t n)
{
    float square = ssumsq(x, n);

    if (square >= (float)n * 0x1p-100f && square <= FLT_MAX)
        return sqrtf(square);
    return snrm2_scaled(x, n);
}
