/* Tests small collectives in a node by transfers of lines, against cases worked by hand. */
#include "lib/unit.h"
#include "sim/clusters.h"

/* Round figures: 2 sockets of 2 clusters of 2 cores. */
static const struct sg_lines_machine small = {"small", "", 2, 2, 2, 1, 5, 10, 100, 1000, 1, 2, 0};

static struct sg_lines_times times_of(const struct sg_lines_machine *machine,
                                      enum sg_lines_shape shape, int ranks, int group)
{
    const struct sg_lines_case one = {machine, shape, ranks, group};
    struct sg_lines_times times = {0, 0};

    EXPECT(sg_lines_run(&one, &times) == SG_OK);
    return times;
}

TEST("a cache line's transfer time depends on the distance of the two cores")
{
    EXPECT(sg_lines_ranks_most(&small) == 8, sg_lines_way_ns(&small, 3, 3) == 0,
           sg_lines_way_ns(&small, 0, 1) == 10, sg_lines_way_ns(&small, 1, 2) == 100,
           sg_lines_way_ns(&small, 0, 7) == 1000);
    /* The second thread of core 0. */
    EXPECT(sg_lines_way_ns(&sg_lines_machines[0], 0, 128) == sg_lines_machines[0].thread_ns);
}

TEST("two ranks need one cache line each")
{
    /* A line there, once the one who polls it has given it up. */
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        if (shape == SG_LINES_CLIMB)
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

    far.serve_ns = 100;
    struct sg_lines_times by_two = times_of(&far, SG_LINES_GROUPS, 8, 2);
    struct sg_lines_times flat = times_of(&far, SG_LINES_FLAT, 8, 0);
    EXPECT(by_two.at_once_ns < flat.at_once_ns);
    /* All in one group are flat. */
    EXPECT(times_of(&far, SG_LINES_GROUPS, 8, 8).at_once_ns == flat.at_once_ns,
           times_of(&far, SG_LINES_GROUPS, 8, 8).late_ns == flat.late_ns);
}

/* Whatever their number, every rank ends, and more ranks never take less. */
TEST("every rank finishes in every shape")
{
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        double before = 0;

        for (int ranks = 2; ranks <= 64; ranks *= 2) {
            struct sg_lines_times times = times_of(&sg_lines_machines[0], shape, ranks, 4);

            EXPECT(times.at_once_ns >= before && times.late_ns > 0);
            before = times.at_once_ns;
        }
        for (int ranks = 3; ranks <= 23; ranks += 4)
            EXPECT(times_of(&sg_lines_machines[1], shape, ranks, 4).late_ns > 0);
    }
}
