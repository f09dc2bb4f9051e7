/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, reasons and the evidence line (see evidence.h). */
#include "evidence.h"

#include "companion.h"
#include "config.h"
#include "proof.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PINS_SHOWN 64
#define PROOF_BYTES                                                                                \
    12800 /* a line of our own and those of the companions, each as long as can be */
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
    [OKOSU_WHY_RESERVATION] =
        "an mmap is longer than the rest of the budget: taken for a reservation",
    [OKOSU_WHY_CHANGED] =
        "the program changed the mapping of pages inside a block: freed and not kept",
    [OKOSU_WHY_BAD_FREE] = "free or realloc of a pointer that is no block: ignored",
    [OKOSU_WHY_PIN_FAILED] = "a thread could not be pinned to its CPU",
    [OKOSU_WHY_DEEPBIND] = "a library was loaded that may free blocks by libc's function "
                           "(RTLD_DEEPBIND): no more of ours",
};

struct okosu_counters okosu_counters;

static atomic_size_t reasons[OKOSU_WHY_COUNT];
static _Atomic uint16_t pins[PINS_SHOWN];
static atomic_uint messages;
static _Atomic pid_t owner;
static atomic_bool sealed;
static struct okosu_proof proof = {.path = okosu_config.proof};
static struct stat stderr_at_start;

static void put_counter(struct okosu_json *json, const char *key, const atomic_size_t *counter)
{
    okosu_json_unsigned(json, key, atomic_load_explicit(counter, memory_order_relaxed));
}

static void put_pins(struct okosu_json *json)
{
    size_t count = atomic_load_explicit(&okosu_counters.threads_pinned, memory_order_relaxed);
    char text[PINS_SHOWN * 6 + 1] = "";
    struct okosu_line list = OKOSU_LINE(text);

    for (size_t i = 0; i < count && i < PINS_SHOWN; i++) {
        okosu_put(&list, i ? "," : "");
        okosu_put_number(&list, atomic_load_explicit(&pins[i], memory_order_relaxed));
    }
    okosu_json_string(json, "pins", text);
}

static void put_reasons(struct okosu_json *json)
{
    okosu_json_open(json, "reasons", '{');
    for (int i = 0; i < OKOSU_WHY_COUNT; i++) {
        size_t count = okosu_reason_count((enum okosu_reason)i);

        if (count)
            okosu_json_unsigned(json, reason_texts[i], count);
    }
    okosu_json_close(json, '}');
}

static const char *tier_name(void)
{
    static const char *const names[] = {[OKOSU_TIER_NONE] = "",
                                        [OKOSU_TIER_THP] = "thp",
                                        [OKOSU_TIER_SMALL] = "small",
                                        [OKOSU_TIER_SHARED] = "shared",
                                        [OKOSU_TIER_HUGETLB] = "hugetlb"};

    return names[okosu_config.tier];
}

static void put_evidence(struct okosu_json *json)
{
    const struct okosu_counters *c = &okosu_counters;

    okosu_json_string(json, "superpage", tier_name());
    put_counter(json, "blocks", &c->blocks);
    put_counter(json, "mmaps", &c->mmaps);
    put_counter(json, "advised_bytes_peak", &c->advised_peak);
    put_counter(json, "advised_bytes_total", &c->advised_total);
    put_counter(json, "huge_first_chunks", &c->huge_first_chunks);
    put_counter(json, "populated_bytes", &c->populated);
    put_counter(json, "retained_hits", &c->retained_hits);
    put_counter(json, "threads_pinned", &c->threads_pinned);
    put_pins(json);
    put_reasons(json);
    okosu_json_bool(json, "forked", atomic_load(&c->forked));
}

/* The program may have closed descriptor 2 and opened a file of its own there. */
static bool stderr_is_ours(void)
{
    struct stat now;

    return fstat(STDERR_FILENO, &now) == 0 && now.st_dev == stderr_at_start.st_dev &&
           now.st_ino == stderr_at_start.st_ino;
}

static void say(const struct okosu_line *l)
{
    int saved = errno;

    if (stderr_is_ours())
        okosu_line_emit(STDERR_FILENO, l);
    errno = saved;
}

