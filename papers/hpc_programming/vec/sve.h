/* SPDX-License-Identifier: Apache-2.0 */
/* sve: the variants of AArch64's scalable vectors, each compiled for one length (cpu/sve.h), with ends
 * by predicates. Defines SVE_MEMBERS for their rows. Not timed on any machine. */
#include <okosu/cpu.h>

#include <arm_sve.h>

#include "cpu/sve.h"
#include "vec/arm.h"

typedef svfloat64_t sve_double __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svfloat32_t sve_float __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));

/* The sum over all lanes, halves first. The last active lane of one is the first lane. */
static inline double across_double(sve_double sums)
{
    const svbool_t all = svptrue_b64();

#if __ARM_FEATURE_SVE_BITS >= 512
    sums = svadd_f64_x(all, sums, svext_f64(sums, sums, 4));
#endif
    sums = svadd_f64_x(all, sums, svext_f64(sums, sums, 2));
    sums = svadd_f64_x(all, sums, svext_f64(sums, sums, 1));
    return svlastb_f64(svptrue_pat_b64(SV_VL1), sums);
}

static inline float across_float(sve_float sums)
{
    const svbool_t all = svptrue_b32();

#if __ARM_FEATURE_SVE_BITS >= 512
    sums = svadd_f32_x(all, sums, svext_f32(sums, sums, 8));
#endif
    sums = svadd_f32_x(all, sums, svext_f32(sums, sums, 4));
    sums = svadd_f32_x(all, sums, svext_f32(sums, sums, 2));
    sums = svadd_f32_x(all, sums, svext_f32(sums, sums, 1));
    return svlastb_f32(svptrue_pat_b32(SV_VL1), sums);
}

#define T double
#define V sve_double
#define LANES (SVE_BITS / 64)
#define NAME(what) d##what
#define LOAD(p) svld1_f64(svptrue_b64(), p)
#define STORE(p, v) svst1_f64(svptrue_b64(), p, v)
#define LOAD_PART(p, count) svld1_f64(svwhilelt_b64_u64(0, count), p)
#define STORE_PART(p, count, v) svst1_f64(svwhilelt_b64_u64(0, count), p, v)
#define ALL(a) svdup_n_f64(a)
#define ADD(a, b) svadd_f64_x(svptrue_b64(), a, b)
#define ABS(a) svabs_f64_x(svptrue_b64(), a)
#define SCALE(a, b) svmul_n_f64_x(svptrue_b64(), a, b)
#define FMA(sum, a, b) svmla_f64_x(svptrue_b64(), sum, a, b)
#define ACROSS across_double
#define FUSED __builtin_fma
#define ROOT __builtin_sqrt
#define SMALLEST DBL_MIN
#define LARGEST DBL_MAX
#define SCALE_UP 0x1p600
#define SCALE_DOWN 0x1p-600
#include "vec/arm_type.h"

#define T float
#define V sve_float
#define LANES (SVE_BITS / 32)
#define NAME(what) s##what
#define LOAD(p) svld1_f32(svptrue_b32(), p)
#define STORE(p, v) svst1_f32(svptrue_b32(), p, v)
#define LOAD_PART(p, count) svld1_f32(svwhilelt_b32_u64(0, count), p)
#define STORE_PART(p, count, v) svst1_f32(svwhilelt_b32_u64(0, count), p, v)
#define ALL(a) svdup_n_f32(a)
#define ADD(a, b) svadd_f32_x(svptrue_b32(), a, b)
#define ABS(a) svabs_f32_x(svptrue_b32(), a)
#define SCALE(a, b) svmul_n_f32_x(svptrue_b32(), a, b)
#define FMA(sum, a, b) svmla_f32_x(svptrue_b32(), sum, a, b)
#define ACROSS across_float
#define FUSED __builtin_fmaf
#define ROOT __builtin_sqrtf
#define SMALLEST FLT_MIN
#define LARGEST FLT_MAX
#define SCALE_UP 0x1p100f
#define SCALE_DOWN 0x1p-90f
#include "vec/arm_type.h"

extern const struct okosu_vec_variant okosu_vec_row_neon;

#define SVE_ROUTINE(result, give, name, parameters, arguments)                                     \
    static result sve_##name parameters                                                            \
    {                                                                                              \
        if (!okosu_sve_as_compiled())                                                              \
            give okosu_vec_row_neon.name arguments;                                                \
        else                                                                                       \
            give name arguments;                                                                   \
    }

VEC_ROUTINES(SVE_ROUTINE)

#define SVE_MEMBER(result, give, name, parameters, arguments) .name = sve_##name,
#define SVE_MEMBERS .dpartials = dPARTIALS, .spartials = sPARTIALS, VEC_ROUTINES(SVE_MEMBER)
