#include "internode/counts.h"

#include "internode/internode.h"

static uint64_t first_count;

void sg_internode_count_from(uint64_t first)
{
    first_count = first;
}

uint64_t sg_counts_first(void)
{
    return first_count;
}

void sg_counts_init(struct sg_internode *internode)
{
    for (int number = 0; number < internode->ranks_here; number++) {
        struct sg_rank_state *state =
            (struct sg_rank_state *)sg_internode_at(internode, internode->rank_states_at) + number;

        state->position = state->left = first_count;
        state->chosen = internode->chosen;
    }
    for (int index = 0; index < internode->here; index++) {
        struct sg_endpoint *endpoint =
            (struct sg_endpoint *)sg_internode_at(internode, internode->endpoints_at) + index;

        endpoint->delivered = endpoint->completed = first_count;
        for (uint32_t i = 0; i < internode->depth; i++)
            endpoint->instances[i].finished = first_count;
    }
}
