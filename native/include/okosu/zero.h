/* SPDX-License-Identifier: Apache-2.0 */
/* zero: memset and the clearing of pages, in variants chosen by CPU features and cache geometry.
 *
 * Memory that is in a cache and memory that is not need opposite code: vector stores are fastest
 * while the lines are in a cache, but read every line from memory first when they are not; string
 * stores and non-temporal stores do not read. No single threshold suits both, hence three entries
 * for each routine: the plain one is meant never to be slower than libc's memset in either case;
 * the near one assumes that the memory is in a cache or is read soon; the far one assumes that it
 * is not.
 *
 * Every routine takes any n and any alignment (unless it says otherwise), never fails, and may be
 * called from any thread. The choice made on first use can be forced by OKOSU_ZERO=NAME, or
 * replaced by a measured profile with OKOSU_ZERO_PROFILE=FILE; an unknown name, a variant that this
 * CPU cannot run, or an unreadable profile leaves the automatic choice, and okosu_zero_state() says
 * so. */
#ifndef OKOSU_ZERO_H
#define OKOSU_ZERO_H

#include <okosu/api.h>
#include <okosu/variant.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* memset(p, byte, n): n bytes from p become (unsigned char)byte; returns p. */
OKOSU_API void *okosu_set(void *p, int byte, size_t n);
OKOSU_API void *okosu_set_near(void *p, int byte, size_t n);
OKOSU_API void *okosu_set_far(void *p, int byte, size_t n);

/* The same with byte 0. */
OKOSU_API void *okosu_zero(void *p, size_t n);
OKOSU_API void *okosu_zero_near(void *p, size_t n);
OKOSU_API void *okosu_zero_far(void *p, size_t n);

/* Clear a page that is not in a cache: `page` is a multiple of 64 and `bytes` one too (4 KiB and
 * 2 MiB are what it is measured for). Large pages go past the caches, behind a fence: a page
 * that is in a cache after all is cleared faster by okosu_zero(). */
OKOSU_API void okosu_zero_page(void *page, size_t bytes);

/* A row of the table. */
struct okosu_zero_variant {
    struct okosu_variant about;
    /* memset, complete by itself. A variant whose instruction writes only zeros (clzero, dc-zva)
     * sets other bytes with the variant that its `about.doc` names. */
    void *(*set)(void *p, int byte, size_t n);
    /* Whether stores of whole lines bypass the caches; then the variant ends with a fence. */
    bool streams;
};

/* Every variant that was built, this CPU's or not, ended by NULL; the portable one first, then by
 * width, then those that stream. */
OKOSU_API const struct okosu_zero_variant *const *okosu_zero_table(void);

/* What the caller knows of the memory; each use has its own choice. */
enum okosu_zero_use {
    OKOSU_ZERO_ANY, /* okosu_set, okosu_zero */
    OKOSU_ZERO_NEAR,
    OKOSU_ZERO_FAR,
    OKOSU_ZERO_PAGE, /* okosu_zero_page */
    OKOSU_ZERO_USES
};

/* `variant` serves sizes of at most up_to bytes and of more than the class before. */
struct okosu_zero_class {
    size_t up_to; /* bytes; SIZE_MAX in the last class */
    const struct okosu_zero_variant *variant;
};
/* Most classes that one use can have: 16 of a profile, and that of the small sizes. */
#define OKOSU_ZERO_CLASSES 17

/* The variant that this use now takes for n bytes. What fits into eight of the machine's widest
 * vectors (512 bytes with AVX-512, 256 with AVX2, 128 with SSE2) the variant of these vectors always
 * sets, but for okosu_zero_page, whatever is chosen, forced or profiled for other sizes: there a look
 * at the choice would cost more than any variant gains. (On Intel's cores far sets are SSE2's.) */
OKOSU_API const struct okosu_zero_variant *okosu_zero_chosen(enum okosu_zero_use use, size_t n);
/* The whole choice for this use: fills `classes`, returns how many there are. */
OKOSU_API size_t okosu_zero_choice(enum okosu_zero_use use,
                                   struct okosu_zero_class classes[OKOSU_ZERO_CLASSES]);

/* Use the variant of this name for every use and every size beyond those; NULL: back to the
 * automatic choice. 0; -ENOENT: no such variant; -ENOTSUP: this CPU or kernel lacks what it
 * needs. */
OKOSU_API int okosu_zero_force(const char *name);

/* Choose by a measured profile. The file is text: one line `UP-TO-BYTES VARIANT` for each size
 * class, in rising order, the last one `max VARIANT`; # begins a comment. A line `[near]`, `[far]`
 * or `[page]` makes what follows it that use's (before the first: OKOSU_ZERO_ANY's); a use that has
 * no line keeps the automatic choice. `okosu bench zero --profile FILE` writes
 * such a file. NULL: back to the automatic choice. 0; -errno of open or read; -EINVAL: not such a
 * file; -ENOENT, -ENOTSUP as above (and -ENOENT for no file). Where it fails, the choice stays as
 * it was. */
OKOSU_API int okosu_zero_profile(const char *path);

/* As okosu_zero_profile(), and on error fills `reason` (which may be NULL). */
OKOSU_API int okosu_zero_profile_explained(const char *path, struct okosu_reason *reason);
/* What came of OKOSU_ZERO and OKOSU_ZERO_PROFILE: 0, or -errno as above and the reason. */
OKOSU_API int okosu_zero_state(struct okosu_reason *reason);

#ifdef __cplusplus
}
#endif

#endif
