/* Claims of papers 000 and 002 and those beyond the papers, checked against the simulator, and the
 * model of clock synchronisation that paper 004's claims use.
 */
#include "papers/claims.h"

#include "core/clocksync.h"
#include "sim/lists.h"
#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Paper 000 uses 10,000; from this number on the mean is within 1 %. */
#define REDUCE_ITERATIONS 4000

typedef enum sg_status (*measurement)(const struct sg_sim_options *options,
                                      const struct sg_sim_case *one,
                                      struct sg_world_result *result);

static struct sg_world_result reduce(struct sg_claim_context *context, measurement measure,
                                     const char *text, int32_t nodes, double skew_us,
                                     uint32_t elements)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_sim_options options = context->options;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = SG_OPERATION_REDUCE,
        .nodes = nodes,
        .bytes = elements * SG_SIM_ELEMENT_BYTES,
        .skew_ns = sg_network_ns(skew_us),
    };
    struct sg_world_result result = {0};

    options.warmup = 1;
    options.iterations = nodes > 32 ? REDUCE_ITERATIONS / 20 : REDUCE_ITERATIONS;
    if (context->status == SG_OK)
        context->status = measure(&options, &one, &result);
    return context->status == SG_OK ? result : (struct sg_world_result){0};
}

/* Measures a reduction for a claim. All zero after a failure. */
static struct sg_world_result sg_claim_reduce(struct sg_claim_context *context, const char *text,
                                              int32_t nodes, double skew_us, uint32_t elements)
{
    return reduce(context, sg_measure_cpu, text, nodes, skew_us, elements);
}

/* The same for MPICH's blocking reduction. */
static struct sg_world_result sg_claim_blocking(struct sg_claim_context *context, int32_t nodes,
                                                double skew_us, uint32_t elements)
{
    return reduce(context, sg_measure_blocking, "tree(degree=1)", nodes, skew_us, elements);
}

/* The blocking reduction's processor use divided by the algorithm's. */
static double sg_claim_factor(struct sg_claim_context *context, const char *algo, int32_t nodes,
                              double skew_us, uint32_t elements)
{
    double baseline_ns = sg_claim_blocking(context, nodes, skew_us, elements).cpu_ns;
    double own_ns = sg_claim_reduce(context, algo, nodes, skew_us, elements).cpu_ns;

    return own_ns > 0 ? baseline_ns / own_ns : 0;
}

/* The delay in ns, of a barrier if elements is 0, else of an allreduce. */
static double sg_claim_delay(struct sg_claim_context *context, const char *text, int32_t nodes,
                             const char *late_text, uint32_t elements)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_sim_options options = context->options;
    struct sg_sim_late late[SG_LATE_MAX];
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = elements > 0 ? SG_OPERATION_ALLREDUCE : SG_OPERATION_BARRIER,
        .nodes = nodes,
        .bytes = elements * SG_SIM_ELEMENT_BYTES,
        .late = late,
    };
    struct sg_world_result result = {0};
    char room[SG_OPTION_FAULT_BYTES];

    if (sg_sim_parse_late(late_text, late, &one.late_count, room) != NULL)
        abort();
    options.warmup = 16;
    options.iterations = 4;
    if (context->status == SG_OK)
        context->status = sg_measure_delay(&options, &one, &result);
    return context->status == SG_OK ? result.delay_ns : 0;
}

static double sg_claim_multicast_ns(const struct sg_claim_context *context, uint32_t elements)
{
    return (double)sg_network_multicast_ns(&context->options.network,
                                           (uint64_t)elements * SG_SIM_ELEMENT_BYTES);
}

/* Paper 002, section 5: adaptive barrier and allreduce on InfiniBand 4x SDR. */

#define INFINIBAND "infiniband-sdr"
#define ELEMENTS 128

