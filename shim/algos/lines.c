/* The model runs an exchange in virtual time: a queue of ranks by their times, each of which stores
 * or reads one line a step, or waits in a line's list of pollers. */
#include "algos/lines.h"

#include <string.h>

/* Medians of pairs of cores, measured one pair at a time (core-to-core-latency by N. Viennot, 2022:
 * AMD EPYC 7R13, Intel Xeon 8375C). numa_ns, serve_ns, overlap and fold_ns: docs/decisions/03. */
const struct sg_lines_costs sg_lines_clustered = {9.8, 23, 107, 145, 197, 10, 4, 2};
const struct sg_lines_costs sg_lines_meshed = {8.1, 51, 51, 69, 108, 10, 4, 2};

#define NEVER_NS 1e300
#define LATE_NS 1e6

static double later(double one, double other)
{
    return one > other ? one : other;
}

/* ---- places of ranks ---- */

const struct sg_lines_costs *sg_lines_costs_of(const struct sg_place *places, int ranks)
{
    for (int rank = 1; rank < ranks; rank++) {
        if (places[rank].socket == places[0].socket && places[rank].cluster != places[0].cluster)
            return &sg_lines_clustered;
    }
    return &sg_lines_meshed;
}

double sg_lines_way_ns(const struct sg_lines_costs *costs, const struct sg_place *from,
                       const struct sg_place *to)
{
    if (from == to)
        return 0;
    if (from->core == to->core)
        return costs->thread_ns;
    if (from->cluster == to->cluster)
        return costs->cluster_ns;
    if (from->numa == to->numa)
        return costs->socket_ns;
    return from->socket == to->socket ? costs->numa_ns : costs->remote_ns;
}

/* True if a rank is the first of a cluster that has several. */
static bool opens_cluster(const struct sg_place *places, int ranks, int rank)
{
    bool is_shared = false;

    for (int other = 0; other < rank; other++) {
        if (places[other].cluster == places[rank].cluster)
            return false;
    }
    for (int other = rank + 1; other < ranks && !is_shared; other++)
        is_shared = places[other].cluster == places[rank].cluster;
    return is_shared;
}

/* Counts the clusters of several ranks: in others no line is read twice. */
static int count_clusters(const struct sg_place *places, int ranks)
{
    int count = 0;

    for (int rank = 0; rank < ranks; rank++)
        count += opens_cluster(places, ranks, rank);
    return count;
}

/* Numbers these clusters from 0, by rank; -1: the rank's alone. */
static void number_clusters(const struct sg_place *places, int ranks, int16_t *numbers)
{
    int16_t count = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int other = 0;

        while (places[other].cluster != places[rank].cluster)
            other++;
        numbers[rank] = other < rank ? numbers[other] : -1;
        if (other == rank && opens_cluster(places, ranks, rank))
            numbers[rank] = count++;
    }
}

/* ---- lines ---- */

struct line {
    int writer;        /* -1: not yet */
    int first_poller;  /* head of a list of ranks, linked by struct rank.next_poller; -1: none */
    double written_ns; /* others can see the value */
    double free_ns;    /* the reader being served is done */
};

/* A rank's progress in its part. */
enum phase { UP, DOWN, END };

struct rank {
    double now_ns;
    int step;
    enum phase phase;
    int level;               /* in SG_LINES_GROUPS */
    struct sg_nest_group at; /* the rank's group of that level */
    struct sg_climb climb;
    bool waits;   /* is in a line's list of pollers */
    bool fetches; /* its last step read a ready line, so the next fetch is already under way */
    int next_poller;
};

struct world {
    struct sg_lines_case one;
    struct sg_shape shape;
    struct sg_nest nest;
    int clusters;
    int further_lines; /* of an operand, after the first */
    struct line *lines;
    double *copies; /* when a cluster has a line, by line and cluster */
    struct rank *ranks;
    int16_t *cluster_of; /* by rank */
    int16_t *queue;      /* a heap of the ranks that have something to do */
    int queued;
};

/* Lines are numbered: each rank's own, then those of meetings, then the one that releases all
 * ranks. A rank has one line a round, or one a level up and down. */
enum { OWN_LINES = 10 };
_Static_assert(SG_LINES_RANKS_MAX <= 1 << OWN_LINES, "a line a round");
_Static_assert(2 * (SG_NEST_LEVELS + 1) <= OWN_LINES, "two lines a level");

static int line_of(int rank, int which)
{
    return rank * OWN_LINES + which;
}

