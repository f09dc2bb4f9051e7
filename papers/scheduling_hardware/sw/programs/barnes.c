/* SPDX-License-Identifier: Apache-2.0 */
/* barnes BODIES THREADS: how bodies in a plane attract each other, by a tree of squares (Barnes and
 * Hut). All members put their bodies into one tree, in which each square has a lock; then each body
 * adds up what attracts it, a square that is far away as one body in its centre. Attraction is that
 * of a plane, mass by distance. Right is a tree that has each body once, in which each is attracted
 * by the mass of all others, with nearly the force that these have one by one. */
#include "kernel.h"

enum { MOST_BODIES = 1 << 16, SIDE = 1 << 16, EACH_CHECKED = 8, DEALT = 2, NOTHING = -1 };

struct body {
    int32_t x, y;
    /* Its own mass, and that of all that attracts it. */
    uint32_t mass, attracting;
    float fx, fy;
};

/* A child is a square's index, a body's as ~(index + 1), or NOTHING. */
struct square {
    pthread_mutex_t lock;
    int32_t child[4];
    int32_t x, y;
    uint32_t mass;
    uint64_t sum_x, sum_y;
};

static struct body *bodies;
static struct square *squares;
static unsigned count, made, most_made, next_body;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t dealing = PTHREAD_MUTEX_INITIALIZER;
static unsigned *wrong;

static int32_t as_child(unsigned body)
{
    return ~((int32_t)body + 1);
}

static unsigned as_body(int32_t child)
{
    return (unsigned)(~child - 1);
}

static int32_t new_square(void)
{
    unsigned index;
    struct square *square;

    pthread_mutex_lock(&making);
    index = made++;
    pthread_mutex_unlock(&making);
    if (index >= most_made) {
        fprintf(stderr, "barnes: the tree has more than %u squares\n", most_made);
        exit(1);
    }
    square = &squares[index];
    pthread_mutex_init(&square->lock, NULL);
    for (unsigned quarter = 0; quarter < 4; quarter++)
        square->child[quarter] = NOTHING;
    square->mass = 0;
    square->sum_x = square->sum_y = 0;
    return (int32_t)index;
}

static unsigned quarter_of(const struct body *body, int32_t half)
{
    return ((body->x & half) != 0) + 2u * ((body->y & half) != 0);
}

static void add(struct square *square, const struct body *body)
{
    square->mass += body->mass;
    square->sum_x += (uint64_t)body->mass * (uint32_t)body->x;
    square->sum_y += (uint64_t)body->mass * (uint32_t)body->y;
}

/* Go down from the root, with the lock of one square at a time: a square is never taken away. Where
 * another body is, squares are put in between until the two are in different quarters. */
static void insert(unsigned index)
{
    const struct body *body = &bodies[index];
    int32_t at = 0, half = SIDE / 2;

    for (;;) {
        struct square *square = &squares[at];
        unsigned quarter = quarter_of(body, half);
        int32_t child;

        pthread_mutex_lock(&square->lock);
        add(square, body);
        child = square->child[quarter];
        if (child == NOTHING) {
            square->child[quarter] = as_child(index);
            pthread_mutex_unlock(&square->lock);
            return;
        }
        half /= 2;
        if (child < 0) {
            const struct body *other = &bodies[as_body(child)];
            int32_t between = new_square();

            add(&squares[between], other);
            squares[between].child[quarter_of(other, half)] = child;
            square->child[quarter] = between;
            child = between;
        }
        pthread_mutex_unlock(&square->lock);
        at = child;
    }
}

/* Add what attracts `body` from (x, y), or its magnitudes, which bound what the sum may be off by.
 */
static void attract(float *fx, float *fy, int32_t dx, int32_t dy, uint32_t mass, int magnitudes)
{
    float x = (float)dx, y = (float)dy;
    float by = (float)mass / (x * x + y * y);

    if (magnitudes) {
        x = x < 0 ? -x : x;
        y = y < 0 ? -y : y;
    }
    *fx += x * by;
    *fy += y * by;
}

