#include "wait/processors.h"

#include "core/cgroup.h"
#include "core/config.h"
#include "wait/scheduling_group.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct sg_processors found;
static cpu_set_t first_mask;
static atomic_bool is_short;

/* What a rank tells the others of its machine. */
struct rank_processors {
    uint64_t machine;
    uint64_t group; /* that limits it, where there is a quota */
    int64_t quota;
    uint64_t scheduling_group;
    cpu_set_t mask;
};

/* Of the group that this process is in; INT_MAX: there is none. */
static int own_quota(uint64_t *id)
{
    struct sg_cgroup group = {.processors = INT_MAX};

    sg_cgroup_own("/proc", "/sys", &group);
    *id = group.id;
    return group.processors;
}

static void decide(void)
{
    atomic_store_explicit(&is_short, found.ranks > found.processors || found.ranks > found.quota,
                          memory_order_relaxed);
}

void sg_processors_guess(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE",
                                        "SLURM_NTASKS_PER_NODE"};
    uint64_t group;

    CPU_ZERO(&first_mask);
    sched_getaffinity(0, sizeof first_mask, &first_mask);
    found.processors = CPU_COUNT(&first_mask);
    found.quota = own_quota(&group);
    found.ranks = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && found.ranks == 0; i++) {
        const char *value = sg_config_environment(names[i]);

        if (value != NULL)
            found.ranks = atoi(value);
    }
    /* A rank that is bound to one processor has it to itself, as far as can be told. */
    if (found.processors <= 1 && found.quota == INT_MAX)
        found.ranks = 0;
    decide();
}

/* The sum of the quotas of different groups; INT_MAX where some rank has none. */
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

enum sg_status sg_processors_start(const struct sg_exchange *exchange, uint64_t machine)
{
    struct rank_processors own;
    const struct rank_processors *all;
    void *gathered;
    cpu_set_t masks;
    enum sg_status status;

    memset(&own, 0, sizeof own);
    own.machine = machine;
    own.quota = own_quota(&own.group);
    own.scheduling_group = sg_scheduling_group("/proc");
    sched_getaffinity(0, sizeof own.mask, &own.mask);
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
    first_mask = own.mask;
    free(gathered);
    decide();
    return SG_OK;
}

bool sg_processors_are_short(void)
{
    return atomic_load_explicit(&is_short, memory_order_relaxed);
}

bool sg_processors_keep_apart(void)
{
    return found.apart && sg_processors_are_short();
}

void sg_processors_look_again(void)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_EQUAL(&mask, &first_mask))
        return;
    first_mask = mask;
    atomic_store_explicit(&is_short,
                          found.ranks > found.quota ||
                              (found.ranks > CPU_COUNT(&mask) && CPU_COUNT(&mask) > 1),
                          memory_order_relaxed);
}

struct sg_processors sg_processors_found(void)
{
    return found;
}
