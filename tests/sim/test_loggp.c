/* Tests latencies without faults against closed forms of LogGP: a message of b bytes takes 2o + L
 * + Gb, a reduction of b bytes Rb. */
#include "sim/world_support.h"

#include <math.h>

#define BYTES 1000
#define G_NS (2 * BYTES)
#define R_NS (1 * BYTES)
#define C_NS (3 * BYTES) /* where copies take time */
#define HOP_NS (2 * O_NS + L_NS)

/* All enter at once: last exit minus entry. */
static double delay_of(const struct sg_algo *algo, enum sg_operation operation, int32_t nodes,
                       uint8_t degree)
{
    struct sg_world_setup setup =
        world_of(algo, operation, nodes, operation == SG_OPERATION_BARRIER ? 0 : BYTES);

    setup.parameters.degree = degree;
    return run_world(&setup).delay_ns;
}

static void close_to(double measured_ns, double expected_ns)
{
    EXPECT(is_near(measured_ns, expected_ns, 0.01 * expected_ns));
    if (fabs(measured_ns - expected_ns) > 0.01 * expected_ns)
        printf("# %.0f ns, not %.0f ns\n", measured_ns, expected_ns);
}

/* Child i of each node is ready when the node has taken child i - 1: a hop and a reduction for each
 * level. */
TEST("the binomial reduce takes one message and one reduction per level")
{
    for (int levels = 1; levels <= 6; levels++)
        close_to(delay_of(&sg_algo_tree, SG_OPERATION_REDUCE, 1 << levels, 1),
                 levels * (HOP_NS + G_NS + R_NS));
}

/* A full tree: on each level the acks of eight children come at once, and are taken one by one. */
TEST("the tree barrier takes its acks, level by level, and a multicast")
{
    double level_ns = O_NS + L_NS + 8 * O_NS;

    close_to(delay_of(&sg_algo_tree, SG_OPERATION_BARRIER, 9, 8), level_ns + MULTICAST_NS);
    close_to(delay_of(&sg_algo_tree, SG_OPERATION_BARRIER, 73, 8), 2 * level_ns + MULTICAST_NS);
    close_to(delay_of(&sg_algo_tree, SG_OPERATION_BARRIER, 585, 8), 3 * level_ns + MULTICAST_NS);
}

TEST("dissemination takes one message per round")
{
    for (int rounds = 1; rounds <= 7; rounds++)
        close_to(delay_of(&sg_algo_dissemination, SG_OPERATION_BARRIER, 1 << rounds, 0),
                 rounds * HOP_NS);
    close_to(delay_of(&sg_algo_dissemination, SG_OPERATION_BARRIER, 17, 0), 5 * HOP_NS);
}

TEST("the pairwise allreduce takes one message and one reduction per round")
{
    for (int rounds = 1; rounds <= 6; rounds++)
        close_to(delay_of(&sg_algo_pairwise, SG_OPERATION_ALLREDUCE, 1 << rounds, 0),
                 rounds * (HOP_NS + G_NS + R_NS));
}

/* The root comes last and climbs all levels. On each it writes its operand (o, then G per byte at
 * the adapter), adds (o) and reads what lies there (o): the read leaves behind the write's bytes,
 * travels L, and comes back in L + Gb; then the operands are reduced. */
TEST("the climb of handoff takes one round trip per level")
{
    double access_ns = O_NS + G_NS + 2 * L_NS + G_NS + R_NS;

    for (int levels = 1; levels <= 6; levels++) {
        struct sg_world_setup setup =
            world_of(&sg_algo_handoff, SG_OPERATION_REDUCE, 1 << levels, BYTES);
        struct sg_lateness late = {0, 0, 1000000};

        setup.late = &late;
        setup.late_count = 1;
        close_to(run_world(&setup).delay_ns, levels * access_ns);
    }
}

/* One rank comes last by far: the token waits for it, and it releases. It takes the token on its
 * entry. */
TEST("the adaptive barrier takes one multicast when one rank is late")
{
    struct sg_world_setup setup = world_of(&sg_algo_adaptive, SG_OPERATION_BARRIER, 64, 0);
    struct sg_lateness late = {63, 63, 200000};

    setup.late = &late;
    setup.late_count = 1;
    close_to(run_world(&setup).delay_ns, O_NS + MULTICAST_NS);
}

/* Two processes exchange their operands through one adapter, which sends, and receives, one after
 * the other. */
TEST("processes that share an adapter wait for it")
{
    struct sg_world_setup setup = world_of(&sg_algo_pairwise, SG_OPERATION_ALLREDUCE, 2, BYTES);

    close_to(run_world(&setup).delay_ns, HOP_NS + G_NS + R_NS);
    setup.endpoints_per_adapter = 2;
    close_to(run_world(&setup).delay_ns, HOP_NS + 2 * G_NS + R_NS);
}

/* The root copies its own operand. MPICH copies a message that a receive waits for once, and one
 * that came before it twice. */
TEST("MPICH copies messages, and early ones twice")
{
    struct sg_network copying = round_network;
    struct sg_lateness late = {0, 0, 1000000};

    copying.copy_ns_per_byte = C_NS / BYTES;
    for (int levels = 1; levels <= 6; levels++) {
        struct sg_world_setup setup =
            world_of(&sg_algo_tree, SG_OPERATION_REDUCE, 1 << levels, BYTES);

        setup.parameters.degree = 1;
        setup.network = &copying;
        close_to(run_world(&setup).delay_ns, C_NS + levels * (HOP_NS + G_NS + R_NS));
        setup.mpich_copies = true;
        close_to(run_world(&setup).delay_ns, C_NS + levels * (HOP_NS + G_NS + R_NS + C_NS));
        setup.late = &late;
        setup.late_count = 1;
        close_to(run_world(&setup).delay_ns, C_NS + levels * (O_NS + R_NS + 2 * C_NS));
    }
}
