#include "sim/clusters.h"

#include "algos/tree.h"
#include "sim/network.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- cache lines */

#define PAIRWISE "core-to-core-latency by N. Viennot, 2022: medians of pairs"

const struct sg_lines_machine sg_lines_machines[] = {
    {"milan", "AMD EPYC 7R13, " PAIRWISE "; 8 clusters a socket as in a 7763", 2, 8, 8, 2, 9.8, 23,
     107, 197, 10, 4, 2},
    {"icelake", "Intel Xeon 8375C, " PAIRWISE, 2, 1, 32, 2, 8.1, 51, 51, 108, 10, 4, 2},
};
const char *const sg_lines_machine_names[] = {"milan", "icelake", NULL};
const char *const sg_lines_shape_names[] = {"flat", "climb", "groups", "rounds", NULL};

/* ---- positions of ranks ---- */

struct place {
    int socket, cluster, core; /* clusters and cores are numbered through the machine */
};

static struct place place_of(const struct sg_lines_machine *machine, int rank)
{
    int cores = machine->sockets * machine->clusters * machine->cores;
    int core = rank % cores;

    return (struct place){.socket = core / (machine->clusters * machine->cores),
                          .cluster = core / machine->cores,
                          .core = core};
}

int sg_lines_ranks_most(const struct sg_lines_machine *machine)
{
    return machine->sockets * machine->clusters * machine->cores * machine->threads;
}

double sg_lines_way_ns(const struct sg_lines_machine *machine, int from, int to)
{
    struct place a = place_of(machine, from), b = place_of(machine, to);

    if (from == to)
        return 0;
    if (a.core == b.core)
        return machine->thread_ns;
    if (a.cluster == b.cluster)
        return machine->cluster_ns;
    return a.socket == b.socket ? machine->socket_ns : machine->remote_ns;
}

/* ---- lines ---- */

struct line {
    int writer;        /* -1: not yet */
    double written_ns; /* others can see the value */
    double free_ns;    /* the reader being served is done */
    int first_poller;  /* head of a list of ranks, linked by struct rank.next_poller; -1: none */
};

/* A rank's progress in its part. */
enum phase { UP, DOWN, END };

struct rank {
    double now_ns;
    int step;
    enum phase phase;
    int level; /* in SG_LINES_GROUPS */
    struct sg_climb climb;
    bool waits;   /* is in a line's list of pollers */
    bool fetches; /* its last step read a ready line, so the next fetch is already under way */
    int next_poller;
};

struct world {
    const struct sg_lines_case *one;
    struct sg_shape shape;
    struct line *lines;
    double *copies; /* when a cluster has a line, by line and cluster; INFINITY: it has not */
    struct rank *ranks;
    int clusters;
};

/* Lines are numbered: each rank's own, then those of meetings, then the one that releases all
 * ranks. */
enum { OWN_LINES = 20 };

static int line_of(int rank, int which)
{
    return rank * OWN_LINES + which;
}

static int meeting_line(const struct world *world, int meeting)
{
    return world->one->ranks * OWN_LINES + meeting;
}

static int release_line(const struct world *world)
{
    return world->one->ranks * OWN_LINES + world->one->ranks;
}

static int line_count(const struct world *world)
{
    return release_line(world) + 1;
}

static double way(const struct world *world, int from, int to)
{
    return sg_lines_way_ns(world->one->machine, from, to);
}

static double *copy_of(struct world *world, int line, int rank)
{
    return &world->copies[(size_t)line * (size_t)world->clusters +
                          (size_t)place_of(world->one->machine, rank).cluster];
}

/* Wakes all pollers at the time at which the line can start on its way to them. */
static void write_line(struct world *world, int rank, int number)
{
    struct line *line = &world->lines[number];
    struct rank *self = &world->ranks[rank];
    double farthest = 0;

    for (int poller = line->first_poller; poller >= 0; poller = world->ranks[poller].next_poller)
        farthest = fmax(farthest, way(world, rank, poller));
    self->fetches = false;
    line->writer = rank;
    line->written_ns = line->free_ns = self->now_ns + farthest;
    for (int poller = line->first_poller; poller >= 0; poller = world->ranks[poller].next_poller) {
        struct rank *other = &world->ranks[poller];

        other->waits = false;
        other->now_ns = fmax(other->now_ns, line->written_ns);
    }
    line->first_poller = -1;
}

