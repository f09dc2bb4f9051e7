/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check: what its parts share: guarded memory, random numbers, and how a failure is
 * reported. */
#ifndef VEC_CHECK_H
#define VEC_CHECK_H

#include <okosu/vec.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes between two guard pages: 512 doubles, a line to shift them by, and room for canaries. */
#define VEC_BODY 8192

/* Memory with pages before and after it that cannot be read or written. */
struct vec_guarded {
    unsigned char *body;
    unsigned char *image; /* what the body must hold after a call, nothing but canaries at first */
};

/* What is being done, for the report of a failure or a fault. */
struct vec_context {
    const char *row, *routine;
    size_t n;
    const char *layout;
    int x_shift, y_shift;
};
extern struct vec_context vec_now;

/* --readable; set before the first vec_guarded_new(). */
extern bool vec_guards_readable;
struct vec_guarded vec_guarded_new(void);
/* Every byte of a canary is 0xff: a NaN of either type, so that a sum shows it if it was added. */
void vec_guarded_clear(const struct vec_guarded *memory);
/* Copies `bytes` to `where` in the body and in the image. */
void vec_guarded_put(const struct vec_guarded *memory, unsigned char *where, const void *from,
                     size_t bytes);
/* Fails unless the body is as its image, the bytes at `where` aside, which must equal `expected`
 * (NULL: they must be as the image too). */
void vec_guarded_compare(const struct vec_guarded *memory, const unsigned char *where,
                         const void *expected, size_t bytes);
/* Prints what went wrong where, and ends the program with status 1. */
_Noreturn void vec_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a fault as a failure. */
void vec_catch_faults(void);

uint64_t vec_random(void);

/* Whether vec.h says of this row that a product that is added in axpy or triad is not rounded. */
bool vec_rounds_once(const struct okosu_vec_variant *row);

/* How much to check. */
struct vec_extent {
    size_t all_sizes;  /* every size up to this one */
    size_t sizes_step; /* and every so many from there to 512 */
    int shifts_step;   /* every so many elements of the shifts within a line */
};
void vec_check_double(const struct okosu_vec_variant *row, const struct vec_extent *extent);
void vec_check_float(const struct okosu_vec_variant *row, const struct vec_extent *extent);
void vec_values_double(const struct okosu_vec_variant *row);
void vec_values_float(const struct okosu_vec_variant *row);
void vec_strides_double(const struct okosu_vec_variant *row);
void vec_strides_float(const struct okosu_vec_variant *row);
void vec_long(const struct okosu_vec_variant *row);
void vec_large(const struct okosu_vec_variant *row);

/* Rows with a planted bug each, ended by NULL: the checks must find all of them. */
extern const struct okosu_vec_variant *const *const vec_broken;
/* Fills them in. */
void vec_break(void);

#endif