static bool ratio(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double own_ns = sg_claim_delay(context, "adaptive", 16, "deepest:2x", context->claim->elements);
    double other_ns =
        sg_claim_delay(context, context->claim->algo, 16, "deepest:2x", context->claim->elements);
    double value = own_ns > 0 ? other_ns / own_ns : 0;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f (%.1f us over %.1f us)", value, other_ns * 1e-3,
             own_ns * 1e-3);
    return sg_claim_within(value, context->claim->value);
}

static bool constant(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double least = 0, most = 0;

    for (int32_t nodes = 2; nodes <= 1024; nodes *= 2) {
        double value = sg_claim_delay(context, "adaptive", nodes, "deepest:2x", 0);

        least = nodes == 2 || value < least ? value : least;
        most = value > most ? value : most;
    }
    snprintf(measured, SG_CLAIM_TEXT, "%.2f to %.2f us", least * 1e-3, most * 1e-3);
    return least > 0 && most <= least * 1.05;
}

static bool by_lateness(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double multicast_ns = sg_claim_multicast_ns(context, 0);
    double little = sg_claim_delay(context, "adaptive", 16, "deepest:1", 0);
    double some = sg_claim_delay(context, "adaptive", 16, "deepest:12", 0);
    double much = sg_claim_delay(context, "adaptive", 16, "deepest:60", 0);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f, %.1f, %.1f us; %.2f multicasts", little * 1e-3,
             some * 1e-3, much * 1e-3, much / multicast_ns);
    return little >= some && some >= much && little > much && much <= 1.1 * multicast_ns;
}

static bool two_late(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double own_ns = sg_claim_delay(context, "adaptive", 16, "2:60,14:60", 0);
    double tree_ns = sg_claim_delay(context, "tree", 16, "2:60,14:60", 0);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f us, tree %.1f us", own_ns * 1e-3, tree_ns * 1e-3);
    return own_ns >= 0.95 * tree_ns;
}

const struct sg_claim sg_claims_adaptive[] = {
    {"adaptive barrier, 16 nodes, one late: the tree's delay over its (fig. 6; fitted: "
     "multicast_us)",
     "2.28 +- 15 %", INFINIBAND, ratio, 2.28, .algo = "tree"},
    {"... dissemination's delay over its (fig. 6)", "2.28 +- 15 %", INFINIBAND, ratio, 2.28,
     .algo = "dissemination"},
    {"... its delay from 2 to 1024 nodes (fig. 6)", "constant within 5 %", INFINIBAND,
     .measure = constant},
    {"... its delay, 1, 12, 60 us late (fig. 8)", "falls to one multicast within 10 %", INFINIBAND,
     .measure = by_lateness},
    {"... two equally late, one token (fig. 10)", "no gain over the tree", INFINIBAND,
     .measure = two_late},
    {"adaptive allreduce, 128 doubles: the tree's delay over its (fig. 7)", "2.18 +- 15 %",
     INFINIBAND, ratio, 2.18, .algo = "tree", .elements = ELEMENTS},
    {"... pairwise's delay over its (fig. 7)", "2.18 +- 15 %", INFINIBAND, ratio, 2.18,
     .algo = "pairwise", .elements = ELEMENTS},
};

const int sg_claims_adaptive_count = sizeof sg_claims_adaptive / sizeof *sg_claims_adaptive;

/* Paper 000, section VI: application-bypass reduction on Myrinet-2000. */

#define MYRINET "myrinet2000"

static bool factor(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_factor(context, "bypass", 32, 1000, 4);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return sg_claim_within(value, 5.1);
}

static bool factor_by_nodes(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    bool grows = true;
    double before = 0;
    int used = 0;

    for (int32_t nodes = 2; nodes <= 32; nodes *= 2) {
        double value = sg_claim_factor(context, "bypass", nodes, 1000, 4);

        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.2f",
                         used > 0 ? ", " : "", value);
        grows &= value > before;
        before = value;
    }
    return grows;
}

