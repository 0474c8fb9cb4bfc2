/* Tests the model of small collectives in a node against cases worked by hand, and the choice that
 * it gives on machines whose kernel's files are made here. */
#include "algos/lines.h"
#include "core/topology.h"
#include "lib/unit.h"
#include "sim/clusters.h"

#include <limits.h>

#define RANKS_MAX 256

/* Round figures. */
static const struct sg_lines_costs round_costs = {5, 10, 100, 300, 1000, 1, 2, 0};
/* 2 sockets of 2 clusters of 2 cores. */
static const struct sg_lines_machine small = {"small", "", 2, 1, 2, 2, 1, &round_costs};

static struct sg_lines_times run(const struct sg_lines_case *one)
{
    void *memory = malloc(sg_lines_bytes(one->places, one->ranks));
    struct sg_lines_times times;

    ASSERT(memory != NULL);
    times = sg_lines_run(one, memory);
    free(memory);
    return times;
}

static struct sg_lines_times times_with(const struct sg_lines_machine *machine,
                                        const struct sg_lines_costs *costs,
                                        enum sg_lines_shape shape, int ranks,
                                        struct sg_nest_sizes sizes)
{
    struct sg_place places[RANKS_MAX];
    const struct sg_lines_case one = {costs, places, ranks, shape, sizes, 8};

    sg_lines_place(machine, SG_LINES_IN_ORDER, ranks, places);
    return run(&one);
}

static struct sg_lines_times times_of(const struct sg_lines_machine *machine,
                                      enum sg_lines_shape shape, int ranks, int group)
{
    return times_with(machine, machine->costs, shape, ranks, (struct sg_nest_sizes){group, 0});
}

TEST("a cache line's transfer time depends on the distance of the two cores")
{
    struct sg_lines_machine split = small;
    struct sg_place at[RANKS_MAX];

    sg_lines_place(&small, SG_LINES_IN_ORDER, 8, at);
    EXPECT(sg_lines_ranks_most(&small) == 8, sg_lines_way_ns(&round_costs, &at[3], &at[3]) == 0,
           sg_lines_way_ns(&round_costs, &at[0], &at[1]) == 10,
           sg_lines_way_ns(&round_costs, &at[1], &at[2]) == 100,
           sg_lines_way_ns(&round_costs, &at[0], &at[7]) == 1000);
    EXPECT(sg_lines_split(&split, 2), !sg_lines_split(&split, 3));
    sg_lines_place(&split, SG_LINES_IN_ORDER, 8, at);
    EXPECT(sg_lines_way_ns(&round_costs, &at[1], &at[2]) == 300);
    /* The second thread of core 0. */
    sg_lines_place(&sg_lines_machines[0], SG_LINES_IN_ORDER, 129, at);
    EXPECT(sg_lines_way_ns(&round_costs, &at[0], &at[128]) == 5);
}

TEST("two ranks need one cache line each")
{
    /* A line there, once the one who polls it has given it up. */
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        if (shape == SG_LINES_CLIMB || shape == SG_LINES_GROUPS)
            continue;
        EXPECT(times_of(&small, shape, 2, 4).at_once_ns == 10,
               times_of(&small, shape, 2, 4).late_ns == 20);
    }
    /* The word, the other's line, then the release: given up, and fetched. */
    EXPECT(times_of(&small, SG_LINES_CLIMB, 2, 0).late_ns == 40);
}

TEST("a rank that arrives alone is seen by one rank after the other")
{
    struct sg_lines_times flat = times_of(&small, SG_LINES_FLAT, 4, 0);

    /* Rank 0 is the worst, for which all others look first: the other cluster gives up its line
     * (100), rank 1 gets it, then ranks 2 and 3, each served for 1 ns, from afar (100). Rank 3 then
     * fetches rank 1's line (100) and rank 2's (10), two at once. */
    EXPECT(flat.late_ns == 100 + 1 + 1 + 100 + 50 + 5);
}

/* Groups of one cluster send one line a cluster to the others. */
TEST("groups keep cache lines within clusters")
{
    struct sg_lines_machine far = small;
    struct sg_lines_costs costs = round_costs;

    costs.serve_ns = 100;
    far.costs = &costs;
    struct sg_lines_times by_two = times_of(&far, SG_LINES_GROUPS, 8, 2);
    struct sg_lines_times flat = times_of(&far, SG_LINES_FLAT, 8, 0);
    EXPECT(by_two.at_once_ns < flat.at_once_ns);
}

/* Each rank ends in every shape, and more ranks never take less time. */
TEST("every rank finishes in every shape")
{
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        double before = 0;

        for (int ranks = 4; ranks <= 64; ranks *= 2) {
            struct sg_lines_times times = times_of(&sg_lines_machines[0], shape, ranks, 4);

            EXPECT(times.at_once_ns >= before && times.late_ns > 0);
            before = times.at_once_ns;
        }
        for (int ranks = 3; ranks <= 23; ranks += 4)
            EXPECT(times_of(&sg_lines_machines[1], shape, ranks, 4).late_ns > 0);
    }
}

