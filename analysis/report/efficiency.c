/* Efficiencies from events: each rank's time outside of MPI, over the run and over slices of it,
 * and the ideal run time. This is apart from the report, which has the result.
 *
 * The ideal run time is that of a replay of the recorded calls, in which communication takes no
 * time. A thread takes as long between its calls as it did; it begins when its rank's first thread
 * is where it was then. A call ends when it begins, or when the last of the calls that it needs
 * (path_history.h) begins, if that is later; but no later than in the run. The last of these in
 * the run need not be the last in the replay. The replay takes calls in the order of their ends:
 * all calls that a call needs have begun by then, and their begins in the replay are known. It
 * stores these in the history.
 */
#include "report/efficiency.h"

#include "core/room.h"
#include "report/path_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS (INT64_MAX / 4)

/* A call that a thread has begun in the replay. */
struct begun {
    int64_t begin_ns; /* in the run */
    int64_t ideal_ns;
};

struct thread {
    uint64_t next, count;     /* calls: the first that has not ended, and all */
    int64_t end_ns, ideal_ns; /* of the last call that has ended, in the run and in the replay */
    int64_t next_end_ns;      /* of the next one, in the run; before the thread's begin, that */
    bool has_begun;
    struct begun current, last; /* the next call, and the one before */
};

struct replay {
    struct sg_history *history;
    const struct sg_efficiency_thread *of; /* by location */
    struct thread *threads;                /* likewise */
    uint32_t thread_count;
    uint32_t *heap; /* threads with further calls, that which ends its next call first at 0 */
    uint32_t heap_count;
};

#define UNKNOWN (-1.0)

/* ---- from sums ------------------------------------------------------------------------------- */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : UNKNOWN;
}

void sg_efficiency_set(struct sg_efficiency *efficiency, uint64_t run_ns, uint64_t useful_ns,
                       uint64_t useful_max_ns, double threads)
{
    efficiency->run_ns = run_ns;
    efficiency->useful_ns = useful_ns;
    efficiency->useful_max_ns = useful_max_ns;
    efficiency->threads = threads;
    efficiency->is_known = threads > 0 && run_ns > 0;
    efficiency->load_balance = ratio((double)useful_ns, (double)useful_max_ns * threads);
    efficiency->communication = ratio((double)useful_max_ns, (double)run_ns);
    efficiency->parallel = ratio((double)useful_ns, (double)run_ns * threads);
    efficiency->serialization = efficiency->transfer = UNKNOWN;
    efficiency->between_machines = efficiency->inside_machines = UNKNOWN;
    efficiency->on_processor = efficiency->runnable = UNKNOWN;
    efficiency->has_ideal = efficiency->has_slices = false;
    efficiency->machines = 0;
}

void sg_efficiency_clear(struct sg_efficiency *efficiency)
{
    free(efficiency->ranks);
    efficiency->ranks = NULL;
    efficiency->rank_count = 0;
}

static uint64_t greater_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct sg_efficiency_rank *a = left, *b = right;

    return (a->node > b->node) - (a->node < b->node);
}

static void balance_machines(struct sg_efficiency *efficiency)
{
    const struct sg_efficiency_rank *ranks = efficiency->ranks;
    double greatest_ns = 0;
    uint32_t end;

    for (uint32_t i = 0; i < efficiency->rank_count; i = end) {
        double sum_ns = 0, threads = 0;

        for (end = i; end < efficiency->rank_count && ranks[end].node == ranks[i].node; end++) {
            sum_ns += (double)ranks[end].useful_ns;
            threads += ranks[end].threads;
        }
        if (sum_ns / threads > greatest_ns)
            greatest_ns = sum_ns / threads;
        efficiency->machines++;
    }
    efficiency->between_machines =
        ratio((double)efficiency->useful_ns / efficiency->threads, greatest_ns);
    efficiency->inside_machines = ratio(greatest_ns, (double)efficiency->useful_max_ns);
}

