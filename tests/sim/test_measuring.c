/* Tests paper 004's models: schemes of measuring by hand, exchanges of pairs against their law,
 * groups against their rounds. */
#include "core/clocksync.h"
#include "lib/unit.h"
#include "papers/claims.h"

#include <math.h>

#define EPSILON 1e-9

static const struct sg_round_trips trips = {.middle_ns = 13600, .spread = 0.05, .seed = 7};

/* ---- schemes */

/* Rank r's message leaves at (r - 1) g. */
TEST("a linear broadcast sends message by message")
{
    const struct sg_logp network = {5, 2, 4};
    double entries[4] = {0}, exits[4];

    sg_scheme_call(&network, entries, exits);
    EXPECT(is_near(exits[0], 4, EPSILON), is_near(exits[1], 5, EPSILON),
           is_near(exits[2], 7, EPSILON), is_near(exits[3], 9, EPSILON),
           is_near(sg_scheme_true(&network), 9, EPSILON));
}

/* n calls: the root's last message leaves at (n (P - 1) - 1) g. */
TEST("the root paces calls in a row")
{
    for (int32_t processes = 2; processes <= SG_SCHEME_PROCESSES; processes *= 2) {
        const struct sg_logp network = {5, 2, processes};

        for (uint32_t calls = 1; calls <= 20; calls++) {
            double last = ((double)calls * (processes - 1) - 1) * 2;

            EXPECT(is_near(sg_scheme_reported(SG_SCHEME_LOOP, &network, calls), (last + 5) / calls,
                           EPSILON),
                   is_near(sg_scheme_reported(SG_SCHEME_MPBENCH, &network, calls), last / calls,
                           EPSILON),
                   is_near(sg_scheme_reported(SG_SCHEME_WINDOW, &network, calls),
                           sg_scheme_true(&network), EPSILON));
        }
    }
}

/* Three arrivals at 5, taken at 5, 7, 9; releases leave at 9, 11, 13. */
TEST("a linear barrier takes and sends one message after the other")
{
    const struct sg_logp network = {5, 2, 4};
    double entries[4] = {0}, exits[4];

    sg_scheme_barrier(&network, entries, exits);
    EXPECT(is_near(exits[0], 13, EPSILON), is_near(exits[1], 14, EPSILON),
           is_near(exits[2], 16, EPSILON), is_near(exits[3], 18, EPSILON));
}

/* The last to come is taken last. */
TEST("a barrier waits for its last rank")
{
    const struct sg_logp network = {5, 2, 4};
    double entries[4] = {0, 20, 0, 0}, exits[4];

    sg_scheme_barrier(&network, entries, exits);
    EXPECT(is_near(exits[0], 29, EPSILON), is_near(exits[3], 34, EPSILON));
}

/* ---- pairs */

TEST("the expected number of exchanges is the one worked out by hand")
{
    /* N = 1: the n-th exchange is reached when each before brought a new least: 1/(n - 1)!. */
    EXPECT(is_near(sg_pair_expected(1), exp(1), 1e-6));
    /* Large N: e^gamma N. */
    EXPECT(is_near(sg_pair_expected(10000) / 10000, 1.7810724, 1e-3));
}

TEST("pairs take the predicted number of exchanges")
{
    static const uint32_t patience[] = {1, 10, 100};

    for (int i = 0; i < 3; i++) {
        double sum = 0;

        for (uint64_t who = 1; who <= 4000; who++) {
            struct sg_pair_result result = sg_pair_measure(&trips, who, patience[i]);

            sum += result.exchanges;
            EXPECT(result.exchanges > patience[i],
                   result.time_ns >= result.exchanges * (result.least_ns - 1));
        }
        EXPECT(is_near(sum / 4000 / sg_pair_expected(patience[i]), 1, 0.05));
    }
}

TEST("more patience finds shorter round trips, at a cost")
{
    double before = 1, before_cost = 0;

    for (uint32_t patience = 1; patience <= 256; patience *= 4) {
        double exchanges, error;

        ASSERT(sg_pair_quality(&trips, patience, 400, &exchanges, &error));
        EXPECT(error >= 0 && error<before, exchanges> before_cost);
        before = error;
        before_cost = exchanges;
    }
}

TEST("a histogram counts all round trips")
{
    uint32_t counts[SG_PAIR_BINS], sum = 0;
    double least_ns, most_ns;

    sg_round_trips_histogram(&trips, counts, &least_ns, &most_ns);
    for (int i = 0; i < SG_PAIR_BINS; i++)
        sum += counts[i];
    EXPECT(sum == SG_PAIR_TRIPS, counts[0] >= 1 && counts[SG_PAIR_BINS - 1] >= 1,
           least_ns < trips.middle_ns && trips.middle_ns < most_ns);
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
TEST("seven processes meet in the tree's order")
{
    double first = pair_ns(2), zero = first + pair_ns(1), two = first + pair_ns(3);
    double last = later(later(zero + pair_ns(4), zero + pair_ns(5)), two + pair_ns(6)), sum = 0;

    for (uint64_t who = 1; who < 7; who++)
        sum += pair_ns(who);
    EXPECT(is_near(sg_group_time_ns(&trips, 7, true), later(last, later(zero, two)), 1),
           is_near(sg_group_time_ns(&trips, 7, false), sum, 1));
}

/* With one round trip for all, the times are whole numbers of pairs. */
TEST("equal pairs take the tree's rounds, or run one after the other")
{
    const struct sg_round_trips equal = {.middle_ns = 10000};
    double each_ns = sg_group_time_ns(&equal, 2, true);

    EXPECT(is_near(each_ns, 101 * 10000.0, 1));
    for (int32_t processes = 2; processes <= 300; processes++) {
        double rounds = ceil(log2(processes));

        EXPECT(is_near(sg_group_time_ns(&equal, processes, true), rounds * each_ns, 1),
               is_near(sg_group_time_ns(&equal, processes, false), (processes - 1) * each_ns, 1));
    }
}

TEST("the same seed gives the same times")
{
    struct sg_round_trips other = trips;

    other.seed++;
    EXPECT(sg_group_time_ns(&trips, 32, true) == sg_group_time_ns(&trips, 32, true),
           sg_group_time_ns(&trips, 32, true) != sg_group_time_ns(&other, 32, true));
}
