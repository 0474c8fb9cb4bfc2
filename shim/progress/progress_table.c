/* In MPI_Init, the first of a machine's ranks makes its segment. */
#include "progress/progress_table.h"

#include "intranode/memory.h"

#include <errno.h>

/* A machine's first rank; its ranks; this rank's number among them. */
struct machine {
    int first, ranks, number;
};

/* False: no machine has several nodes, so no process rings another. Identical on all ranks. */
static bool find_machine(const struct sg_exchange *exchange, struct machine *out)
{
    int machine = sg_placement_machine(exchange->rank);
    bool several = false;

    *out = (struct machine){.first = -1};
    for (int rank = 0; rank < exchange->size; rank++) {
        /* Nodes and machines are numbered by their first ranks. If the numbers differ, a machine
         * has two nodes. */
        several = several || sg_placement_node(rank) != sg_placement_machine(rank);
        if (sg_placement_machine(rank) != machine)
            continue;
        if (out->first < 0)
            out->first = rank;
        if (rank == exchange->rank)
            out->number = out->ranks;
        out->ranks++;
    }
    return several;
}

enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool remote,
                                       struct sg_progress_table **table, uint32_t *own)
{
    struct machine machine;
    void *segment = NULL;
    size_t size_bytes;
    enum sg_status status;
    int first_failed;

    *table = NULL;
    if ((!find_machine(exchange, &machine) && !remote) || !sg_memory_is_shared())
        return SG_OK;
    size_bytes = sizeof **table + (size_t)machine.ranks * sizeof(struct sg_process_slot);
    status =
        sg_memory_map(exchange, machine.first, size_bytes, "progress", &segment, &first_failed);
    if (status == SG_ERR_MISSING && first_failed == exchange->rank && errno != 0)
        sg_log("rank %d: no shared memory for progress (%m): late messages wait for the next "
               "collective",
               exchange->rank);
    if (status != SG_OK)
        return status == SG_ERR_MISSING ? SG_OK : status;
    *table = segment;
    *own = (uint32_t)machine.number;
    return SG_OK;
}
