/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, reasons and the evidence line (see evidence.h). */
#include "evidence.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PINS_SHOWN 64
#define MESSAGES_MAX 8

static const char *const reason_texts[OKOSU_WHY_COUNT] = {
    [OKOSU_WHY_BAD_VALUE] = "a variable OKOSU_* has a value that means nothing: ignored",
    [OKOSU_WHY_PAGE_SIZE] = "the base page is not 4 KiB",
    [OKOSU_WHY_NO_KERNEL_THP] = "the kernel has no transparent huge pages",
    [OKOSU_WHY_THP_NEVER] = "transparent_hugepage/enabled is never",
    [OKOSU_WHY_THP_DISABLED] =
        "huge pages are switched off for this process (THP_enabled: 0, inherited)",
    [OKOSU_WHY_ADVICE_FAILED] = "madvise(MADV_HUGEPAGE) failed",
    [OKOSU_WHY_SMALL_PAGES] = "the kernel had no free huge page and gave 4 KiB pages",
    [OKOSU_WHY_NO_POPULATE] =
        "the kernel has no MADV_POPULATE_WRITE: huge pages advised but not checked",
    [OKOSU_WHY_POPULATE_FAILED] = "populating the first chunk failed",
    [OKOSU_WHY_BACKOFF] = "not tried: backing off after a failure",
    [OKOSU_WHY_BUDGET] = "the budget of advised bytes is spent",
    [OKOSU_WHY_HUGETLB_EMPTY] = "hugetlb: too few free pages in the pool",
    [OKOSU_WHY_HUGETLB_POPULATE] = "hugetlb: pages could not be populated",
    [OKOSU_WHY_HUGETLB_FORKED] =
        "hugetlb: forked although --no-fork was promised: not used any more",
    [OKOSU_WHY_NO_REGION] = "no address space for the region of large blocks (RLIMIT_AS?)",
    [OKOSU_WHY_REGION_FULL] = "the region of large blocks is full",
    [OKOSU_WHY_REGION_CUT] = "gave the unused region back because address space ran out",
    [OKOSU_WHY_COMMIT_FAILED] = "memory for a large block could not be committed",
    [OKOSU_WHY_MAP_UNALIGNED] = "an mmap could not be aligned to 2 MiB",
    [OKOSU_WHY_MAP_TABLE] = "too many large mmaps at one time: not advised",
    [OKOSU_WHY_BAD_FREE] = "free or realloc of a pointer that is no block: ignored",
    [OKOSU_WHY_PIN_FAILED] = "a thread could not be pinned to its CPU",
};

struct okosu_counters okosu_counters;

static atomic_size_t reasons[OKOSU_WHY_COUNT];
static _Atomic uint16_t pins[PINS_SHOWN];
static atomic_uint messages;
static _Atomic pid_t owner;
static struct stat stderr_at_start;

/* A buffer that drops what does not fit and remembers that it did. */
struct line {
    char *text;
    size_t size, used;
    bool cut;
};

#define LINE(buffer)                                                                               \
    {                                                                                              \
        .text = (buffer), .size = sizeof(buffer)                                                   \
    }

static void put_char(struct line *l, char c)
{
    if (l->used < l->size)
        l->text[l->used++] = c;
    else
        l->cut = true;
}

static void put(struct line *l, const char *text)
{
    while (*text)
        put_char(l, *text++);
}

static void put_number(struct line *l, size_t value)
{
    char digits[24];
    int n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n)
        put_char(l, digits[--n]);
}

static void put_key(struct line *l, const char *key)
{
    put(l, ", \"");
    put(l, key);
    put(l, "\": ");
}

static void put_counter(struct line *l, const char *key, const atomic_size_t *counter)
{
    put_key(l, key);
    put_number(l, atomic_load_explicit(counter, memory_order_relaxed));
}

/* A process name may hold any byte; only those that need no escape in JSON are kept. */
static void put_comm(struct line *l)
{
    char name[17] = "";
    const char *s;

    prctl(PR_GET_NAME, name, 0, 0, 0);
    put_key(l, "comm");
    put_char(l, '"');
    for (s = name; *s; s++)
        put_char(l, *s < ' ' || *s > '~' || *s == '"' || *s == '\\' ? '?' : *s);
    put_char(l, '"');
}

static void put_pins(struct line *l)
{
    size_t i, count = atomic_load_explicit(&okosu_counters.threads_pinned, memory_order_relaxed);

    put_key(l, "pins");
    put_char(l, '"');
    for (i = 0; i < count && i < PINS_SHOWN; i++) {
        if (i)
            put_char(l, ',');
        put_number(l, atomic_load_explicit(&pins[i], memory_order_relaxed));
    }
    put_char(l, '"');
}

static void put_reasons(struct line *l)
{
    bool first = true;
    int i;

    put_key(l, "reasons");
    put_char(l, '{');
    for (i = 0; i < OKOSU_WHY_COUNT; i++) {
        size_t count = okosu_reason_count((enum okosu_reason)i);

        if (!count)
            continue;
        put(l, first ? "\"" : ", \"");
        put(l, reason_texts[i]);
        put(l, "\": ");
        put_number(l, count);
        first = false;
    }
    put_char(l, '}');
}

static const char *tier_name(void)
{
    static const char *const names[] = {
        [OKOSU_TIER_NONE] = "", [OKOSU_TIER_THP] = "thp", [OKOSU_TIER_HUGETLB] = "hugetlb"};

    return names[okosu_config.tier];
}

