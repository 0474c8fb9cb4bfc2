#include "core/clocksync.h"

#include "core/hash.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Patience of the check that two ranks share a clock. If two machines pass it, their clocks differ
 * by less than a round trip, which is no worse than their leaders could measure. */
#define LOOKS 1

struct sg_clocksync {
    const struct sg_exchange *exchange;
    struct sg_clock clock; /* its model is the field below */
    enum sg_clocksync_scheme scheme;
    struct sg_clock_model model;
    struct sg_clock_offset last; /* without its measurement */
    bool differs;                /* true: this clock is not the clock of the machine that the rank
                                  * claims */
    int *leaders;                /* in order of rank */
    int leader_count;
    int *members; /* ranks of this machine, the leader first */
    int member_count;
};

/* A rank's action with one peer of the tree or line. */
typedef enum sg_status (*visit)(struct sg_clocksync *sync, int peer);

/* Walks down the tree: calls `up` with the parent, then `down` with each child. Sets *rounds. */
static enum sg_status walk_tree(struct sg_clocksync *sync, const int *ranks, int count, int place,
                                visit up, visit down, uint32_t *rounds)
{
    enum sg_status status = SG_OK;
    int first = 1; /* size of the first group: the largest power of two */

    while (first * 2 <= count)
        first *= 2;
    *rounds = count > first;
    for (int step = first / 2; step > 0; step /= 2) {
        ++*rounds;
        if (place >= first || place % step != 0 || status != SG_OK)
            continue;
        status =
            place / step % 2 != 0 ? up(sync, ranks[place - step]) : down(sync, ranks[place + step]);
    }
    if (status != SG_OK)
        return status;
    if (place >= first)
        return up(sync, ranks[place - first]);
    return place + first < count ? down(sync, ranks[place + first]) : SG_OK;
}

static enum sg_status walk_line(struct sg_clocksync *sync, const int *ranks, int count, int place,
                                visit up, visit down, uint32_t *rounds)
{
    enum sg_status status = SG_OK;

    *rounds = (uint32_t)(count - 1);
    if (place > 0)
        return up(sync, ranks[0]);
    for (int other = 1; other < count && status == SG_OK; other++)
        status = down(sync, ranks[other]);
    return status;
}

/* ---- ranks that share a clock ---------------------------------------------------------------- */

struct membership {
    uint64_t machine;
    uint64_t differs; /* 1: this rank's clock is not the clock of that machine */
};

/* Gives every rank the entries of all ranks. */
static enum sg_status share_all(const struct sg_exchange *exchange, const struct membership *own,
                                struct membership *all)
{
    void *gathered = NULL;
    size_t *sizes = calloc((size_t)exchange->size, sizeof *sizes);
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes == NULL)
        return status;
    status = exchange->gather(exchange->context, own, sizeof *own, &gathered, sizes);
    if (status == SG_OK && exchange->rank == 0)
        memcpy(all, gathered, (size_t)exchange->size * sizeof *all);
    free(gathered);
    free(sizes);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, all, (size_t)exchange->size * sizeof *all);
    return status;
}

/* Fills in the leaders, in order of rank, and the members of this machine. */
static void group(struct sg_clocksync *sync, const struct membership *all)
{
    int rank = sync->exchange->rank;

    sync->leader_count = sync->member_count = 0;
    for (int other = 0; other < sync->exchange->size; other++) {
        int place = 0;

        while (place < sync->leader_count &&
               all[sync->leaders[place]].machine != all[other].machine)
            place++;
        if (place == sync->leader_count)
            sync->leaders[sync->leader_count++] = other;
        if (all[other].machine == all[rank].machine)
            sync->members[sync->member_count++] = other;
    }
}

static int place_in(const int *ranks, int rank)
{
    int place = 0;

    while (ranks[place] != rank)
        place++;
    return place;
}

static enum sg_status show_clock(struct sg_clocksync *sync, int peer)
{
    struct sg_clock plain = {sync->clock.now_ns, NULL};

    return sg_clock_pair_answer(sync->exchange, peer, &plain);
}

