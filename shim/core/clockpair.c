#include "core/clockpair.h"

/* Whatever the network does, it ends. */
#define EXCHANGES_MAX 20000

struct answer {
    uint64_t time_ns;
    uint64_t error_ns;
};

struct sums {
    double sum, squares;
};

static uint64_t read_clock(const struct sg_clock *clock, uint64_t *error_ns)
{
    uint64_t local_ns = clock->now_ns();

    *error_ns = clock->model != NULL ? sg_clock_model_error(clock->model, local_ns) : 0;
    return clock->model != NULL ? sg_clock_model_global(clock->model, local_ns) : local_ns;
}

/* Newton's; the library is linked to no libm. */
static double square_root(double value)
{
    double root = value > 1.0 ? value : 1.0;

    for (int i = 0; i < 64; i++)
        root = (root + value / root) / 2;
    return root;
}

static uint64_t deviation_of(const struct sums *sums, double count)
{
    double mean = sums->sum / count;
    double variance = sums->squares / count - mean * mean;

    return variance > 0.0 ? (uint64_t)square_root(variance) : 0;
}

/* One question and its answer; *more is for the answerer. */
static enum sg_status exchange_once(const struct sg_exchange *exchange, int answerer,
                                    const struct sg_clock *clock, uint64_t *begin_ns,
                                    struct answer *answer, uint64_t *end_ns)
{
    unsigned char more = 1;
    uint64_t own_error_ns;
    enum sg_status status;

    *begin_ns = read_clock(clock, &own_error_ns);
    status = exchange->send(exchange->context, answerer, &more, sizeof more);
    if (status == SG_OK)
        status = exchange->receive(exchange->context, answerer, answer, sizeof *answer);
    *end_ns = read_clock(clock, &own_error_ns);
    answer->error_ns += own_error_ns;
    return status;
}

static void look_at(struct sg_clock_pair *pair, uint64_t begin_ns, const struct answer *answer,
                    uint64_t end_ns)
{
    uint64_t round_trip_ns = end_ns - begin_ns;

    if ((int64_t)(answer->time_ns + answer->error_ns - begin_ns) < 0 ||
        (int64_t)(answer->time_ns - answer->error_ns - end_ns) > 0)
        pair->ordered = false;
    if (round_trip_ns >= pair->round_trip_ns)
        return;
    pair->round_trip_ns = round_trip_ns;
    pair->measured.local_ns = begin_ns + round_trip_ns / 2;
    pair->measured.offset_ns = (int64_t)(answer->time_ns - pair->measured.local_ns);
    pair->measured.error_ns = (round_trip_ns + 1) / 2 + answer->error_ns;
}

enum sg_status sg_clock_pair_ask(const struct sg_exchange *exchange, int answerer,
                                 const struct sg_clock *clock, uint32_t patience,
                                 sg_clock_pair_watch watch, void *context,
                                 struct sg_clock_pair *out)
{
    struct sg_clock_pair pair = {.round_trip_ns = UINT64_MAX, .ordered = true};
    struct sums sums = {0, 0};
    uint32_t without = 0;
    unsigned char more = 0;
    enum sg_status status;

    while (without < patience && pair.exchanges < EXCHANGES_MAX) {
        uint64_t begin_ns, end_ns, least_ns = pair.round_trip_ns;
        struct answer answer;

        status = exchange_once(exchange, answerer, clock, &begin_ns, &answer, &end_ns);
        if (status != SG_OK)
            return status;
        look_at(&pair, begin_ns, &answer, end_ns);
        without = pair.round_trip_ns < least_ns ? 0 : without + 1;
        sums.sum += (double)(end_ns - begin_ns);
        sums.squares += (double)(end_ns - begin_ns) * (double)(end_ns - begin_ns);
        pair.exchanges++;
        if (watch != NULL)
            watch(context, end_ns - begin_ns);
    }
    pair.deviation_ns = deviation_of(&sums, pair.exchanges);
    status = exchange->send(exchange->context, answerer, &more, sizeof more);
    if (status == SG_OK)
        *out = pair;
    return status;
}

enum sg_status sg_clock_pair_answer(const struct sg_exchange *exchange, int asker,
                                    const struct sg_clock *clock)
{
    for (;;) {
        struct answer answer;
        unsigned char more;
        enum sg_status status = exchange->receive(exchange->context, asker, &more, sizeof more);

        if (status != SG_OK || !more)
            return status;
        answer.time_ns = read_clock(clock, &answer.error_ns);
        status = exchange->send(exchange->context, asker, &answer, sizeof answer);
        if (status != SG_OK)
            return status;
    }
}
