/* The hook for libfabric. MPICH reads its completion queues once in each iteration of its progress
 * loop, by an inline function that uses the queue's table of operations. A queue comes from a
 * domain's table, a domain from a fabric's, and a fabric from fi_fabric, a symbol that this file
 * overrides. If MPICH calls it, each of these objects gets a copy of its table, in which a function
 * of this file replaces the one that makes the next object, or that reads.
 *
 * The tables and objects are libfabric's public interface of version 1 and 2 (rdma/fabric.h,
 * rdma/fi_domain.h, rdma/fi_eq.h), of which only the necessary part is declared here. Objects of
 * one kind share a table, so few are copied; a copy stays unchanged and is never freed. Each
 * function belongs to one copy and so knows the function that it replaces, even if the object's
 * table changes. Objects with unexpected tables, and tables beyond the capacity, are left alone.
 */
#include "wait/caller.h"
#include "wait/hook.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define SYMBOL "fi_fabric"
#define VERSION_MAX 2 /* largest major version with known objects */
#define TABLE_BYTES 512
#define TABLES 4 /* for each kind of object */

/* ---- libfabric's objects ---- */

typedef void (*any_function)(void);

/* struct fid */
struct object {
    size_t class;
    void *context;
    const void *common;
};

/* struct fid_fabric, fid_domain, fid_cq: all begin like this. */
struct endowed {
    struct object object;
    const union operations *operations;
};

/* struct fi_ops_fabric */
struct fabric_operations {
    size_t size;
    int (*domain)(struct endowed *fabric, void *info, struct endowed **domain, void *context);
};

/* struct fi_ops_domain */
struct domain_operations {
    size_t size;
    any_function av_open;
    int (*cq_open)(struct endowed *domain, void *attributes, struct endowed **queue, void *context);
};

/* struct fi_ops_cq */
struct queue_operations {
    size_t size;
    ssize_t (*read)(struct endowed *queue, void *buffer, size_t count);
    ssize_t (*readfrom)(struct endowed *queue, void *buffer, size_t count, uint64_t *source);
};

/* A table, including its undeclared part. */
union operations {
    size_t size; /* of the whole table, in bytes */
    struct fabric_operations fabric;
    struct domain_operations domain;
    struct queue_operations queue;
    unsigned char bytes[TABLE_BYTES];
};

_Static_assert(offsetof(struct endowed, operations) == 3 * sizeof(void *), "struct fid_cq, ops");
_Static_assert(offsetof(struct fabric_operations, domain) == sizeof(void *),
               "struct fi_ops_fabric");
_Static_assert(offsetof(struct domain_operations, cq_open) == 2 * sizeof(void *),
               "struct fi_ops_domain");
_Static_assert(offsetof(struct queue_operations, readfrom) == 2 * sizeof(void *),
               "struct fi_ops_cq");

/* ---- copies ---- */

struct copy {
    const union operations *of;
    union operations before, after;
};

