#include "wait/processors.h"

#include "core/cgroup.h"
#include "core/clock.h"
#include "core/config.h"
#include "wait/scheduling_group.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Interval at which the masks of other ranks are read again. */
#define RECOUNT_NS UINT64_C(1000000000)

/* A rank's data for the other ranks of its machine. */
struct rank_processors {
    uint64_t machine;
    uint64_t group; /* control group that limits it, if there is a quota */
    int64_t quota;
    uint64_t scheduling_group;
    uint64_t pid_namespace; /* 0: unknown */
    pid_t thread;           /* thread that called MPI_Init */
    int world_rank;
    cpu_set_t mask;
};

static struct sg_processors found;
static atomic_bool is_short;
static atomic_int crowd;

/* For recounts: the calling thread's mask, and the other ranks of its machine. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t own_mask;
static struct rank_processors own_rank; /* of MPI_Init */
static struct rank_processors *others;
static int others_count;
static uint64_t counted_ns;

/* Returns the quota of this process's group, in processors; INT_MAX: unlimited. */
static int own_quota(uint64_t *id)
{
    struct sg_cgroup group = {.processors = INT_MAX};

    sg_cgroup_own("/proc", "/sys", &group);
    *id = group.id;
    return group.processors;
}

/* ranks: those that share `processors`. */
static void decide(int ranks, int processors)
{
    int available = processors < found.quota ? processors : found.quota;

    atomic_store_explicit(&is_short, ranks > processors || found.ranks > found.quota,
                          memory_order_relaxed);
    atomic_store_explicit(&crowd, available > 0 ? (ranks + available - 1) / available : 0,
                          memory_order_relaxed);
}

void sg_processors_guess(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE",
                                        "SLURM_NTASKS_PER_NODE"};
    uint64_t group;

    CPU_ZERO(&own_mask);
    sched_getaffinity(0, sizeof own_mask, &own_mask);
    found.processors = CPU_COUNT(&own_mask);
    found.quota = own_quota(&group);
    found.ranks = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && found.ranks == 0; i++) {
        const char *value = sg_config_environment(names[i]);

        if (value != NULL)
            found.ranks = atoi(value);
    }
    /* A rank bound to one processor is assumed to have it to itself. */
    if (found.processors <= 1 && found.quota == INT_MAX)
        found.ranks = 0;
    decide(found.ranks, found.processors);
}

/* Returns the sum of the quotas of different groups; INT_MAX if some rank has none. */
static int sum_quotas(const struct rank_processors *all, int ranks, uint64_t machine)
{
    int64_t sum = 0;

    for (int rank = 0; rank < ranks; rank++) {
        bool is_first = true;

        if (all[rank].machine != machine)
            continue;
        if (all[rank].quota == INT_MAX)
            return INT_MAX;
        for (int other = 0; other < rank && is_first; other++)
            is_first = all[other].machine != machine || all[other].group != all[rank].group;
        if (is_first)
            sum += all[rank].quota;
    }
    return sum < INT_MAX ? (int)sum : INT_MAX;
}

static void describe(uint64_t machine, struct rank_processors *own)
{
    struct stat namespace;

    memset(own, 0, sizeof *own);
    own->machine = machine;
    own->quota = own_quota(&own->group);
    own->scheduling_group = sg_scheduling_group("/proc");
    if (stat("/proc/self/ns/pid", &namespace) == 0)
        own->pid_namespace = (uint64_t) namespace.st_ino;
    own->thread = gettid();
    sched_getaffinity(0, sizeof own->mask, &own->mask);
}

/* Takes ownership of the ranks' data, and keeps those of this machine. */
static void keep_others(struct rank_processors *all, int ranks, int own)
{
    free(others);
    others = all;
    others_count = 0;
    for (int rank = 0; rank < ranks; rank++) {
        if (rank == own || all[rank].machine != all[own].machine)
            continue;
        others[others_count] = all[rank];
        if (all[rank].pid_namespace != all[own].pid_namespace)
            others[others_count].pid_namespace = 0;
        others_count++;
    }
}

enum sg_status sg_processors_start(const struct sg_exchange *exchange, uint64_t machine)
{
    struct rank_processors own, *all;
    void *gathered;
    cpu_set_t masks;
    enum sg_status status;

    describe(machine, &own);
    own.world_rank = exchange->rank;
    status = sg_exchange_collect(exchange, &own, sizeof own, &gathered);
    if (status != SG_OK)
        return status;
    all = gathered;
    CPU_ZERO(&masks);
    found.ranks = 0;
    found.apart = false;
    for (int rank = 0; rank < exchange->size; rank++) {
        if (all[rank].machine != machine)
            continue;
        if (all[rank].scheduling_group != own.scheduling_group)
            found.apart = true;
        CPU_OR(&masks, &masks, &all[rank].mask);
        found.ranks++;
    }
    found.processors = CPU_COUNT(&masks);
    found.quota = sum_quotas(all, exchange->size, machine);
    pthread_mutex_lock(&lock);
    own_mask = own.mask;
    own_rank = own;
    keep_others(all, exchange->size, exchange->rank);
    counted_ns = sg_clock_ns();
    pthread_mutex_unlock(&lock);
    decide(found.ranks, found.processors);
    return SG_OK;
}

bool sg_processors_are_short(void)
{
    return atomic_load_explicit(&is_short, memory_order_relaxed);
}

int sg_processors_crowd(void)
{
    return atomic_load_explicit(&crowd, memory_order_relaxed);
}

bool sg_processors_keep_apart(void)
{
    return found.apart && sg_processors_are_short();
}

/* Counts the ranks whose masks overlap this one's, and the processors available to them. A mask
 * that cannot be read is as it was in MPI_Init. */
static void count_again(void)
{
    cpu_set_t masks = own_mask, common;
    int ranks = 1;

    for (int i = 0; i < others_count; i++) {
        cpu_set_t mask;

        CPU_ZERO(&mask);
        if (others[i].pid_namespace == 0 ||
            sched_getaffinity(others[i].thread, sizeof mask, &mask) != 0)
            mask = others[i].mask;
        CPU_AND(&common, &mask, &own_mask);
        if (CPU_COUNT(&common) == 0)
            continue;
        CPU_OR(&masks, &masks, &mask);
        ranks++;
    }
    decide(ranks, CPU_COUNT(&masks));
}

void sg_processors_look_again(void)
{
    uint64_t now_ns = sg_clock_ns();
    cpu_set_t mask;

    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    if (!CPU_EQUAL(&mask, &own_mask) || (others_count > 0 && now_ns - counted_ns > RECOUNT_NS)) {
        own_mask = mask;
        counted_ns = now_ns;
        count_again();
    }
    pthread_mutex_unlock(&lock);
}

struct sg_processors sg_processors_found(void)
{
    return found;
}

bool sg_processors_mask(int world_rank, cpu_set_t *mask)
{
    const struct rank_processors *at = own_rank.world_rank == world_rank ? &own_rank : NULL;

    for (int i = 0; i < others_count && at == NULL; i++) {
        if (others[i].world_rank == world_rank)
            at = &others[i];
    }
    if (at != NULL)
        *mask = at->mask;
    return at != NULL;
}

void sg_processors_all(cpu_set_t *masks)
{
    *masks = own_rank.mask;
    for (int i = 0; i < others_count; i++)
        CPU_OR(masks, masks, &others[i].mask);
}