static bool factor_by_elements(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double few = sg_claim_factor(context, "bypass", 32, 1000, 4);
    double some = sg_claim_factor(context, "bypass", 32, 1000, 32);
    double many = sg_claim_factor(context, "bypass", 32, 1000, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, %.2f, %.2f", few, some, many);
    return few > some && some > many;
}

static bool no_skew(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_factor(context, "bypass", 32, 0, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return value > 1 && value <= 1.5 * 1.15;
}

static bool no_skew_by_nodes(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double four = sg_claim_factor(context, "bypass", 4, 0, 128);
    double many = sg_claim_factor(context, "bypass", 32, 0, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, %.2f", four, many);
    return many > four;
}

/* The latency of bypass beyond that of the blocking reduction, in us. */
static double penalty_us(struct sg_claim_context *context, int32_t nodes, uint32_t elements)
{
    double bypass_ns = sg_claim_reduce(context, "bypass", nodes, 0, elements).latency_ns;
    double blocking_ns = sg_claim_blocking(context, nodes, 0, elements).latency_ns;

    return (bypass_ns - blocking_ns) * 1e-3;
}

static bool latency_penalty(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double two = penalty_us(context, 2, 1);
    double many = penalty_us(context, 32, 1);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f us, %.1f us", two, many);
    return two < 1 && many > 1;
}

/* Identical nodes have less noise; the reduction is not known. */
static bool second_cluster(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double noise_us = context->options.network.noise_us, most = 0, four = 0;
    int used = 0;

    for (int32_t nodes = 2; nodes <= 16; nodes *= 2) {
        double half, none;

        context->options.network.noise_us = noise_us / 2;
        half = penalty_us(context, nodes, 1);
        context->options.network.noise_us = 0;
        none = penalty_us(context, nodes, 1);
        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.1f (%.1f)",
                         used > 0 ? ", " : "", half, none);
        four = nodes == 4 ? half : four;
        most = half;
    }
    snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), " us");
    return most > four;
}

static bool latency_by_elements(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double one = penalty_us(context, 32, 1);
    double many = penalty_us(context, 32, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f us, %.1f us", one, many);
    return one > 0 && many > 0 && many < 2 * one && one < 2 * many;
}

const struct sg_claim sg_claims_bypass[] = {
    {"bypass, processor use: factor at 32 nodes, 1000 us, 4 elements (fig. 6b; fitted: signal_us)",
     "5.1 +- 15 %", MYRINET, .measure = factor},
    {"... at 2, 4, 8, 16, 32 nodes (fig. 7b)", "grows with nodes", MYRINET,
     .measure = factor_by_nodes},
    {"... with 4, 32, 128 elements (fig. 6b)", "falls with elements", MYRINET,
     .measure = factor_by_elements},
    {"... without skew, 32 nodes, 128 elements (fig. 8b; fitted: noise_us)", "above 1, towards 1.5",
     MYRINET, .measure = no_skew},
    {"... without skew, 4 and 32 nodes, 128 elements (fig. 8b)", "grows with nodes", MYRINET,
     .measure = no_skew_by_nodes},
    {"latency that signals cost without skew, 1 element, 2 and 32 nodes (fig. 9)",
     "none, then some", MYRINET, .measure = latency_penalty},
    {"... 2, 4, 8, 16 nodes of one kind (fig. 9b; assumed: half the noise; in brackets: none)",
     "least up to 4, then more", MYRINET, .measure = second_cluster},
    {"... 32 nodes, 1 and 128 elements (fig. 10)", "alike within 2", MYRINET,
     .measure = latency_by_elements},
};

const int sg_claims_bypass_count = sizeof sg_claims_bypass / sizeof *sg_claims_bypass;

/* Claims beyond the papers: one-sided handoff, two tokens, prediction, one bit pattern. */

#define BEYOND_INFINIBAND "infiniband-sdr"
#define BEYOND_ELEMENTS 128
#define ORDERS 1000

static bool beyond_factor(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_factor(context, context->claim->algo, context->claim->nodes, 1000, 4);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return value >= context->claim->value;
}

/* The limit of the model: the root waits for the last arriver, and each arrival at a node of the
 * shape costs the round trip of its fetch-and-add, or half of it if the cell is its own. */
static bool handoff_limit(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_network *network = &context->options.network;
    double far_ns = (network->overhead_us + 2 * network->latency_us) * 1e3;
    double own_ns = (network->overhead_us + network->latency_us) * 1e3;
    double baseline_ns = sg_claim_blocking(context, 32, 1000, 4).cpu_ns;
    struct sg_world_result run = sg_claim_reduce(context, "handoff", 32, 1000, 4);
    double round_trips_ns =
        (run.fetch_adds - run.own_fetch_adds) * far_ns + run.own_fetch_adds * own_ns;
    double least_ns = (run.wait_ns + round_trips_ns) / 32;
    double limit = least_ns > 0 ? baseline_ns / least_ns : 0;
    double value = run.cpu_ns > 0 ? baseline_ns / run.cpu_ns : 0;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, limit %.2f: %.0f %%", value, limit,
             limit > 0 ? 100 * value / limit : 0);
    return limit > 0 && value >= 0.9 * limit;
}

