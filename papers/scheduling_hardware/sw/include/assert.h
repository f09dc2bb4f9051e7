/* SPDX-License-Identifier: Apache-2.0 */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                          \
    ((condition) ? (void)0 : okosu_assertion_failed(#condition, __FILE__, __LINE__, __func__))
#endif

#ifndef ASSERT_H
#define ASSERT_H
#define static_assert _Static_assert
void okosu_assertion_failed(const char *condition, const char *file, int line, const char *function)
    __attribute__((noreturn));
#endif