/* A square of side s is one body where its centre is farther away than 2 s. */
static void visit(unsigned index, int32_t at, int32_t side)
{
    struct body *body = &bodies[index];
    const struct square *square = &squares[at];

    for (unsigned quarter = 0; quarter < 4; quarter++) {
        int32_t child = square->child[quarter];

        if (child == NOTHING || child == as_child(index))
            continue;
        if (child < 0) {
            const struct body *other = &bodies[as_body(child)];

            attract(&body->fx, &body->fy, other->x - body->x, other->y - body->y, other->mass, 0);
            body->attracting += other->mass;
        } else {
            const struct square *inside = &squares[child];
            int32_t dx = inside->x - body->x, dy = inside->y - body->y;
            uint32_t far_x = (uint32_t)abs(dx), far_y = (uint32_t)abs(dy);

            if ((far_x > far_y ? far_x : far_y) > (uint32_t)side) {
                attract(&body->fx, &body->fy, dx, dy, inside->mass, 0);
                body->attracting += inside->mass;
            } else {
                visit(index, child, side / 2);
            }
        }
    }
}

static void *simulate(void *argument)
{
    unsigned member = (unsigned)(uintptr_t)argument;
    unsigned squares_made;

    for (unsigned index = share(count, member); index < share(count, member + 1); index++)
        insert(index);
    meet();
    squares_made = made;
    for (unsigned at = share(squares_made, member); at < share(squares_made, member + 1); at++) {
        squares[at].x = (int32_t)(squares[at].sum_x / squares[at].mass);
        squares[at].y = (int32_t)(squares[at].sum_y / squares[at].mass);
    }
    meet();
    /* Bodies take differently long, so that members take some more when they have done theirs. */
    for (;;) {
        unsigned first;

        pthread_mutex_lock(&dealing);
        first = next_body;
        next_body += DEALT;
        pthread_mutex_unlock(&dealing);
        if (first >= count)
            return NULL;
        for (unsigned index = first; index < first + DEALT && index < count; index++)
            visit(index, 0, SIDE);
    }
}

/* Compare forces with the sums over all bodies, which may be off by a fiftieth of what was added.
 */
static void *one_by_one(void *argument)
{
    unsigned member = (unsigned)(uintptr_t)argument;

    wrong[member] = 0;
    for (unsigned index = member * EACH_CHECKED; index < count; index += members * EACH_CHECKED) {
        float fx = 0, fy = 0, most_x = 0, most_y = 0;

        for (unsigned other = 0; other < count; other++) {
            int32_t dx = bodies[other].x - bodies[index].x, dy = bodies[other].y - bodies[index].y;

            if (other != index) {
                attract(&fx, &fy, dx, dy, bodies[other].mass, 0);
                attract(&most_x, &most_y, dx, dy, bodies[other].mass, 1);
            }
        }
        fx -= bodies[index].fx;
        fy -= bodies[index].fy;
        wrong[member] += !((fx < 0 ? -fx : fx) * 50 <= most_x + most_y);
        wrong[member] += !((fy < 0 ? -fy : fy) * 50 <= most_x + most_y);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long long took;
    uint32_t sum = 0, mass = 0;
    unsigned leaves = 0, bad = 0;
    int right;

    count = number(argc, argv, 1, 2, MOST_BODIES, 64);
    members = number(argc, argv, 2, 1, MOST_MEMBERS, 4);
    bodies = memory(count * sizeof(*bodies));
    most_made = 4 * count + 32;
    squares = memory(most_made * sizeof(*squares));
    wrong = memory(members * sizeof(*wrong));
    /* Different numbers give different words, so that no two bodies are in one place. */
    for (uint32_t index = 0; index < count; index++) {
        uint32_t word = (index + 1) * 2654435761u;

        word = (word ^ word >> 15) * 2246822519u;
        bodies[index] =
            (struct body){(int32_t)(word >> 16), (int32_t)(word & 0xffff), 1 + index % 4, 0, 0, 0};
        mass += bodies[index].mass;
    }
    new_square();
    took = team(simulate);
    for (unsigned index = 0; index < count; index++) {
        union {
            float value;
            uint32_t word;
        } x = {.value = bodies[index].fx}, y = {.value = bodies[index].fy};

        sum = digest(digest(sum, x.word), y.word);
    }
    team(one_by_one);
    for (unsigned member = 0; member < members; member++)
        bad += wrong[member];
    for (unsigned index = 0; index < count; index++)
        bad += bodies[index].attracting + bodies[index].mass != mass;
    for (unsigned at = 0; at < made; at++)
        for (unsigned quarter = 0; quarter < 4; quarter++)
            leaves += squares[at].child[quarter] < NOTHING;
    right = bad == 0 && leaves == count && squares[0].mass == mass;
    printf("barnes: %u bodies in %u squares by %u threads\n", count, made, members);
    return finish(took, sum, right);
}