static bool multicasts(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_delay(context, context->claim->algo, context->claim->nodes,
                                  context->claim->late, 0) /
                   sg_claim_multicast_ns(context, 0);

    snprintf(measured, SG_CLAIM_TEXT, "%.3f multicasts", value);
    return value > 0 && value <= context->claim->value;
}

/* Runs an allreduce whose ranks arrive in random order, many times. Returns the number of different
 * results; the hash of a result identifies the association. */
static int count_results(struct sg_claim_context *context, const char *text)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_sim_options options = context->options;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = SG_OPERATION_ALLREDUCE,
        .nodes = 16,
        .bytes = BEYOND_ELEMENTS * 8,
        .skew_ns = sg_network_ns(100),
    };
    struct sg_world_result result = {0};
    uint64_t seen[ORDERS];
    int different = 0;

    options.data = true;
    options.iterations = 1;
    options.warmup = 0;
    for (int i = 0; i < ORDERS && context->status == SG_OK; i++) {
        int j = 0;

        options.seed = context->options.seed + (uint64_t)i;
        context->status = sg_measure_delay(&options, &one, &result);
        while (j < different && seen[j] != result.result)
            j++;
        if (j == different)
            seen[different++] = result.result;
    }
    return different;
}

static bool one_pattern(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    int fixed = count_results(context, "adaptive");
    int free = count_results(context, "adaptive(deterministic=0)");

    snprintf(measured, SG_CLAIM_TEXT, "%d result%s; %d in arrival order", fixed,
             fixed == 1 ? "" : "s", free);
    return fixed == 1 && free > 1;
}

static bool deterministic_cost(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double fixed_ns = sg_claim_delay(context, "adaptive", 16, "deepest:2x", BEYOND_ELEMENTS);
    double free_ns =
        sg_claim_delay(context, "adaptive(deterministic=0)", 16, "deepest:2x", BEYOND_ELEMENTS);
    double value = free_ns > 0 ? fixed_ns / free_ns : 0;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return value > 0 && value <= 1.2;
}

const struct sg_claim sg_claims_beyond[] = {
    {"one-sided handoff, 32 nodes, 1000 us, 4 elements, 200 Gb/s: factor", "at least 7", "200g",
     beyond_factor, 7, .algo = "handoff", .nodes = 32},
    {"... with a split-phase root", "at least 25", "200g", beyond_factor, 25,
     .algo = "handoff(split=1)", .nodes = 32},
    {"... 1024 nodes", "at least 35", "200g", beyond_factor, 35, .algo = "handoff", .nodes = 1024},
    {"... 32 nodes on Myrinet-2000, against the model's limit", "at least 90 % of it",
     "myrinet2000", .measure = handoff_limit},
    {"adaptive(tokens=2), 16 nodes, two equally late", "at most 1.2 multicasts", BEYOND_INFINIBAND,
     multicasts, 1.2, .algo = "adaptive(tokens=2)", .nodes = 16, .late = "2:60,14:60"},
    {"adaptive(predict=1), 1024 nodes, one late by twice the latency", "at most 1.1 multicasts",
     BEYOND_INFINIBAND, multicasts, 1.1, .algo = "adaptive(predict=1)", .nodes = 1024,
     .late = "deepest:2x"},
    {"deterministic allreduce, 16 nodes, 1000 arrival orders", "1 result", BEYOND_INFINIBAND,
     .measure = one_pattern},
    {"... its delay over that in arrival order", "at most 1.2", BEYOND_INFINIBAND,
     .measure = deterministic_cost},
};

