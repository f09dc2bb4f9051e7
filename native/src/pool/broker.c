/* SPDX-License-Identifier: Apache-2.0 */
/* broker: the client's side of okosu-zerod (see wire.h). */
#include "pool/broker.h"

#include "pool/backing.h"
#include "pool/dial.h"
#include "pool/pool.h"

#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OWN (-1)
#define LEFT (-2)
/* The unit's memory is OWN again, and this slot must still be given back to the daemon; the macro
 * is its own inverse. */
#define UNMAPPED(slot) (-3 - (slot))
/* The time in ns between tries to connect again: a daemon that was killed may be restarted. */
#define RETRY_NS UINT64_C(1000000000)
/* On a busy machine a clearing waits for an idle CPU; a broken engine is dropped by the daemon long
 * before this. */
#define PATIENCE_S 120
/* Shells and programs that pass descriptors on use lower numbers. */
#define LEAST_NUMBER 512

/* The program may close descriptors that it did not open (close_range), and open others that get
 * the same numbers, so that the number alone does not tell whose it is. */
struct descriptor {
    int fd; /* or -1 */
    dev_t device;
    ino_t inode;
};

struct okosu_broker {
    char *path;
    unsigned char *base;
    size_t unit, count;
    _Atomic int32_t *slot; /* of each unit, or one of OWN, LEFT, UNMAPPED */

    atomic_bool untidy; /* some units are UNMAPPED */

    pthread_mutex_t talk; /* one request at a time: held while the daemon answers */
    uint32_t tag;
    uint64_t retry; /* when to connect again, ns of CLOCK_MONOTONIC */

    pthread_mutex_t open;     /* protects the descriptors; never held for long */
    struct descriptor socket; /* -1: there is no daemon */
    struct descriptor file;   /* of a unit that is about to be mapped */
    size_t slots;
    bool ended;

    struct okosu_broker *next; /* list of all in this process */
};

static struct descriptor identify(int fd)
{
    struct stat about;

    if (fd < 0 || fstat(fd, &about))
        return (struct descriptor){.fd = -1};
    return (struct descriptor){fd, about.st_dev, about.st_ino};
}

static bool is_ours(const struct descriptor *descriptor)
{
    struct descriptor now = identify(descriptor->fd);

    return now.fd >= 0 && now.device == descriptor->device && now.inode == descriptor->inode;
}

static void close_ours(struct descriptor *descriptor)
{
    int fd = is_ours(descriptor) ? descriptor->fd : -1;

    /* This comes first, because a child of fork closes the descriptors that it finds. */
    descriptor->fd = -1;
    if (fd >= 0)
        close(fd);
}

/* A child of fork must not keep a connection, or the daemon would think that the parent lives
 * on. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct okosu_broker *all;

static void before_fork(void)
{
    pthread_mutex_lock(&all_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&all_lock);
}

static void in_child(void)
{
    for (struct okosu_broker *broker = all; broker; broker = broker->next) {
        close_ours(&broker->socket);
        close_ours(&broker->file);
    }
    pthread_mutex_unlock(&all_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

static void enlist(struct okosu_broker *broker)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&all_lock);
    broker->next = all;
    all = broker;
    pthread_mutex_unlock(&all_lock);
}

static void strike_off(struct okosu_broker *broker)
{
    pthread_mutex_lock(&all_lock);
    for (struct okosu_broker **at = &all; *at; at = &(*at)->next) {
        if (*at == broker) {
            *at = broker->next;
            break;
        }
    }
    pthread_mutex_unlock(&all_lock);
}

/* A file that can be shortened could make this process end by SIGBUS. */
static bool is_sound(int file, size_t bytes)
{
    struct stat about;
    int seals = fcntl(file, F_GET_SEALS);

    return seals >= 0 && seals & F_SEAL_SHRINK && fstat(file, &about) == 0 &&
           (uint64_t)about.st_size >= bytes;
}

/* Whether a page that is missing from the file may be unavailable. */
static bool is_hugetlb(int file)
{
    struct statfs about;

    return fstatfs(file, &about) || about.f_type == HUGETLBFS_MAGIC;
}

/* Leave the low numbers to the program, which may give some of them a meaning. */
static int move_up(int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LEAST_NUMBER);

    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Call with `talk` held. 0 or -errno. */
