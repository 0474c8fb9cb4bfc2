/* Tests paper 004's models: schemes of measuring by hand, exchanges of pairs against their law,
 * groups against their rounds. */
#include "core/clocksync.h"
#include "lib/unit.h"
#include "papers/claims.h"
#include "papers/coscheduling.h"

#include <math.h>
#include <stdlib.h>

#define EPSILON 1e-9

static const struct sg_round_trips trips = {.middle_ns = 13600, .spread = 0.05, .seed = 7};

/* ---- schemes */

/* Rank r's message leaves at (r - 1) g. */
static void one_call(void)
{
    const struct sg_logp network = {5, 2, 4};
    double entries[4] = {0}, exits[4];

    sg_scheme_call(&network, entries, exits);
    CU_ASSERT_DOUBLE_EQUAL(exits[0], 4, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[1], 5, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[2], 7, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[3], 9, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(sg_scheme_true(&network), 9, EPSILON);
}

/* n calls: the root's last message leaves at (n (P - 1) - 1) g. */
static void calls_in_a_row(void)
{
    for (int32_t processes = 2; processes <= SG_SCHEME_PROCESSES; processes *= 2) {
        const struct sg_logp network = {5, 2, processes};

        for (uint32_t calls = 1; calls <= 20; calls++) {
            double last = ((double)calls * (processes - 1) - 1) * 2;

            CU_ASSERT_DOUBLE_EQUAL(sg_scheme_reported(SG_SCHEME_LOOP, &network, calls),
                                   (last + 5) / calls, EPSILON);
            CU_ASSERT_DOUBLE_EQUAL(sg_scheme_reported(SG_SCHEME_MPBENCH, &network, calls),
                                   last / calls, EPSILON);
            CU_ASSERT_DOUBLE_EQUAL(sg_scheme_reported(SG_SCHEME_WINDOW, &network, calls),
                                   sg_scheme_true(&network), EPSILON);
        }
    }
}

/* Three arrivals at 5, taken at 5, 7, 9; releases leave at 9, 11, 13. */
static void a_barrier(void)
{
    const struct sg_logp network = {5, 2, 4};
    double entries[4] = {0}, exits[4];

    sg_scheme_barrier(&network, entries, exits);
    CU_ASSERT_DOUBLE_EQUAL(exits[0], 13, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[1], 14, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[2], 16, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[3], 18, EPSILON);
}

/* The last to come is taken last. */
static void a_late_rank_of_a_barrier(void)
{
    const struct sg_logp network = {5, 2, 4};
    double entries[4] = {0, 20, 0, 0}, exits[4];

    sg_scheme_barrier(&network, entries, exits);
    CU_ASSERT_DOUBLE_EQUAL(exits[0], 29, EPSILON);
    CU_ASSERT_DOUBLE_EQUAL(exits[3], 34, EPSILON);
}

/* ---- pairs */

static void the_law_by_hand(void)
{
    /* N = 1: the n-th exchange is reached when each before brought a new least: 1/(n - 1)!. */
    CU_ASSERT_DOUBLE_EQUAL(sg_pair_expected(1), exp(1), 1e-6);
    /* Large N: e^gamma N. */
    CU_ASSERT_DOUBLE_EQUAL(sg_pair_expected(10000) / 10000, 1.7810724, 1e-3);
}

static void exchanges_follow_the_law(void)
{
    static const uint32_t patience[] = {1, 10, 100};

    for (int i = 0; i < 3; i++) {
        double sum = 0;

        for (uint64_t who = 1; who <= 4000; who++) {
            struct sg_pair_result result = sg_pair_measure(&trips, who, patience[i]);

            sum += result.exchanges;
            CU_ASSERT_TRUE(result.exchanges > patience[i]);
            CU_ASSERT_TRUE(result.time_ns >= result.exchanges * (result.least_ns - 1));
        }
        CU_ASSERT_DOUBLE_EQUAL(sum / 4000 / sg_pair_expected(patience[i]), 1, 0.05);
    }
}

static void patience_pays(void)
{
    double before = 1, before_cost = 0;

    for (uint32_t patience = 1; patience <= 256; patience *= 4) {
        double exchanges, error;

        CU_ASSERT_TRUE_FATAL(sg_pair_quality(&trips, patience, 400, &exchanges, &error));
        CU_ASSERT_TRUE(error >= 0 && error < before);
        CU_ASSERT_TRUE(exchanges > before_cost);
        before = error;
        before_cost = exchanges;
    }
}

static void histograms_are_whole(void)
{
    uint32_t counts[SG_PAIR_BINS], sum = 0;
    double least_ns, most_ns;

    sg_round_trips_histogram(&trips, counts, &least_ns, &most_ns);
    for (int i = 0; i < SG_PAIR_BINS; i++)
        sum += counts[i];
    CU_ASSERT_EQUAL(sum, SG_PAIR_TRIPS);
    CU_ASSERT_TRUE(counts[0] >= 1 && counts[SG_PAIR_BINS - 1] >= 1);
    CU_ASSERT_TRUE(least_ns < trips.middle_ns && trips.middle_ns < most_ns);
}

/* ---- groups */

static double pair_ns(uint64_t who)
{
    return sg_pair_measure(&trips, who, SG_CLOCK_PAIR_PATIENCE).time_ns;
}

static double later(double one, double other)
{
    return one > other ? one : other;
}

/* Seven processes: 0 with 2; 0 with 1 and 2 with 3; then 4 with 0, 5 with 1, 6 with 2. */
static void seven_by_hand(void)
{
    double first = pair_ns(2), zero = first + pair_ns(1), two = first + pair_ns(3);
    double last = later(later(zero + pair_ns(4), zero + pair_ns(5)), two + pair_ns(6)), sum = 0;

    for (uint64_t who = 1; who < 7; who++)
        sum += pair_ns(who);
    CU_ASSERT_DOUBLE_EQUAL(sg_group_time_ns(&trips, 7, true), later(last, later(zero, two)), 1);
    CU_ASSERT_DOUBLE_EQUAL(sg_group_time_ns(&trips, 7, false), sum, 1);
}

/* With one round trip for all, the times are whole numbers of pairs. */
static void equal_pairs_count_rounds(void)
{
    const struct sg_round_trips equal = {.middle_ns = 10000};
    double each_ns = sg_group_time_ns(&equal, 2, true);

    CU_ASSERT_DOUBLE_EQUAL(each_ns, 101 * 10000.0, 1);
    for (int32_t processes = 2; processes <= 300; processes++) {
        double rounds = ceil(log2(processes));

        CU_ASSERT_DOUBLE_EQUAL(sg_group_time_ns(&equal, processes, true), rounds * each_ns, 1);
        CU_ASSERT_DOUBLE_EQUAL(sg_group_time_ns(&equal, processes, false),
                               (processes - 1) * each_ns, 1);
    }
}

static void seeds_repeat(void)
{
    struct sg_round_trips other = trips;

    other.seed++;
    CU_ASSERT_EQUAL(sg_group_time_ns(&trips, 32, true), sg_group_time_ns(&trips, 32, true));
    CU_ASSERT_NOT_EQUAL(sg_group_time_ns(&trips, 32, true), sg_group_time_ns(&other, 32, true));
}

const struct unit_test unit_tests[] = {
    {"a linear broadcast leaves message by message", one_call},
    {"calls in a row are paced by the root", calls_in_a_row},
    {"a linear barrier takes and sends one message after the other", a_barrier},
    {"a barrier waits for its last rank", a_late_rank_of_a_barrier},
    {"the expected number of exchanges is that by hand", the_law_by_hand},
    {"pairs take as many exchanges as the law says", exchanges_follow_the_law},
    {"more patience finds shorter round trips, at a cost", patience_pays},
    {"a histogram has all round trips", histograms_are_whole},
    {"seven processes meet in the order of the tree", seven_by_hand},
    {"equal pairs take the tree's rounds, or one after the other", equal_pairs_count_rounds},
    {"the same seed gives the same times", seeds_repeat},
    {NULL, NULL},
};
