/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of /proc texts; see proc_parse.h. */
#include "proc_parse.h"

#include <errno.h>
#include <string.h>

struct span {
    const char *at, *end;
};

static bool next_line(struct span *text, struct span *line)
{
    if (text->at >= text->end)
        return false;
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    line->at = text->at;
    line->end = newline ? newline : text->end;
    text->at = newline ? newline + 1 : text->end;
    return true;
}

static void skip_blanks(struct span *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static bool next_word(struct span *s, struct span *word)
{
    skip_blanks(s);
    word->at = s->at;
    while (s->at < s->end && *s->at != ' ' && *s->at != '\t')
        s->at++;
    word->end = s->at;
    return word->at < word->end;
}

/* Strip `prefix` off the front of `s`. */
static bool take(struct span *s, const char *prefix)
{
    size_t length = strlen(prefix);

    if ((size_t)(s->end - s->at) < length || memcmp(s->at, prefix, length) != 0)
        return false;
    s->at += length;
    return true;
}

/* A decimal number that saturates instead of wrapping; what follows it is left in `s`. */
static bool take_number(struct span *s, uint64_t *out)
{
    const char *first;
    uint64_t value = 0;

    skip_blanks(s);
    first = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        unsigned digit = (unsigned)(*s->at - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *out = value;
    return s->at > first;
}

static pid_t to_pid(uint64_t value)
{
    return value > INT32_MAX ? 0 : (pid_t)value;
}

static void copy(char *to, size_t size, struct span from)
{
    size_t length = (size_t)(from.end - from.at);

    if (length > size - 1)
        length = size - 1;
    memcpy(to, from.at, length);
    to[length] = '\0';
}

int okosu_proc_parse_rollup(const char *text, size_t length, struct okosu_memory *out)
{
    struct span all = {text, text + length}, line;
    uint64_t value;
    bool found = false;

    memset(out, 0, sizeof(*out));
    while (next_line(&all, &line)) {
        if (take(&line, "Rss:") && take_number(&line, &value)) {
            out->rss_kb = value;
            found = true;
        } else if (take(&line, "Anonymous:") && take_number(&line, &value)) {
            out->anon_kb = value;
        } else if (take(&line, "AnonHugePages:") && take_number(&line, &value)) {
            out->anon_huge_kb = value;
        } else if (take(&line, "FilePmdMapped:") && take_number(&line, &value)) {
            out->file_huge_kb = value;
        } else if (take(&line, "Pss_Shmem:") && take_number(&line, &value)) {
            out->shmem_kb = value;
        } else if (take(&line, "ShmemPmdMapped:") && take_number(&line, &value)) {
            out->shmem_huge_kb = value;
        } else if ((take(&line, "Private_Hugetlb:") || take(&line, "Shared_Hugetlb:")) &&
                   take_number(&line, &value)) {
            out->hugetlb_kb += value;
        }
    }
    return found ? 0 : -EINVAL;
}

/* A list longer than the buffer loses its last, possibly cut, range. */
static void copy_list(char *to, size_t size, struct span from)
{
    copy(to, size, from);
    if ((size_t)(from.end - from.at) > size - 1) {
        char *comma = strrchr(to, ',');
        if (comma)
            *comma = '\0';
    }
}

int okosu_proc_parse_status(const char *text, size_t length, struct okosu_proc_status *out)
{
    struct span all = {text, text + length}, line, word;
    uint64_t value;
    bool found = false;

    memset(out, 0, sizeof(*out));
    out->thp_enabled = 1;
    while (next_line(&all, &line)) {
        if (take(&line, "State:")) {
            if (next_word(&line, &word))
                out->state = *word.at;
        } else if (take(&line, "Tgid:")) {
            found = take_number(&line, &value);
            out->tgid = to_pid(value);
        } else if (take(&line, "PPid:")) {
            take_number(&line, &value);
            out->ppid = to_pid(value);
        } else if (take(&line, "TracerPid:")) {
            take_number(&line, &value);
            out->tracer = to_pid(value);
        } else if (take(&line, "VmHWM:")) {
            take_number(&line, &out->hwm_kb);
        } else if (take(&line, "Threads:")) {
            take_number(&line, &value);
            out->threads = value > INT32_MAX ? 0 : (unsigned)value;
        } else if (take(&line, "THP_enabled:")) {
            if (take_number(&line, &value))
                out->thp_enabled = value != 0;
        } else if (take(&line, "Cpus_allowed_list:")) {
            if (next_word(&line, &word))
                copy_list(out->cpus_allowed, sizeof(out->cpus_allowed), word);
        }
    }
    return found ? 0 : -EINVAL;
}

int okosu_proc_parse_stat(const char *text, size_t length, struct okosu_proc_stat *out)
{
    struct span all = {text, text + length}, word;
    const char *open = memchr(text, '(', length), *close;

    memset(out, 0, sizeof(*out));
    out->cpu = -1;
    /* The name may hold anything, parentheses and newlines too; only numbers follow it. */
    close = open ? memrchr(open, ')', (size_t)(all.end - open)) : NULL;
    if (!close)
        return -EINVAL;
    copy(out->comm, sizeof(out->comm), (struct span){open + 1, close});
    all.at = close + 1;
    for (int field = 3; next_word(&all, &word); field++) {
        uint64_t value;
        char first = *word.at;
        bool number = take_number(&word, &value);
        if (field == 3)
            out->state = first;
        else if (field == 4 && number)
            out->ppid = to_pid(value);
        else if (field == 9 && number)
            out->flags = value;
        else if (field == 22 && number)
            out->start = value;
        else if (field == 31 && number)
            out->pending = value;
        else if (field == 39 && number && value < OKOSU_CPUS)
            out->cpu = (int)value;
    }
    return out->state ? 0 : -EINVAL;
}

static void add_policy(struct okosu_proc_numa *out, struct span policy)
{
    char name[OKOSU_POLICY];

    copy(name, sizeof(name), policy);
    for (size_t i = 0; i < out->policy_count; i++) {
        if (strcmp(out->policies[i], name) == 0)
            return;
    }
    if (out->policy_count < OKOSU_POLICIES)
        memcpy(out->policies[out->policy_count++], name, sizeof(name));
}

/* "default", "bind:0", "prefer (many):0-1", "weighted interleave:0-1": two modes have a blank in
 * their name. */
static bool next_policy(struct span *line, struct span *policy)
{
    struct span rest, word;

    if (!next_word(line, policy))
        return false;
    rest = *line;
    if (!next_word(&rest, &word))
        return true;
    bool many =
        policy->end - policy->at == 6 && memcmp(policy->at, "prefer", 6) == 0 && *word.at == '(';
    bool weighted = policy->end - policy->at == 8 && memcmp(policy->at, "weighted", 8) == 0;
    if (many || weighted) {
        policy->end = word.end;
        *line = rest;
    }
    return true;
}

void okosu_proc_parse_numa_maps(const char *text, size_t length, unsigned page_kb,
                                struct okosu_proc_numa *out)
{
    struct span all = {text, text + length}, line, address, policy, word;

    memset(out, 0, sizeof(*out));
    while (next_line(&all, &line)) {
        uint64_t nodes[OKOSU_NODES] = {0}, unit_kb = page_kb, value;
        bool file = false, huge = false;
        unsigned highest = 0;

        if (!next_word(&line, &address) || !next_policy(&line, &policy))
            continue;
        add_policy(out, policy);
        while (next_word(&line, &word)) {
            struct span node = word;
            if (take(&word, "file=")) {
                file = true;
            } else if (word.end - word.at == 4 && memcmp(word.at, "huge", 4) == 0) {
                huge = true;
            } else if (take(&word, "kernelpagesize_kB=")) {
                if (take_number(&word, &value) && value < (1U << 24))
                    unit_kb = value;
            } else if (take(&node, "N") && take_number(&node, &value) && value < OKOSU_NODES &&
                       take(&node, "=")) {
                unsigned index = (unsigned)value;
                if (take_number(&node, &value) && value < (UINT64_C(1) << 40)) {
                    nodes[index] = value;
                    highest = index > highest ? index : highest;
                }
            }
        }
        /* Pages of files are left out: they lie on the node of the process that read them first,
         * and tell nothing about this process's policy. */
        if (file && !huge)
            continue;
        for (unsigned i = 0; i <= highest; i++)
            out->pages[i] += page_kb ? nodes[i] * unit_kb / page_kb : 0;
    }
}

int okosu_proc_parse_delay(const char *text, size_t length, struct okosu_proc_sched *out)
{
    struct span all = {text, text + length};
    uint64_t ran;

    return take_number(&all, &ran) && take_number(&all, &out->delay_ns) ? 0 : -EINVAL;
}

int okosu_proc_parse_migrations(const char *text, size_t length, struct okosu_proc_sched *out)
{
    struct span all = {text, text + length}, line;

    while (next_line(&all, &line)) {
        if (!take(&line, "se.nr_migrations"))
            continue;
        skip_blanks(&line);
        return take(&line, ":") && take_number(&line, &out->migrations) ? 0 : -EINVAL;
    }
    return -EINVAL;
}

bool okosu_proc_next_file(const char **text, const char *end, const char **name, size_t *length)
{
    struct span all = {*text, end}, line, word;
    bool found = false;

    while (!found && next_line(&all, &line)) {
        bool whole = all.at > line.end;
        int before = 0;
        /* address, rights, offset, device, inode; what is no file is [heap], [anon:NAME], nothing */
        while (before < 5 && next_word(&line, &word))
            before++;
        skip_blanks(&line);
        found = whole && before == 5 && line.at < line.end && *line.at == '/';
    }
    *text = all.at;
    if (found) {
        *name = line.at;
        *length = (size_t)(line.end - line.at);
    }
    return found;
}

struct range {
    uint64_t start, end;
    bool written; /* rw-p; else ---p */
};

static bool take_address(struct span *s, uint64_t *out)
{
    const char *first = s->at;
    uint64_t value = 0;

    for (; s->at < s->end; s->at++) {
        char c = *s->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 16;
        if (digit == 16 || value >> 60)
            break;
        value = value << 4 | digit;
    }
    *out = value;
    return s->at > first;
}

/* A line of maps that is private memory of no file, readable and writable or not to be touched. */
static bool take_range(struct span line, struct range *out)
{
    struct span word;

    if (!take_address(&line, &out->start) || !take(&line, "-") || !take_address(&line, &out->end))
        return false;
    out->written = take(&line, " rw-p ");
    if (!out->written && !take(&line, " ---p "))
        return false;
    for (int i = 0; i < 3 && next_word(&line, &word); i++)
        ;
    return word.end - word.at == 1 && *word.at == '0' && !next_word(&line, &word);
}

void okosu_proc_parse_heaps(const char *text, size_t length, struct okosu_proc_heaps *out)
{
    const uint64_t unit = UINT64_C(64) << 20;
    struct span all = {text, text + length}, line;
    struct range front = {0}, rest;

    memset(out, 0, sizeof(*out));
    while (next_line(&all, &line)) {
        uint64_t heap;
        bool known = take_range(line, &rest);

        /* The front may begin earlier: the kernel makes one mapping of it and of a full heap before
         * it. */
        heap = rest.start & ~(unit - 1);
        if (known && !rest.written && front.written && front.end == rest.start &&
            front.start <= heap && heap < rest.start && rest.end - heap == unit) {
            out->count++;
            out->kb += (rest.start - heap) / 1024;
        }
        front = known ? rest : (struct range){0};
    }
}

bool okosu_proc_parse_key(const char *text, size_t length, const char *key, uint64_t *out)
{
    struct span all = {text, text + length}, line;

    while (next_line(&all, &line)) {
        if (take(&line, key))
            return take_number(&line, out);
    }
    return false;
}
