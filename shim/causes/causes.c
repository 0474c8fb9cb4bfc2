/* Samples intervals between MPI calls (causes.h): opens and settles them, pays their cost from the
 * samplers' budgets, and writes records and sums. State is per thread; only totals and the use of
 * the log are shared, by atomics.
 */
#include "causes/causes.h"

#include "causes/sampler.h"
#include "core/altstack.h"
#include "core/thread_store.h"
#include "core/tick.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Shares of SG_CAUSES_SHARE for stretches and for single intervals. */
#define STRETCHES 0.7
#define CALLS 0.2
#define ROOM 8u         /* records may use one in ROOM of the log's slots */
#define SITE_ROOM 4u    /* ... and of these, those of a call site one in SITE_ROOM */
#define SITES 256u      /* more of them share */
#define INTERRUPTED 10u /* a reading of INTERRUPTED times the usual length was interrupted */
#define ARMED_NS UINT64_C(100000000) /* a stretch not begun keeps events open this long */

struct thread {
    struct sg_thread_kept kept;
    struct sg_causes_choice choice;
    struct sg_reader reader;
    uint64_t usual_ns; /* cost of a reading at an interval's begin, and its part inside it */
    uint64_t inside_ns;
    uint64_t usual_watch_ns; /* cost of opening and closing its events */
    uint64_t told_ns;        /* the log accounts for its time up to here */
    struct sg_open_stretches stretches;
    struct sg_causes_sums sums;
    /* The interval, from its begin to the end of the call that ends it. */
    struct sg_open_stretch sample; /* key 0: a single interval */
    uint8_t flags;
    uint16_t location;
    uint32_t left;
    uint64_t begin_cost_ns;
    struct sg_reading begin, end, between;
    bool watches;                      /* the kernel's events are open */
    uint64_t armed_ns;                 /* when a stretch was last chosen */
    bool follows;                      /* the call before the interval ended one, too */
    bool is_over;                      /* between is valid */
    struct sg_record_interval *record; /* NULL: none */
};

atomic_bool sg_causes_is_on;
__thread bool sg_causes_samples;
__thread struct sg_causes_choice *sg_causes_own;

static struct sg_causes_options settings;
static struct sg_record_causes *totals;
static __thread bool has_none;      /* no memory for this thread's state */
static _Atomic uint64_t room_taken; /* log slots that records use, in all and by call site */
static _Atomic uint64_t site_taken[SITES];
static struct sg_event_kept kept = {.file = -1};