/* False: the line is not written yet, and the rank polls it. */
static bool read_line(struct world *world, int rank, int number)
{
    struct line *line = &world->lines[number];
    struct rank *self = &world->ranks[rank];
    double *copy = copy_of(world, number, rank);
    double begin_ns, direct_ns, near_ns, share;

    if (line->writer < 0) {
        self->waits = true;
        self->fetches = false;
        self->next_poller = line->first_poller;
        line->first_poller = rank;
        return false;
    }
    begin_ns = fmax(self->now_ns, line->written_ns);
    if (line->writer == rank) {
        self->now_ns = begin_ns;
        return true;
    }
    share = self->fetches ? 1 / world->one->machine->overlap : 1;
    self->fetches = true;
    near_ns = fmax(begin_ns, *copy) + share * world->one->machine->cluster_ns;
    direct_ns = fmax(begin_ns, line->free_ns) + share * way(world, line->writer, rank);
    if (direct_ns <= near_ns) {
        line->free_ns = fmax(begin_ns, line->free_ns) + world->one->machine->serve_ns;
        *copy = fmin(*copy, direct_ns);
        self->now_ns = direct_ns;
    } else {
        self->now_ns = near_ns;
    }
    return true;
}

/* Atomically exchanges a word, which moves the line to the rank. Returns the previous writer; -1:
 * none. */
static int exchange_word(struct world *world, int rank, int number)
{
    struct line *line = &world->lines[number];
    struct rank *self = &world->ranks[rank];
    int before = line->writer;

    self->fetches = false;
    if (before >= 0) {
        self->now_ns = fmax(self->now_ns, line->free_ns) + way(world, before, rank);
        line->free_ns = self->now_ns;
    } else {
        line->free_ns = self->now_ns;
    }
    line->writer = rank;
    line->written_ns = self->now_ns;
    return before;
}

/* ---- shapes: each function executes one step of a rank; false if it polls ---- */

static void fold(struct world *world, int rank, int operands)
{
    world->ranks[rank].now_ns += operands * world->one->machine->fold_ns;
}

static bool step_flat(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];

    if (self->step == 0) {
        write_line(world, rank, line_of(rank, 0));
    } else if (self->step > world->one->ranks) {
        fold(world, rank, world->one->ranks - 1);
        self->phase = END;
    } else if (!read_line(world, rank, line_of(self->step - 1, 0))) {
        return false;
    }
    self->step++;
    return true;
}

static bool step_rounds(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];
    int round = self->step / 2, ranks = world->one->ranks;
    int from = (rank - (1 << round) % ranks + ranks) % ranks;

    if (1 << round >= ranks) {
        self->phase = END;
    } else if (self->step % 2 == 0) {
        write_line(world, rank, line_of(rank, round));
    } else {
        if (!read_line(world, rank, line_of(from, round)))
            return false;
        fold(world, rank, 1);
    }
    self->step++;
    return true;
}

static bool step_climb(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];
    bool right;
    int meeting, first;

    if (self->phase == DOWN) {
        if (!read_line(world, rank, release_line(world)))
            return false;
        self->phase = END;
        return true;
    }
    if (self->step++ == 0) {
        self->climb = sg_climb_start(&world->shape, rank);
        write_line(world, rank, line_of(rank, 0));
    }
    if (!sg_climb_step(&world->shape, &self->climb, &meeting, &right)) {
        write_line(world, rank, release_line(world));
        self->phase = END;
        return true;
    }
    first = exchange_word(world, rank, meeting_line(world, meeting));
    if (first < 0) {
        self->phase = DOWN;
        return true;
    }
    read_line(world, rank, line_of(first, 0));
    fold(world, rank, 1);
    /* Stores the partial result, which the next rank it meets reads; nobody polls that line. */
    world->lines[line_of(rank, 0)].writer = rank;
    world->lines[line_of(rank, 0)].written_ns = self->now_ns;
    return true;
}

static int power(int group, int level)
{
    int power = 1;

    while (level-- > 0)
        power *= group;
    return power;
}

/* Returns the number of members in the rank's group at a level, and their distance in ranks. */
static int members(const struct world *world, int rank, int level, int *distance)
{
    int each = power(world->one->group, level), first;
    int left;

    *distance = each;
    first = rank - rank % (each * world->one->group);
    left = (world->one->ranks - first + each - 1) / each;
    return left < world->one->group ? left : world->one->group;
}

