/* Keeps a thread's distributions of computation, communication and chosen functions in the log
 * (mmds.h). Only the owning thread adds; resets take the lock.
 */
#include "profile/mmds.h"

#include "core/bins.h"
#include "core/text.h"
#include "core/tick.h"
#include "profile/counted_functions.h"
#include "runtime/settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

atomic_bool sg_mmds_is_on;

/* Distributions of a chosen function; NULL: none yet. */
struct chosen {
    struct sg_record_distribution *latency, *bytes;
};

struct thread {
    uint16_t number;
    uint64_t left_ns; /* when it left the last blocking function; 0: none */
    struct sg_record_distribution *granularity, *overhead;
    struct chosen *chosen;
    struct thread *next;
};

static bool is_enabled;
/* 1 + position among a thread's chosen functions; 0: not chosen. A wide form shares its narrow
 * form's. */
static uint16_t chosen_places[SG_FUNCTION_COUNT];
static enum sg_function chosen_functions[SG_FUNCTION_COUNT];
static unsigned chosen_count;
static _Atomic uint64_t since_ns; /* earlier time does not count */
static __thread struct thread *own;
static struct thread *threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define LOAD(counter) atomic_load_explicit(&(counter), memory_order_relaxed)
#define STORE(counter, value) atomic_store_explicit(&(counter), (value), memory_order_relaxed)

/* ---- distributions ---- */

static struct sg_record_distribution *make(enum sg_distribution of, uint16_t thread,
                                           uint32_t function)
{
    static const uint64_t zeros[SG_BINS_COUNT_MOST];
    uint32_t bins = (uint32_t)sg_process.config.mmds_bins;
    uint32_t bytes = sg_bins_count(bins) * (uint32_t)sizeof zeros[0];
    struct sg_record_distribution *record = sg_log_definition(sg_process.log, zeros, bytes);

    if (record == NULL)
        return NULL;
    record->of = (uint8_t)of;
    record->thread = thread;
    record->function = function;
    record->text_bytes = bytes;
    record->bins = bins;
    sg_log_publish(record, SG_RECORD_DISTRIBUTION);
    return record;
}

static _Atomic uint64_t *bin_of(struct sg_record_distribution *record, uint32_t index)
{
    struct sg_record_cont *slots = (void *)(record + 1);

    return (_Atomic uint64_t *)(void *)slots[index / SG_BINS_A_SLOT].data + index % SG_BINS_A_SLOT;
}

/* One thread adds; others read. */
static void add(struct sg_record_distribution *record, uint64_t value)
{
    _Atomic uint64_t *bin;

    if (record == NULL)
        return;
    bin = bin_of(record, sg_bins_index(record->bins, value));
    if (LOAD(record->count) == 0 || value < LOAD(record->min))
        STORE(record->min, value);
    if (value > LOAD(record->max))
        STORE(record->max, value);
    STORE(record->count, LOAD(record->count) + 1);
    STORE(record->sum, LOAD(record->sum) + value);
    STORE(*bin, LOAD(*bin) + 1);
}

static void clear(struct sg_record_distribution *record)
{
    if (record == NULL)
        return;
    STORE(record->count, 0);
    STORE(record->sum, 0);
    STORE(record->min, 0);
    STORE(record->max, 0);
    for (uint32_t i = 0; i < sg_bins_count(record->bins); i++)
        STORE(*bin_of(record, i), 0);
}

/* ---- threads ---- */

static struct thread *make_thread(uint16_t number)
{
    struct thread *thread = calloc(1, sizeof *thread);