void okosu_reason_add(enum okosu_reason why)
{
    char text[160];
    struct okosu_line l = OKOSU_LINE(text);

    if (atomic_fetch_add_explicit(&reasons[why], 1, memory_order_relaxed) || !okosu_config.verbose)
        return;
    if (atomic_fetch_add_explicit(&messages, 1, memory_order_relaxed) >= MESSAGES_MAX)
        return;
    okosu_put(&l, "okosu: ");
    okosu_put(&l, reason_texts[why]);
    okosu_put_char(&l, '\n');
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

/* Without a proof or a summary to write, no process needs to know itself, and no system call is
 * made that the program would not make. */
static void own(void)
{
    if (atomic_load(&sealed))
        atomic_store(&owner, 0);
    else if (okosu_config.proof[0] || okosu_config.verbose)
        atomic_store(&owner, getpid());
}

void okosu_evidence_own(void)
{
    if (okosu_config.verbose && fstat(STDERR_FILENO, &stderr_at_start) != 0)
        okosu_config.verbose = false;
    own();
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
    own();
}

/* Static, because _exit may run on a signal stack of 4 KiB; only the owner writes, and once. */
static void write_proof(void)
{
    static char text[4096];
    struct okosu_line l = OKOSU_LINE(text);
    struct okosu_json json = {.line = &l};
    struct okosu_proof to = proof;

    okosu_proof_open(&json, &to);
    put_evidence(&json);
    okosu_proof_close(&json, &to);
    for (unsigned i = 0; i < okosu_companion_count; i++) {
        if (okosu_companions[i])
            okosu_companions[i]->evidence(&to);
    }
}

static void write_summary(void)
{
    const struct okosu_counters *c = &okosu_counters;
    char text[160];
    struct okosu_line l = OKOSU_LINE(text);

    okosu_put(&l, "okosu: ");
    okosu_put_number(&l, atomic_load(&c->blocks));
    okosu_put(&l, " blocks and ");
    okosu_put_number(&l, atomic_load(&c->mmaps));
    okosu_put(&l, " mmaps, at most ");
    okosu_put_number(&l, atomic_load(&c->advised_peak) >> 20);
    okosu_put(&l, " MiB advised, ");
    okosu_put_number(&l, atomic_load(&c->threads_pinned));
    okosu_put(&l, " threads pinned\n");
    say(&l);
}

void okosu_evidence_write(void)
{
    int saved = errno;
    pid_t me;

    if (!atomic_load_explicit(&owner, memory_order_relaxed))
        return;
    /* Behind a filter a child of vfork cannot be told from its parent, which writes over its
     * lines. */
    if (atomic_load(&sealed)) {
        write_proof();
        return;
    }
    me = getpid();
    if (!atomic_compare_exchange_strong(&owner, &me, 0))
        return;
    if (okosu_config.proof[0]) {
        okosu_proof_identify(&proof);
        write_proof();
    }
    if (okosu_config.verbose)
        write_summary();
    errno = saved;
}

void okosu_evidence_seal(void)
{
    static char text[PROOF_BYTES];
    struct okosu_line lines = OKOSU_LINE(text);
    int saved = errno;

    if (!atomic_load(&owner) || atomic_load(&sealed) || atomic_load(&owner) != getpid())
        return;
    if (okosu_config.verbose)
        write_summary();
    okosu_config.verbose = false;
    if (okosu_config.proof[0]) {
        memset(text, '\n', sizeof(text));
        lines.used = sizeof(text);
        okosu_proof_identify(&proof);
        proof.mapped = okosu_line_map(proof.path, &lines);
        proof.room = sizeof(text);
        if (!proof.mapped)
            write_proof();
    }
    if (!proof.mapped)
        atomic_store(&owner, 0);
    atomic_store(&sealed, true);
    errno = saved;
}

/* SA_RESETHAND has restored the default action, and SA_NODEFER has left the signal unblocked: raised
 * again, it ends the process as it would have without us. */
static void write_and_die(int signal)
{
    okosu_evidence_write();
    raise(signal);
}

void okosu_evidence_at_signal(void)
{
    struct sigaction now, ours = {
                              .sa_handler = write_and_die,
                              .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK),
                          };

    if (okosu_config.proof_signal && sigaction(okosu_config.proof_signal, NULL, &now) == 0 &&
        !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        sigaction(okosu_config.proof_signal, &ours, NULL);
}