/* The second level costs a line up and one down, and sends a line to another socket once. */
TEST("groups of groups take less time across sockets, and more within one")
{
    const struct sg_lines_machine *milan = &sg_lines_machines[0];
    struct sg_nest_sizes one = {8, 0}, two = {8, 32};

    EXPECT(times_with(milan, milan->costs, SG_LINES_GROUPS, 128, two).late_ns <
           times_with(milan, milan->costs, SG_LINES_GROUPS, 128, one).late_ns);
    EXPECT(times_with(milan, milan->costs, SG_LINES_GROUPS, 64, two).late_ns >
           times_with(milan, milan->costs, SG_LINES_GROUPS, 64, one).late_ns);
    /* An outer group of all ranks, or of one group, is none. */
    EXPECT(times_with(milan, milan->costs, SG_LINES_GROUPS, 64, (struct sg_nest_sizes){8, 8})
               .late_ns == times_of(milan, SG_LINES_GROUPS, 64, 8).late_ns);
}

TEST("larger operands take more time, by their lines")
{
    struct sg_place places[16];
    struct sg_lines_case one = {&sg_lines_clustered, places, 16, SG_LINES_GROUPS, {8, 0}, 48};
    double before = 0;

    sg_lines_place(&sg_lines_machines[0], SG_LINES_IN_ORDER, 16, places);
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        one.shape = (enum sg_lines_shape)shape;
        before = 0;
        for (uint32_t bytes = 48; bytes <= 4096; bytes *= 4) {
            one.bytes = bytes;
            EXPECT(run(&one).late_ns > before);
            before = run(&one).late_ns;
        }
    }
}

/* ---- the choice on pretended machines ---- */

struct machine {
    const char *name;
    int sockets, nodes, clusters, cores, threads; /* each in the one before */
};

static const struct machine machines[] = {
    {"one socket without clusters", 1, 1, 1, 32, 1},
    {"one socket of clusters of 8", 1, 1, 8, 8, 1},
    {"2 sockets, 4 nodes, 8 clusters", 2, 2, 2, 8, 1},
    {"2 sockets of 2 nodes, a cluster each", 2, 2, 1, 16, 1},
    {"2 sockets of 8 clusters, 2 threads a core", 2, 1, 8, 8, 2},
    {"clusters of 4", 2, 4, 2, 4, 1},
    {"cores without a shared cache", 1, 1, 64, 1, 1},
};

static int processors_of(const struct machine *machine)
{
    return machine->sockets * machine->nodes * machine->clusters * machine->cores *
           machine->threads;
}

/* The list of the processors [first, first + count) and of their cores' other threads, which are
 * numbered after all cores. */
static const char *list_of(const struct machine *machine, int first, int count)
{
    static char text[256];
    int cores = processors_of(machine) / machine->threads, at = 0;

    for (int thread = 0; thread < machine->threads; thread++, first += cores)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%d-%d", thread > 0 ? "," : "", first,
                       first + count - 1);
    return text;
}

static struct sg_topology *pretend(const struct machine *machine)
{
    const char *root = unit_fresh_directory();
    int cluster = machine->cores, node = machine->clusters * cluster,
        socket = machine->nodes * node, all = machine->sockets * socket;
    char nodes[16];
    cpu_set_t wanted;

    CPU_ZERO(&wanted);
    for (int processor = 0; processor < processors_of(machine); processor++) {
        int core = processor % all;
        char cpu[PATH_MAX];

        snprintf(cpu, sizeof cpu, "%s/devices/system/cpu/cpu%d", root, processor);
        unit_write("3\n", "%s/cache/index0/level", cpu);
        unit_write(list_of(machine, core / cluster * cluster, cluster),
                   "%s/cache/index0/shared_cpu_list", cpu);
        unit_write(list_of(machine, core, 1), "%s/topology/thread_siblings_list", cpu);
        unit_write(list_of(machine, core / socket * socket, socket),
                   "%s/topology/core_siblings_list", cpu);
        CPU_SET(processor, &wanted);
    }
    snprintf(nodes, sizeof nodes, "0-%d", machine->sockets * machine->nodes - 1);
    unit_write(nodes, "%s/devices/system/node/has_cpu", root);
    for (int i = 0; i < machine->sockets * machine->nodes; i++)
        unit_write(list_of(machine, i * node, node), "%s/devices/system/node/node%d/cpulist", root,
                   i);
    return sg_topology_read(root, &wanted);
}

/* Ways in which ranks are bound. */
enum binding { IN_ORDER, EVERY_OTHER, SCRAMBLED, BY_SOCKET, NOT_AT_ALL, BINDINGS };

