#include "sim/papers/pairs.h"

#include "core/clockpair.h"
#include "sim/random.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_MAX 1024
#define TWO_PI 6.283185307179586

struct sg_round_trips sg_round_trips_of(const struct sg_network *network, uint64_t seed)
{
    double middle_us = 2 * (network->latency_us + 2 * network->overhead_us);

    return (struct sg_round_trips){
        .middle_ns = middle_us * 1e3, .spread = SG_PAIR_SPREAD, .seed = seed};
}

double sg_round_trip_ns(const struct sg_round_trips *trips, uint64_t who, uint64_t number)
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
    const double *list; /* NULL: the distribution itself */
    uint64_t who, number;
    double now_ns, trip_ns;
};

/* A clock's function has no context. */
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

/* The answer begins with the time in the middle of the trip. */
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

/* The n-th exchange brings a new least with probability 1/n, whatever came before. With a(n) = n
 * times the probability that it does and that the measurement still runs, the next least after the
 * m-th exchange is the n-th with probability m / (n (n - 1)), and none comes for N exchanges with
 * m / (m + N): the expected number is the sum of all a(n). */
double sg_pair_expected(uint32_t patience)
{
    uint32_t most = 40 * patience + 40; /* a(n) then is below any precision */
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

/* The pair begins when both are free. */
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
