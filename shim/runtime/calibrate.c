#include "runtime/calibrate.h"

#include "intranode/calibrate.h"
#include "intranode/placement.h"
#include "progress/progress.h"
#include "rule/rule.h"

#include <stdlib.h>
#include <string.h>

/* About the longest time that calibration may add to MPI_Init. */
#define WITHIN_NS UINT64_C(12000000)

/* The first rank other than 0 that is on rank 0's node (or is not on it); -1: there is none. */
static int find_partner(int size, bool on_node)
{
    for (int rank = 1; rank < size; rank++) {
        if ((sg_placement_node(rank) == sg_placement_node(0)) == on_node)
            return rank;
    }
    return -1;
}

/* How many ranks there are on rank 0's machine. */
static int mark_listeners(int size, int far, bool *listens)
{
    int near_ranks = 0;

    for (int rank = 0; rank < size; rank++) {
        listens[rank] = sg_placement_machine(rank) == sg_placement_machine(0);
        near_ranks += listens[rank];
    }
    if (far >= 0)
        listens[far] = true;
    return near_ranks;
}

/* Slices are of nodes: with one node there are none. */
static void check_slices(const struct sg_process *process, const struct sg_calibration *result)
{
    double wake_us = result->value[SG_CALIBRATED_WAKE];
    int64_t slice_us;

    if (process->rank == 0 && sg_ruleset_is_slice_short(process->rules, wake_us, &slice_us))
        sg_log(
            "bcs(slice=%lld): shorter than four wake-ups, which take %.0f us each on this machine",
            (long long)slice_us, wake_us);
}

void sg_calibrate_run(struct sg_process *process)
{
    bool *listens = calloc((size_t)process->size, sizeof *listens);
    struct sg_calibrate setup = {.exchange = &process->exchange,
                                 .within_ns = WITHIN_NS,
                                 .near = find_partner(process->size, true),
                                 .far = find_partner(process->size, false),
                                 .listens = listens};
    struct sg_calibration result;
    int first_failed;

    if (sg_exchange_agree(&process->exchange, listens != NULL, &first_failed) == SG_OK &&
        first_failed < 0) {
        setup.companion = setup.near;
        if (setup.near < 0 && setup.far >= 0 &&
            sg_placement_machine(setup.far) == sg_placement_machine(0))
            setup.companion = setup.far;
        setup.ranks = mark_listeners(process->size, setup.far, listens);
        if (process->config.progress == SG_PROGRESS_SIGNAL)
            setup.signal = process->config.signal;
        if (sg_calibrate(&setup, &result) == SG_OK) {
            memcpy(sg_log_header(process->log)->calibration, result.value, sizeof result.value);
            if (setup.far >= 0)
                check_slices(process, &result);
        }
    }
    free(listens);
}