void sg_efficiency_set_ranks(struct sg_efficiency *efficiency, uint64_t run_ns)
{
    uint64_t useful_ns = 0, greatest_ns = 0;
    double threads = 0;

    for (uint32_t i = 0; i < efficiency->rank_count; i++) {
        const struct sg_efficiency_rank *rank = &efficiency->ranks[i];

        useful_ns += rank->useful_ns;
        threads += rank->threads;
        greatest_ns =
            greater_of(greatest_ns, (uint64_t)ceil((double)rank->useful_ns / rank->threads));
    }
    sg_efficiency_set(efficiency, run_ns, useful_ns, greatest_ns < run_ns ? greatest_ns : run_ns,
                      threads);
    if (efficiency->rank_count == 0)
        return;
    qsort(efficiency->ranks, efficiency->rank_count, sizeof *efficiency->ranks, compare_nodes);
    /* The greatest number, so all ranks have it. */
    if (efficiency->ranks[0].node != SG_EFFICIENCY_NO_NODE)
        balance_machines(efficiency);
}

struct sg_efficiency_part sg_efficiency_part_of(const struct sg_efficiency *efficiency, int slice)
{
    const struct sg_efficiency_slice *of = &efficiency->slices[slice];
    struct sg_efficiency part = {0};

    sg_efficiency_set(&part, (uint64_t)(of->end_ns - of->begin_ns), of->useful_ns,
                      of->useful_max_ns, of->threads);
    return (struct sg_efficiency_part){(uint64_t)of->begin_ns, (uint64_t)of->end_ns,
                                       part.parallel < 0 ? NAN : part.parallel,
                                       part.load_balance < 0 ? NAN : part.load_balance,
                                       part.communication < 0 ? NAN : part.communication};
}

void sg_efficiency_set_ideal(struct sg_efficiency *efficiency, uint64_t ideal_ns)
{
    efficiency->has_ideal = true;
    if (ideal_ns < efficiency->useful_max_ns)
        ideal_ns = efficiency->useful_max_ns;
    efficiency->ideal_ns = ideal_ns < efficiency->run_ns ? ideal_ns : efficiency->run_ns;
    efficiency->transfer = ratio((double)efficiency->ideal_ns, (double)efficiency->run_ns);
    efficiency->serialization =
        ratio((double)efficiency->useful_max_ns, (double)efficiency->ideal_ns);
}

/* ---- time outside of MPI --------------------------------------------------------------------- */

/* A rank's times, in the run or in a slice of it: outside of MPI, of all threads that count, and of
 * the first. */
enum { USEFUL, ALIVE, SPAN, TIMES };

struct times {
    uint64_t ns[TIMES];
};

struct sums {
    struct sg_efficiency *out;
    int64_t bounds_ns[SG_EFFICIENCY_SLICES + 1];     /* of the slices */
    struct times rank, slices[SG_EFFICIENCY_SLICES]; /* of one rank */
    uint32_t slice[TIMES];                           /* the last that its thread has reached */
};

/* Adds a part of a thread's time to its rank's; the parts come in their order. */
static void add_time(struct sums *sums, int which, int64_t from_ns, int64_t to_ns)
{
    uint32_t *slice = &sums->slice[which];

    for (int64_t at_ns = from_ns; at_ns < to_ns;) {
        int64_t until_ns = sums->bounds_ns[*slice + 1];

        if (until_ns <= at_ns && *slice + 1 < SG_EFFICIENCY_SLICES) {
            ++*slice;
            continue;
        }
        if (until_ns > to_ns || until_ns <= at_ns)
            until_ns = to_ns;
        sums->slices[*slice].ns[which] += (uint64_t)(until_ns - at_ns);
        at_ns = until_ns;
    }
    sums->rank.ns[which] += to_ns > from_ns ? (uint64_t)(to_ns - from_ns) : 0;
}

static int64_t within(int64_t time_ns, const struct sg_efficiency_thread *of)
{
    return time_ns < of->begin_ns ? of->begin_ns : time_ns > of->end_ns ? of->end_ns : time_ns;
}

static void add_thread(struct sums *sums, struct sg_history *history, uint32_t location,
                       const struct sg_efficiency_thread *of)
{
    uint64_t count = sg_history_count(history, location);
    int64_t end_ns = of->begin_ns;

    memset(sums->slice, 0, sizeof sums->slice);
    for (uint64_t i = 0; i < count; i++) {
        const struct sg_history_call *call = sg_history_at(history, location, i);

        add_time(sums, USEFUL, end_ns, within(call->begin_ns, of));
        end_ns = within(call->end_ns, of);
    }
    add_time(sums, USEFUL, end_ns, of->end_ns);
    add_time(sums, ALIVE, of->begin_ns, of->end_ns);
    if (location == of->first)
        add_time(sums, SPAN, of->begin_ns, of->end_ns);
}

