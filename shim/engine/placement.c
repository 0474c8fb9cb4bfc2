#include "engine/placement.h"

#include <stdlib.h>

static int32_t *nodes; /* by world rank; kept to the end of the process */

/* Rank 0: a node's number is the lowest world rank in it. */
static void number(const uint64_t *machines, int size, int ranks_per_node, int32_t *out)
{
    for (int rank = 0; rank < size; rank++) {
        int before = 0;
        int first = rank;

        for (int other = rank - 1; other >= 0; other--) {
            if (machines[other] != machines[rank])
                continue;
            /* The nearest earlier rank of this machine knows how many came before it. */
            before = out[size + other] + 1;
            first = out[other];
            break;
        }
        out[size + rank] = before;
        out[rank] = ranks_per_node > 0 && before % ranks_per_node == 0 ? rank : first;
    }
}

enum sg_status sg_placement_start(const struct sg_exchange *exchange, uint64_t machine,
                                  int ranks_per_node)
{
    size_t count = (size_t)exchange->size;
    size_t *sizes = calloc(count, sizeof *sizes);
    /* Rank 0 also counts each machine's ranks, behind the nodes. */
    int32_t *numbers = calloc(2 * count, sizeof *numbers);
    void *machines = NULL;
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes != NULL && numbers != NULL)
        status = exchange->gather(exchange->context, &machine, sizeof machine, &machines, sizes);
    if (status == SG_OK && exchange->rank == 0)
        number(machines, exchange->size, ranks_per_node, numbers);
    free(machines);
    free(sizes);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, numbers, count * sizeof *numbers);
    if (status != SG_OK) {
        free(numbers);
        return status;
    }
    free(nodes);
    nodes = numbers;
    return SG_OK;
}

int sg_placement_node(int world_rank)
{
    return nodes[world_rank];
}