    if (thread == NULL)
        return NULL;
    thread->chosen = calloc(chosen_count + 1, sizeof *thread->chosen);
    thread->granularity = make(SG_DISTRIBUTION_GRANULARITY, number, 0);
    thread->overhead = make(SG_DISTRIBUTION_OVERHEAD, number, 0);
    if (thread->chosen == NULL || thread->granularity == NULL || thread->overhead == NULL) {
        free(thread->chosen);
        free(thread);
        return NULL;
    }
    /* The first thread has left MPI_Init. */
    if (number == 0)
        thread->left_ns = sg_log_header(sg_process.log)->init_end_ns;
    STORE(thread->granularity->from_ns, thread->left_ns);
    STORE(thread->granularity->until_ns, thread->left_ns);
    thread->number = number;
    thread->next = threads;
    threads = thread;
    return thread;
}

/* Per-thread data are recycled with the thread's number when a thread has ended. */
static struct thread *take(void)
{
    uint16_t number = sg_profile_thread();
    struct thread *thread;

    if (number == UINT16_MAX)
        return NULL;
    pthread_mutex_lock(&lock);
    for (thread = threads; thread != NULL && thread->number != number; thread = thread->next)
        ;
    if (thread != NULL)
        thread->left_ns = 0;
    else
        thread = make_thread(number);
    pthread_mutex_unlock(&lock);
    return thread;
}

static inline struct thread *own_thread(void)
{
    if (__builtin_expect(own == NULL, 0))
        own = take();
    return own;
}

/* ---- measuring ---- */

/* Ends the thread's computation at now_ns. */
static void end_computation(struct thread *thread, uint64_t now_ns)
{
    uint64_t since = LOAD(since_ns), left_ns = thread->left_ns;

    if (left_ns > 0 && left_ns < since)
        left_ns = since;
    /* A call inside another one, or one during a reset, began before left_ns. */
    if (left_ns > 0)
        add(thread->granularity, now_ns > left_ns ? now_ns - left_ns : 0);
    if (now_ns > left_ns)
        left_ns = now_ns;
    if (LOAD(thread->granularity->from_ns) == 0)
        STORE(thread->granularity->from_ns, left_ns);
    STORE(thread->granularity->until_ns, left_ns);
    thread->left_ns = left_ns;
}

static void add_blocking(struct thread *thread, uint64_t begin_ns, uint64_t end_ns)
{
    end_computation(thread, begin_ns);
    if (end_ns < thread->left_ns)
        return;
    add(thread->overhead, end_ns - thread->left_ns);
    STORE(thread->granularity->until_ns, end_ns);
    thread->left_ns = end_ns;
}

static void add_chosen(struct thread *thread, enum sg_function function, uint64_t latency_ns,
                       uint64_t bytes)
{
    struct chosen *chosen = &thread->chosen[chosen_places[function] - 1];
    uint32_t number;

    if (chosen->latency == NULL) {
        number = sg_function_number(chosen_functions[chosen_places[function] - 1]);
        if (number == 0)
            return;
        chosen->latency = make(SG_DISTRIBUTION_LATENCY, thread->number, number - 1);
        if (sg_functions[function].flow != SG_FLOW_NONE)
            chosen->bytes = make(SG_DISTRIBUTION_BYTES, thread->number, number - 1);
    }
    add(chosen->latency, latency_ns);
    add(chosen->bytes, bytes);
}

static uint64_t bytes_of(const struct sg_moved *moved)
{
    return moved->sent_bytes > moved->received_bytes ? moved->sent_bytes : moved->received_bytes;
}

/* True if the function's latency ends when its request is complete. */
static bool makes_request(enum sg_function function)
{
    uint8_t mode = sg_functions[function].mode;

    return (mode == SG_MODE_POST || mode == SG_MODE_PREPARE) &&
           sg_places[function].request != SG_NO_WORD;
}

void sg_mmds_add_call(const struct sg_profile_sample *sample, uint64_t begin_ns)
{
    struct thread *thread = own_thread();

    if (thread == NULL)
        return;
    if (sg_functions[sample->function].mode == SG_MODE_WAIT)
        add_blocking(thread, begin_ns, begin_ns + sample->time_ns);
    if (chosen_places[sample->function] > 0 && !makes_request(sample->function))
        add_chosen(thread, sample->function, sample->time_ns, bytes_of(&sample->moved));
}

