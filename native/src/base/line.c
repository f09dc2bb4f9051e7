/* SPDX-License-Identifier: Apache-2.0 */
/* Line: writing of lines (see line.h). */
#include "base/line.h"

#include "base/calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void okosu_put_char(struct okosu_line *l, char c)
{
    if (l->used < l->size)
        l->text[l->used++] = c;
    else
        l->cut = true;
}

void okosu_put(struct okosu_line *l, const char *text)
{
    while (*text)
        okosu_put_char(l, *text++);
}

void okosu_put_number(struct okosu_line *l, uint64_t value)
{
    char digits[24];
    int n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n)
        okosu_put_char(l, digits[--n]);
}

void okosu_line_emit(int fd, const struct okosu_line *l)
{
    ssize_t written = okosu_call_write(fd, l->text, l->used);

    (void)written;
}

/* A write beyond RLIMIT_FSIZE raises SIGXFSZ, and would change how the program ends. */
static bool fits_file_limit(int fd, size_t length)
{
    struct rlimit limit;
    struct stat st;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    return fstat(fd, &st) == 0 && (rlim_t)st.st_size + length <= limit.rlim_cur;
}

void okosu_line_append(const char *path, const struct okosu_line *l)
{
    int fd;

    if (l->cut)
        return;
    /* O_NONBLOCK: a FIFO without a reader must not hold the program up. */
    fd = okosu_call_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                         0644);
    if (fd < 0)
        return;
    if (fits_file_limit(fd, l->used))
        okosu_line_emit(fd, l);
    okosu_call_close(fd);
}

/* Other processes append to the file, too. After a write with O_APPEND the descriptor stands where
 * this one's bytes end. */
static char *append_and_map(int fd, const struct okosu_line *l)
{
    off_t start, page = sysconf(_SC_PAGESIZE);
    struct stat st;
    long at;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !fits_file_limit(fd, l->used) ||
        okosu_call_write(fd, l->text, l->used) != (ssize_t)l->used)
        return NULL;
    start = lseek(fd, 0, SEEK_CUR) - (off_t)l->used;
    at = syscall(SYS_mmap, NULL, l->used + (size_t)(start % page), PROT_READ | PROT_WRITE,
                 MAP_SHARED, fd, start - start % page);
    return at == -1 ? NULL : (char *)at + start % page;
}

char *okosu_line_map(const char *path, const struct okosu_line *l)
{
    int fd = okosu_call_open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                             0644);
    char *at = NULL;

    if (fd < 0)
        return NULL;
    at = append_and_map(fd, l);
    okosu_call_close(fd);
    return at;
}