static enum sg_status look_at_clock(struct sg_clocksync *sync, int peer)
{
    struct sg_clock plain = {sync->clock.now_ns, NULL};
    struct sg_clock_pair pair;
    enum sg_status status =
        sg_clock_pair_ask(sync->exchange, peer, &plain, LOOKS, NULL, NULL, &pair);

    sync->differs = status == SG_OK && !pair.ordered;
    return status;
}

static enum sg_status verify_members(struct sg_clocksync *sync, struct membership *own,
                                     struct membership *all)
{
    uint32_t rounds;
    enum sg_status status = walk_tree(sync, sync->members, sync->member_count,
                                      place_in(sync->members, sync->exchange->rank), look_at_clock,
                                      show_clock, &rounds);

    own->differs = sync->differs;
    if (status == SG_OK)
        status = share_all(sync->exchange, own, all);
    if (status != SG_OK)
        return status;
    /* If one rank of a machine has another clock, the others may as well: each measures by
     * itself. */
    for (int rank = 0; rank < sync->exchange->size; rank++) {
        if (!all[rank].differs)
            continue;
        for (int other = sync->exchange->size - 1; other >= 0; other--) {
            if (other != rank && all[other].machine == all[rank].machine)
                all[other].machine = sg_hash_mix(all[other].machine + (uint64_t)other + 1);
        }
        all[rank].machine = sg_hash_mix(all[rank].machine + (uint64_t)rank + 1);
    }
    group(sync, all);
    return SG_OK;
}

enum sg_status sg_clocksync_open(const struct sg_exchange *exchange, uint64_t machine,
                                 uint64_t (*clock_ns)(void), enum sg_clocksync_scheme scheme,
                                 struct sg_clocksync **out)
{
    size_t size = (size_t)exchange->size;
    struct membership own = {.machine = machine};
    struct membership *all = calloc(size, sizeof *all);
    struct sg_clocksync *sync = calloc(1, sizeof *sync);
    enum sg_status status = SG_ERR_MEMORY;

    if (sync == NULL || all == NULL)
        goto err_sync;
    sync->exchange = exchange;
    sync->clock = (struct sg_clock){clock_ns, &sync->model};
    sync->scheme = scheme;
    sync->leaders = calloc(size, sizeof *sync->leaders);
    sync->members = calloc(size, sizeof *sync->members);
    if (sync->leaders == NULL || sync->members == NULL)
        goto err_sync;
    status = share_all(exchange, &own, all);
    if (status != SG_OK)
        goto err_sync;
    group(sync, all);
    status = verify_members(sync, &own, all);
    if (status != SG_OK)
        goto err_sync;
    free(all);
    *out = sync;
    return SG_OK;

err_sync:
    sg_clocksync_close(sync);
    free(all);
    return status;
}

