/* Tests the hook for libfabric, between stand-ins for libfabric and for its users, MPICH and
 * another (tests/wait/standin). The test has the parts of the library that the hook needs. */
#include "lib/unit.h"
#include "mpi/real.h"
#include "wait/hook.h"
#include "wait/standin/fabric.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

struct sg_real sg_real;

/* Searches libraries that are dlopen'ed RTLD_LOCAL; there are none here. */
void *sg_real_find_library(const char *symbol, const void *except)
{
    return NULL;
}
__thread struct sg_turns sg_turns;
atomic_bool sg_turn_spins; /* every idle turn goes the slow way */

static const struct sg_hook *chosen;
static int idle_turns;

const struct sg_hook *sg_hook_chosen(void)
{
    return chosen;
}

void sg_turn_idle_slowly(void)
{
    idle_turns++;
    sg_turns.idle++;
}

/* ---- libfabric's functions ---- */

static int make_domain(struct fid_fabric *fabric, void *info, struct fid_domain **domain,
                       void *context)
{
    const struct standin *standin = fabric->fid.context;

    if (info != context)
        return -EINVAL;
    *domain = calloc(1, sizeof **domain);
    (*domain)->fid.context = (void *)standin;
    (*domain)->ops = standin->domain;
    return 0;
}

static int make_queue(struct fid_domain *domain, void *attributes, struct fid_cq **queue,
                      void *context)
{
    const struct standin *standin = domain->fid.context;
    struct standin_queue *made;

    if (attributes != context)
        return -EINVAL;
    made = calloc(1, sizeof *made);
    made->queue.ops = standin->queue;
    *queue = &made->queue;
    return 0;
}

static int fail(struct fid_domain *domain, void *attributes, struct fid_cq **queue, void *context)
{
    return -ENOMEM;
}

static ssize_t note(struct fid_cq *queue, void *buffer, size_t count, int number)
{
    struct standin_queue *made = (struct standin_queue *)queue;

    made->reads++;
    made->buffer = buffer;
    made->count = count;
    made->number = number;
    return made->events;
}

static ssize_t read_first(struct fid_cq *queue, void *buffer, size_t count)
{
    return note(queue, buffer, count, 1);
}

static ssize_t read_second(struct fid_cq *queue, void *buffer, size_t count)
{
    return note(queue, buffer, count, 2);
}

static ssize_t read_from(struct fid_cq *queue, void *buffer, size_t count, uint64_t *source)
{
    *source = 7;
    return note(queue, buffer, count, 3);
}

static const char *describe(void)
{
    return "an error";
}

static struct fi_ops_fabric fabric_table = {.size = sizeof fabric_table, .domain = make_domain};
static struct fi_ops_domain domain_table = {.size = sizeof domain_table, .cq_open = make_queue};
static struct fi_ops_cq queue_table = {
    .size = sizeof queue_table, .read = read_first, .readfrom = read_from, .strerror = describe};

static struct standin plain(void)
{
    return (struct standin){
        .fabric = &fabric_table, .domain = &domain_table, .queue = &queue_table};
}

/* ---- the users ---- */

static const struct standin_user *mpich, *other;

/* The stand-in of that name, with its own libfabric. */
static const struct standin_user *load(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    path[length < 0 ? 0 : length] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(path + strlen(path), 64, "/standin/%s.so", name);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        fprintf(stderr, "%s\n", dlerror());
    return object == NULL ? NULL : dlsym(object, "user");
}

/* Whether the hook starts with the user as MPICH; if so it is chosen. */
static bool start(const struct standin_user *user)
{
    sg_real.Init = user->init;
    chosen = sg_hook_libfabric.start() ? &sg_hook_libfabric : NULL;
    idle_turns = 0;
    sg_turns.idle = sg_turns.tested = 0;
    return chosen != NULL;
}

static void begin(void)
{
    mpich = load("mpich");
    other = load("other");
    ASSERT(mpich != NULL && other != NULL, start(mpich));
}