static int meeting_line(const struct world *world, int meeting)
{
    return world->one.ranks * OWN_LINES + meeting;
}

static int release_line(const struct world *world)
{
    return world->one.ranks * OWN_LINES + world->one.ranks;
}

static size_t line_count(int ranks)
{
    return (size_t)ranks * (OWN_LINES + 1) + 1;
}

static double way(const struct world *world, int from, int to)
{
    return sg_lines_way_ns(world->one.costs, &world->one.places[from], &world->one.places[to]);
}

/* ---- the queue ---- */

/* At equal times, stores come before the reads that look for them. */
static bool is_before(const struct world *world, int one, int other)
{
    const struct rank *a = &world->ranks[one], *b = &world->ranks[other];

    if (a->now_ns != b->now_ns)
        return a->now_ns < b->now_ns;
    return a->step != b->step ? a->step < b->step : one < other;
}

static void put(struct world *world, int rank)
{
    int at = world->queued++;

    for (; at > 0 && is_before(world, rank, world->queue[(at - 1) / 2]); at = (at - 1) / 2)
        world->queue[at] = world->queue[(at - 1) / 2];
    world->queue[at] = (int16_t)rank;
}

/* Removes the earliest rank. */
static int take(struct world *world)
{
    int first = world->queue[0], last = world->queue[--world->queued];
    int at = 0;

    for (int below = 1; below < world->queued; below = 2 * at + 1) {
        if (below + 1 < world->queued &&
            is_before(world, world->queue[below + 1], world->queue[below]))
            below++;
        if (is_before(world, last, world->queue[below]))
            break;
        world->queue[at] = world->queue[below];
        at = below;
    }
    world->queue[at] = (int16_t)last;
    return first;
}

/* ---- stores and reads ---- */

/* Wakes all pollers at the time at which the line can start on its way to them. */
static void write_line(struct world *world, int rank, int number)
{
    struct line *line = &world->lines[number];
    struct rank *self = &world->ranks[rank];
    double farthest_ns = 0;

    for (int poller = line->first_poller; poller >= 0; poller = world->ranks[poller].next_poller)
        farthest_ns = later(farthest_ns, way(world, rank, poller));
    self->fetches = false;
    line->writer = rank;
    line->written_ns = line->free_ns = self->now_ns + farthest_ns;
    for (int poller = line->first_poller; poller >= 0; poller = world->ranks[poller].next_poller) {
        struct rank *other = &world->ranks[poller];

        other->waits = false;
        other->now_ns = later(other->now_ns, line->written_ns);
        put(world, poller);
    }
    line->first_poller = -1;
}

/* False: the line is not written yet, and the rank polls it. */
static bool read_line(struct world *world, int rank, int number)
{
    const struct sg_lines_costs *costs = world->one.costs;
    struct line *line = &world->lines[number];
    struct rank *self = &world->ranks[rank];
    int cluster = world->cluster_of[rank];
    double *copy = cluster < 0
                       ? NULL
                       : &world->copies[(size_t)number * (size_t)world->clusters + (size_t)cluster];
    double begin_ns, direct_ns, near_ns = NEVER_NS, fetches, serve_ns;

    if (line->writer < 0) {
        self->waits = true;
        self->fetches = false;
        self->next_poller = line->first_poller;
        line->first_poller = rank;
        return false;
    }
    begin_ns = later(self->now_ns, line->written_ns);
    if (line->writer == rank) {
        self->now_ns = begin_ns;
        return true;
    }
    /* The further lines follow the first at the pace of consecutive ones. */
    fetches = (self->fetches ? 1 / costs->overlap : 1) + world->further_lines / costs->overlap;
    serve_ns = costs->serve_ns * (1 + world->further_lines);
    self->fetches = true;
    if (copy != NULL)
        near_ns = later(begin_ns, *copy) + fetches * costs->cluster_ns;
    direct_ns = later(begin_ns, line->free_ns) + fetches * way(world, line->writer, rank);
    if (direct_ns <= near_ns) {
        line->free_ns = later(begin_ns, line->free_ns) + serve_ns;
        if (copy != NULL && direct_ns < *copy)
            *copy = direct_ns;
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
        self->now_ns = later(self->now_ns, line->free_ns) + way(world, before, rank);
        line->free_ns = self->now_ns;
    } else {
        line->free_ns = self->now_ns;
    }
    line->writer = rank;
    line->written_ns = self->now_ns;
    return before;
}

