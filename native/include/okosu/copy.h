/* SPDX-License-Identifier: Apache-2.0 */
/* copy: memcpy and memmove in several variants, and a choice among them by the size of the copy, by
 * what this processor can do and by how large its caches are. */
#ifndef OKOSU_COPY_H
#define OKOSU_COPY_H

#include <okosu/api.h>
#include <okosu/variant.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copy n bytes and return dst. Any n and any alignment; with n = 0 neither pointer is looked at.
 * The two ranges must not overlap, except for okosu_copy_move. Nothing outside them is read or written,
 * no error exists, errno stays as it was.
 *
 * okosu_copy      nothing is known of the destination: never meant to be slower than libc's memcpy
 * okosu_copy_near the destination will be read soon: it is left in the caches if they can hold it
 * okosu_copy_far  it will not be read soon: large copies go past the caches
 * okosu_copy_move the ranges may overlap in any way */
OKOSU_API void *okosu_copy(void *dst, const void *src, size_t n);
OKOSU_API void *okosu_copy_near(void *dst, const void *src, size_t n);
OKOSU_API void *okosu_copy_far(void *dst, const void *src, size_t n);
OKOSU_API void *okosu_copy_move(void *dst, const void *src, size_t n);

typedef void *okosu_copy_function(void *dst, const void *src, size_t n);

/* One way to copy, complete on its own: any n, any alignment. */
struct okosu_copy_variant {
    struct okosu_variant about;
    okosu_copy_function *copy; /* for ranges that do not overlap */
    okosu_copy_function *move; /* for ranges that may overlap */
    bool streams;              /* stores of large copies go past the caches */
};

/* What the caller knows of the destination; each use has its own choice. okosu_copy_move has that
 * of OKOSU_COPY_ANY. */
enum okosu_copy_use { OKOSU_COPY_ANY, OKOSU_COPY_NEAR, OKOSU_COPY_FAR, OKOSU_COPY_USES };

/* Copies of at most up_to bytes, and of more than the class before, are made by `variant`. */
struct okosu_copy_class {
    size_t up_to; /* bytes; SIZE_MAX in the last class */
    const struct okosu_copy_variant *variant;
};
/* Most classes that one use can have: 16 of a profile, and that of the small sizes. */
#define OKOSU_COPY_CLASSES 17

/* All variants of this build, NULL-ended, from the plainest to the widest; those that this machine
 * cannot run are among them (compare about.needs with okosu_cpu_features()). */
OKOSU_API const struct okosu_copy_variant *const *okosu_copy_table(void);
/* The variant that copies n bytes for this use, now. Short copies, of up to 128 bytes or, by the machine's
 * vectors and the use, 256 to 1024, always have the same, whatever is chosen, forced or profiled for other
 * sizes: there a look at the choice would cost more than any variant gains. */
OKOSU_API const struct okosu_copy_variant *okosu_copy_chosen(enum okosu_copy_use use, size_t n);
/* The whole choice for this use: fills `classes`, returns how many there are. */
OKOSU_API size_t okosu_copy_choice(enum okosu_copy_use use,
                                   struct okosu_copy_class classes[OKOSU_COPY_CLASSES]);

/* The choice is made at the first call: by the environment's OKOSU_COPY=NAME, else by its
 * OKOSU_COPY_PROFILE=FILE, else by features and cache sizes; an unusable name or file leaves the
 * automatic choice, and okosu_copy_state() says so. The next two functions change the choice later;
 * copies that other threads make at the same time are correct with either choice.
 *
 * okosu_copy_force: use one variant for every use and every size above those; NULL: back to the
 * automatic choice. 0; -ENOENT: no such name; -ENOTSUP: this processor or kernel lacks what it
 * needs.
 *
 * okosu_copy_profile: use the choice in a file, as `okosu bench copy --profile FILE` writes it: one
 * line `UP-TO VARIANT` for each size class, in bytes and in rising order, the last one `max
 * VARIANT`; # begins a comment. The lines after `[near]` or `[far]` are for that use (those before
 * the first such line for OKOSU_COPY_ANY); a use without a line keeps the automatic choice. NULL:
 * back to the automatic choice. 0; -errno of open or read; -EINVAL: not such a file; -EFBIG: longer
 * than any valid file; -ENOENT, -ENOTSUP as above. After a failure the choice is unchanged. */
OKOSU_API int okosu_copy_force(const char *name);
OKOSU_API int okosu_copy_profile(const char *path);

/* As okosu_copy_profile(), and on error fills `reason` (which may be NULL). */
OKOSU_API int okosu_copy_profile_explained(const char *path, struct okosu_reason *reason);
/* What came of OKOSU_COPY and OKOSU_COPY_PROFILE: 0, or -errno as above and the reason. */
OKOSU_API int okosu_copy_state(struct okosu_reason *reason);

#ifdef __cplusplus
}
#endif

#endif