/* Returns the useful time of the mean thread, and sets how many there are. */
static uint64_t mean_of(const struct times *times, double *threads)
{
    const uint64_t *ns = times->ns;

    *threads = ns[SPAN] > 0 ? (double)ns[ALIVE] / (double)ns[SPAN] : 1;
    return ns[ALIVE] > 0
               ? (uint64_t)(((unsigned __int128)ns[USEFUL] * ns[SPAN] + ns[ALIVE] - 1) / ns[ALIVE])
               : 0;
}

static enum sg_status add_rank(struct sums *sums, const struct sg_efficiency_thread *of)
{
    struct sg_efficiency_rank rank = {of->rank, of->node, sums->rank.ns[USEFUL], 0};
    double threads;

    for (uint32_t i = 0; i < SG_EFFICIENCY_SLICES; i++) {
        struct sg_efficiency_slice *slice = &sums->out->slices[i];

        slice->useful_ns += sums->slices[i].ns[USEFUL];
        slice->useful_max_ns =
            greater_of(slice->useful_max_ns, mean_of(&sums->slices[i], &threads));
        slice->threads += threads;
    }
    mean_of(&sums->rank, &rank.threads);
    memset(&sums->rank, 0, sizeof sums->rank);
    memset(sums->slices, 0, sizeof sums->slices);
    return SG_APPEND(sums->out->ranks, sums->out->rank_count, rank) ? SG_OK : SG_ERR_MEMORY;
}

/* A thread counts if it called MPI, and if its times are within a hundred years. */
static bool counts(const struct sg_history *history, uint32_t location,
                   const struct sg_efficiency_thread *of)
{
    return of->end_ns > of->begin_ns && of->begin_ns > -TIME_MAX_NS && of->end_ns < TIME_MAX_NS &&
           sg_history_count(history, location) > 0;
}

/* Sets the bounds of the slices, and returns the longest run time. */
static uint64_t find_span(const struct replay *replay, struct sums *sums)
{
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
    uint64_t longest_ns = 0, span_ns;

    for (uint32_t i = 0; i < replay->thread_count; i++) {
        const struct sg_efficiency_thread *of = &replay->of[i];
        uint64_t run_ns = (uint64_t)of->end_ns - (uint64_t)of->begin_ns;

        if (!counts(replay->history, i, of))
            continue;
        from_ns = of->begin_ns < from_ns ? of->begin_ns : from_ns;
        to_ns = of->end_ns > to_ns ? of->end_ns : to_ns;
        longest_ns = run_ns > longest_ns ? run_ns : longest_ns;
    }
    span_ns = to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
    for (uint32_t i = 0; i <= SG_EFFICIENCY_SLICES; i++)
        sums->bounds_ns[i] =
            from_ns + (int64_t)((unsigned __int128)span_ns * i / SG_EFFICIENCY_SLICES);
    return longest_ns;
}

struct member {
    uint32_t rank, location;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->location > b->location) - (a->location < b->location);
}

/* Adds all threads that count, rank by rank. */
static enum sg_status add_all(const struct replay *replay, struct sums *sums)
{
    struct member *members = malloc(((size_t)replay->thread_count + 1) * sizeof *members);
    enum sg_status status = members != NULL ? SG_OK : SG_ERR_MEMORY;
    uint32_t count = 0;

    for (uint32_t i = 0; i < replay->thread_count && status == SG_OK; i++) {
        if (counts(replay->history, i, &replay->of[i]))
            members[count++] = (struct member){replay->of[i].rank, i};
    }
    if (count > 0)
        qsort(members, count, sizeof *members, compare_members);
    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        const struct sg_efficiency_thread *of = &replay->of[members[i].location];

        add_thread(sums, replay->history, members[i].location, of);
        if (i + 1 == count || members[i + 1].rank != of->rank)
            status = add_rank(sums, of);
    }
    free(members);
    return status;
}

static enum sg_status sum_up(const struct replay *replay, struct sg_efficiency *out)
{
    struct sums sums = {.out = out};
    uint64_t run_ns = find_span(replay, &sums);
    enum sg_status status = add_all(replay, &sums);