static void fold(struct world *world, int rank, int operands)
{
    world->ranks[rank].now_ns += operands * world->one.costs->fold_ns * (1 + world->further_lines);
}

/* ---- shapes: each function executes one step of a rank; false if it polls ---- */

static bool step_flat(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];

    if (self->step == 0) {
        write_line(world, rank, line_of(rank, 0));
    } else if (self->step > world->one.ranks) {
        fold(world, rank, world->one.ranks - 1);
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
    int round = self->step / 2, ranks = world->one.ranks;
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

/* A rank uses one line a level on the way up, and one on the way down. */
static int down_line(int rank, int level)
{
    return line_of(rank, OWN_LINES / 2 + level);
}

/* Passes the result to the members of the groups that the rank leads, from the last level on. */
static bool step_down(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];

    if (self->level-- == 0)
        self->phase = END;
    else
        write_line(world, rank, down_line(rank, self->level));
    return true;
}

/* The doubling shape's leaves are the ranks. */
static bool step_groups(struct world *world, int rank)
{
    struct rank *self = &world->ranks[rank];
    const struct sg_nest_group *at = &self->at;

    if (self->phase == DOWN)
        return step_down(world, rank);
    if (self->step == 0) {
        self->at = sg_nest_at(&world->shape, &world->nest, self->level, rank);
        write_line(world, rank, line_of(rank, self->level));
        self->step = 1;
    } else if (self->level < world->nest.levels && at->first != rank) {
        if (!read_line(world, rank, down_line(at->first, self->level)))
            return false;
        self->phase = DOWN;
    } else if (self->step <= at->high - at->low) {
        int from =
            sg_nest_member(&world->shape, &world->nest, self->level, at->low + self->step - 1);

        if (!read_line(world, rank, line_of(from, self->level)))
            return false;
        self->step++;
    } else {
        fold(world, rank, at->high - at->low - 1);
        self->step = 0;
        if (self->level == world->nest.levels)
            self->phase = DOWN;
        else
            self->level++;
    }
    return true;
}

static bool step(struct world *world, int rank)
{
    switch (world->one.shape) {
    case SG_LINES_FLAT:
        return step_flat(world, rank);
    case SG_LINES_CLIMB:
        return step_climb(world, rank);
    case SG_LINES_GROUPS:
        return step_groups(world, rank);
    default:
        return step_rounds(world, rank);
    }
}

/* ---- a run ---- */

/* late: the rank that arrives after all others are waiting; -1: none. Returns the time at which the
 * last rank ends, from the last arrival on. */
