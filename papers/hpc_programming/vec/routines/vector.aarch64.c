/* SPDX-License-Identifier: Apache-2.0 */
/* The variant neon: AArch64's 128-bit vectors with fused multiply-add. Its loads and stores need no
 * alignment, so no loop aligns them. */
#include <okosu/cpu.h>
#include <okosu/vec.h>

#include <arm_neon.h>
#include <float.h>

#include "vec/arm.h"

#define T double
#define V float64x2_t
#define LANES 2
#define NAME(what) d##what
#define LOAD vld1q_f64
#define STORE vst1q_f64
#define ALL vdupq_n_f64
#define ADD vaddq_f64
#define ABS vabsq_f64
#define SCALE vmulq_n_f64
#define FMA vfmaq_f64
#define ACROSS vaddvq_f64
#define FUSED __builtin_fma
#define ROOT __builtin_sqrt
#define SMALLEST DBL_MIN
#define LARGEST DBL_MAX
#define SCALE_UP 0x1p600
#define SCALE_DOWN 0x1p-600
#include "vec/arm_type.h"
/* vaddvq_f32 pairs neighbours; the interface says halves first. */
static inline float across_float(float32x4_t sums)
{
    return vaddv_f32(vadd_f32(vget_low_f32(sums), vget_high_f32(sums)));
}

#define T float
#define V float32x4_t
#define LANES 4
#define NAME(what) s##what
#define LOAD vld1q_f32
#define STORE vst1q_f32
#define ALL vdupq_n_f32
#define ADD vaddq_f32
#define ABS vabsq_f32
#define SCALE vmulq_n_f32
#define FMA vfmaq_f32
#define ACROSS across_float
#define FUSED __builtin_fmaf
#define ROOT __builtin_sqrtf
#define SMALLEST FLT_MIN
#define LARGEST FLT_MAX
#define SCALE_UP 0x1p100f
#define SCALE_DOWN 0x1p-90f
#include "vec/arm_type.h"

OKOSU_ROUTINE(vec, 20, neon) = {.about = {.name = "neon",
                                          .needs = OKOSU_CPU_NEON,
                                          .doc = "128-bit vectors, fused; 8 sums of 2 or 4"},
                                .dpartials = dPARTIALS,
                                .spartials = sPARTIALS,
                                VEC_MEMBERS};