static void bind_ranks(const struct machine *machine, enum binding binding, int ranks,
                       cpu_set_t *masks)
{
    int all = processors_of(machine), socket = all / machine->sockets / machine->threads;

    for (int rank = 0; rank < ranks; rank++) {
        int to[BINDINGS] = {rank, rank * 2 % all + rank * 2 / all, rank * 37 % all, 0, 0};

        CPU_ZERO(&masks[rank]);
        for (int processor = 0; processor < all; processor++) {
            bool is_in = binding == NOT_AT_ALL || processor == to[binding];

            if (binding == BY_SOCKET)
                is_in = processor % (all / machine->threads) / socket == rank % machine->sockets;
            if (is_in)
                CPU_SET(processor, &masks[rank]);
        }
    }
}

/* The choice is the best of all sizes that are not slower than the climb in either case. */
static void check_choice(const struct sg_place *places, int ranks)
{
    struct sg_lines_costs costs[2] = {*sg_lines_costs_of(places, ranks),
                                      *sg_lines_costs_of(places, ranks)};
    struct sg_lines_case one = {&costs[0], places, ranks, SG_LINES_CLIMB, {0, 0}, 8};
    void *memory = malloc(sg_lines_bytes(places, ranks));
    struct sg_lines_choice choice;
    struct sg_nest_sizes best = {0, 0};
    double climb_ns[2], best_ns = 1e300;

    ASSERT(memory != NULL);
    sg_lines_choose(places, ranks, memory, &choice);
    costs[1].overlap = 1;
    for (int i = 0; i < 2; i++) {
        one.costs = &costs[i];
        climb_ns[i] = sg_lines_run(&one, memory).late_ns;
    }
    one.shape = SG_LINES_GROUPS;
    for (int i = 0; sg_lines_sizes(ranks, i, &one.sizes); i++) {
        double groups_ns[2];

        for (int at = 0; at < 2; at++) {
            one.costs = &costs[at];
            groups_ns[at] = sg_lines_run(&one, memory).late_ns;
        }
        if (groups_ns[0] <= climb_ns[0] && groups_ns[1] <= climb_ns[1] && groups_ns[0] < best_ns) {
            best_ns = groups_ns[0];
            best = one.sizes;
        }
    }
    EXPECT(choice.sizes.group == best.group, choice.sizes.outer == best.outer);
    EXPECT(choice.climb_ns == climb_ns[0], best.group == 0 || choice.groups_ns == best_ns);
    EXPECT((choice.bytes > 0) == (best.group > 0));
    free(memory);
}

TEST("on every machine and however ranks are bound the choice is what the model says")
{
    static const int ranks[] = {9, 12, 16, 31, 48, 64, 96, 128, 256};
    static cpu_set_t masks[RANKS_MAX];
    struct sg_place places[RANKS_MAX];

    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct sg_topology *topology = pretend(&machines[m]);

        ASSERT(topology != NULL);
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i += (size_t)unit_step()) {
            if (ranks[i] > processors_of(&machines[m]))
                continue;
            bind_ranks(&machines[m], (enum binding)((m + i) % BINDINGS), ranks[i], masks);
            EXPECT(sg_topology_deal(topology, masks, ranks[i], places));
            check_choice(places, ranks[i]);
        }
        sg_topology_free(topology);
    }
}

static struct sg_lines_choice choice_on(const struct machine *machine, enum binding binding,
                                        int ranks)
{
    static cpu_set_t masks[RANKS_MAX];
    struct sg_topology *topology = pretend(machine);
    struct sg_place places[RANKS_MAX];
    struct sg_lines_choice choice;
    void *memory;

    bind_ranks(machine, binding, ranks, masks);
    ASSERT(topology != NULL, sg_topology_deal(topology, masks, ranks, places));
    memory = malloc(sg_lines_bytes(places, ranks));
    ASSERT(memory != NULL);
    sg_lines_choose(places, ranks, memory, &choice);
    free(memory);
    sg_topology_free(topology);
    return choice;
}

TEST("groups follow the clusters of ranks in order, and outer groups the rest of the machine")
{
    const struct machine *clusters = &machines[1], *threads = &machines[4];
    struct sg_lines_choice choice = choice_on(clusters, IN_ORDER, 64);

    EXPECT(choice.sizes.group == 8, choice.sizes.outer == 0, choice.groups_ns == 589,
           choice.climb_ns == 1239);
    choice = choice_on(threads, IN_ORDER, 128);
    EXPECT(choice.sizes.group == 8, choice.sizes.outer == 32);
    EXPECT(choice_on(clusters, IN_ORDER, 12).sizes.outer == 0);
}

/* The same formula as the simulator's order. */
TEST("unbound ranks are where the simulator deals them")
{
    static cpu_set_t masks[RANKS_MAX];
    struct sg_topology *topology = pretend(&machines[4]);
    struct sg_place dealt[RANKS_MAX], places[RANKS_MAX];

    bind_ranks(&machines[4], NOT_AT_ALL, 128, masks);
    ASSERT(topology != NULL, sg_topology_deal(topology, masks, 128, places));
    sg_lines_place(&sg_lines_machines[0], SG_LINES_DEALT, 128, dealt);
    for (int rank = 0; rank < 128; rank++)
        EXPECT(places[rank].core == dealt[rank].core,
               places[rank].socket / 64 == dealt[rank].socket);
    sg_topology_free(topology);
}
