#include "core/waiting.h"

#include <stddef.h>
#include <stdio.h>

const char *const sg_wait_mode_names[SG_WAIT_MODE_COUNT + 1] = {
    [SG_WAIT_AUTO] = "auto",
    [SG_WAIT_SPIN] = "spin",
    [SG_WAIT_YIELD] = "yield",
    [SG_WAIT_SLEEP] = "sleep",
};

const struct sg_wait_hook_entry sg_wait_hooks[] = {
    {"ucx", "ucp_worker_progress"},
    {"libfabric", "fi_fabric"},
    {"mpich", NULL},
    {NULL, NULL},
};

/* Processors by masks and quota. */
static int64_t usable(int64_t processors, int64_t quota)
{
    return quota > 0 && quota < processors ? quota : processors;
}

bool sg_waiting_is_short(const struct sg_waiting *rank)
{
    return rank->processors > 0 && rank->ranks > usable(rank->processors, rank->quota);
}

/* Whether the rank's machine has fewer processors a rank than the one that the run names. */
static bool is_shorter(const struct sg_waiting *rank, const struct sg_run_waiting *run)
{
    return (int64_t)rank->ranks * usable((int64_t)run->processors, (int64_t)run->quota) >
           (int64_t)run->ranks * usable(rank->processors, rank->quota);
}

void sg_waiting_add(struct sg_run_waiting *run, const struct sg_waiting *rank, const char *host)
{
    if (rank->told == 0 || rank->mode >= SG_WAIT_MODE_COUNT)
        return;
    if (run->told == 0) {
        run->mode = rank->mode;
        snprintf(run->hook, sizeof run->hook, "%.*s", SG_WAIT_HOOK_BYTES - 1, rank->hook);
    }
    if (rank->ranks > 0 && rank->processors > 0 && (run->ranks == 0 || is_shorter(rank, run))) {
        run->ranks = (uint64_t)rank->ranks;
        run->processors = (uint64_t)rank->processors;
        run->quota = (uint64_t)rank->quota;
        snprintf(run->host, sizeof run->host, "%s", host);
    }
    run->told++;
    run->short_ranks += sg_waiting_is_short(rank);
    run->apart_ranks += sg_waiting_is_short(rank) && rank->apart != 0;
    run->yields += rank->yields;
    run->yield_ns += rank->yield_ns;
    run->sleeps += rank->sleeps;
    run->sleep_ns += rank->sleep_ns;
}
