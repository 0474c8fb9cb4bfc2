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

    CU_ASSERT_EQUAL(sg_lines_run(&one, &times), SG_OK);
    return times;
}

static void ways(void)
{
    CU_ASSERT_EQUAL(sg_lines_ranks_most(&small), 8);
    CU_ASSERT_EQUAL(sg_lines_way_ns(&small, 3, 3), 0);
    CU_ASSERT_EQUAL(sg_lines_way_ns(&small, 0, 1), 10);
    CU_ASSERT_EQUAL(sg_lines_way_ns(&small, 1, 2), 100);
    CU_ASSERT_EQUAL(sg_lines_way_ns(&small, 0, 7), 1000);
    /* The second thread of core 0. */
    CU_ASSERT_EQUAL(sg_lines_way_ns(&sg_lines_machines[0], 0, 128), sg_lines_machines[0].thread_ns);
}

static void two_ranks(void)
{
    /* A line there, once the one who polls it has given it up. */
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        if (shape == SG_LINES_CLIMB)
            continue;
        CU_ASSERT_EQUAL(times_of(&small, shape, 2, 4).at_once_ns, 10);
        CU_ASSERT_EQUAL(times_of(&small, shape, 2, 4).late_ns, 20);
    }
    /* The word, the other's line, then the release: given up, and fetched. */
    CU_ASSERT_EQUAL(times_of(&small, SG_LINES_CLIMB, 2, 0).late_ns, 40);
}

static void late_rank(void)
{
    struct sg_lines_times flat = times_of(&small, SG_LINES_FLAT, 4, 0);

    /* Rank 0 is the worst, for which all others look first: the other cluster gives up its line
     * (100), rank 1 gets it, then ranks 2 and 3, each served for 1 ns, from afar (100). Rank 3 then
     * fetches rank 1's line (100) and rank 2's (10), two at once. */
    CU_ASSERT_EQUAL(flat.late_ns, 100 + 1 + 1 + 100 + 50 + 5);
}

/* Groups of one cluster send one line a cluster to the others. */
static void groups(void)
{
    struct sg_lines_machine far = small;
    struct sg_lines_times by_two, flat;

    far.serve_ns = 100;
    by_two = times_of(&far, SG_LINES_GROUPS, 8, 2);
    flat = times_of(&far, SG_LINES_FLAT, 8, 0);
    CU_ASSERT_TRUE(by_two.at_once_ns < flat.at_once_ns);
    /* All in one group are flat. */
    CU_ASSERT_EQUAL(times_of(&far, SG_LINES_GROUPS, 8, 8).at_once_ns, flat.at_once_ns);
    CU_ASSERT_EQUAL(times_of(&far, SG_LINES_GROUPS, 8, 8).late_ns, flat.late_ns);
}

/* Whatever their number, every rank ends, and more ranks never take less. */
static void all_end(void)
{
    for (int shape = 0; shape < SG_LINES_SHAPES; shape++) {
        double before = 0;

        for (int ranks = 2; ranks <= 64; ranks *= 2) {
            struct sg_lines_times times = times_of(&sg_lines_machines[0], shape, ranks, 4);

            CU_ASSERT_TRUE(times.at_once_ns >= before && times.late_ns > 0);
            before = times.at_once_ns;
        }
        for (int ranks = 3; ranks <= 23; ranks += 4)
            CU_ASSERT_TRUE(times_of(&sg_lines_machines[1], shape, ranks, 4).late_ns > 0);
    }
}

const struct unit_test unit_tests[] = {
    {"a line's way is as long as what lies between two cores", ways},
    {"two ranks need one line each", two_ranks},
    {"a rank that comes alone is seen by one after the other", late_rank},
    {"groups keep lines within clusters", groups},
    {"every rank comes to its end in every shape", all_end},
    {NULL, NULL},
};
