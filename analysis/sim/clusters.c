#include "sim/clusters.h"

#include "algos/tree.h"
#include "sim/network.h"

#define KIB 1024u
#define SMALL (8 * KIB)      /* in one piece */
#define PIPELINED (32 * KIB) /* up to this size in chunks */
#define CHUNK (4 * KIB)
#define LARGE (64 * KIB)     /* above: broadcast directly between user buffers */
#define EXCHANGED (16 * KIB) /* up to this size, allreduce uses recursive doubling */
#define BUFFER LARGE         /* each of two: broadcasts of 32 to 64 KiB go in one piece */

static double larger(double one, double other)
{
    return one > other ? one : other;
}

static double overhead_ns(const struct sg_network *network)
{
    return network->overhead_us * 1e3;
}

/* A put, or a message without its copies. */
static double hop_ns(const struct sg_network *network, double bytes)
{
    return network->latency_us * 1e3 + 2 * overhead_ns(network) + network->gap_ns_per_byte * bytes;
}

static uint32_t levels_of(uint32_t count)
{
    return (uint32_t)sg_tree_levels((int32_t)count);
}

static uint32_t rounds_of(const struct sg_cluster *cluster)
{
    return levels_of(cluster->nodes);
}

/* ---- srm */

struct pipeline {
    double bytes; /* per chunk */
    double more;  /* chunks after the first */
};

static struct pipeline pipeline_of(uint64_t bytes, uint64_t chunk)
{
    uint64_t count = bytes > chunk ? (bytes + chunk - 1) / chunk : 1;

    return (struct pipeline){(double)(bytes < chunk ? bytes : chunk), (double)(count - 1)};
}

static uint64_t chunk_of(uint64_t bytes)
{
    if (bytes > SMALL && bytes < PIPELINED)
        return CHUNK;
    return BUFFER;
}

/* The root's adapter sends each chunk to all its children. */
static double send_ns(const struct sg_cluster *cluster, double bytes)
{
    return rounds_of(cluster) *
           larger(overhead_ns(cluster->network), cluster->network->gap_ns_per_byte * bytes);
}

static double spread_ns(const struct sg_cluster *cluster, double bytes, bool placed)
{
    return (double)sg_node_broadcast_ns(cluster->network, cluster->ranks, (uint64_t)bytes, BUFFER,
                                        placed);
}

static double srm_broadcast_ns(const struct sg_cluster *cluster, uint64_t bytes)
{
    struct pipeline pipeline = pipeline_of(bytes, chunk_of(bytes));
    double all = (double)bytes;

    if (cluster->nodes == 1)
        return (double)sg_node_broadcast_ns(cluster->network, cluster->ranks, bytes,
                                            chunk_of(bytes), false);
    if (bytes > LARGE)
        return hop_ns(cluster->network, 0) + rounds_of(cluster) * hop_ns(cluster->network, all) +
               spread_ns(cluster, all, false);
    return rounds_of(cluster) * hop_ns(cluster->network, pipeline.bytes) +
           spread_ns(cluster, pipeline.bytes, true) +
           pipeline.more *
               larger(send_ns(cluster, pipeline.bytes), spread_ns(cluster, pipeline.bytes, true));
}

/* The root's work for a chunk: a fold on each level of the node and between nodes. */
static double folds_ns(const struct sg_cluster *cluster, double bytes)
{
    return (levels_of(cluster->ranks) + rounds_of(cluster)) * cluster->network->reduce_ns_per_byte *
           bytes;
}

static double first_reduce_ns(const struct sg_cluster *cluster, double bytes)
{
    double fold_ns = cluster->network->reduce_ns_per_byte * bytes;

    return (double)sg_node_climb_ns(cluster->network, cluster->ranks, (uint64_t)bytes) +
           rounds_of(cluster) * (hop_ns(cluster->network, bytes) + fold_ns);
}

static double reduce_stage_ns(const struct sg_cluster *cluster, double bytes)
{
    return larger(send_ns(cluster, bytes),
                  folds_ns(cluster, bytes) + rounds_of(cluster) * overhead_ns(cluster->network));
}

static double srm_reduce_ns(const struct sg_cluster *cluster, uint64_t bytes)
{
    struct pipeline pipeline = pipeline_of(bytes, chunk_of(bytes));

    return first_reduce_ns(cluster, pipeline.bytes) +
           pipeline.more * reduce_stage_ns(cluster, pipeline.bytes);
}

/* A pipeline of four stages that overlap: inside nodes and between them, up and down. */
static double srm_allreduce_ns(const struct sg_cluster *cluster, uint64_t bytes)
{
    struct pipeline pipeline = pipeline_of(bytes, bytes > EXCHANGED ? BUFFER : EXCHANGED);
    double first_ns = first_reduce_ns(cluster, pipeline.bytes);
    double down_ns = spread_ns(cluster, pipeline.bytes, cluster->nodes > 1);

    if (bytes > EXCHANGED)
        first_ns += rounds_of(cluster) * hop_ns(cluster->network, pipeline.bytes);
    return first_ns + down_ns +
           pipeline.more * larger(reduce_stage_ns(cluster, pipeline.bytes) +
                                      rounds_of(cluster) * overhead_ns(cluster->network),
                                  down_ns);
}

static double srm_ns(const struct sg_cluster *cluster, enum sg_operation operation, uint64_t bytes)
{
    switch (operation) {
    case SG_OPERATION_BCAST:
        return srm_broadcast_ns(cluster, bytes);
    case SG_OPERATION_REDUCE:
        return srm_reduce_ns(cluster, bytes);
    case SG_OPERATION_ALLREDUCE:
        return srm_allreduce_ns(cluster, bytes);
    default:
        return (double)sg_node_barrier_ns(cluster->network, cluster->ranks) +
               rounds_of(cluster) * hop_ns(cluster->network, 0);
    }
}