void sg_clocksync_close(struct sg_clocksync *sync)
{
    if (sync == NULL)
        return;
    free(sync->leaders);
    free(sync->members);
    free(sync);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static enum sg_status answer(struct sg_clocksync *sync, int peer)
{
    return sg_clock_pair_answer(sync->exchange, peer, &sync->clock);
}

static enum sg_status ask(struct sg_clocksync *sync, int peer)
{
    struct sg_clock plain = {sync->clock.now_ns, NULL};
    struct sg_clock_pair pair;
    enum sg_status status =
        sg_clock_pair_ask(sync->exchange, peer, &plain, SG_CLOCK_PAIR_PATIENCE, NULL, NULL, &pair);

    if (status != SG_OK)
        return status;
    sg_clock_model_add(&sync->model, &pair.measured);
    sync->last.deviation_ns = pair.deviation_ns;
    sync->last.exchanges = pair.exchanges;
    return SG_OK;
}

/* Copies the leader's model to its members. */
static enum sg_status share_model(struct sg_clocksync *sync)
{
    const struct sg_exchange *exchange = sync->exchange;
    struct {
        struct sg_clock_model model;
        struct sg_clock_offset last;
    } known = {sync->model, sync->last};
    enum sg_status status = SG_OK;

    if (exchange->rank != sync->members[0]) {
        status = exchange->receive(exchange->context, sync->members[0], &known, sizeof known);
        if (status == SG_OK) {
            sync->model = known.model;
            sync->last = known.last;
        }
        return status;
    }
    for (int i = 1; i < sync->member_count && status == SG_OK; i++)
        status = exchange->send(exchange->context, sync->members[i], &known, sizeof known);
    return status;
}

enum sg_status sg_clocksync_measure(struct sg_clocksync *sync, struct sg_clock_offset *out)
{
    bool linear = sync->scheme == SG_CLOCKSYNC_LINEAR;
    int rank = sync->exchange->rank;
    enum sg_status status = SG_OK;
    uint64_t now_ns;

    sync->last = (struct sg_clock_offset){0};
    if (rank == 0 || sync->leader_count == 1)
        sync->model.exact = true;
    if (rank == sync->members[0])
        status = (linear ? walk_line : walk_tree)(sync, sync->leaders, sync->leader_count,
                                                  place_in(sync->leaders, rank), ask, answer,
                                                  &sync->last.rounds);
    if (status == SG_OK && sync->leader_count > 1)
        status = share_model(sync);
    if (status != SG_OK || out == NULL)
        return status;
    now_ns = sync->clock.now_ns();
    *out = sync->last;
    out->measured.local_ns = now_ns;
    out->measured.offset_ns = (int64_t)(sg_clock_model_global(&sync->model, now_ns) - now_ns);
    out->measured.error_ns = sg_clock_model_error(&sync->model, now_ns);
    return SG_OK;
}

const struct sg_clock_model *sg_clocksync_model(const struct sg_clocksync *sync)
{
    return &sync->model;
}

int sg_clocksync_leader(const struct sg_clocksync *sync)
{
    return sync->members[0];
}

int sg_clocksync_leader_count(const struct sg_clocksync *sync)
{
    return sync->leader_count;
}

int sg_clocksync_leader_at(const struct sg_clocksync *sync, int place)
{
    return sync->leaders[place];
}

uint64_t sg_clocksync_machine(void)
{
    char text[128];
    uint64_t hash = SG_HASH_START;
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = -1;

    if (file >= 0) {
        length = read(file, text, sizeof text);
        close(file);
    }
    if (length <= 0) { /* no boot id: use the host name */
        memset(text, 0, sizeof text);
        gethostname(text, sizeof text - 1);
        length = (ssize_t)strlen(text);
    }
    hash = sg_hash_bytes(hash, text, (size_t)length);
    length = readlink("/proc/self/ns/time", text, sizeof text);
    if (length > 0)
        hash = sg_hash_bytes(hash, text, (size_t)length);
    return hash;
}

/* Bounds the measurement, whatever the network does. */
#define EXCHANGES_MAX 20000

struct clockpair_answer {
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

/* Newton's method: the library is not linked with libm. */
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

/* Sends one question and receives its answer. The byte sent tells the answerer to go on. */
static enum sg_status exchange_once(const struct sg_exchange *exchange, int answerer,
                                    const struct sg_clock *clock, uint64_t *begin_ns,
                                    struct clockpair_answer *answer, uint64_t *end_ns)
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

static void look_at(struct sg_clock_pair *pair, uint64_t begin_ns,
                    const struct clockpair_answer *answer, uint64_t end_ns)
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
        struct clockpair_answer answer;

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
        struct clockpair_answer answer;
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

/* Signed: to_ns may be the earlier of the two. */
static double passed_ns(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(int64_t)(to_ns - from_ns);
}

static int64_t rounded(double value)
{
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

static double distance(double value)
{
    return value < 0 ? -value : value;
}

static const struct sg_clock_measurement *last_of(const struct sg_clock_model *model)
{
    return &model->points[model->count - 1];
}

/* Value of the line at a local time, relative to the last point's offset. */
static double line_ns(const struct sg_clock_model *model, uint64_t local_ns)
{
    return model->intercept_ns + model->drift * passed_ns(last_of(model)->local_ns, local_ns);
}

static double error_at_point(const struct sg_clock_model *model,
                             const struct sg_clock_measurement *point)
{
    double offset_ns = (double)(point->offset_ns - last_of(model)->offset_ns);

    return (double)point->error_ns + distance(line_ns(model, point->local_ns) - offset_ns);
}

/* Least squares, each point weighted by its precision. */
static void fit(struct sg_clock_model *model)
{
    const struct sg_clock_measurement *last = last_of(model);
    double weights = 0, x_mean = 0, y_mean = 0, xx = 0, xy = 0;

    for (uint32_t i = 0; i < model->count; i++) {
        const struct sg_clock_measurement *point = &model->points[i];
        double weight = 1 / ((double)point->error_ns + 1) / ((double)point->error_ns + 1);

        weights += weight;
        x_mean += weight * passed_ns(last->local_ns, point->local_ns);
        y_mean += weight * (double)(point->offset_ns - last->offset_ns);
    }
    x_mean /= weights;
    y_mean /= weights;
    for (uint32_t i = 0; i < model->count; i++) {
        const struct sg_clock_measurement *point = &model->points[i];
        double weight = 1 / ((double)point->error_ns + 1) / ((double)point->error_ns + 1);
        double x = passed_ns(last->local_ns, point->local_ns) - x_mean;

        xx += weight * x * x;
        xy += weight * x * ((double)(point->offset_ns - last->offset_ns) - y_mean);
    }
    model->drift = xx > 0 ? xy / xx : 0;
    model->intercept_ns = y_mean - model->drift * x_mean;
}

static uint64_t baseline_ns(const struct sg_clock_model *model)
{
    return last_of(model)->local_ns - model->points[0].local_ns;
}

uint64_t sg_clock_model_global(const struct sg_clock_model *model, uint64_t local_ns)
{
    if (model->exact)
        return local_ns;
    return local_ns + (uint64_t)last_of(model)->offset_ns +
           (uint64_t)rounded(line_ns(model, local_ns));
}

uint64_t sg_clock_model_local(const struct sg_clock_model *model, uint64_t global_ns)
{
    const struct sg_clock_measurement *last;
    double after_ns;

    if (model->exact)
        return global_ns;
    last = last_of(model);
    after_ns = passed_ns(last->local_ns + (uint64_t)last->offset_ns, global_ns);
    after_ns -= model->intercept_ns;
    return last->local_ns + (uint64_t)rounded(after_ns / (1 + model->drift));
}

static uint64_t bound_ns(const struct sg_clock_model *model, uint64_t local_ns)
{
    double after_ns = passed_ns(last_of(model)->local_ns, local_ns);
    double before_ns = passed_ns(local_ns, model->points[0].local_ns);
    double first_ns = model->first_error_ns, last_ns = model->last_error_ns;
    double outside_ns = after_ns > 0 ? after_ns : before_ns > 0 ? before_ns : 0;
    double error_ns;

    if (baseline_ns(model) < SG_CLOCK_BASELINE_NS)
        return (uint64_t)(last_ns + SG_CLOCK_DRIFT_MAX * distance(after_ns)) + 1;
    if (outside_ns == 0)
        error_ns = first_ns > last_ns ? first_ns : last_ns;
    else
        error_ns =
            (after_ns > 0 ? last_ns : first_ns) +
            outside_ns * ((first_ns + last_ns) / (double)baseline_ns(model) + SG_CLOCK_WANDER);
    return (uint64_t)error_ns + 1;
}

uint64_t sg_clock_model_error(const struct sg_clock_model *model, uint64_t local_ns)
{
    return model->exact ? 0 : bound_ns(model, local_ns);
}

void sg_clock_model_add(struct sg_clock_model *model, const struct sg_clock_measurement *point)
{
    if (model->count > 0 && point->error_ns > sg_clock_model_error(model, point->local_ns))
        return;
    if (model->count == SG_CLOCK_POINTS) {
        memmove(model->points, model->points + 1, (SG_CLOCK_POINTS - 1) * sizeof *model->points);
        model->count--;
    }
    model->points[model->count++] = *point;
    model->drift = model->intercept_ns = 0;
    if (baseline_ns(model) >= SG_CLOCK_BASELINE_NS)
        fit(model);
    model->first_error_ns = error_at_point(model, &model->points[0]);
    model->last_error_ns = error_at_point(model, last_of(model));
}