static void add(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* ---- threads ---- */

/* The calling thread's state; NULL: none. */
static struct thread *own(void)
{
    return sg_causes_own != NULL
               ? (struct thread *)(void *)((char *)sg_causes_own - offsetof(struct thread, choice))
               : NULL;
}

static void leave_off(struct sg_thread_kept *ended)
{
    sg_causes_own = NULL;
    has_none = true;
    sg_causes_samples = false;
    sg_reader_close(&((struct thread *)(void *)ended)->reader);
}

static struct sg_thread_store store = SG_THREAD_STORE(struct thread, leave_off);

static void open_reader(void *thread)
{
    sg_reader_open(&((struct thread *)thread)->reader, &settings.places);
}

/* Resets the calling thread's state except for the sums. */
static void prepare(struct thread *thread, uint64_t since_ns)
{
    double share = settings.mode == SG_CAUSES_ALL ? 0 : SG_CAUSES_SHARE;
    struct sg_reading reading;
    uint64_t begin_ns;

    sg_altstack_run(open_reader, thread);
    begin_ns = sg_tick_ns();
    sg_reader_begin(&thread->reader, &reading);
    thread->usual_ns = sg_tick_ns() - begin_ns;
    thread->inside_ns = begin_ns + thread->usual_ns - reading.time_ns;
    thread->told_ns = since_ns;
    begin_ns = sg_tick_ns();
    sg_reader_watch(&thread->reader, false);
    sg_reader_watch(&thread->reader, true);
    thread->usual_watch_ns = sg_tick_ns() - begin_ns;
    thread->watches = true;
    sg_sampler_start(&thread->choice.stretches, share * STRETCHES, since_ns);
    sg_sampler_start(&thread->choice.calls, share * CALLS, since_ns);
    thread->stretches.count = 0;
    thread->is_over = thread->choice.is_busy = false;
    thread->record = NULL;
}

static struct thread *take(uint64_t since_ns)
{
    struct thread *thread = sg_thread_store_take(&store);

    has_none = thread == NULL;
    if (thread == NULL)
        return NULL;
    prepare(thread, since_ns);
    sg_causes_own = &thread->choice;
    return thread;
}

/* ---- records ---- */

/* The more of their capacity records use, the fewer are written: all samples up to a half, every
 * second one in half of the rest, and so on; the same ones on all ranks. */
static uint64_t mask_of(uint64_t taken, uint64_t share)
{
    uint64_t mask = 0;

    for (uint64_t left = share; taken >= share - left / 2 && left > 0; left /= 2)
        mask = mask << 1 | 1;
    return mask;
}

/* The same holds for each call site and a part of that capacity: a loop of tests leaves the other
 * sites theirs. */
static bool has_room(uint64_t hash, uint32_t site)
{
    uint64_t share = sg_log_header(settings.log)->event_limit_slots / ROOM;
    uint64_t taken = atomic_load_explicit(&room_taken, memory_order_relaxed);
    uint64_t there = atomic_load_explicit(&site_taken[site % SITES], memory_order_relaxed);
    uint64_t mask = mask_of(taken, share) | mask_of(there, share / SITE_ROOM);

    return taken + SG_INTERVAL_SLOTS <= share && there + SG_INTERVAL_SLOTS <= share / SITE_ROOM &&
           (hash & mask) == 0;
}

static struct sg_record_interval *reserve(uint64_t hash, uint32_t site)
{
    struct sg_record_interval *record =
        has_room(hash, site) ? sg_log_event_slots(settings.log, SG_INTERVAL_SLOTS) : NULL;

    add(record != NULL ? &room_taken : &totals->left_out, record != NULL ? SG_INTERVAL_SLOTS : 1);
    if (record != NULL)
        add(&site_taken[site % SITES], SG_INTERVAL_SLOTS);
    return record;
}

static struct sg_record_interval *write_record(const struct thread *thread)
{
    const struct sg_reading *between = &thread->between;
    struct sg_record_interval *record =
        settings.has_events ? reserve(thread->sample.hash, thread->left) : NULL;

    if (record == NULL)
        return NULL;
    record->thread = thread->location;
    record->left = thread->left;
    record->comm = thread->sample.comm;
    record->number = thread->sample.number;
    record->mask = between->mask;
    record->begin_ns = thread->begin.time_ns;
    record->end_ns = thread->begin.time_ns + between->time_ns;
    record->processor = between->processor;
    for (unsigned figure = 0; figure < SG_FIGURE_COUNT; figure++)
        sg_figure_write(record->figures, figure, between->figures[figure]);
    atomic_store_explicit(&record->flags, thread->flags, memory_order_relaxed);
    sg_log_publish(record, SG_RECORD_INTERVAL);
    return record;
}

/* ---- intervals ---- */

/* The cost of an interrupted reading is unknown: uses the usual one. */
static uint64_t cost_of(uint64_t usual_ns, uint64_t cost_ns)
{
    return cost_ns <= INTERRUPTED * usual_ns ? cost_ns : usual_ns;
}

static void charge(struct sg_sampler *sampler, uint64_t cost_ns)
{
    sg_sampler_pay(sampler, cost_ns);
    add(&totals->cost_ns, cost_ns);
}

/* Returns the sampler that chose the interval. */
static struct sg_sampler *sampler_of(struct thread *thread)
{
    return thread->sample.key != 0 ? &thread->choice.stretches : &thread->choice.calls;
}

/* Pays for both readings of the interval. */
static void pay(struct thread *thread, uint64_t before_ns)
{
    uint64_t now_ns = sg_tick_ns();
    uint64_t cost_ns = thread->begin_cost_ns + cost_of(thread->usual_ns, now_ns - before_ns);

    if (thread->watches)
        cost_ns += sg_reader_watched(&thread->reader, &thread->end);
    charge(sampler_of(thread), cost_ns);
    add(&totals->time_ns, now_ns - thread->told_ns);
    thread->told_ns = now_ns;
}

void sg_causes_enter(void)
{
    uint64_t before_ns = sg_tick_ns();
    struct thread *thread = own();
    int error = errno;

    sg_causes_samples = false;
    sg_reader_end(&thread->reader, &thread->end);
    sg_reading_between(&thread->begin, &thread->end, &thread->between);
    thread->is_over = thread->choice.is_busy = true;
    thread->record = write_record(thread);
    add(&totals->intervals, 1);
    pay(thread, before_ns);
    /* Give up stretches once they cost too much. */
    if (sg_sampler_is_spent(&thread->choice.stretches, thread->told_ns))
        thread->stretches.count = 0;
    errno = error;
}

/* Completes the interval after the call that ended it. */
static __attribute__((noinline)) void settle(struct thread *thread, uint32_t entered, uint64_t key)
{
    struct sg_record_interval *record = thread->record;
    int error = errno;

    thread->is_over = false;
    sg_causes_sums_add(&thread->sums, settings.log, thread->kept.number, thread->left, entered,
                       &thread->between);
    errno = error;
    if (record == NULL)
        return;
    if (key != 0 && key == thread->sample.key)
        atomic_store_explicit(&record->flags, thread->flags | SG_INTERVAL_LAST,
                              memory_order_relaxed);
    atomic_store_explicit(&record->entered, entered, memory_order_relaxed);
}

/* Opens or closes the kernel's events. The program's context switches cost more while they are
 * open. */
static __attribute__((noinline)) void watch(struct thread *thread, struct sg_sampler *payer,
                                            bool on)
{
    uint64_t before_ns = sg_tick_ns(), switches_ns;
    int error = errno;

    if (on && !sg_event_is_own(kept.file, kept.id))
        return;
    switches_ns = sg_reader_watch(&thread->reader, on);
    thread->watches = on;
    charge(payer, cost_of(thread->usual_watch_ns, sg_tick_ns() - before_ns) + switches_ns);
    errno = error;
}

/* Begins a sampled interval. */
static __attribute__((noinline)) void begin(struct thread *thread,
                                            const struct sg_causes_call *call)
{
    uint64_t before_ns = sg_tick_ns();
    int error = errno;

    thread->location = call->thread;
    thread->left = call->site;
    sg_causes_samples = true;
    if (!thread->watches) {
        watch(thread, sampler_of(thread), true);
        before_ns = sg_tick_ns();
    }
    sg_reader_begin(&thread->reader, &thread->begin);
    if (thread->follows)
        sg_reading_call(&thread->end, &thread->begin);
    thread->begin_cost_ns =
        cost_of(thread->usual_ns, thread->begin.time_ns - before_ns) + thread->inside_ns;
    errno = error;
}

static void begin_in_stretch(struct thread *thread, const struct sg_causes_call *call,
                             const struct sg_open_stretch *stretch, uint8_t flags)
{
    thread->sample = *stretch;
    thread->flags = SG_INTERVAL_STRETCH | flags;
    begin(thread, call);
}

static void begin_alone(struct thread *thread, const struct sg_causes_call *call)
{
    thread->sample = (struct sg_open_stretch){.hash = call->hash, .number = call->calls};
    thread->flags = 0;
    begin(thread, call);
}

/* A chosen stretch begins with the communicator's next collective. Events are open during that
 * collective, so that it is known why the rank left it late. If everything is sampled, a stretch
 * begins at once. */
static void choose(struct thread *thread, const struct sg_causes_call *call)
{
    const struct sg_open_stretch stretch = {.hash = call->hash, .key = call->key, .is_armed = true};

    sg_stretches_add(&thread->stretches, &stretch);
    thread->armed_ns = call->now_ns;
    if (!thread->watches)
        watch(thread, &thread->choice.stretches, true);
}

static void leave_collective(struct thread *thread, const struct sg_causes_call *call)
{
    bool is_taken = sg_sampler_takes(&thread->choice.stretches, call->hash, call->now_ns);
    struct sg_open_stretch stretch = {.hash = call->hash, .key = call->key};
    uint8_t flags = 0;

    sg_stretches_take(&thread->stretches, call->key, false, &stretch);
    if (settings.mode == SG_CAUSES_ALL ||
        sg_stretches_take(&thread->stretches, call->key, true, &stretch)) {
        stretch.comm = call->comm;
        stretch.number = call->number;
        stretch.is_armed = false;
        sg_stretches_add(&thread->stretches, &stretch);
        flags = SG_INTERVAL_FIRST;
    }
    if (is_taken && settings.mode != SG_CAUSES_ALL)
        choose(thread, call);
    if (sg_stretches_current(&thread->stretches) != NULL)
        begin_in_stretch(thread, call, sg_stretches_current(&thread->stretches), flags);
}

static void leave_other(struct thread *thread, const struct sg_causes_call *call)
{
    const struct sg_open_stretch *stretch = sg_stretches_current(&thread->stretches);

    if (stretch != NULL)
        begin_in_stretch(thread, call, stretch, 0);
    else if (sg_sampler_takes(&thread->choice.calls, call->hash, call->now_ns))
        begin_alone(thread, call);
}

static __attribute__((noinline)) struct thread *take_first(uint64_t now_ns)
{
    int error = errno;

    if (!has_none)
        take(now_ns);
    errno = error;
    return own();
}

/* With SG_CAUSES_ALL the events stay open. */
static __attribute__((noinline)) void stop_watching(struct thread *thread, uint64_t now_ns)
{
    if (settings.mode != SG_CAUSES_ALL &&
        (thread->stretches.count == 0 || now_ns > thread->armed_ns + ARMED_NS))
        watch(thread, &thread->choice.stretches, false);
}

void sg_causes_leave(const struct sg_causes_call *call)
{
    struct thread *thread = own();

    if (__builtin_expect(thread == NULL, 0) && (thread = take_first(call->now_ns)) == NULL)
        return;
    thread->follows = thread->is_over;
    if (__builtin_expect(thread->is_over, 0))
        settle(thread, call->site, call->key);
    if (call->key != 0)
        leave_collective(thread, call);
    else
        leave_other(thread, call);
    thread->choice.is_busy = thread->stretches.count > 0;
    if (__builtin_expect(!sg_causes_samples && thread->watches, 0))
        stop_watching(thread, call->now_ns);
}

void sg_causes_skip(void)
{
    struct thread *thread = own();

    sg_causes_samples = false;
    if (thread == NULL)
        return;
    thread->is_over = thread->choice.is_busy = false;
    thread->stretches.count = 0;
    if (thread->watches)
        stop_watching(thread, 0);
}

/* ---- before MPI_Init ---- */

/* Readings by the process's first thread; time 0: none. */
static struct sg_reading loaded, initialised;
static pid_t loaded_by;

static __attribute__((constructor)) void note_load(void)
{
    int error = errno;

    sg_reading_plain(&loaded);
    loaded_by = getpid();
    errno = error;
}

void sg_causes_init(void)
{
    int error = errno;

    if (gettid() == loaded_by)
        sg_reading_plain(&initialised);
    errno = error;
}

static void record_before_init(struct sg_log *log)
{
    struct sg_record_interval_sum *record =
        initialised.time_ns > 0 ? sg_log_entry(log, SG_INTERVAL_SLOTS) : NULL;
    struct sg_reading between;

    if (record == NULL)
        return;
    sg_reading_between(&loaded, &initialised, &between);
    record->is_before_init = 1;
    atomic_store_explicit(&record->mask, between.mask, memory_order_relaxed);
    atomic_store_explicit(&record->time_ns, between.time_ns, memory_order_relaxed);
    atomic_store_explicit(&record->intervals, 1, memory_order_relaxed);
    for (unsigned figure = 0; figure < SG_FIGURE_COUNT; figure++)
        sg_figure_write(record->figures, figure, between.figures[figure]);
    sg_log_publish(record, SG_RECORD_INTERVAL_SUM);
}

/* ---- start and end ---- */

/* Records the available sources and their costs. */
static void record_sources(const struct thread *thread)
{
    uint64_t costs_ns[SG_SOURCE_COUNT];
    struct sg_reader reader = thread->reader;

    sg_reader_measure(&reader, costs_ns);
    for (int source = 0; source < SG_SOURCE_COUNT; source++) {
        struct sg_record_source *record = sg_log_entry(settings.log, 1);

        if (record == NULL)
            return;
        record->source = (uint8_t)source;
        record->is_there = (reader.mask & sg_source_mask(source)) != 0;
        record->error = reader.errors[source];
        record->cost_ns = costs_ns[source];
        sg_log_publish(record, SG_RECORD_SOURCE);
    }
}

void sg_causes_start(const struct sg_causes_options *options)
{
    struct thread *thread;
    int error = errno;

    settings = *options;
    atomic_store(&room_taken, 0);
    for (uint32_t site = 0; site < SITES; site++)
        atomic_store_explicit(&site_taken[site], 0, memory_order_relaxed);
    if (settings.mode == SG_CAUSES_OFF)
        return;
    totals = sg_log_entry(settings.log, 1);
    if (settings.mode != SG_CAUSES_ALL && !settings.places.no_events)
        sg_event_keep(&kept);
    thread = totals != NULL ? take(settings.begin_ns) : NULL;
    if (thread != NULL) {
        totals->mode = (uint8_t)settings.mode;
        totals->mask = thread->reader.mask;
        sg_log_publish(totals, SG_RECORD_CAUSES);
        record_sources(thread);
        record_before_init(settings.log);
        atomic_store(&sg_causes_is_on, true);
    }
    errno = error;
}

static void clear_sums(void *thread)
{
    sg_causes_sums_clear(&((struct thread *)thread)->sums);
}

static void reset_sums(void *thread)
{
    sg_causes_sums_reset(&((struct thread *)thread)->sums);
}

/* Adds an interval that was not sampled, if it is most of the time since the last reading. That
 * time's figures are then its own, but for as much time on the processor as was before it. */
static void add_last(struct thread *thread, const struct sg_causes_last *last)
{
    uint64_t now_ns = sg_tick_ns(), interval_ns, before_ns;
    struct sg_reading now, since;

    if (thread->end.time_ns == 0 || last->end_ns < thread->end.time_ns || last->end_ns >= now_ns)
        return;
    interval_ns = now_ns - last->end_ns;
    before_ns = last->end_ns - thread->end.time_ns;
    if (before_ns > interval_ns / 4)
        return;
    sg_reader_end(&thread->reader, &now);
    sg_reading_between(&thread->end, &now, &since);
    since.mask &= 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;
    since.time_ns = interval_ns;
    since.figures[SG_FIGURE_CPU] -=
        before_ns < since.figures[SG_FIGURE_CPU] ? before_ns : since.figures[SG_FIGURE_CPU];
    sg_causes_sums_add(&thread->sums, settings.log, thread->kept.number, last->site, 0, &since);
    add(&totals->intervals, 1);
    if (settings.has_events)
        add(&totals->left_out, 1);
}

void sg_causes_stop(const struct sg_causes_last *last)
{
    struct thread *thread = own();

    if (!atomic_load(&sg_causes_is_on))
        return;
    if (sg_causes_samples)
        sg_causes_enter();
    if (thread != NULL && thread->is_over)
        settle(thread, 0, 0);
    else if (thread != NULL && last->end_ns > 0)
        add_last(thread, last);
    atomic_store(&sg_causes_is_on, false);
    sg_thread_store_each(&store, clear_sums);
    if (thread != NULL) {
        sg_thread_store_put_back(thread);
        has_none = false;
    }
    sg_event_let_go(&kept);
}

void sg_causes_forget(void)
{
    atomic_store(&sg_causes_is_on, false);
    sg_causes_samples = false;
    sg_event_let_go(&kept);
    if (own() != NULL)
        sg_reader_close(&own()->reader);
}

void sg_causes_reset(void)
{
    sg_thread_store_each(&store, reset_sums);
}