static void put_evidence(struct line *l)
{
    const struct okosu_counters *c = &okosu_counters;

    put(l, "{\"pid\": ");
    put_number(l, (size_t)getpid());
    put_comm(l);
    put_key(l, "superpage");
    put_char(l, '"');
    put(l, tier_name());
    put_char(l, '"');
    put_counter(l, "blocks", &c->blocks);
    put_counter(l, "mmaps", &c->mmaps);
    put_counter(l, "advised_bytes_peak", &c->advised_peak);
    put_counter(l, "advised_bytes_total", &c->advised_total);
    put_counter(l, "huge_first_chunks", &c->huge_first_chunks);
    put_counter(l, "populated_bytes", &c->populated);
    put_counter(l, "retained_hits", &c->retained_hits);
    put_counter(l, "threads_pinned", &c->threads_pinned);
    put_pins(l);
    put_reasons(l);
    put_key(l, "forked");
    put(l, atomic_load(&c->forked) ? "true" : "false");
    put(l, "}\n");
}

/* The program may have closed descriptor 2 and opened a file of its own there. */
static bool stderr_is_ours(void)
{
    struct stat now;

    return fstat(STDERR_FILENO, &now) == 0 && now.st_dev == stderr_at_start.st_dev &&
           now.st_ino == stderr_at_start.st_ino;
}

/* Best effort: there is nobody to tell that a message could not be written. */
static void emit(int fd, const struct line *l)
{
    ssize_t written = write(fd, l->text, l->used);

    (void)written;
}

static void say(const struct line *l)
{
    int saved = errno;

    if (stderr_is_ours())
        emit(STDERR_FILENO, l);
    errno = saved;
}

void okosu_reason_add(enum okosu_reason why)
{
    char text[160];
    struct line l = LINE(text);

    if (atomic_fetch_add_explicit(&reasons[why], 1, memory_order_relaxed) || !okosu_config.verbose)
        return;
    if (atomic_fetch_add_explicit(&messages, 1, memory_order_relaxed) >= MESSAGES_MAX)
        return;
    put(&l, "okosu: ");
    put(&l, reason_texts[why]);
    put_char(&l, '\n');
    say(&l);
}

size_t okosu_reason_count(enum okosu_reason why)
{
    return atomic_load_explicit(&reasons[why], memory_order_relaxed);
}

void okosu_evidence_advised(size_t by)
{
    size_t now = atomic_load_explicit(&okosu_counters.advised, memory_order_relaxed);
    size_t peak = atomic_load_explicit(&okosu_counters.advised_peak, memory_order_relaxed);

    okosu_count(&okosu_counters.advised_total, by);
    while (now > peak &&
           !atomic_compare_exchange_weak_explicit(&okosu_counters.advised_peak, &peak, now,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void okosu_evidence_pinned(unsigned cpu)
{
    size_t n = atomic_fetch_add_explicit(&okosu_counters.threads_pinned, 1, memory_order_relaxed);

    if (n < PINS_SHOWN)
        atomic_store_explicit(&pins[n], (uint16_t)cpu, memory_order_relaxed);
}

void okosu_evidence_own(void)
{
    atomic_store(&owner, getpid());
    if (fstat(STDERR_FILENO, &stderr_at_start) != 0)
        okosu_config.verbose = false;
}

void okosu_evidence_restart(void)
{
    struct okosu_counters *c = &okosu_counters;
    int i;

    atomic_store(&c->advised_peak, atomic_load(&c->advised));
    atomic_store(&c->advised_total, 0);
    atomic_store(&c->blocks, 0);
    atomic_store(&c->mmaps, 0);
    atomic_store(&c->huge_first_chunks, 0);
    atomic_store(&c->populated, 0);
    atomic_store(&c->retained_hits, 0);
    atomic_store(&c->threads_pinned, 0);
    atomic_store(&c->forked, false);
    atomic_store(&messages, 0);
    for (i = 0; i < OKOSU_WHY_COUNT; i++)
        atomic_store(&reasons[i], 0);
    atomic_store(&owner, getpid());
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

static void write_proof(void)
{
    char text[4096];
    struct line l = LINE(text);
    int fd;

    put_evidence(&l);
    if (l.cut)
        return;
    /* O_NONBLOCK: a FIFO without a reader must not hold the program up. */
    fd = open(okosu_config.proof, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
              0644);
    if (fd < 0)
        return;
    if (fits_file_limit(fd, l.used))
        emit(fd, &l);
    close(fd);
}

static void write_summary(void)
{
    const struct okosu_counters *c = &okosu_counters;
    char text[160];
    struct line l = LINE(text);

    put(&l, "okosu: ");
    put_number(&l, atomic_load(&c->blocks));
    put(&l, " blocks and ");
    put_number(&l, atomic_load(&c->mmaps));
    put(&l, " mmaps, at most ");
    put_number(&l, atomic_load(&c->advised_peak) >> 20);
    put(&l, " MiB advised, ");
    put_number(&l, atomic_load(&c->threads_pinned));
    put(&l, " threads pinned\n");
    say(&l);
}

void okosu_evidence_write(void)
{
    pid_t me = getpid();
    int saved = errno;

    if (!me || !atomic_compare_exchange_strong(&owner, &me, 0))
        return;
    if (okosu_config.proof[0])
        write_proof();
    if (okosu_config.verbose)
        write_summary();
    errno = saved;
}
