/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STDLIB_H
#define STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);
/* The alignment is a power of two, and for posix_memalign a multiple of a pointer's size: NULL and
 * EINVAL, or EINVAL; there is no memory: NULL and ENOMEM, or ENOMEM. */
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size);

void exit(int status) __attribute__((noreturn));
void _Exit(int status) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
int atexit(void (*function)(void));

int atoi(const char *text);
long atol(const char *text);
long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);

/* 0 to RAND_MAX, the same numbers in every run; all threads draw from one sequence. */
#define RAND_MAX 0x7fffffff
int rand(void);
void srand(unsigned seed);
int rand_r(unsigned *seed);

typedef struct {
    int quot, rem;
} div_t;
typedef struct {
    long quot, rem;
} ldiv_t;
typedef struct {
    long long quot, rem;
} lldiv_t;

div_t div(int dividend, int divisor);
ldiv_t ldiv(long dividend, long divisor);
lldiv_t lldiv(long long dividend, long long divisor);

int abs(int value);
long labs(long value);
long long llabs(long long value);
void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *));
/* There is no environment, no command processor, and no file: NULL, or -1 and ENOSYS. */
int mkstemp(char *path);
char *getenv(const char *name);
int system(const char *command);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