static int connect_to(struct okosu_broker *broker)
{
    struct okosu_wire message = {.kind = OKOSU_WIRE_HELLO, .value = OKOSU_WIRE_VERSION};
    int fd = move_up(okosu_dial(broker->path)), rc = fd < 0 ? fd : 0;

    if (!rc) {
        rc = okosu_dial_ask(fd, &message, NULL);
        rc = rc == -ECONNRESET ? -EPROTO : rc;
    }
    if (!rc && (message.value != broker->unit || !message.slot || message.slot > INT32_MAX))
        rc = -EPROTO;
    if (!rc)
        rc = okosu_dial_wait(fd, PATIENCE_S);
    pthread_mutex_lock(&broker->open);
    if (!rc && broker->ended)
        rc = -ECANCELED;
    if (!rc) {
        broker->socket = identify(fd);
        broker->slots = message.slot;
    }
    pthread_mutex_unlock(&broker->open);
    if (rc && fd >= 0)
        close(fd);
    return rc;
}

/* Call with `talk` held: what is mapped now belongs to this process alone. */
static void disconnect(struct okosu_broker *broker)
{
    pthread_mutex_lock(&broker->open);
    for (size_t i = 0; i < broker->count; i++) {
        int32_t slot = atomic_load(&broker->slot[i]);

        if (slot >= 0)
            atomic_store(&broker->slot[i], LEFT);
        else if (slot <= UNMAPPED(0))
            atomic_store(&broker->slot[i], OWN);
    }
    close_ours(&broker->socket);
    pthread_mutex_unlock(&broker->open);
    broker->retry = okosu_now() + RETRY_NS;
}

/* Call with `talk` held: the answer's status, or -ECONNRESET where there is no daemon. *file: the
 * descriptor that came with it, or -1; NULL: none is due. */
static int ask(struct okosu_broker *broker, struct okosu_wire *message, int *file)
{
    int rc = -ECONNRESET;

    if (broker->socket.fd < 0)
        return rc;
    message->tag = ++broker->tag;
    if (is_ours(&broker->socket))
        rc = okosu_dial_ask(broker->socket.fd, message, file);
    if (rc == -ECONNRESET)
        disconnect(broker);
    return rc;
}

static unsigned char *place(const struct okosu_broker *broker, size_t index)
{
    return broker->base + index * broker->unit;
}

/* Call with `open` held. */
static int map(struct okosu_broker *broker, size_t index)
{
    unsigned char *at = place(broker, index);

    if (!is_ours(&broker->file))
        return -EBADF;
    if (mmap(at, broker->unit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, broker->file.fd,
             0) == MAP_FAILED)
        return -errno;
    madvise(at, broker->unit, MADV_HUGEPAGE);
    return madvise(at, broker->unit, MADV_DONTFORK) ? -errno : 0;
}

int okosu_broker_open(struct okosu_broker **out, const char *path, void *base, size_t unit,
                      size_t count)
{
    struct okosu_broker *broker = calloc(1, sizeof(*broker));
    int rc = -ENOMEM;

    if (!broker)
        return -ENOMEM;
    broker->socket.fd = broker->file.fd = -1;
    broker->base = base;
    broker->unit = unit;
    broker->count = count;
    broker->path = strdup(path);
    broker->slot = malloc(count * sizeof(*broker->slot));
    pthread_mutex_init(&broker->talk, NULL);
    pthread_mutex_init(&broker->open, NULL);
    enlist(broker);
    if (broker->path && broker->slot) {
        for (size_t i = 0; i < count; i++)
            atomic_init(&broker->slot[i], OWN);
        rc = connect_to(broker);
    }
    if (rc)
        okosu_broker_close(broker);
    else
        *out = broker;
    return rc;
}

void okosu_broker_end(struct okosu_broker *broker)
{
    pthread_mutex_lock(&broker->open);
    broker->ended = true;
    if (is_ours(&broker->socket))
        shutdown(broker->socket.fd, SHUT_RDWR);
    pthread_mutex_unlock(&broker->open);
}

void okosu_broker_close(struct okosu_broker *broker)
{
    if (!broker)
        return;
    strike_off(broker);
    close_ours(&broker->socket);
    close_ours(&broker->file);
    free((void *)broker->slot);
    free(broker->path);
    free(broker);
}

enum okosu_unit_memory okosu_broker_memory(struct okosu_broker *broker, size_t index)
{
    int32_t slot = broker ? atomic_load(&broker->slot[index]) : OWN;

    return slot >= 0 ? OKOSU_UNIT_BROKERED : slot == LEFT ? OKOSU_UNIT_LEFT : OKOSU_UNIT_OWN;
}