const int sg_claims_beyond_count = sizeof sg_claims_beyond / sizeof *sg_claims_beyond;

/* ---- clock synchronisation */

#define GROUP_MAX 1024
#define TWO_PI 6.283185307179586

struct sg_round_trips sg_round_trips_of(const struct sg_network *network, uint64_t seed)
{
    double middle_us = 2 * (network->latency_us + 2 * network->overhead_us);

    return (struct sg_round_trips){
        .middle_ns = middle_us * 1e3, .spread = SG_PAIR_SPREAD, .seed = seed};
}

/* The number-th round trip of the stream `who`. */
static double sg_round_trip_ns(const struct sg_round_trips *trips, uint64_t who, uint64_t number)
{
    double one = sg_random_unit(sg_random(trips->seed, SG_RANDOM_ROUND_TRIP, who, 2 * number));
    double two = sg_random_unit(sg_random(trips->seed, SG_RANDOM_ROUND_TRIP, who, 2 * number + 1));
    double normal = sqrt(-2 * log1p(-one)) * cos(TWO_PI * two);

    return trips->middle_ns * exp(trips->spread * normal);
}

void sg_round_trips_histogram(const struct sg_round_trips *trips, uint32_t *counts,
                              double *least_ns, double *most_ns)
{
    double least = sg_round_trip_ns(trips, 0, 0), most = least;

    for (uint64_t i = 1; i < SG_PAIR_TRIPS; i++) {
        double trip_ns = sg_round_trip_ns(trips, 0, i);

        least = trip_ns < least ? trip_ns : least;
        most = trip_ns > most ? trip_ns : most;
    }
    memset(counts, 0, SG_PAIR_BINS * sizeof *counts);
    for (uint64_t i = 0; i < SG_PAIR_TRIPS; i++) {
        double share = (sg_round_trip_ns(trips, 0, i) - least) / (most - least);
        uint32_t bin = (uint32_t)(share * SG_PAIR_BINS);

        counts[bin < SG_PAIR_BINS ? bin : SG_PAIR_BINS - 1]++;
    }
    *least_ns = least;
    *most_ns = most;
}

/* ---- one pair: the asker's code, with an answerer whose clock is the same */

struct link {
    const struct sg_round_trips *trips;
    const double *list; /* NULL: draw from the distribution itself */
    uint64_t who, number;
    double now_ns, trip_ns;
};

/* Global because a clock's function takes no context. */
static _Thread_local const struct link *current;

static uint64_t now_ns(void)
{
    return (uint64_t)(current->now_ns + 0.5);
}

static enum sg_status send(void *context, int to, const void *data, size_t size_bytes)
{
    struct link *link = context;
    const struct sg_round_trips *trips = link->trips;

    (void)to, (void)data, (void)size_bytes;
    if (link->list != NULL) {
        uint64_t random = sg_random(trips->seed, SG_RANDOM_ROUND_TRIP, ~link->who, link->number);

        link->trip_ns = link->list[(uint64_t)(sg_random_unit(random) * SG_PAIR_TRIPS)];
    } else {
        link->trip_ns = sg_round_trip_ns(trips, link->who, link->number);
    }
    link->number++;
    return SG_OK;
}

/* The answer begins with the answerer's time, which is the middle of the trip. */
static enum sg_status receive(void *context, int from, void *data, size_t size_bytes)
{
    struct link *link = context;
    uint64_t middle_ns = (uint64_t)(link->now_ns + link->trip_ns / 2);

