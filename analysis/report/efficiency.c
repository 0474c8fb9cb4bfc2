/* Efficiencies from events: each thread's time outside of MPI, over the run and over slices of it,
 * and the ideal run time. This is apart from the report, which has the result.
 *
 * The ideal run time is that of a replay of the recorded calls, in which communication takes no
 * time. A thread takes as long between its calls as it did. A call ends when it begins, or when the
 * last of the calls that it needs (path_history.h) begins, if that is later; but no later than in
 * the run. The last of these in the run need not be the last in the replay. The replay takes calls
 * in the order of their ends: all calls that a call needs have begun by then, and their begins in
 * the replay are known. It stores these in the history.
 */
#include "report/efficiency.h"

#include "core/room.h"
#include "report/path_history.h"

#include <math.h>
#include <stdlib.h>

#define TIME_MAX_NS (INT64_MAX / 4)

/* A call that a thread has begun in the replay. */
struct begun {
    int64_t begin_ns; /* in the run */
    int64_t ideal_ns;
};

struct thread {
    uint64_t next, count;       /* calls: the first that has not ended, and all */
    int64_t end_ns, ideal_ns;   /* of the last call that has ended, in the run and in the replay */
    int64_t next_end_ns;        /* of the next one, in the run */
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
                       uint64_t useful_max_ns, uint32_t threads)
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
}

struct sg_efficiency_part sg_efficiency_part_of(const struct sg_efficiency *efficiency, int slice)
{
    const struct sg_efficiency_slice *of = &efficiency->slices[slice];
    struct sg_efficiency part = {0};

    sg_efficiency_set(&part, (uint64_t)(of->end_ns - of->begin_ns), of->useful_ns,
                      of->useful_max_ns, efficiency->threads);
    return (struct sg_efficiency_part){(uint64_t)of->begin_ns, (uint64_t)of->end_ns,
                                       part.parallel < 0 ? NAN : part.parallel,
                                       part.load_balance < 0 ? NAN : part.load_balance,
                                       part.communication < 0 ? NAN : part.communication};
}

void sg_efficiency_set_ideal(struct sg_efficiency *efficiency, uint64_t ideal_ns)
{
    efficiency->has_ideal = true;
    efficiency->ideal_ns = ideal_ns < efficiency->run_ns ? ideal_ns : efficiency->run_ns;
    efficiency->transfer = ratio((double)efficiency->ideal_ns, (double)efficiency->run_ns);
    efficiency->serialization =
        ratio((double)efficiency->useful_max_ns, (double)efficiency->ideal_ns);
}

/* ---- time outside of MPI --------------------------------------------------------------------- */

struct useful {
    uint32_t node;
    uint64_t ns;
};

struct sums {
    struct sg_efficiency *out;
    int64_t bounds_ns[SG_EFFICIENCY_SLICES + 1]; /* of the slices */
    uint64_t thread_ns[SG_EFFICIENCY_SLICES];    /* of one thread, as is the next */
    uint32_t slice;                              /* the last that it has reached */
    struct useful *useful;                       /* by thread */
    uint64_t useful_ns, useful_max_ns;
    uint32_t threads;
};

/* Adds the thread's time between two calls, the calls in their order, to the slices. */
static uint64_t add_useful(struct sums *sums, int64_t from_ns, int64_t to_ns)
{
    for (int64_t at_ns = from_ns; at_ns < to_ns;) {
        int64_t until_ns = sums->bounds_ns[sums->slice + 1];

        if (until_ns <= at_ns && sums->slice + 1 < SG_EFFICIENCY_SLICES) {
            sums->slice++;
            continue;
        }
        if (until_ns > to_ns || until_ns <= at_ns)
            until_ns = to_ns;
        sums->thread_ns[sums->slice] += (uint64_t)(until_ns - at_ns);
        at_ns = until_ns;
    }
    return to_ns > from_ns ? (uint64_t)(to_ns - from_ns) : 0;
}

