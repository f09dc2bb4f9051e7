/* SPDX-License-Identifier: Apache-2.0 */
/* place_build UNITS LABEL: work of the shape of a kernel build, where colours are expected to be
 * worth nothing. Each unit is a process, as a compiler is: it reads a source from the page cache,
 * interns its words in a hash table, makes a tree of nodes with one for each word, goes through
 * that several times by its links, writes an object into the page cache and ends. Its memory, most
 * of a megabyte, is new each time, is used for a short while, and fills any small cache several
 * times over.
 *
 * One unit warms the caches; UNITS after it are the model's region, labelled LABEL, the kernel's
 * work included. The line on stdout is that of place_transpose without frames. */
#include "place.h"

enum {
    SOURCE = 64 << 10,
    OBJECT = 32 << 10,
    SLOTS = 8192,
    BLOCK = 4096,
    PASSES = 3,
};

struct node {
    struct node *left, *right;
    uint32_t symbol, uses, depth, value;
    uint64_t rest[2];
};

struct symbol {
    uint64_t hash;
    uint32_t uses, number;
};

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* Words of three to ten letters, some far more often than others, as names in programs are. */
static int make_source(unsigned seed)
{
    unsigned char *text = malloc(SOURCE);
    int fd = work_file("source", SOURCE);
    size_t at = 0;

    if (!text)
        work_fail("malloc");
    state = seed;
    while (at + 11 < SOURCE) {
        uint32_t word = draw(64) ? draw(200) : 200 + draw(3000), length = 3 + word % 8;

        for (uint32_t i = 0; i < length; i++, word = word * 25 + 7)
            text[at++] = (unsigned char)('a' + word % 26);
        text[at++] = ' ';
    }
    memset(text + at, ' ', SOURCE - at);
    work_write(fd, text, SOURCE);
    free(text);
    return fd;
}

static struct symbol *intern(struct symbol *table, uint64_t hash)
{
    uint64_t slot = hash * 0x9e3779b97f4a7c15u >> 51;

    while (table[slot].uses && table[slot].hash != hash)
        slot = (slot + 1) % SLOTS;
    table[slot].hash = hash;
    table[slot].uses++;
    return &table[slot];
}

static void insert(struct node *root, struct node *new)
{
    struct node **link = &root;

    while (*link) {
        new->depth++;
        link = new->value < (*link)->value ? &(*link)->left : &(*link)->right;
    }
    *link = new;
}

static uint64_t visit(struct node *node, const struct symbol *table)
{
    if (!node)
        return 0;
    node->uses++;
    node->rest[node->uses % 2] += table[node->symbol].uses;
    return visit(node->left, table) + node->rest[0] + visit(node->right, table);
}

static uint64_t compile(const unsigned char *text, struct symbol *table, struct node *nodes)
{
    uint64_t hash = 0, sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < SOURCE; i++) {
        if (text[i] != ' ') {
            hash = hash * 31 + text[i];
            continue;
        }
        if (!hash)
            continue;
        nodes[count].symbol = (uint32_t)(intern(table, hash) - table);
        nodes[count].value = draw(UINT32_MAX);
        if (count)
            insert(nodes, &nodes[count]);
        count++;
        hash = 0;
    }
    for (int pass = 0; pass < PASSES; pass++)
        sum += visit(nodes, table);
    return sum;
}

static void unit(int source)
{
    size_t room = SOURCE + SLOTS * sizeof(struct symbol) + SOURCE / 4 * sizeof(struct node);
    unsigned char *text = place_memory(room, PLACE_4K, 0), object[BLOCK];
    struct symbol *table = (struct symbol *)(void *)(text + SOURCE);
    int to = memfd_create("object", MFD_CLOEXEC);

    if (to < 0)
        work_fail("memfd_create");
    for (size_t at = 0; at < SOURCE; at += BLOCK)
        if (pread(source, text + at, BLOCK, (off_t)at) != BLOCK)
            work_fail("read");
    uint64_t sum = compile(text, table, (struct node *)(void *)(table + SLOTS));
    memset(object, (int)sum, sizeof(object));
    for (size_t at = 0; at < OBJECT; at += BLOCK)
        work_write(to, object, BLOCK);
}

int main(int argc, char **argv)
{
    long long before[PLACE_COUNTERS];
    long numbers[2];

    work_arguments(argc, argv, "UNITS LABEL", 2, numbers);
    int source = make_source(1);
    place_count(before);
    mark_label((uint64_t)numbers[1]);
    for (long i = 0; i <= numbers[0]; i++) {
        if (i == 1)
            mark_begin();
        pid_t child = fork();
        if (child < 0)
            work_fail("fork");
        if (!child) {
            unit(source);
            _exit(0);
        }
        if (work_wait(child))
            work_wrong("a unit failed");
    }
    mark_end();
    mark_sleep();
    printf("{\"label\": %ld, \"faults\": %ld, \"huge_bytes\": 0, \"frames\": [], ", numbers[1],
           place_faults());
    place_counted(before);
    puts("}");
    return 0;
}
