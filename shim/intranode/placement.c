#include "intranode/placement.h"

#include <stdlib.h>

static int32_t *nodes;    /* by world rank; kept until the process ends */
static int32_t *machines; /* likewise */

/* Rank 0: a node's number is the lowest world rank in it, and so is a machine's. out: nodes, then
 * how many ranks of its machine come before each, then machines. */
static void number(const uint64_t *identities, int size, int ranks_per_node, int32_t *out)
{
    for (int rank = 0; rank < size; rank++) {
        int before = 0;
        int first = rank;
        int machine = rank;

        for (int other = rank - 1; other >= 0; other--) {
            if (identities[other] != identities[rank])
                continue;
            /* The nearest earlier rank of this machine knows how many came before it. */
            before = out[size + other] + 1;
            first = out[other];
            machine = out[2 * size + other];
            break;
        }
        out[size + rank] = before;
        out[rank] = ranks_per_node > 0 && before % ranks_per_node == 0 ? rank : first;
        out[2 * size + rank] = machine;
    }
}

enum sg_status sg_placement_start(const struct sg_exchange *exchange, uint64_t machine,
                                  int ranks_per_node)
{
    size_t count = (size_t)exchange->size;
    size_t *sizes = calloc(count, sizeof *sizes);
    int32_t *numbers = calloc(3 * count, sizeof *numbers);
    void *identities = NULL;
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes != NULL && numbers != NULL)
        status = exchange->gather(exchange->context, &machine, sizeof machine, &identities, sizes);
    if (status == SG_OK && exchange->rank == 0)
        number(identities, exchange->size, ranks_per_node, numbers);
    free(identities);
    free(sizes);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, numbers, 3 * count * sizeof *numbers);
    if (status != SG_OK) {
        free(numbers);
        return status;
    }
    free(nodes);
    nodes = numbers;
    machines = numbers + 2 * count;
    return SG_OK;
}

int sg_placement_node(int world_rank)
{
    return nodes[world_rank];
}

int sg_placement_node_size(int node, int world_size)
{
    int count = 0;

    for (int rank = node; rank < world_size; rank++)
        count += nodes[rank] == node;
    return count;
}

int sg_placement_machine(int world_rank)
{
    return machines[world_rank];
}