/* Copies of the tables of one kind of object. */
struct copies {
    size_t least_bytes;
    /* Puts this file's functions into copy number `index`; false: functions to replace are missing.
     */
    bool (*change)(const union operations *before, union operations *after, int index);
    int count;
    struct copy all[TABLES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool change_fabric(const union operations *before, union operations *after, int index);
static bool change_domain(const union operations *before, union operations *after, int index);
static bool change_queue(const union operations *before, union operations *after, int index);

static struct copies fabrics = {sizeof(struct fabric_operations), change_fabric, 0, {{0}}};
static struct copies domains = {sizeof(struct domain_operations), change_domain, 0, {{0}}};
static struct copies queues = {sizeof(struct queue_operations), change_queue, 0, {{0}}};

/* Returns the copy of a table, made at first sight; NULL: the table is left alone. */
static const union operations *copy_of(struct copies *copies, const union operations *table)
{
    struct copy *copy = copies->all;
    struct copy *end = copies->all + copies->count;

    while (copy < end && (copy->of != table || memcmp(&copy->before, table, table->size) != 0))
        copy++;
    if (copy < end)
        return &copy->after;
    if (copies->count == TABLES)
        return NULL;
    memcpy(&copy->before, table, table->size);
    copy->after = copy->before;
    if (!copies->change(&copy->before, &copy->after, copies->count))
        return NULL;
    copy->of = table;
    copies->count++;
    return &copy->after;
}

static void replace(struct copies *copies, struct endowed *object)
{
    const union operations *table = object == NULL ? NULL : object->operations;
    const union operations *copy;

    if (table == NULL || table->size < copies->least_bytes || table->size > TABLE_BYTES ||
        ((uintptr_t)table >= (uintptr_t)copies->all &&
         (uintptr_t)table < (uintptr_t)(copies->all + TABLES)))
        return;
    pthread_mutex_lock(&lock);
    copy = copy_of(copies, table);
    pthread_mutex_unlock(&lock);
    if (copy != NULL)
        object->operations = copy;
}

/* ---- functions ---- */

static int open_domain(int copy, struct endowed *fabric, void *info, struct endowed **domain,
                       void *context)
{
    int status = fabrics.all[copy].before.fabric.domain(fabric, info, domain, context);

    if (status == 0)
        replace(&domains, *domain);
    return status;
}

static int open_queue(int copy, struct endowed *domain, void *attributes, struct endowed **queue,
                      void *context)
{
    int status = domains.all[copy].before.domain.cq_open(domain, attributes, queue, context);

    if (status == 0)
        replace(&queues, *queue);
    return status;
}

/* A read of a queue counts as a progress iteration. Errors are events, too. */
static ssize_t end_turn(ssize_t events)
{
    bool is_idle = events == 0 || events == -EAGAIN;

    sg_turn_seen(!is_idle);
    if (sg_hook_chosen() == &sg_hook_libfabric) {
        if (is_idle)
            sg_turn_idle();
        else
            sg_turn_busy();
    }
    return events;
}

/* One set of functions for each copy. */
#define FUNCTIONS(copy)                                                                            \
    static int open_domain_##copy(struct endowed *fabric, void *info, struct endowed **domain,     \
                                  void *context)                                                   \
    {                                                                                              \
        return open_domain(copy, fabric, info, domain, context);                                   \
    }                                                                                              \
    static int open_queue_##copy(struct endowed *domain, void *attributes, struct endowed **queue, \
                                 void *context)                                                    \
    {                                                                                              \
        return open_queue(copy, domain, attributes, queue, context);                               \
    }                                                                                              \
    static ssize_t read_##copy(struct endowed *queue, void *buffer, size_t count)                  \
    {                                                                                              \
        return end_turn(queues.all[copy].before.queue.read(queue, buffer, count));                 \
    }                                                                                              \
    static ssize_t readfrom_##copy(struct endowed *queue, void *buffer, size_t count,              \
                                   uint64_t *source)                                               \
    {                                                                                              \
        return end_turn(queues.all[copy].before.queue.readfrom(queue, buffer, count, source));     \
    }
FUNCTIONS(0)
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(3)
#undef FUNCTIONS

static const struct {
    __typeof__(&open_domain_0) domain;
    __typeof__(&open_queue_0) cq_open;
    __typeof__(&read_0) read;
    __typeof__(&readfrom_0) readfrom;
} functions[] = {
    {open_domain_0, open_queue_0, read_0, readfrom_0},
    {open_domain_1, open_queue_1, read_1, readfrom_1},
    {open_domain_2, open_queue_2, read_2, readfrom_2},
    {open_domain_3, open_queue_3, read_3, readfrom_3},
};
_Static_assert(sizeof functions / sizeof *functions == TABLES, "functions of each copy");

static bool change_fabric(const union operations *before, union operations *after, int index)
{
    after->fabric.domain = functions[index].domain;
    return before->fabric.domain != NULL;
}

static bool change_domain(const union operations *before, union operations *after, int index)
{
    after->domain.cq_open = functions[index].cq_open;
    return before->domain.cq_open != NULL;
}

static bool change_queue(const union operations *before, union operations *after, int index)
{
    after->queue.read = functions[index].read;
    after->queue.readfrom = functions[index].readfrom;
    return before->queue.read != NULL && before->queue.readfrom != NULL;
}

/* ---- the symbol ---- */

typedef int (*fabric_function)(void *attributes, struct endowed **fabric, void *context);

int sg_hook_libfabric_open(void *attributes, struct endowed **fabric, void *context) __asm__(SYMBOL)
    __attribute__((visibility("default")));

static struct sg_caller caller = {.symbol = SYMBOL, .own = (void *)sg_hook_libfabric_open};

int sg_hook_libfabric_open(void *attributes, struct endowed **fabric, void *context)
{
    uintptr_t address = (uintptr_t)__builtin_return_address(0);
    fabric_function open_fabric;
    int status;

    *(void **)&open_fabric = sg_caller_function(&caller, address);
    if (open_fabric == NULL)
        return -ENOSYS;
    status = open_fabric(attributes, fabric, context);
    if (status == 0 && sg_caller_is_mpich(&caller, address) &&
        sg_hook_chosen() == &sg_hook_libfabric)
        replace(&fabrics, *fabric);
    return status;
}

static bool is_known_version(void)
{
    uint32_t (*version)(void); /* major version in the upper half */

    *(void **)&version = sg_caller_find("fi_version");
    return version != NULL && version() >> 16 >= 1 && version() >> 16 <= VERSION_MAX;
}

static bool start(void)
{
    return is_known_version() && sg_caller_start(&caller);
}

const struct sg_hook sg_hook_libfabric = {"libfabric", start, NULL};
