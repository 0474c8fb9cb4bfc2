#include "causes/causes.h"

#include "causes/sums.h"
#include "core/tick.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* What stretches, and calls for themselves, have of SG_CAUSES_SHARE. */
#define STRETCHES 0.7
#define CALLS 0.2
#define OPEN_MOST 4     /* stretches at a time: of as many communicators */
#define ROOM 8u         /* records have one slot in so many of the log's */
#define INTERRUPTED 10u /* a reading that takes so many times the usual was interrupted */

/* A sample that is being taken. */
struct sample {
    uint64_t hash; /* by which it was chosen */
    uint64_t key;  /* of its communicator; 0: it is one interval alone */
    uint32_t comm, number;
};

struct thread {
    struct sg_causes_choice choice; /* first */
    uint16_t number;
    struct sg_reader reader;
    uint64_t usual_ns; /* of a reading at an interval's begin, and what of it is in the interval */
    uint64_t inside_ns;
    uint64_t told_ns;              /* the log knows of its time until then */
    struct sample open[OPEN_MOST]; /* stretches; the last to begin is the last */
    int open_count;
    struct sg_causes_sums sums;
    /* The interval, from its begin to the end of the call that ends it. */
    struct sample sample;
    uint8_t flags;
    uint16_t location;
    uint32_t left;
    uint64_t begin_cost_ns;
    struct sg_reading begin, end, between;
    bool watches;                      /* its reader watches switches */
    bool follows;                      /* the call before it ended an interval, too */
    bool is_over;                      /* between is there */
    struct sg_record_interval *record; /* NULL: there is none */
    struct thread *next;               /* of all */
    struct thread *unused;             /* of those whose threads have ended */
};

atomic_bool sg_causes_is_on;
__thread bool sg_causes_samples;
__thread struct sg_causes_choice *sg_causes_own;

static struct sg_causes_options settings;
static struct sg_record_causes *totals;
static __thread bool has_none; /* there was no memory for it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads, *unused;
static uint16_t thread_count;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t room_taken; /* slots of records */

static void add(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* ---- threads ---- */

/* The calling thread's; NULL: none. */
static struct thread *own(void)
{
    return (struct thread *)(void *)sg_causes_own;
}

static void put_back(void *ended)
{
    struct thread *thread = ended;

    sg_causes_own = NULL;
    has_none = true;
    sg_causes_samples = false;
    sg_reader_close(&thread->reader);
    pthread_mutex_lock(&lock);
    thread->unused = unused;
    unused = thread;
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&at_end, put_back);
}

static struct thread *make_thread(void)
{
    struct thread *thread = calloc(1, sizeof *thread);

    if (thread == NULL)
        return NULL;
    thread->number = thread_count;
    thread_count += thread_count < UINT16_MAX;
    thread->next = threads;
    threads = thread;
    return thread;
}

/* The calling thread's, as new but for the sums. */
static void prepare(struct thread *thread, uint64_t since_ns)
{
    double share = settings.mode == SG_CAUSES_ALL ? 0 : SG_CAUSES_SHARE;
    struct sg_reading reading;
    uint64_t begin_ns;

    sg_reader_open(&thread->reader, &settings.places);
    begin_ns = sg_tick_ns();
    sg_reader_begin(&thread->reader, &reading);
    thread->usual_ns = sg_tick_ns() - begin_ns;
    thread->inside_ns = begin_ns + thread->usual_ns - reading.time_ns;
    thread->told_ns = since_ns;
    thread->watches = true;
    sg_sampler_start(&thread->choice.stretches, share * STRETCHES, since_ns);
    sg_sampler_start(&thread->choice.calls, share * CALLS, since_ns);
    thread->open_count = 0;
    thread->is_over = thread->choice.is_busy = false;
    thread->record = NULL;
}

static struct thread *take(uint64_t since_ns)
{
    struct thread *thread;

    pthread_once(&once, make_key);
    pthread_mutex_lock(&lock);
    thread = unused;
    if (thread != NULL)
        unused = thread->unused;
    else
        thread = make_thread();
    pthread_mutex_unlock(&lock);
    has_none = thread == NULL;
    if (thread == NULL)
        return NULL;
    prepare(thread, since_ns);
    sg_causes_own = &thread->choice;
    pthread_setspecific(at_end, thread);
    return thread;
}