static int64_t within(int64_t time_ns, const struct sg_efficiency_thread *of)
{
    return time_ns < of->begin_ns ? of->begin_ns : time_ns > of->end_ns ? of->end_ns : time_ns;
}

static enum sg_status add_thread(struct sums *sums, struct sg_history *history, uint32_t location,
                                 const struct sg_efficiency_thread *of)
{
    uint64_t count = sg_history_count(history, location), useful_ns = 0;
    int64_t end_ns = of->begin_ns;

    sums->slice = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct sg_history_call *call = sg_history_at(history, location, i);

        useful_ns += add_useful(sums, end_ns, within(call->begin_ns, of));
        end_ns = within(call->end_ns, of);
    }
    useful_ns += add_useful(sums, end_ns, of->end_ns);
    for (uint32_t i = 0; i < SG_EFFICIENCY_SLICES; i++) {
        struct sg_efficiency_slice *slice = &sums->out->slices[i];

        slice->useful_ns += sums->thread_ns[i];
        if (sums->thread_ns[i] > slice->useful_max_ns)
            slice->useful_max_ns = sums->thread_ns[i];
        sums->thread_ns[i] = 0;
    }
    sums->useful_ns += useful_ns;
    if (useful_ns > sums->useful_max_ns)
        sums->useful_max_ns = useful_ns;
    return SG_APPEND(sums->useful, sums->threads, ((struct useful){of->node, useful_ns}))
               ? SG_OK
               : SG_ERR_MEMORY;
}

/* A thread counts if it called MPI, and if its rank's times are within a hundred years. */
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

static int compare_nodes(const void *left, const void *right)
{
    const struct useful *a = left, *b = right;

    return (a->node > b->node) - (a->node < b->node);
}

static void balance_machines(const struct sums *sums, struct sg_efficiency *out)
{
    double greatest_ns = 0;
    uint32_t end;

    qsort(sums->useful, sums->threads, sizeof *sums->useful, compare_nodes);
    for (uint32_t i = 0; i < sums->threads; i = end) {
        double sum_ns = 0;

        for (end = i; end < sums->threads && sums->useful[end].node == sums->useful[i].node; end++)
            sum_ns += (double)sums->useful[end].ns;
        if (sum_ns / (end - i) > greatest_ns)
            greatest_ns = sum_ns / (end - i);
        out->machines++;
    }
    out->between_machines = ratio((double)sums->useful_ns / sums->threads, greatest_ns);
    out->inside_machines = ratio(greatest_ns, (double)sums->useful_max_ns);
}

static enum sg_status sum_up(const struct replay *replay, struct sg_efficiency *out)
{
    struct sums sums = {.out = out};
    uint64_t run_ns = find_span(replay, &sums);
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < replay->thread_count && status == SG_OK; i++) {
        if (counts(replay->history, i, &replay->of[i]))
            status = add_thread(&sums, replay->history, i, &replay->of[i]);
    }
    if (status == SG_OK && sums.threads > 0) {
        sg_efficiency_set(out, run_ns, sums.useful_ns, sums.useful_max_ns, sums.threads);
        balance_machines(&sums, out);
        for (uint32_t i = 0; i < SG_EFFICIENCY_SLICES; i++) {
            out->slices[i].begin_ns = sums.bounds_ns[i];
            out->slices[i].end_ns = sums.bounds_ns[i + 1];
        }
        out->has_slices = true;
    }
    free(sums.useful);
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

    if (begun == 0 || begin_ns > thread->current.begin_ns)
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

static void start(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->thread_count; i++) {
        struct thread *thread = &replay->threads[i];

        if (!counts(replay->history, i, &replay->of[i]))
            continue;
        thread->count = sg_history_count(replay->history, i);
        thread->end_ns = thread->ideal_ns = replay->of[i].begin_ns;
        begin_next(replay, i);
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

        end_next(replay, location);
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
        ideal_ns =
            (uint64_t)(thread->ideal_ns - of->begin_ns) + (uint64_t)(of->end_ns - thread->end_ns);
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
