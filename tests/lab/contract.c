/* Runs the transport contract's tests (tests/transport) over the verbs transport in a lab, on one
 * host or on several with the endpoints dealt out among them (crowd.h). Linked once with each file
 * of those tests; the argument "tree" makes multicasts go along the tree.
 */
#include "lab/crowd.h"
#include "lab/wire.h"
#include "lib/unit.h"
#include "transport/world.h"

const struct world_case world_cases[] = {{&crowd_verbs, false, true}, {NULL, false, false}};

int main(int argc, char **argv)
{
    struct sg_verbs_settings settings = wire_settings;
    struct wire wire = {0};
    int level, status = 0;

    settings.multicast = argc < 2;
    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level));
    REQUIRE(level >= MPI_THREAD_SERIALIZED);
    wire_start(&wire, &settings);
    crowd_start(wire.ops);
    if (wire.exchange.rank == 0) {
        status = unit_run();
        crowd_stop();
    } else {
        crowd_serve();
    }
    MUST(MPI_Finalize());
    return status;
}