    if (status == SG_OK && out->rank_count > 0) {
        sg_efficiency_set_ranks(out, run_ns);
        for (uint32_t i = 0; i < SG_EFFICIENCY_SLICES; i++) {
            out->slices[i].begin_ns = sums.bounds_ns[i];
            out->slices[i].end_ns = sums.bounds_ns[i + 1];
        }
        out->has_slices = true;
    }
    return status;
}

/* ---- the replay ------------------------------------------------------------------------------ */

static bool is_before(const struct replay *replay, uint32_t a, uint32_t b)
{
    int64_t a_ns = replay->threads[a].next_end_ns, b_ns = replay->threads[b].next_end_ns;

    return a_ns != b_ns ? a_ns < b_ns : a < b;
}

/* Moves the thread at a place of the heap down to where it belongs. */
static void sink(const struct replay *replay, uint32_t at)
{
    uint32_t moving = replay->heap[at], below;

    for (; (below = 2 * at + 1) < replay->heap_count; at = below) {
        if (below + 1 < replay->heap_count &&
            is_before(replay, replay->heap[below + 1], replay->heap[below]))
            below++;
        if (!is_before(replay, replay->heap[below], moving))
            break;
        replay->heap[at] = replay->heap[below];
    }
    replay->heap[at] = moving;
}

/* Begins the thread's next call. False: it has none. */
static bool begin_next(const struct replay *replay, uint32_t location)
{
    struct thread *thread = &replay->threads[location];
    struct sg_history_call *call;
    int64_t begin_ns;

    if (thread->next == thread->count)
        return false;
    call = sg_history_at(replay->history, location, thread->next);
    begin_ns = within(call->begin_ns, &replay->of[location]);
    thread->last = thread->current;
    thread->current.begin_ns = call->begin_ns;
    thread->current.ideal_ns =
        thread->ideal_ns + (begin_ns > thread->end_ns ? begin_ns - thread->end_ns : 0);
    thread->next_end_ns = call->end_ns;
    call->until_ns = thread->current.ideal_ns;
    return true;
}

enum found { FOUND, NOT_YET, NOWHERE };

/* The begin, in the replay, of the location's call that begins at begin_ns. */
static enum found find_begin(const struct replay *replay, uint32_t location, int64_t begin_ns,
                             int64_t *out)
{
    const struct thread *thread = &replay->threads[location];
    const struct sg_history_call *call;
    uint64_t number, begun = thread->next < thread->count ? thread->next + 1 : thread->count;

    if (!thread->has_begun || begun == 0 || begin_ns > thread->current.begin_ns)
        return thread->next < thread->count ? NOT_YET : NOWHERE;
    if (begin_ns == thread->current.begin_ns) {
        *out = thread->current.ideal_ns;
        return FOUND;
    }
    if (begin_ns == thread->last.begin_ns && begun > 1) {
        *out = thread->last.ideal_ns;
        return FOUND;
    }
    number = sg_history_before_among(replay->history, location, begun, begin_ns);
    call = sg_history_at(replay->history, location, number);
    if (call->begin_ns != begin_ns)
        return NOWHERE;
    *out = call->until_ns;
    return FOUND;
}

/* Returns the begin, in the replay, of the list's last call. Calls that begin after end_ns in the
 * run do not count: a call that ended then did not need them. A long list of which all calls count
 * is replaced by that moment: members of a collective share it. Lists are nested no more than a few
 * times (sg_history_join()). */
static int64_t last_begin(const struct replay *replay, uint32_t list, int64_t end_ns,
                          bool *has_begun)
{
    struct sg_history_link *link = sg_history_link_at(replay->history, list);
    int64_t last_ns = INT64_MIN;
    bool has_all = true;
    uint32_t length = 0;

    while (link != NULL) {
        const struct sg_history_link of = *link;
        int64_t at_ns = INT64_MIN;

        if (of.location == SG_HISTORY_TIME)
            at_ns = of.begin_ns;
        else if (of.location == SG_HISTORY_LIST)
            at_ns = last_begin(replay, (uint32_t)of.begin_ns, end_ns, &has_all);
        else if (of.begin_ns > end_ns ||
                 find_begin(replay, of.location, of.begin_ns, &at_ns) == NOT_YET)
            has_all = false;
        if (at_ns > last_ns)
            last_ns = at_ns;
        link = sg_history_link_at(replay->history, of.next);
        length++;
    }
    if (has_all && length > 2) {
        link = sg_history_link_at(replay->history, list);
        *link = (struct sg_history_link){.begin_ns = last_ns, .location = SG_HISTORY_TIME};
    }
    *has_begun = *has_begun && has_all;
    return last_ns;
}