    (void)from;
    memset(data, 0, size_bytes);
    memcpy(data, &middle_ns, sizeof middle_ns);
    link->now_ns += link->trip_ns;
    return SG_OK;
}

static struct sg_pair_result measure(struct link *link, uint32_t patience)
{
    const struct sg_exchange exchange = {
        .size = 2, .context = link, .send = send, .receive = receive};
    const struct sg_clock clock = {.now_ns = now_ns};
    struct sg_clock_pair pair;

    current = link;
    sg_clock_pair_ask(&exchange, 1, &clock, patience, NULL, NULL, &pair);
    return (struct sg_pair_result){pair.exchanges, (double)pair.round_trip_ns, link->now_ns};
}

struct sg_pair_result sg_pair_measure(const struct sg_round_trips *trips, uint64_t who,
                                      uint32_t patience)
{
    struct link link = {.trips = trips, .who = who};

    return measure(&link, patience);
}

bool sg_pair_quality(const struct sg_round_trips *trips, uint32_t patience, uint32_t runs,
                     double *exchanges, double *error)
{
    double *list = malloc(SG_PAIR_TRIPS * sizeof *list);
    double least_ns, sum = 0, found_ns = 0;

    if (list == NULL)
        return false;
    for (uint64_t i = 0; i < SG_PAIR_TRIPS; i++)
        list[i] = sg_round_trip_ns(trips, 0, i);
    least_ns = list[0];
    for (uint64_t i = 1; i < SG_PAIR_TRIPS; i++)
        least_ns = list[i] < least_ns ? list[i] : least_ns;
    for (uint32_t run = 0; run < runs; run++) {
        struct link link = {.trips = trips, .list = list, .who = run};
        struct sg_pair_result result = measure(&link, patience);

        sum += result.exchanges;
        found_ns += result.least_ns;
    }
    free(list);
    *exchanges = sum / runs;
    *error = found_ns / runs / least_ns - 1;
    return true;
}

/* The n-th exchange is a new minimum with probability 1/n, whatever came before. Let a(n) be n
 * times the probability that it is and that the measurement still runs. After a minimum at the m-th
 * exchange, the next one is the n-th with probability m / (n (n - 1)), and none comes for N
 * exchanges with probability m / (m + N). So the expected number of exchanges is the sum of all
 * a(n). */
double sg_pair_expected(uint32_t patience)
{
    uint32_t most = 40 * patience + 40; /* beyond this, a(n) is below any precision */
    double *a = calloc((size_t)most + 1, sizeof *a);
    double window = 0, sum = 0;

    if (a == NULL)
        return 0;
    for (uint32_t n = 1; n <= most; n++) {
        a[n] = n == 1 ? 1 : window / (n - 1);
        window += a[n];
        if (n > patience)
            window -= a[n - patience];
        sum += a[n];
    }
    free(a);
    return sum;
}

/* ---- a group */

/* The pair begins when both processes are free. */
static void meet(const struct sg_round_trips *trips, int32_t one, int32_t other, double *free_ns)
{
    double from_ns = free_ns[one] > free_ns[other] ? free_ns[one] : free_ns[other];

    free_ns[one] = free_ns[other] =
        from_ns + sg_pair_measure(trips, (uint64_t)other, SG_CLOCK_PAIR_PATIENCE).time_ns;
}

double sg_group_time_ns(const struct sg_round_trips *trips, int32_t processes, bool tree)
{
    double free_ns[GROUP_MAX] = {0}, last_ns = 0;
    int32_t first = 1;

    while (first * 2 <= processes)
        first *= 2;
    for (int32_t step = first / 2; tree && step > 0; step /= 2) {
        for (int32_t place = 0; place < first; place += 2 * step)
            meet(trips, place, place + step, free_ns);
    }
    for (int32_t place = tree ? first : 1; place < processes; place++)
        meet(trips, tree ? place - first : 0, place, free_ns);
    for (int32_t place = 0; place < processes; place++)
        last_ns = free_ns[place] > last_ns ? free_ns[place] : last_ns;
    return last_ns;
}
