#include "core/clocksync.h"

#include "core/hash.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks at whether two ranks share a clock: clocks of two machines that pass lie closer together
 * than a round trip, which is what their leaders could find out, too. */
#define LOOKS 1

struct sg_clocksync {
    const struct sg_exchange *exchange;
    struct sg_clock clock; /* model: this one's, below */
    enum sg_clocksync_scheme scheme;
    struct sg_clock_model model;
    struct sg_clock_offset last; /* without its measurement */
    bool differs;                /* this clock is not the one of the machine it is said to be of */
    int *leaders;                /* by place */
    int leader_count;
    int *members; /* ranks of this machine, the leader first */
    int member_count;
};

/* A rank's part in a tree over so many places. */
typedef enum sg_status (*visit)(struct sg_clocksync *sync, int peer);

/* Down the tree: `down` with each peer that comes after this place, `up` with the one before.
 * The number of rounds. */
static enum sg_status walk_tree(struct sg_clocksync *sync, const int *ranks, int count, int place,
                                visit up, visit down, uint32_t *rounds)
{
    enum sg_status status = SG_OK;
    int first = 1; /* the first group: the largest power of two */

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

/* ---- who shares a clock ---------------------------------------------------------------------- */

struct membership {
    uint64_t machine;
    uint64_t differs; /* this rank's clock is not the one of that machine */
};

/* Every rank's entry on every rank. */
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

/* Leaders by place, and this machine's members. */
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
    /* Where one is of another clock, nobody knows which of the others are. */
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

/* What the leader knows becomes its members'. */
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
    if (rank == 0)
        sync->model.exact = true;
    if (rank == sync->members[0])
        status = (linear ? walk_line : walk_tree)(sync, sync->leaders, sync->leader_count,
                                                  place_in(sync->leaders, rank), ask, answer,
                                                  &sync->last.rounds);
    if (status == SG_OK)
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
    if (length <= 0) { /* no boot id: the host's name is the next best */
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
