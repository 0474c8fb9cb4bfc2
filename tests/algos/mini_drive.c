/* Chooses the mini host's next event, by the seed (mini_host.h). */
#include "algos/mini_state.h"
#include "lib/unit.h"

/* Far above what any run of these tests takes: a run that is longer makes no progress. */
#define STEPS_MAX 2000000

static bool eligible(const struct mini_host *host, int at)
{
    const struct mini_item *item = host->items[at];

    if (item->kind != MINI_ACCESS)
        return !host->endpoints[item->to].held;
    if (item->access.kind > SG_ACTION_WATCH) /* of a post: in any order */
        return true;
    for (int i = 0; i < at; i++) {
        const struct mini_item *earlier = host->items[i];

        if (earlier->kind == MINI_ACCESS && mini_same_pair(earlier, item->from, item->to))
            return false;
    }
    return true;
}

/* One that is watched and has changed, or NULL. */
static struct mini_watch *changed(struct mini_host *host, int rank)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];

    for (uint32_t left = endpoint->watched; left != 0 && !endpoint->held; left &= left - 1) {
        struct mini_watch *watch = &endpoint->watches[__builtin_ctz(left)];

        if (endpoint->cells[watch->cell] != watch->value)
            return watch;
    }
    return NULL;
}

static void see_change(struct mini_host *host, int rank)
{
    struct mini_watch *watch = changed(host, rank);

    watch->set = false;
    host->endpoints[rank].watched &= ~(1u << (watch - host->endpoints[rank].watches));
    host->watches_set--;
    mini_watch_event(host, rank, (uint32_t)(watch - host->endpoints[rank].watches),
                     host->endpoints[rank].cells[watch->cell]);
}

/* Lets one of the things happen that can, all equally likely. False: nothing can. */
static bool step(struct mini_host *host)
{
    int *choice = host->choice;
    int items = 0, all;

    for (int i = 0; i < host->item_count; i++) {
        if (eligible(host, i))
            choice[items++] = i;
    }
    all = items;
    for (int rank = 0; host->watches_set > 0 && rank < host->setup.size; rank++) {
        if (changed(host, rank))
            choice[all++] = rank;
    }
    if (all > 0) {
        int chosen = (int)mini_random(host, (uint32_t)all);

        if (chosen < items)
            mini_happen(host, mini_take(host, choice[chosen]));
        else
            see_change(host, choice[chosen]);
    }
    return all > 0;
}

static bool fire_any(struct mini_host *host)
{
    int first = (int)mini_random(host, (uint32_t)host->setup.size);

    for (int i = 0; host->timers_set > 0 && i < host->setup.size; i++) {
        int rank = (first + i) % host->setup.size;

        for (uint32_t id = 0; id < SG_TIMERS && !host->endpoints[rank].held; id++) {
            if (mini_fire(host, rank, id))
                return true;
        }
    }
    return false;
}

static bool step_or_timer(struct mini_host *host)
{
    return (mini_random(host, 16) == 0 && fire_any(host)) || step(host) || fire_any(host);
}

void mini_settle(struct mini_host *host)
{
    int steps = 0;

    while (step(host))
        ASSERT(++steps < STEPS_MAX);
}

static bool all_finished(const struct mini_host *host)
{
    for (int rank = 0; rank < host->setup.size; rank++) {
        const struct mini_endpoint *endpoint = &host->endpoints[rank];

        for (uint32_t seq = 1; seq <= endpoint->called; seq++) {
            if (!endpoint->finished[seq])
                return false;
        }
    }
    return true;
}

void mini_finish(struct mini_host *host)
{
    int steps = 0;

    while (!all_finished(host) && step_or_timer(host))
        ASSERT(++steps < STEPS_MAX);
    mini_settle(host);
}

void mini_drain(struct mini_host *host)
{
    uint32_t outstanding = 1;

    for (int rank = 0; rank < host->setup.size; rank++) {
        mini_drain_event(host, rank);
    }
    mini_finish(host);
    for (int steps = 0; outstanding > 0; steps++) {
        ASSERT(steps < STEPS_MAX);
        outstanding = 0;
        for (int rank = 0; rank < host->setup.size; rank++)
            outstanding += mini_head(host, rank)->outstanding;
        if (outstanding > 0)
            ASSERT(step_or_timer(host));
    }
    ASSERT(all_finished(host));
}

void mini_end(struct mini_host *host)
{
    mini_drain(host);
    mini_free(host);
}

void mini_drive(struct mini_host *host, const struct sg_algo_call *calls, int count)
{
    int slow = (int)mini_random(host, (uint32_t)host->setup.size);
    uint32_t haste = 1 + mini_random(host, 8);
    int left = host->setup.size * count;

    for (int steps = 0; left > 0; steps++) {
        int rank = (int)mini_random(host, (uint32_t)host->setup.size);
        struct mini_endpoint *endpoint = &host->endpoints[rank];
        bool may = !endpoint->in_call && endpoint->called < (uint32_t)count;

        ASSERT(steps < STEPS_MAX);
        if (may && mini_random(host, rank == slow ? 64 : haste) == 0) {
            mini_call(host, rank, &calls[endpoint->called]);
            left--;
        } else {
            step_or_timer(host);
        }
    }
    mini_drain(host);
}
