/* Simulates processes in virtual time, one thread per process (virtual.h). */
#include "lib/virtual.h"

#include "core/hash.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES (512 * 1024)

struct message {
    struct message *next;
    double arrival_ns;
    size_t size_bytes;
    char data[];
};

struct channel {
    struct message *first, **end;
};

struct process {
    int rank;
    double time_ns;
    uint64_t random;
    struct sg_exchange exchange;
    struct channel from[VIRTUAL_MAX];
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    int result;
};

static struct virtual_world *world;
static struct process *processes;
static int (*body)(void *);
static void *body_context;
static _Thread_local struct process *self;

int virtual_rank(void)
{
    return self->rank;
}

const struct sg_exchange *virtual_exchange(void)
{
    return &self->exchange;
}

double virtual_random(void)
{
    self->random = sg_hash_mix(self->random + UINT64_C(0x9e3779b97f4a7c15));
    return (double)(self->random >> 11) * 0x1p-53;
}

double virtual_time_ns(void)
{
    return self->time_ns;
}

double virtual_clock_at(int rank, double time_ns)
{
    return world->offset_ns[rank] + time_ns * (1 + world->drift[rank]);
}

uint64_t virtual_clock_ns(void)
{
    self->time_ns += world->reading_ns;
    return (uint64_t)virtual_clock_at(self->rank, self->time_ns);
}

void virtual_pass(double duration_ns)
{
    self->time_ns += duration_ns;
}

void virtual_wait_until(uint64_t local_ns)
{
    double time_ns =
        ((double)local_ns - world->offset_ns[self->rank]) / (1 + world->drift[self->rank]);

    self->time_ns = fmax(self->time_ns, time_ns);
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum sg_status send_to(void *context, int to, const void *data, size_t size_bytes)
{
    struct process *peer = &processes[to];
    struct channel *channel = &peer->from[self->rank];
    struct message *message = malloc(sizeof *message + size_bytes);

    assert(message != NULL && to != self->rank);
    self->time_ns += world->overhead_ns;
    message->next = NULL;
    message->arrival_ns = self->time_ns + world->latency_ns -
                          world->jitter_ns * log(1 - virtual_random()) +
                          (to < self->rank ? world->delay_ns : 0);
    message->size_bytes = size_bytes;
    memcpy(message->data, data, size_bytes);
    pthread_mutex_lock(&peer->lock);
    *channel->end = message;
    channel->end = &message->next;
    pthread_cond_signal(&peer->arrived);
    pthread_mutex_unlock(&peer->lock);
    return SG_OK;
}

static enum sg_status receive_from(void *context, int from, void *data, size_t size_bytes)
{
    struct channel *channel = &self->from[from];

    pthread_mutex_lock(&self->lock);
    while (channel->first == NULL)
        pthread_cond_wait(&self->arrived, &self->lock);
    struct message *message = channel->first;
    channel->first = message->next;
    if (channel->first == NULL)
        channel->end = &channel->first;
    pthread_mutex_unlock(&self->lock);
    assert(message->size_bytes == size_bytes);
    memcpy(data, message->data, size_bytes);
    self->time_ns = fmax(self->time_ns, message->arrival_ns) + world->overhead_ns;
    free(message);
    return SG_OK;
}

/* Equal sizes everywhere do for what is tested. */
static enum sg_status gather(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes)
{
    if (self->rank != 0)
        return send_to(context, 0, data, size_bytes);
    char *bytes = malloc(size_bytes * (size_t)world->size + 1);
    assert(bytes != NULL);
    memcpy(bytes, data, size_bytes);
    sizes[0] = size_bytes;
    for (int rank = 1; rank < world->size; rank++) {
        receive_from(context, rank, bytes + (size_t)rank * size_bytes, size_bytes);
        sizes[rank] = size_bytes;
    }
    *all = bytes;
    return SG_OK;
}

static enum sg_status broadcast(void *context, void *data, size_t size_bytes)
{
    if (self->rank != 0)
        return receive_from(context, 0, data, size_bytes);
    for (int rank = 1; rank < world->size; rank++)
        send_to(context, rank, data, size_bytes);
    return SG_OK;
}

void virtual_meet(void)
{
    double time_ns = self->time_ns, *all = NULL;
    size_t sizes[VIRTUAL_MAX];

    gather(NULL, &time_ns, sizeof time_ns, (void **)&all, sizes);
    for (int rank = 0; all != NULL && rank < world->size; rank++)
        time_ns = fmax(time_ns, all[rank]);
    free(all);
    broadcast(NULL, &time_ns, sizeof time_ns);
    self->time_ns = time_ns;
}

/* ---- running --------------------------------------------------------------------------------- */

static void *thread_main(void *argument)
{
    self = argument;
    self->result = body(body_context);
    return NULL;
}

static void prepare(struct process *process, int rank)
{
    process->rank = rank;
    process->random = sg_hash_mix(world->seed + (uint64_t)rank);
    process->exchange = (struct sg_exchange){.rank = rank,
                                             .size = world->size,
                                             .gather = gather,
                                             .broadcast = broadcast,
                                             .send = send_to,
                                             .receive = receive_from};
    for (int from = 0; from < world->size; from++)
        process->from[from].end = &process->from[from].first;
    pthread_mutex_init(&process->lock, NULL);
    pthread_cond_init(&process->arrived, NULL);
}

bool virtual_run(struct virtual_world *asked, int (*run)(void *context), void *context)
{
    pthread_t threads[VIRTUAL_MAX];
    pthread_attr_t attributes;
    bool good = true;

    world = asked;
    body = run;
    body_context = context;
    processes = calloc((size_t)world->size, sizeof *processes);
    assert(processes != NULL && world->size <= VIRTUAL_MAX);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int rank = 0; rank < world->size; rank++)
        prepare(&processes[rank], rank);
    for (int rank = 0; rank < world->size; rank++) {
        if (pthread_create(&threads[rank], &attributes, thread_main, &processes[rank]) != 0)
            abort();
    }
    for (int rank = 0; rank < world->size; rank++) {
        pthread_join(threads[rank], NULL);
        good = good && processes[rank].result == 0;
    }
    pthread_attr_destroy(&attributes);
    free(processes);
    return good;
}
