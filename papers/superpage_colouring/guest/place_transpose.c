/* SPDX-License-Identifier: Apache-2.0 */
/* place_transpose PAGES LAYOUT BESIDE DIMENSION PITCH REPETITIONS LABEL COLOURS HOG-COLOURS: one
 * point of a placement experiment: the transpose (transpose.h) of a square matrix, its two arrays
 * one behind the other.
 *
 *   PAGES    4k, thp, hugetlb
 *   LAYOUT   whole, remainder (place.h)
 *   BESIDE   alone; or hog: after each repetition another process reads HOG bytes
 *   COLOURS  bits of the colours that this process may have, in hexadecimal; 0: all
 *   HOG-COLOURS  the same for the other process
 *
 * Both arrays are touched in the order of their addresses. Right after a tick of the kernel's
 * clock two rounds warm the caches; the repetitions are the model's region, labelled LABEL, without
 * the turns of the other process. The line on stdout has the set's frames, the page faults
 * before the region, and the kernel's counters. */
#include "colour_mask.h"
#include "place.h"
#include "transpose.h"

enum { WARM = 2, HOG = 1 << 20, LINE = 32 };

struct hog {
    pid_t child;
    int go, done;
};

static void hog_main(int go, int done, unsigned long colours)
{
    unsigned char *at, turn;

    colour_mask(colours);
    at = place_memory(HOG, PLACE_4K, 0);
    memset(at, 1, HOG);
    while (read(go, &turn, 1) == 1) {
        for (size_t i = 0; i < HOG; i += LINE)
            (void)*(volatile unsigned char *)(at + i);
        work_write(done, &turn, 1);
    }
    exit(0);
}

static struct hog hog_start(unsigned long colours)
{
    int go[2], done[2];
    struct hog hog;

    if (pipe2(go, O_CLOEXEC) || pipe2(done, O_CLOEXEC))
        work_fail("pipe");
    hog.child = fork();
    if (hog.child < 0)
        work_fail("fork");
    if (!hog.child) {
        close(go[1]);
        hog_main(go[0], done[1], colours);
    }
    hog.go = go[1];
    hog.done = done[0];
    return hog;
}

static void hog_turn(const struct hog *hog)
{
    unsigned char turn = 1;

    work_write(hog->go, &turn, 1);
    work_read(hog->done, &turn, 1);
}

static void hog_end(const struct hog *hog)
{
    close(hog->go);
    if (work_wait(hog->child))
        work_wrong("the hog failed");
}

/* Return the word's place in the list; end the program where it is not in it. */
static int choice(const char *word, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(word, list[i]))
            return i;
    fprintf(stderr, "%s: not one of the words\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    static const char *const pages[] = {"4k", "thp", "hugetlb"};
    static const char *const layouts[] = {"whole", "remainder"};
    static const char *const besides[] = {"alone", "hog"};
    long long before[PLACE_COUNTERS];
    struct hog hog;

    if (argc != 10) {
        fputs("usage: PAGES LAYOUT BESIDE DIMENSION PITCH REPETITIONS LABEL COLOURS HOG-COLOURS\n",
              stderr);
        return 2;
    }
    enum place_pages size = (enum place_pages)choice(argv[1], pages, 3);
    int remainder = choice(argv[2], layouts, 2), beside = choice(argv[3], besides, 2);
    size_t dimension = (size_t)work_number(argv[4]), pitch = (size_t)work_number(argv[5]);
    long repetitions = work_number(argv[6]), label = work_number(argv[7]);
    if (pitch < dimension || pitch * dimension > 100000000) {
        fputs("rows overlap, or the matrix is too large\n", stderr);
        return 2;
    }

    place_count(before);
    if (beside)
        hog = hog_start(strtoul(argv[9], NULL, 16));
    colour_mask(strtoul(argv[8], NULL, 16));
    size_t one = place_round(((dimension - 1) * pitch + dimension) * sizeof(double), 64);
    unsigned char *at = place_memory(2 * one, size, remainder);
    double *a = (double *)(void *)at, *b = (double *)(void *)(at + one);
    transpose_clear(a, dimension, pitch);
    transpose_fill(b, dimension, pitch, (unsigned)label);
    long faults = place_faults();

    place_await_tick();
    if (mark_pages())
        work_fail("the kernel does not say which pages are large");
    mark_label((uint64_t)label);
    for (int i = 0; i < WARM; i++) {
        transpose(a, b, dimension, pitch);
        if (beside)
            hog_turn(&hog);
    }
    if (!beside)
        mark_begin();
    for (long rep = 0; rep < repetitions; rep++) {
        if (beside)
            mark_begin();
        transpose(a, b, dimension, pitch);
        if (beside) {
            mark_end();
            hog_turn(&hog);
        }
    }
    if (!beside)
        mark_end();
    mark_sleep();

    transpose_check(a, b, dimension, pitch);
    if (beside)
        hog_end(&hog);
    printf("{\"label\": %ld, \"faults\": %ld, \"huge_bytes\": %zu, ", label, faults,
           place_huge_bytes(at, 2 * one));
    place_frames(at, 2 * one);
    place_counted(before);
    puts("}");
    return 0;
}