static double run(struct world *world, int late)
{
    size_t lines = line_count(world->one.ranks);
    double end_ns = 0;

    for (size_t i = 0; i < lines; i++)
        world->lines[i] = (struct line){.writer = -1, .first_poller = -1};
    for (size_t i = 0; i < lines * (size_t)world->clusters; i++)
        world->copies[i] = NEVER_NS;
    world->queued = 0;
    for (int rank = 0; rank < world->one.ranks; rank++) {
        world->ranks[rank] = (struct rank){.now_ns = rank == late ? LATE_NS : 0};
        put(world, rank);
    }
    while (world->queued > 0) {
        int rank = take(world);

        step(world, rank);
        if (world->ranks[rank].phase == END)
            end_ns = later(end_ns, world->ranks[rank].now_ns);
        else if (!world->ranks[rank].waits)
            put(world, rank);
    }
    return late >= 0 ? end_ns - LATE_NS : end_ns;
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

size_t sg_lines_bytes(const struct sg_place *places, int ranks)
{
    size_t each = (size_t)ranks, lines = line_count(ranks);

    return 2 * round_up(each * sizeof(int16_t)) + round_up(each * sizeof(struct rank)) +
           round_up(lines * sizeof(struct line)) +
           lines * (size_t)count_clusters(places, ranks) * sizeof(double);
}

/* Lays out the memory as sg_lines_bytes counts it. */
static void set_up(struct world *world, const struct sg_place *places, int ranks, char *memory)
{
    size_t each = (size_t)ranks;

    world->clusters = count_clusters(places, ranks);
    world->shape = (struct sg_shape){SG_SHAPE_DOUBLING, ranks, 0};
    world->cluster_of = (int16_t *)(void *)memory;
    memory += round_up(each * sizeof *world->cluster_of);
    world->queue = (int16_t *)(void *)memory;
    memory += round_up(each * sizeof *world->queue);
    world->ranks = (struct rank *)(void *)memory;
    memory += round_up(each * sizeof *world->ranks);
    world->lines = (struct line *)(void *)memory;
    memory += round_up(line_count(ranks) * sizeof *world->lines);
    world->copies = (double *)(void *)memory;
    number_clusters(places, ranks, world->cluster_of);
}

static void set_case(struct world *world, const struct sg_lines_case *one)
{
    world->one = *one;
    world->further_lines = one->bytes > SG_LINES_CARRIED ? (int)((one->bytes + 63) / 64) : 0;
    if (one->shape == SG_LINES_GROUPS)
        world->nest = sg_nest_of(&world->shape, &one->sizes);
}

#define LATE_RANKS 4 /* evenly among the ranks, with the first and the last */

static double run_late(struct world *world)
{
    double late_ns = 0;

    for (int late = 0; late < LATE_RANKS; late++)
        late_ns = later(late_ns, run(world, (world->one.ranks - 1) * late / (LATE_RANKS - 1)));
    return late_ns;
}

struct sg_lines_times sg_lines_run(const struct sg_lines_case *one, void *memory)
{
    struct world world;
    struct sg_lines_times times;

    set_up(&world, one->places, one->ranks, memory);
    set_case(&world, one);
    times.at_once_ns = run(&world, -1);
    times.late_ns = run_late(&world);
    return times;
}

/* ---- the choice ---- */

#define GROUP_MIN 4
#define GROUP_MAX 32
#define SMALL_BYTES 8

bool sg_lines_sizes(int ranks, int i, struct sg_nest_sizes *out)
{
    for (int group = GROUP_MIN; group <= GROUP_MAX && group < ranks; group *= 2) {
        for (int outer = 0; outer < ranks; outer = outer == 0 ? 2 * group : 2 * outer) {
            if (i-- == 0) {
                *out = (struct sg_nest_sizes){group, outer};
                return true;
            }
        }
    }
    return false;
}

/* A climb and groups, with the machine's costs or those of a core that fetches one line at a
 * time. */
struct comparison {
    struct world world;
    struct sg_lines_costs costs[2];
    struct sg_lines_case one;
};

static double late_ns(struct comparison *comparison, enum sg_lines_shape shape, int costs,
                      uint32_t bytes)
{
    comparison->one.shape = shape;
    comparison->one.costs = &comparison->costs[costs];
    comparison->one.bytes = bytes;
    set_case(&comparison->world, &comparison->one);
    return run_late(&comparison->world);
}

/* True if groups of comparison->one.sizes are not slower in either case. */
static bool groups_win(struct comparison *comparison, uint32_t bytes)
{
    for (int costs = 0; costs < 2; costs++) {
        if (late_ns(comparison, SG_LINES_GROUPS, costs, bytes) >
            late_ns(comparison, SG_LINES_CLIMB, costs, bytes))
            return false;
    }
    return true;
}

void sg_lines_choose(const struct sg_place *places, int ranks, void *memory,
                     struct sg_lines_choice *out)
{
    static const uint32_t sizes_bytes[] = {SG_LINES_CARRIED, 256, 1024, SG_LINES_BYTES_MAX};
    struct comparison comparison = {.one = {.places = places, .ranks = ranks}};
    struct sg_lines_choice choice = {.groups_ns = NEVER_NS};
    struct sg_nest_sizes sizes;
    double one_line_ns;

    comparison.costs[0] = comparison.costs[1] = *sg_lines_costs_of(places, ranks);
    comparison.costs[1].overlap = 1;
    set_up(&comparison.world, places, ranks, memory);
    choice.climb_ns = late_ns(&comparison, SG_LINES_CLIMB, 0, SMALL_BYTES);
    one_line_ns = late_ns(&comparison, SG_LINES_CLIMB, 1, SMALL_BYTES);
    for (int i = 0; sg_lines_sizes(ranks, i, &sizes); i++) {
        double groups_ns;

        comparison.one.sizes = sizes;
        groups_ns = late_ns(&comparison, SG_LINES_GROUPS, 0, SMALL_BYTES);
        if (groups_ns < choice.groups_ns && groups_ns <= choice.climb_ns &&
            late_ns(&comparison, SG_LINES_GROUPS, 1, SMALL_BYTES) <= one_line_ns) {
            choice.groups_ns = groups_ns;
            choice.sizes = sizes;
        }
    }
    comparison.one.sizes = choice.sizes;
    for (int i = 0; choice.sizes.group > 0 && i < 4 && groups_win(&comparison, sizes_bytes[i]); i++)
        choice.bytes = sizes_bytes[i];
    *out = choice;
}