/* ---- records ---- */

/* Records have less room the more of it is used: half of it for all samples, half of the rest for
 * every second one, and so on, the same ones on all ranks. */
static bool has_room(uint64_t hash)
{
    uint64_t share = sg_log_header(settings.log)->event_limit_slots / ROOM;
    uint64_t taken = atomic_load_explicit(&room_taken, memory_order_relaxed);
    uint64_t mask = 0;

    for (uint64_t left = share; taken >= share - left / 2 && left > 0; left /= 2)
        mask = mask << 1 | 1;
    return taken + SG_INTERVAL_SLOTS <= share && (hash & mask) == 0;
}

static struct sg_record_interval *reserve(uint64_t hash)
{
    struct sg_record_interval *record =
        has_room(hash) ? sg_log_event_slots(settings.log, SG_INTERVAL_SLOTS) : NULL;

    if (record == NULL)
        add(&totals->left_out, 1);
    else
        atomic_fetch_add_explicit(&room_taken, SG_INTERVAL_SLOTS, memory_order_relaxed);
    return record;
}

static struct sg_record_interval *write_record(const struct thread *thread)
{
    const struct sg_reading *between = &thread->between;
    struct sg_record_interval *record = settings.has_events ? reserve(thread->sample.hash) : NULL;

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

/* Of a reading that was interrupted nobody knows what it cost: the usual. */
static uint64_t cost_of(const struct thread *thread, uint64_t cost_ns)
{
    return cost_ns <= INTERRUPTED * thread->usual_ns ? cost_ns : thread->usual_ns;
}

/* For both readings of the interval. */
static void pay(struct thread *thread, uint64_t before_ns)
{
    uint64_t now_ns = sg_tick_ns();
    uint64_t cost_ns = thread->begin_cost_ns + cost_of(thread, now_ns - before_ns);

    sg_sampler_pay(thread->sample.key != 0 ? &thread->choice.stretches : &thread->choice.calls,
                   cost_ns);
    add(&totals->cost_ns, cost_ns);
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
    /* A stretch that costs too much is given up. */
    if (sg_sampler_is_spent(&thread->choice.stretches, thread->told_ns))
        thread->open_count = 0;
    errno = error;
}

/* The call that ended the interval is over. */
static __attribute__((noinline)) void settle(struct thread *thread, uint32_t entered, uint64_t key)
{
    struct sg_record_interval *record = thread->record;
    int error = errno;

    thread->is_over = false;
    sg_causes_sums_add(&thread->sums, settings.log, thread->number, thread->left, entered,
                       &thread->between);
    errno = error;
    if (record == NULL)
        return;
    if (key != 0 && key == thread->sample.key)
        atomic_store_explicit(&record->flags, thread->flags | SG_INTERVAL_LAST,
                              memory_order_relaxed);
    atomic_store_explicit(&record->entered, entered, memory_order_relaxed);
}

static void close_stretch(struct thread *thread, uint64_t key)
{
    int kept = 0;

    for (int i = 0; i < thread->open_count; i++) {
        if (thread->open[i].key != key)
            thread->open[kept++] = thread->open[i];
    }
    thread->open_count = kept;
}

/* Where there are too many, the one that began first is given up. */
static void open_stretch(struct thread *thread, const struct sample *stretch)
{
    if (thread->open_count == OPEN_MOST) {
        for (int i = 1; i < OPEN_MOST; i++)
            thread->open[i - 1] = thread->open[i];
        thread->open_count--;
    }
    thread->open[thread->open_count++] = *stretch;
}

/* The interval that begins is sampled. */
static __attribute__((noinline)) void begin(struct thread *thread,
                                            const struct sg_causes_call *call)
{
    uint64_t before_ns = sg_tick_ns();
    int error = errno;

    thread->location = call->thread;
    thread->left = call->site;
    sg_causes_samples = true;
    if (!thread->watches) {
        sg_reader_watch(&thread->reader, true);
        thread->watches = true;
    }
    sg_reader_begin(&thread->reader, &thread->begin);
    if (thread->follows)
        sg_reading_call(&thread->end, &thread->begin);
    thread->begin_cost_ns = cost_of(thread, thread->begin.time_ns - before_ns) + thread->inside_ns;
    errno = error;
}

static void begin_in_stretch(struct thread *thread, const struct sg_causes_call *call,
                             uint8_t flags)
{
    thread->sample = thread->open[thread->open_count - 1];
    thread->flags = SG_INTERVAL_STRETCH | flags;
    begin(thread, call);
}

static void begin_alone(struct thread *thread, const struct sg_causes_call *call)
{
    thread->sample = (struct sample){.hash = call->hash, .number = call->calls};
    thread->flags = 0;
    begin(thread, call);
}

static void leave_collective(struct thread *thread, const struct sg_causes_call *call)
{
    uint8_t flags = 0;

    if (thread->open_count > 0)
        close_stretch(thread, call->key);
    if (sg_sampler_takes(&thread->choice.stretches, call->hash, call->now_ns)) {
        const struct sample stretch = {call->hash, call->key, call->comm, call->number};

        open_stretch(thread, &stretch);
        flags = SG_INTERVAL_FIRST;
    }
    if (thread->open_count > 0)
        begin_in_stretch(thread, call, flags);
}

static void leave_other(struct thread *thread, const struct sg_causes_call *call)
{
    if (thread->open_count > 0)
        begin_in_stretch(thread, call, 0);
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

/* Switches cost more while they are watched; with SG_CAUSES_ALL they always are. */
static __attribute__((noinline)) void stop_watching(struct thread *thread)
{
    uint64_t before_ns = sg_tick_ns(), cost_ns;
    int error = errno;

    if (settings.mode == SG_CAUSES_ALL)
        return;
    sg_reader_watch(&thread->reader, false);
    thread->watches = false;
    cost_ns = cost_of(thread, sg_tick_ns() - before_ns);
    sg_sampler_pay(&thread->choice.stretches, cost_ns);
    add(&totals->cost_ns, cost_ns);
    errno = error;
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
    thread->choice.is_busy = thread->open_count > 0;
    if (__builtin_expect(!sg_causes_samples && thread->watches, 0))
        stop_watching(thread);
}

void sg_causes_skip(void)
{
    sg_causes_samples = false;
    if (own() == NULL)
        return;
    own()->is_over = own()->choice.is_busy = false;
    own()->open_count = 0;
}

/* ---- start and end ---- */

/* What there is, and what it costs. */
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
    if (settings.mode == SG_CAUSES_OFF)
        return;
    totals = sg_log_entry(settings.log, 1);
    thread = totals != NULL ? take(settings.begin_ns) : NULL;
    if (thread != NULL) {
        totals->mode = (uint8_t)settings.mode;
        totals->mask = thread->reader.mask;
        sg_log_publish(totals, SG_RECORD_CAUSES);
        record_sources(thread);
        atomic_store(&sg_causes_is_on, true);
    }
    errno = error;
}

void sg_causes_stop(void)
{
    if (!atomic_load(&sg_causes_is_on))
        return;
    if (sg_causes_samples)
        sg_causes_enter();
    if (own() != NULL && own()->is_over)
        settle(own(), 0, 0);
    atomic_store(&sg_causes_is_on, false);
    pthread_mutex_lock(&lock);
    for (struct thread *thread = threads; thread != NULL; thread = thread->next)
        sg_causes_sums_clear(&thread->sums);
    pthread_mutex_unlock(&lock);
    if (own() != NULL) {
        pthread_setspecific(at_end, NULL);
        put_back(own());
        has_none = false;
    }
}

void sg_causes_forget(void)
{
    atomic_store(&sg_causes_is_on, false);
    sg_causes_samples = false;
    if (own() != NULL)
        sg_reader_close(&own()->reader);
}

void sg_causes_reset(void)
{
    pthread_mutex_lock(&lock);
    for (const struct thread *thread = threads; thread != NULL; thread = thread->next)
        sg_causes_sums_reset(&thread->sums);
    pthread_mutex_unlock(&lock);
}