size_t okosu_broker_units(struct okosu_broker *broker)
{
    size_t units = 0;

    for (size_t i = 0; broker && i < broker->count; i++)
        units += atomic_load(&broker->slot[i]) >= 0;
    return units;
}

/* Call with `talk` held. The slot, and broker->file is its file; or -errno. */
static int64_t take(struct okosu_broker *broker)
{
    struct okosu_wire message = {.kind = OKOSU_WIRE_TAKE};
    int rc, file = -1;

    if (broker->socket.fd < 0) {
        if (broker->ended || okosu_now() < broker->retry)
            return -ECONNRESET;
        rc = connect_to(broker);
        if (rc) {
            broker->retry = okosu_now() + RETRY_NS;
            return rc;
        }
    }
    rc = ask(broker, &message, &file);
    broker->file = identify(file);
    if (!rc && (message.slot >= broker->slots || !is_sound(file, broker->unit))) {
        disconnect(broker);
        rc = -EPROTO;
    }
    if (rc)
        close_ours(&broker->file);
    return rc ? rc : (int64_t)message.slot;
}

/* Call with `talk` held, and no mapping of the slot left. */
static void give(struct okosu_broker *broker, uint32_t slot)
{
    struct okosu_wire message = {.kind = OKOSU_WIRE_GIVE, .slot = slot};
    int rc = ask(broker, &message, NULL);

    /* The daemon disagrees about who holds the slot, so none of its answers can be relied on. */
    if (rc && rc != -ECONNRESET)
        disconnect(broker);
}

/* Call with `talk` held: give back the slots whose mappings were replaced. */
static void tidy(struct okosu_broker *broker)
{
    if (!atomic_exchange(&broker->untidy, false))
        return;
    for (size_t i = 0; i < broker->count; i++) {
        int32_t slot = atomic_load(&broker->slot[i]);

        if (slot <= UNMAPPED(0) && atomic_compare_exchange_strong(&broker->slot[i], &slot, OWN))
            give(broker, (uint32_t)UNMAPPED(slot));
    }
}

int okosu_broker_fetch(struct okosu_broker *broker, size_t index)
{
    int64_t slot;
    int rc = 0;

    pthread_mutex_lock(&broker->talk);
    tidy(broker);
    slot = take(broker);
    if (slot < 0) {
        rc = (int)slot;
    } else {
        bool hugetlb = is_hugetlb(broker->file.fd);

        pthread_mutex_lock(&broker->open);
        atomic_store(&broker->slot[index], (int32_t)slot);
        rc = map(broker, index);
        pthread_mutex_unlock(&broker->open);
        close_ours(&broker->file);
        if (!rc && hugetlb)
            rc = okosu_pages_populate(place(broker, index), broker->unit);
        else if (!rc)
            okosu_backing_touch(place(broker, index), broker->unit);
    }
    pthread_mutex_unlock(&broker->talk);
    return rc;
}

int okosu_broker_clear(struct okosu_broker *broker, size_t index, size_t bytes)
{
    struct okosu_wire message = {.kind = OKOSU_WIRE_CLEAR, .value = bytes / OKOSU_POOL_PAGE};
    int32_t slot;
    int rc = -ECONNRESET;

    pthread_mutex_lock(&broker->talk);
    slot = atomic_load(&broker->slot[index]);
    if (slot >= 0) {
        message.slot = (uint32_t)slot;
        rc = ask(broker, &message, NULL);
        /* The daemon's hardware may still write to the slot, so the daemon keeps it until the
         * hardware has finished. */
        if (rc == -ETIMEDOUT)
            atomic_store(&broker->slot[index], LEFT);
    }
    pthread_mutex_unlock(&broker->talk);
    return rc;
}

void okosu_broker_drop(struct okosu_broker *broker, size_t index)
{
    int32_t slot;

    pthread_mutex_lock(&broker->talk);
    slot = atomic_exchange(&broker->slot[index], OWN);
    if (slot >= 0)
        give(broker, (uint32_t)slot);
    pthread_mutex_unlock(&broker->talk);
}

void okosu_broker_leave(struct okosu_broker *broker, size_t index)
{
    int32_t slot;

    pthread_mutex_lock(&broker->open);
    slot = atomic_load(&broker->slot[index]);
    if (slot >= 0) {
        atomic_store(&broker->slot[index], UNMAPPED(slot));
        atomic_store(&broker->untidy, true);
    } else if (slot == LEFT) {
        atomic_store(&broker->slot[index], OWN);
    }
    pthread_mutex_unlock(&broker->open);
}
