// SPDX-License-Identifier: Apache-2.0
// The kernel's own copy and set objects in user space. Prints "ok NAME" or "skip NAME" for each
// routine.

#include "copy_check.h"

typedef void *fixed_fn(void *to, const void *from);

extern copy_fn __memcpy, um_copy_movsq, um_copy_movsb, um_copy_paper, um_copy_sse2, um_copy_avx2,
    um_copy_avx512;
extern set_fn __memset, um_set_stosq, um_set_stosb, um_set_sse2, um_set_avx2, um_set_avx512;
extern fixed_fn um_copy_512_orig, um_copy_512_movsq, um_copy_512_movsb, um_copy_512_paper,
    um_copy_512_sse2, um_copy_512_avx2, um_copy_512_avx512;
extern fixed_fn um_copy_4096_orig, um_copy_4096_movsq, um_copy_4096_movsb, um_copy_4096_paper,
    um_copy_4096_sse2, um_copy_4096_avx2, um_copy_4096_avx512;

struct row {
    struct routine routine;
    int has;
    fixed_fn *copy_512;
    fixed_fn *copy_4096;
};

static void fixed(fixed_fn *copy, size_t len, uint8_t *from, uint8_t *to)
{
    doing_len = len;
    for (size_t offset = 0; offset < 64; offset++) {
        size_t f = offset * 13 % 64, t = margin + offset;
        fill(to, len + 3 * margin, 0xee);
        if (copy(to + t, from + f) != to + t)
            fail("returned", len, f, t);
        check(to + t, margin, len, margin, f, -1);
    }
    copy(to + area - len, from + area - len);
    check(to + area - len, 0, len, 0, area - len, -1);
    copy(to, from);
    check(to, 0, len, 0, 0, -1);
}

int main(void)
{
    int avx2 = __builtin_cpu_supports("avx2");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    const struct row rows[] = {
        {{"orig", __memcpy, __memset}, 1, um_copy_512_orig, um_copy_4096_orig},
        {{"movsq", um_copy_movsq, um_set_stosq}, 1, um_copy_512_movsq, um_copy_4096_movsq},
        {{"movsb", um_copy_movsb, um_set_stosb}, 1, um_copy_512_movsb, um_copy_4096_movsb},
        {{"paper", um_copy_paper, um_set_stosq}, 1, um_copy_512_paper, um_copy_4096_paper},
        {{"sse2", um_copy_sse2, um_set_sse2}, 1, um_copy_512_sse2, um_copy_4096_sse2},
        {{"avx2", um_copy_avx2, um_set_avx2}, avx2, um_copy_512_avx2, um_copy_4096_avx2},
        {{"avx512", um_copy_avx512, um_set_avx512},
         avx512,
         um_copy_512_avx512,
         um_copy_4096_avx512},
    };
    uint8_t *from = guarded(), *to = guarded();

    catch_faults();
    for (size_t i = 0; i < area; i++)
        from[i] = pattern(i);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if (!r->has) {
            printf("skip %s\n", r->routine.name);
            continue;
        }
        everything(&r->routine, from, to, 1100);
        fixed(r->copy_512, 512, from, to);
        fixed(r->copy_4096, 4096, from, to);
        printf("ok %s\n", r->routine.name);
    }
    return 0;
}