/* ---- message passing */

struct layer {
    double overhead_ns; /* of a message, at each side */
    double copies;      /* copies of a message inside a node; one fewer between nodes */
};

static struct layer layer_of(const struct sg_network *network, enum sg_cluster_library library)
{
    bool mpich = library == SG_CLUSTER_MPICH;

    return (struct layer){overhead_ns(network) * (mpich ? 1.5 : 1), mpich ? 3 : 2};
}

uint64_t sg_cluster_eager_bytes(uint32_t tasks)
{
    uint64_t bytes = 4096;

    for (uint32_t most = 16; most < tasks && bytes > 128; most *= 2)
        bytes /= 2;
    return bytes;
}

/* A message over the eager limit is announced, answered and then put into its destination, which
 * saves a copy. Inside a node there is no adapter. */
static double message_ns(const struct sg_cluster *cluster, const struct layer *layer, bool inside,
                         double bytes)
{
    const struct sg_network *network = cluster->network;
    double control_ns =
        2 * layer->overhead_ns + (inside ? network->local_us : network->latency_us) * 1e3;
    bool eager = bytes <= (double)sg_cluster_eager_bytes(cluster->nodes * cluster->ranks);
    double copies = layer->copies - (inside ? 0 : 1) - (eager || inside ? 0 : 1);

    return (eager ? 1 : 3) * control_ns + (inside ? 0 : network->gap_ns_per_byte * bytes) +
           copies * network->copy_ns_per_byte * bytes;
}

/* The time along the longest path of the binomial tree, which has each level once. */
static double tree_ns(const struct sg_cluster *cluster, const struct layer *layer, double bytes,
                      double fold_ns)
{
    return rounds_of(cluster) * (message_ns(cluster, layer, false, bytes) + fold_ns) +
           levels_of(cluster->ranks) * (message_ns(cluster, layer, true, bytes) + fold_ns);
}

/* Recursive doubling: between nodes every rank of a node sends a message through the node's
 * adapter, which needs one overhead for each. */
static double message_barrier_ns(const struct sg_cluster *cluster, const struct layer *layer)
{
    double turns_ns = (cluster->ranks - 1) * layer->overhead_ns;

    return tree_ns(cluster, layer, 0, 0) + rounds_of(cluster) * turns_ns;
}

double sg_cluster_ns(const struct sg_cluster *cluster, enum sg_cluster_library library,
                     enum sg_operation operation, uint64_t bytes)
{
    struct layer layer = layer_of(cluster->network, library);
    double fold_ns = (double)bytes * cluster->network->reduce_ns_per_byte;

    if (library == SG_CLUSTER_SRM)
        return srm_ns(cluster, operation, bytes);
    switch (operation) {
    case SG_OPERATION_BCAST:
        return tree_ns(cluster, &layer, (double)bytes, 0);
    case SG_OPERATION_REDUCE:
        return tree_ns(cluster, &layer, (double)bytes, fold_ns);
    case SG_OPERATION_ALLREDUCE:
        return tree_ns(cluster, &layer, (double)bytes, fold_ns) +
               tree_ns(cluster, &layer, (double)bytes, 0);
    default:
        return message_barrier_ns(cluster, &layer);
    }
}

/* ---- machines of cache lines */

const struct sg_lines_machine sg_lines_machines[] = {
    {"milan", "AMD EPYC, 8 clusters of 8 cores a socket as in a 7763", 2, 1, 8, 8, 2,
     &sg_lines_clustered},
    {"icelake", "Intel Xeon, 32 cores a socket as in an 8375C", 2, 1, 1, 32, 2, &sg_lines_meshed},
};
const char *const sg_lines_machine_names[] = {"milan", "icelake", NULL};
const char *const sg_lines_shape_names[] = {"flat", "climb", "groups", "rounds", NULL};
const char *const sg_lines_order_names[] = {"core", "dealt", NULL};

static int cores_of(const struct sg_lines_machine *machine)
{
    return machine->sockets * machine->nodes * machine->clusters * machine->cores;
}

bool sg_lines_split(struct sg_lines_machine *machine, int nodes)
{
    int *parts = machine->clusters > 1 ? &machine->clusters : &machine->cores;

    if (*parts % nodes != 0)
        return false;
    *parts /= nodes;
    machine->nodes = nodes;
    return true;
}

int sg_lines_ranks_most(const struct sg_lines_machine *machine)
{
    return cores_of(machine) * machine->threads;
}

/* Takes the lowest digit, to that base. */
static int take_digit(int *number, int base)
{
    int digit = *number % base;

    *number /= base;
    return digit;
}

/* Returns the core of the n-th rank dealt: the socket changes fastest, then the node. */
static int dealt_core(const struct sg_lines_machine *machine, int n)
{
    int socket = take_digit(&n, machine->sockets), node = take_digit(&n, machine->nodes);
    int cluster = take_digit(&n, machine->clusters);

    return ((socket * machine->nodes + node) * machine->clusters + cluster) * machine->cores + n;
}

void sg_lines_place(const struct sg_lines_machine *machine, enum sg_lines_order order, int ranks,
                    struct sg_place *places)
{
    for (int rank = 0; rank < ranks; rank++) {
        int core = rank % cores_of(machine);
        int cluster, node;

        if (order == SG_LINES_DEALT)
            core = dealt_core(machine, core);
        cluster = core / machine->cores;
        node = cluster / machine->clusters;
        places[rank] = (struct sg_place){core, cluster, node, node / machine->nodes};
    }
}