void sg_mmds_add_completion(enum sg_function function, uint64_t latency_ns, uint64_t bytes)
{
    struct thread *thread = chosen_places[function] > 0 ? own_thread() : NULL;

    if (thread != NULL && makes_request(function))
        add_chosen(thread, function, latency_ns, bytes);
}

void sg_mmds_add_collective(const struct sg_profile_sample *sample, uint64_t begin_ns, bool nested)
{
    struct thread *thread = own_thread();

    if (thread == NULL)
        return;
    if (!nested)
        add_blocking(thread, begin_ns, begin_ns + sample->time_ns);
    if (chosen_places[sample->function] > 0 && !sample->failed)
        add_chosen(thread, sample->function, sample->time_ns, bytes_of(&sample->moved));
}

/* ---- start and end ---- */

/* True if b is a with wide counts. */
static bool is_wide_form(enum sg_function a, enum sg_function b)
{
    size_t length = strlen(sg_functions[a].name);

    return sg_functions[b].counts_wide &&
           strncmp(sg_functions[a].name, sg_functions[b].name, length) == 0 &&
           strcmp(sg_functions[b].name + length, "_c") == 0;
}

static void choose(const char *globs)
{
    bool takes[SG_FUNCTION_COUNT];

    sg_function_globs("STAGGER_MMDS_CALLS", globs, sg_process.rank == 0, false, takes);
    for (int a = 0; a < SG_FUNCTION_COUNT; a++) {
        if (!takes[a] || sg_functions[a].counts_wide)
            continue;
        chosen_functions[chosen_count++] = (enum sg_function)a;
        for (int b = 0; b < SG_FUNCTION_COUNT; b++) {
            if (a == b || is_wide_form((enum sg_function)a, (enum sg_function)b))
                chosen_places[b] = (uint16_t)chosen_count;
        }
    }
}

void sg_mmds_start(void)
{
    const struct sg_config *config = &sg_process.config;
    struct sg_rank_list ranks;

    if (config->mmds == 0)
        return;
    choose(config->mmds_calls);
    is_enabled =
        *config->mmds_ranks == '\0' || (sg_rank_list_parse(config->mmds_ranks, &ranks) &&
                                        sg_rank_list_has(&ranks, (uint32_t)sg_process.rank));
    atomic_store(&sg_mmds_is_on, is_enabled);
}

void sg_mmds_stop(uint64_t end_ns)
{
    struct thread *thread = sg_mmds_counts() ? own_thread() : NULL;

    if (thread != NULL && thread->number == 0)
        end_computation(thread, end_ns);
    atomic_store(&sg_mmds_is_on, false);
}

void sg_mmds_switch(bool on)
{
    struct thread *thread;

    if (!is_enabled || on == sg_mmds_counts())
        return;
    thread = own_thread();
    if (!on && thread != NULL)
        end_computation(thread, sg_tick_ns());
    if (on)
        atomic_store(&since_ns, sg_tick_ns());
    atomic_store(&sg_mmds_is_on, on);
}

void sg_mmds_reset(void)
{
    uint64_t now_ns = sg_tick_ns();

    if (!is_enabled)
        return;
    own_thread();
    pthread_mutex_lock(&lock);
    atomic_store(&since_ns, now_ns);
    for (struct thread *thread = threads; thread != NULL; thread = thread->next) {
        clear(thread->granularity);
        clear(thread->overhead);
        STORE(thread->granularity->from_ns, now_ns);
        STORE(thread->granularity->until_ns, now_ns);
        for (unsigned i = 0; i < chosen_count; i++) {
            clear(thread->chosen[i].latency);
            clear(thread->chosen[i].bytes);
        }
    }
    pthread_mutex_unlock(&lock);
}