static struct fid_domain *open_domain(struct fid_fabric *fabric)
{
    struct fid_domain *domain = NULL;
    int context;

    ASSERT(fabric->ops->domain(fabric, &context, &domain, &context) == 0);
    return domain;
}

static struct standin_queue *open_queue(struct fid_domain *domain)
{
    struct fid_cq *queue = NULL;
    int context;

    ASSERT(domain->ops->cq_open(domain, &context, &queue, &context) == 0);
    return (struct standin_queue *)queue;
}

static struct fid_fabric *open_fabric(const struct standin_user *user, struct standin *standin)
{
    struct fid_fabric *fabric = NULL;

    ASSERT(user->open(standin, &fabric) == 0);
    return fabric;
}

struct chain {
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct standin_queue *queue;
};

static struct chain open_all(const struct standin_user *user, struct standin *standin)
{
    struct chain chain = {.fabric = open_fabric(user, standin)};

    chain.domain = open_domain(chain.fabric);
    chain.queue = open_queue(chain.domain);
    return chain;
}

static void close_all(struct chain chain)
{
    free(chain.queue);
    free(chain.domain);
    free(chain.fabric);
}

/* Returns the result of a read that brings `events` events. */
static ssize_t read_queue(struct standin_queue *queue, ssize_t events)
{
    char buffer[8];

    queue->events = events;
    ssize_t result = queue->queue.ops->read(&queue->queue, buffer, sizeof buffer);
    EXPECT(queue->buffer == buffer && queue->count == sizeof buffer);
    return result;
}

/* Whether reads of the chain are turns; they are reads in any case. */
static bool has_turns(struct chain chain)
{
    int before = idle_turns, reads = chain.queue->reads;

    EXPECT(read_queue(chain.queue, -EAGAIN) == -EAGAIN, chain.queue->reads == reads + 1);
    return idle_turns == before + 1;
}

/* ---- tests ---- */

TEST("a read of MPICH's queues counts as a poll, idle or not")
{
    struct standin standin = plain();
    uint64_t source = 0;
    struct standin_queue *queue;

    begin();
    struct chain chain = open_all(mpich, &standin);
    queue = chain.queue;
    EXPECT(read_queue(queue, -EAGAIN) == -EAGAIN, read_queue(queue, 0) == 0,
           idle_turns == 2 && sg_turns.idle == 2, read_queue(queue, 3) == 3,
           idle_turns == 2 && sg_turns.idle == 0,
           read_queue(queue, -EAGAIN) == -EAGAIN && sg_turns.idle == 1,
           read_queue(queue, -EIO) == -EIO, idle_turns == 3 && sg_turns.idle == 0);
    queue->events = -EAGAIN;
    EXPECT(queue->queue.ops->readfrom(&queue->queue, &queue, 5, &source) == -EAGAIN,
           idle_turns == 4 && source == 7 && queue->count == 5 && queue->number == 3);
    close_all(chain);
}

TEST("copied tables have the functions of the originals, which stay unchanged")
{
    struct standin standin = plain();
    struct fi_ops_cq expected = queue_table;

    begin();
    struct chain chain = open_all(mpich, &standin);
    const struct fi_ops_cq *table = chain.queue->queue.ops;
    EXPECT(table != &queue_table && table->read != queue_table.read);
    expected.read = table->read;
    expected.readfrom = table->readfrom;
    EXPECT(memcmp(table, &expected, sizeof expected) == 0, queue_table.read == read_first,
           domain_table.cq_open == make_queue, fabric_table.domain == make_domain);
    close_all(chain);
}