static bool is_top(const struct world *world, int level)
{
    return power(world->one->group, level + 1) >= world->one->ranks;
}

static bool is_first(const struct world *world, int rank, int level)
{
    return rank % power(world->one->group, level + 1) == 0;
}

/* A rank uses one line per level on the way up and one per level on the way down. */
static bool step_groups(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];
    int distance, count = members(world, rank, self->level, &distance);
    int first = rank - rank % (distance * world->one->group);

    if (self->phase == DOWN) {
        if (self->level-- == 0)
            self->phase = END;
        else /* members of the group below read it, if there are any */
            write_line(world, rank, line_of(rank, OWN_LINES / 2 + self->level));
        return true;
    }
    if (self->step == 0) {
        write_line(world, rank, line_of(rank, self->level));
        self->step = 1;
        return true;
    }
    if (!is_top(world, self->level) && !is_first(world, rank, self->level)) {
        if (!read_line(world, rank, line_of(first, OWN_LINES / 2 + self->level)))
            return false;
        self->phase = DOWN;
        return true;
    }
    if (self->step <= count) {
        if (!read_line(world, rank, line_of(first + (self->step - 1) * distance, self->level)))
            return false;
        self->step++;
        return true;
    }
    fold(world, rank, count - 1);
    self->step = 0;
    if (is_top(world, self->level))
        self->phase = DOWN;
    else
        self->level++;
    return true;
}

typedef bool (*stepper)(struct world *world, int rank);
static const stepper steppers[SG_LINES_SHAPES] = {step_flat, step_climb, step_groups, step_rounds};

/* ---- a run ---- */

/* At equal times, stores come before the reads that look for them. */
static bool is_before(const struct rank *one, const struct rank *other)
{
    if (one->now_ns != other->now_ns)
        return one->now_ns < other->now_ns;
    return one->step < other->step;
}

/* The earliest rank that has something to do; -1: none. */
static int next_rank(const struct world *world)
{
    int found = -1;

    for (int rank = 0; rank < world->one->ranks; rank++) {
        const struct rank *self = &world->ranks[rank];

        if (self->phase != END && !self->waits &&
            (found < 0 || is_before(self, &world->ranks[found])))
            found = rank;
    }
    return found;
}

/* late: the rank that arrives after all others are waiting; -1: none. */
static double run(struct world *world, int late)
{
    const double late_ns = 1e6;
    double end_ns = 0;
    int rank;

    for (int i = 0; i < line_count(world); i++)
        world->lines[i] = (struct line){.writer = -1, .first_poller = -1};
    for (size_t i = 0; i < (size_t)line_count(world) * (size_t)world->clusters; i++)
        world->copies[i] = INFINITY;
    for (int i = 0; i < world->one->ranks; i++)
        world->ranks[i] = (struct rank){.now_ns = i == late ? late_ns : 0};
    while ((rank = next_rank(world)) >= 0)
        steppers[world->one->shape](world, rank);
    for (int i = 0; i < world->one->ranks; i++)
        end_ns = fmax(end_ns, world->ranks[i].now_ns);
    return late >= 0 ? end_ns - late_ns : end_ns;
}

enum sg_status sg_lines_run(const struct sg_lines_case *one, struct sg_lines_times *out)
{
    struct world world = {.one = one,
                          .shape = {SG_SHAPE_DOUBLING, one->ranks, 0},
                          .clusters = one->machine->sockets * one->machine->clusters};
    size_t lines = (size_t)line_count(&world);
    enum sg_status status = SG_OK;

    world.lines = calloc(lines, sizeof *world.lines);
    world.copies = calloc(lines * (size_t)world.clusters, sizeof *world.copies);
    world.ranks = calloc((size_t)one->ranks, sizeof *world.ranks);
    if (world.lines != NULL && world.copies != NULL && world.ranks != NULL) {
        out->at_once_ns = run(&world, -1);
        out->late_ns = 0;
        for (int late = 0; late < 4; late++)
            out->late_ns = fmax(out->late_ns, run(&world, (one->ranks - 1) * late / 3));
    } else {
        sg_log("sim: out of memory");
        status = SG_ERR_MEMORY;
    }
    free(world.lines);
    free(world.copies);
    free(world.ranks);
    return status;
}
