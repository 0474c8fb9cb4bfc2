/* Who may name whom, in all calls of a scenario. */
#include "sim/explore_check.h"
#include "sim/peers.h"

#include <string.h>

void sg_explore_find_peers(struct sg_explore_world *world)
{
    const struct sg_explore_scenario *scenario = world->scenario;

    memset(world->peers, 0, sizeof world->peers);
    for (int32_t i = 0; i < scenario->instances; i++) {
        const struct sg_explore_instance *instance = &scenario->instance[i];
        struct sg_algo_setup setup = {0, scenario->comm[instance->comm].size, scenario->parameters};

        for (; setup.rank < setup.size; setup.rank++) {
            bool named[SG_SIM_PEERS_MAX] = {false};

            sg_sim_peers(scenario->algo, &setup, &instance->call, named);
            for (int32_t rank = 0; rank < setup.size; rank++)
                world->peers[instance->comm][setup.rank] |= (uint64_t)named[rank] << rank;
        }
    }
}

void sg_explore_check_peer(struct sg_explore_world *world,
                           const struct sg_explore_endpoint *endpoint, int32_t to)
{
    if (!(world->peers[endpoint->comm][endpoint->rank] >> to & 1))
        sg_explore_violate(world, endpoint, "names %d, which is none of its peers", to);
}