TEST("several domains and queues each have their own functions")
{
    struct standin standin = plain();
    struct fi_ops_cq second_table = queue_table;

    begin();
    second_table.read = read_second;
    struct chain a = open_all(mpich, &standin);
    struct fid_domain *more_domain = open_domain(a.fabric);
    struct standin_queue *more_queue = open_queue(more_domain);
    standin.queue = &second_table;
    struct chain b = open_all(mpich, &standin);
    EXPECT(a.queue->queue.ops == more_queue->queue.ops,
           a.fabric->ops == b.fabric->ops && a.domain->ops == b.domain->ops,
           a.queue->queue.ops != b.queue->queue.ops);
    for (int i = 0; i < 3; i++) {
        EXPECT(read_queue(a.queue, i) == i && a.queue->number == 1,
               read_queue(b.queue, 10 + i) == 10 + i && b.queue->number == 2,
               read_queue(more_queue, -EAGAIN) == -EAGAIN && more_queue->number == 1);
    }
    EXPECT(a.queue->reads == 3 && b.queue->reads == 3 && more_queue->reads == 3, idle_turns == 4);
    free(more_queue);
    free(more_domain);
    close_all(a);
    EXPECT(has_turns(b)); /* queues that are closed take nothing from others */
    close_all(b);
}

TEST("other users of libfabric get its own tables, and their reads are not counted")
{
    struct standin standin = plain();

    begin();
    struct chain chain = open_all(other, &standin);
    EXPECT(chain.fabric->ops == &fabric_table && chain.domain->ops == &domain_table,
           chain.queue->queue.ops == &queue_table, !has_turns(chain) && sg_turns.idle == 0);
    close_all(chain);
    for (int i = 0; i < 200; i++) {
        struct fid_fabric *fabric = open_fabric(other, &standin);

        EXPECT(fabric->ops == &fabric_table);
        free(fabric);
    }
}

TEST("a program without libfabric gets an error")
{
    struct fid_fabric *fabric = NULL;
    struct standin standin = plain();

    begin();
    EXPECT(fi_fabric(&standin, &fabric, NULL) == -ENOSYS && fabric == NULL);
}

TEST("without the hook tables stay unchanged, and reads are not counted")
{
    struct standin standin = plain();

    begin();
    struct chain during = open_all(mpich, &standin);
    chosen = NULL;
    struct chain before = open_all(mpich, &standin);
    EXPECT(before.fabric->ops == &fabric_table && before.queue->queue.ops == &queue_table,
           !has_turns(before) && !has_turns(during), read_queue(during.queue, 2) == 2);
    chosen = &sg_hook_libfabric;
    EXPECT(!has_turns(before) && has_turns(during));
    close_all(before);
    close_all(during);
}

/* Tables that are not as expected, one after another. */
TEST("tables of unknown size or without a function stay unchanged")
{
    static const size_t sizes[] = {0, 8, sizeof(void *) * 2, 100000, SIZE_MAX};

    begin();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct standin standin = plain();
        struct fi_ops_cq queue = queue_table;
        struct fi_ops_domain domain = domain_table;

        queue.size = sizes[i];
        standin.queue = &queue;
        struct chain chain = open_all(mpich, &standin);
        EXPECT(chain.domain->ops != &domain_table && chain.queue->queue.ops == &queue,
               !has_turns(chain));
        close_all(chain);
        domain.size = sizes[i];
        standin.domain = &domain;
        chain = open_all(mpich, &standin);
        EXPECT(chain.fabric->ops != &fabric_table && chain.domain->ops == &domain,
               !has_turns(chain));
        close_all(chain);
    }
    for (int which = 0; which < 4; which++) {
        struct fi_ops_fabric fabric = {.size = which == 0 ? 8 : sizeof fabric};
        struct fi_ops_domain domain = {.size = sizeof domain};
        struct fi_ops_cq queue = queue_table;
        struct standin standin = {.fabric = &fabric, .domain = &domain, .queue = &queue};
        struct fid_fabric *opened;

        if (which < 2) { /* too small; without a function */
            opened = open_fabric(mpich, &standin);
            EXPECT(opened->ops == &fabric);
            free(opened);
            continue;
        }
        fabric.domain = make_domain;
        if (which == 2) {
            opened = open_fabric(mpich, &standin);
            struct fid_domain *made = open_domain(opened);
            EXPECT(made->ops == &domain);
            free(made);
            free(opened);
        } else {
            domain.cq_open = make_queue;
            queue.readfrom = NULL;
            standin.fabric = &fabric_table;
            standin.domain = &domain_table;
            struct chain chain = open_all(mpich, &standin);
            EXPECT(chain.queue->queue.ops == &queue && !has_turns(chain));
            close_all(chain);
        }
    }
}