static void end_next(const struct replay *replay, uint32_t location)
{
    struct thread *thread = &replay->threads[location];
    const struct sg_history_call *call = sg_history_at(replay->history, location, thread->next);
    int64_t call_end_ns = call->end_ns, end_ns = within(call_end_ns, &replay->of[location]);
    uint32_t needs = call->needs;
    bool has_begun = true;

    thread->ideal_ns = thread->current.ideal_ns;
    if (needs != 0) {
        int64_t last_ns = last_begin(replay, needs, call_end_ns, &has_begun);

        if (last_ns > thread->ideal_ns)
            thread->ideal_ns = last_ns < end_ns ? last_ns : end_ns;
    }
    thread->end_ns = end_ns;
    thread->next++;
}

/* Begins the thread, after all calls that ended before that moment of the run. */
static void begin_thread(const struct replay *replay, uint32_t location)
{
    const struct thread *first = &replay->threads[replay->of[location].first];
    struct thread *thread = &replay->threads[location];
    int64_t begin_ns = replay->of[location].begin_ns;

    thread->has_begun = true;
    thread->end_ns = thread->ideal_ns = begin_ns;
    if (thread != first && first->has_begun)
        thread->ideal_ns = first->next < first->count && first->current.begin_ns <= begin_ns
                               ? first->current.ideal_ns
                           : begin_ns > first->end_ns ? first->ideal_ns + (begin_ns - first->end_ns)
                                                      : first->ideal_ns;
}

static void start(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->thread_count; i++) {
        struct thread *thread = &replay->threads[i];

        if (!counts(replay->history, i, &replay->of[i]))
            continue;
        thread->count = sg_history_count(replay->history, i);
        thread->next_end_ns = replay->of[i].begin_ns;
        replay->heap[replay->heap_count++] = i;
    }
    for (uint32_t i = replay->heap_count / 2; i-- > 0;)
        sink(replay, i);
}

static uint64_t replay_all(struct replay *replay)
{
    uint64_t longest_ns = 0;

    start(replay);
    while (replay->heap_count > 0) {
        uint32_t location = replay->heap[0];

        if (replay->threads[location].has_begun)
            end_next(replay, location);
        else
            begin_thread(replay, location);
        if (!begin_next(replay, location))
            replay->heap[0] = replay->heap[--replay->heap_count];
        if (replay->heap_count > 0)
            sink(replay, 0);
    }
    for (uint32_t i = 0; i < replay->thread_count; i++) {
        const struct thread *thread = &replay->threads[i];
        const struct sg_efficiency_thread *of = &replay->of[i];
        uint64_t ideal_ns;

        if (thread->count == 0)
            continue;
        ideal_ns = (uint64_t)(thread->ideal_ns - replay->of[of->first].begin_ns) +
                   (uint64_t)(of->end_ns - thread->end_ns);
        if (ideal_ns > longest_ns)
            longest_ns = ideal_ns;
    }
    return longest_ns;
}

enum sg_status sg_efficiency_of_events(struct sg_history *history,
                                       const struct sg_efficiency_thread *threads, uint32_t count,
                                       struct sg_efficiency *out)
{
    struct replay replay = {.history = history, .of = threads, .thread_count = count};
    enum sg_status status = SG_ERR_MEMORY;

    if (sg_history_is_lost(history))
        return SG_OK;
    replay.threads = calloc((size_t)count + 1, sizeof *replay.threads);
    replay.heap = calloc((size_t)count + 1, sizeof *replay.heap);
    if (replay.threads != NULL && replay.heap != NULL)
        status = sum_up(&replay, out);
    if (status == SG_OK && out->is_known && !sg_history_has_lost_links(history))
        sg_efficiency_set_ideal(out, replay_all(&replay));
    free(replay.threads);
    free(replay.heap);
    return status;
}