TEST("objects without tables stay unchanged")
{
    struct standin standin = plain();

    begin();
    standin.queue = NULL;
    struct chain chain = open_all(mpich, &standin);
    EXPECT(chain.queue->queue.ops == NULL);
    close_all(chain);
    standin.fabric = NULL;
    chain.fabric = open_fabric(mpich, &standin);
    EXPECT(chain.fabric->ops == NULL);
    free(chain.fabric);
}

TEST("libfabric's failures are returned unchanged")
{
    struct standin standin = plain();
    struct fi_ops_domain domain = domain_table;
    /* After a failure the pointer must be neither changed nor followed. */
    void *const nowhere = (void *)8;
    struct fid_fabric *fabric = nowhere;
    struct fid_cq *queue = nowhere;
    struct fid_domain *made = nowhere;
    int context;

    begin();
    standin.status = -ENODATA;
    EXPECT(mpich->open(&standin, &fabric) == -ENODATA && fabric == nowhere);
    standin.status = 0;
    domain.cq_open = fail;
    standin.domain = &domain;
    fabric = open_fabric(mpich, &standin);
    EXPECT(fabric->ops->domain(fabric, &context, &made, NULL) == -EINVAL && made == nowhere);
    made = open_domain(fabric);
    EXPECT(made->ops->cq_open(made, NULL, &queue, NULL) == -ENOMEM && queue == nowhere);
    free(made);
    free(fabric);
}

/* libfabric gives a queue another table, or another tool one that it made of ours. */
TEST("a queue may get another table later")
{
    struct standin standin = plain();

    begin();
    struct chain chain = open_all(mpich, &standin);
    struct fi_ops_cq theirs = *chain.queue->queue.ops;
    chain.queue->queue.ops = &theirs;
    EXPECT(has_turns(chain), chain.queue->number == 1);
    chain.queue->queue.ops = &queue_table;
    EXPECT(!has_turns(chain));
    close_all(chain);
}

/* Each of its own, at one address: the functions are the new table's. */
TEST("a table at the address of a freed one is a new table")
{
    static struct fi_ops_cq table;
    struct standin standin = plain();

    begin();
    table = queue_table;
    standin.queue = &table;
    struct chain first = open_all(mpich, &standin);
    EXPECT(read_queue(first.queue, 1) == 1 && first.queue->number == 1);
    table.read = read_second;
    struct chain second = open_all(mpich, &standin);
    EXPECT(read_queue(second.queue, 1) == 1 && second.queue->number == 2,
           read_queue(first.queue, 1) == 1 && first.queue->number == 1);
    close_all(first);
    close_all(second);
}

/* The last test: no table is copied after it. */
TEST("tables beyond the capacity stay unchanged")
{
    static struct fi_ops_cq tables[20];
    struct standin standin = plain();
    struct chain chains[20];
    int with = 0;

    begin();
    for (int i = 0; i < 20; i++) {
        tables[i] = queue_table;
        tables[i].read = i % 2 == 0 ? read_first : read_second;
        standin.queue = &tables[i];
        chains[i] = open_all(mpich, &standin);
    }
    for (int i = 0; i < 20; i++) {
        with += has_turns(chains[i]);
        EXPECT(chains[i].queue->number == 1 + i % 2);
        if (!has_turns(chains[i]))
            EXPECT(chains[i].queue->queue.ops == &tables[i]);
        close_all(chains[i]);
    }
    EXPECT(with < 20);
}

TEST("the hook starts if MPICH needs a libfabric of a known version")
{
    const struct standin_user *without = load("alone"), *future = load("future_mpich");

    begin();
    ASSERT(without != NULL && future != NULL);
    EXPECT(!start(without)); /* MPICH for something else */
    EXPECT(!start(future));  /* an unknown version of libfabric */
    EXPECT(start(other), start(mpich));
}
