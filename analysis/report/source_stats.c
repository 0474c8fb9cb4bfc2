/* Reads the statistics in the logs of a run into an aggregate, in two passes: first names and
 * communicators, which belong to the run, then the records of each log. Names of call sites come
 * from the logs or from symbols. The last part opens all logs of a run and reads their headers.
 */
#include "report/source_stats.h"

#include "core/clock.h"
#include "core/clocksync.h"
#include "core/executed.h"
#include "core/hash.h"
#include "core/room.h"
#include "core/text.h"
#include "rule/rule.h"
#include "trace/export/logread_all.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sg_log_name {
    char *text; /* "function\0file\0" */
    const char *function, *file;
    uint32_t line;
};

/* text is "function\0file\0", malloc'ed; this takes it over. */
static enum sg_status keep(struct sg_log_names *names, uint32_t id, char *text, size_t text_bytes,
                           uint32_t line)
{
    struct sg_log_name name = {.text = text, .line = line};

    if (text == NULL)
        return SG_ERR_MEMORY;
    name.function = text;
    name.file = sg_logread_part(text, (uint32_t)text_bytes, 1);
    if (!SG_APPEND(names->names, names->name_count, name)) {
        free(text);
        return SG_ERR_MEMORY;
    }
    return sg_map_put(&names->name_by_id, id, names->name_count - 1);
}

enum sg_status sg_log_names_take(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site_name *record)
{
    if (sg_map_get(&names->name_by_id, record->id) >= 0)
        return SG_OK;
    return keep(names, record->id, sg_logread_text(log, record, record->text_bytes),
                record->text_bytes, record->line);
}

/* Symbol lookup is the most expensive step and every rank has the site, so each site is looked up
 * once. */
static enum sg_status note_try(struct sg_log_names *names, uint32_t id, const char *module,
                               bool *is_first)
{
    uint64_t key = sg_hash_mix(sg_hash_bytes(SG_HASH_START, module, strlen(module)) + id);

    *is_first = sg_map_get(&names->tried, key) < 0;
    return *is_first ? sg_map_put(&names->tried, key, 0) : SG_OK;
}

/* Names from symbols are kept, too, for later readings of the logs. */
static enum sg_status keep_found(struct sg_log_names *names, const struct sg_site_text *found)
{
    const char *file = found->file != NULL ? found->file : "";
    size_t text_bytes = strlen(found->function) + strlen(file) + 2;
    char *text = malloc(text_bytes + 1);

    if (text != NULL)
        snprintf(text, text_bytes + 1, "%s%c%s", found->function, '\0', file);
    return keep(names, found->id, text, text_bytes, found->line);
}

/* text: the text of the record. */
static void look_up(struct sg_log_names *names, const struct sg_record_site *record,
                    const char *text, struct sg_site_text *out)
{
    const char *build_id = sg_logread_part(text, record->text_bytes, 1);
    const char *callers = sg_logread_part(text, record->text_bytes, 2);
    struct sg_symbol symbol = {0};

    if (text[0] == '\0' || (names->symbols == NULL && sg_symbols_open(&names->symbols) != SG_OK))
        return;
    /* If the module is gone, only module+offset is known. */
    if (sg_symbols_lookup(names->symbols, text, build_id, record->offset, &symbol) == SG_OK) {
        out->function = sg_callers_name(names->symbols, text, &symbol, record->offset, callers);
        out->file = symbol.file;
        out->line = symbol.line;
    }
}

enum sg_status sg_log_names_site(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site *record,
                                 struct sg_aggregate *aggregate, uint32_t *out)
{
    struct sg_site_text text = {.id = record->id, .offset = record->offset};
    int64_t name = sg_map_get(&names->name_by_id, record->id);
    enum sg_status status;
    bool is_first = false;
    char *module;

    if (sg_aggregate_knows_site(aggregate, record->id, out))
        return SG_OK;
    module = sg_logread_text(log, record, record->text_bytes);
    if (module == NULL)
        return SG_ERR_MEMORY;
    text.module = sg_text_base_name(module);
    if (name >= 0) {
        text.function = names->names[name].function;
        text.file = names->names[name].file;
        text.line = names->names[name].line;
    } else if (note_try(names, record->id, module, &is_first) != SG_OK) {
        free(module);
        return SG_ERR_MEMORY;
    }
    if (is_first)
        look_up(names, record, module, &text);
    status = sg_aggregate_site(aggregate, &text, out);
    if (status == SG_OK && is_first && text.function != NULL)
        status = keep_found(names, &text);
    free(module);
    return status;
}

void sg_log_names_clear(struct sg_log_names *names)
{
    for (uint32_t i = 0; i < names->name_count; i++)
        free(names->names[i].text);
    free(names->names);
    sg_map_clear(&names->name_by_id);
    sg_map_clear(&names->tried);
    if (names->symbols != NULL)
        sg_symbols_close(names->symbols);
    *names = (struct sg_log_names){0};
}

/* These indices have the same meaning in every log (struct sg_record_comm). */
enum { WORLD = 0, SELF = 1, FIRST_OTHER = 2 };

struct comm {
    uint32_t root, counter; /* identity of the communicator */
    uint32_t size;
    char *name;
    uint32_t index; /* index in the aggregate */
};

struct reading {
    const struct sg_log_set *set;
    struct sg_aggregate *aggregate;
    struct sg_log_names *names;
    struct comm *comms; /* sorted by identity after the first pass */
    uint32_t comm_count;
    uint32_t world, self;           /* indices in the aggregate */
    struct sg_map sites, log_comms; /* current log: its indices -> indices in the aggregate */
    uint64_t blocked_ns;            /* current log: sum */
    bool just_ended;
    bool lives;                       /* a rank runs, or the run has just ended */
    uint64_t last_of_day_ns;          /* the last moment that the logs know, if none does */
    uint32_t arms[SG_EXECUTED_LIMIT]; /* current log: its numbers -> the aggregate's */
};

/* ---- first pass: definitions of the run ------------------------------------------------------ */

/* Adds an entry for each record; place_comms() merges the entries of a communicator's members. */
static enum sg_status take_comm(struct reading *reading, struct sg_logread *log,
                                const struct sg_record_comm *record)
{
    struct comm comm = {
        .root = record->root_world_rank, .counter = record->root_counter, .size = record->size};

    if (record->index < FIRST_OTHER)
        return SG_OK;
    comm.name = sg_logread_text(log, record, record->text_bytes);
    if (comm.name == NULL || !SG_APPEND(reading->comms, reading->comm_count, comm)) {
        free(comm.name);
        return SG_ERR_MEMORY;
    }
    return SG_OK;
}

static enum sg_status collect(struct reading *reading)
{
    enum sg_status status = SG_OK;

    for (int i = 0; i < reading->set->count && status == SG_OK; i++) {
        struct sg_logread *log = reading->set->logs[i];
        enum sg_record_kind kind;
        const void *record;
        uint64_t slot = 0;

        while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
            if (kind == SG_RECORD_SITE_NAME)
                status = sg_log_names_take(reading->names, log, record);
            else if (kind == SG_RECORD_COMM)
                status = take_comm(reading, log, record);
        }
    }
    return status;
}

static int compare_identity(const void *left, const void *right)
{
    const struct comm *a = left, *b = right;

    if (a->root != b->root)
        return a->root > b->root ? 1 : -1;
    return (a->counter > b->counter) - (a->counter < b->counter);
}

static enum sg_status name_comm(struct comm *comm)
{
    char *name;

    if (comm->name[0] != '\0')
        return SG_OK;
    if (asprintf(&name, "comm %u.%u", comm->root, comm->counter) < 0)
        return SG_ERR_MEMORY;
    free(comm->name);
    comm->name = name;
    return SG_OK;
}

/* Among communicators with the same name, size and rank 0, the nth one made is the nth in the
 * archive.
 */
static uint32_t count_namesakes(const struct reading *reading, uint32_t before)
{
    const struct comm *comm = &reading->comms[before];
    uint32_t count = 0;

    for (uint32_t i = 0; i < before; i++) {
        const struct comm *other = &reading->comms[i];

        count += other->root == comm->root && other->size == comm->size &&
                 strcmp(other->name, comm->name) == 0;
    }
    return count;
}

static enum sg_status place_comms(struct reading *reading)
{
    uint32_t kept = 0;
    enum sg_status status;

    status = sg_aggregate_find_comm(reading->aggregate, "MPI_COMM_WORLD",
                                    (uint32_t)reading->set->world_size, 0, 0, &reading->world);
    if (status == SG_OK)
        status =
            sg_aggregate_find_comm(reading->aggregate, "MPI_COMM_SELF", 1, -1, 0, &reading->self);
    if (reading->comm_count > 0)
        qsort(reading->comms, reading->comm_count, sizeof *reading->comms, compare_identity);
    for (uint32_t i = 0; i < reading->comm_count; i++) {
        struct comm *last = kept > 0 ? &reading->comms[kept - 1] : NULL;
        struct comm *comm = &reading->comms[i];

        if (last == NULL || compare_identity(last, comm) != 0) {
            reading->comms[kept++] = *comm;
        } else if (last->name[0] == '\0') {
            free(last->name);
            last->name = comm->name;
        } else {
            free(comm->name);
        }
    }
    reading->comm_count = kept;
    for (uint32_t i = 0; i < kept && status == SG_OK; i++)
        status = name_comm(&reading->comms[i]);
    for (uint32_t i = 0; i < kept && status == SG_OK; i++) {
        struct comm *comm = &reading->comms[i];

        status = sg_aggregate_find_comm(reading->aggregate, comm->name, comm->size, comm->root,
                                        count_namesakes(reading, i), &comm->index);
    }
    return status;
}

/* ---- second pass: each log ------------------------------------------------------------------- */

static enum sg_status map_site(struct reading *reading, struct sg_logread *log,
                               const struct sg_record_site *record)
{
    uint32_t index;
    enum sg_status status =
        sg_log_names_site(reading->names, log, record, reading->aggregate, &index);

    return status == SG_OK ? sg_map_put(&reading->sites, record->index, index) : status;
}

static enum sg_status map_comm(struct reading *reading, const struct sg_record_comm *record)
{
    struct comm key = {.root = record->root_world_rank, .counter = record->root_counter};
    const struct comm *comm;

    if (record->index < FIRST_OTHER)
        return SG_OK;
    comm = bsearch(&key, reading->comms, reading->comm_count, sizeof key, compare_identity);
    return sg_map_put(&reading->log_comms, record->index, comm->index);
}

static uint64_t load(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static enum sg_status take_stat(struct reading *reading, uint32_t rank,
                                const struct sg_record_stat *record)
{
    struct sg_totals totals = {
        .rank = rank,
        .arm = reading->arms[sg_executed_arm(record->executed)],
        .operation = record->operation,
        .nonblocking = record->nonblocking != 0,
        .calls = load(&record->calls),
        .bytes = load(&record->bytes),
        .blocked_ns = load(&record->blocked_ns),
        .blocked_max_ns = load(&record->blocked_max_ns),
        .hidden_ns = load(&record->hidden_ns),
        .handler_ns = load(&record->handler_ns),
        .own = {.calls = load(&record->calls),
                .sum_ns = load(&record->own_ns),
                .min_ns = load(&record->own_min_ns),
                .max_ns = load(&record->own_max_ns),
                .square = atomic_load_explicit(&record->own_square, memory_order_relaxed)},
        .latency = {.calls = record->nonblocking != 0 ? load(&record->calls) : 0,
                    .sum_ns = load(&record->blocked_ns) + load(&record->hidden_ns),
                    .min_ns = load(&record->latency_min_ns),
                    .max_ns = load(&record->latency_max_ns)},
        .counts.of = {[SG_COUNT_EARLY] = load(&record->early),
                      [SG_COUNT_LATE] = load(&record->late),
                      [SG_COUNT_SIGNALS] = load(&record->signals),
                      [SG_COUNT_IGNORED] = load(&record->ignored),
                      [SG_COUNT_STALLS] = load(&record->stalls),
                      [SG_COUNT_MOVES] = load(&record->moves),
                      [SG_COUNT_REPEATS] = load(&record->repeats),
                      [SG_COUNT_OUTSTANDING] = load(&record->outstanding_max)},
    };
    int64_t site = sg_map_get(&reading->sites, record->site);
    int64_t comm = sg_map_get(&reading->log_comms, record->comm);
    const char *algorithm = "";
    enum sg_status status;

    /* A record without a communicator (in a truncated log) or with an unknown operation belongs to
     * no row. */
    if (comm < 0 || record->operation >= SG_OPERATION_COUNT || totals.calls == 0)
        return SG_OK;
    if (sg_executed_algorithm(record->executed) < sg_algorithm_count)
        algorithm = sg_algorithms[sg_executed_algorithm(record->executed)].name;
    status = sg_aggregate_algorithm(reading->aggregate, algorithm, &totals.algorithm);
    if (status == SG_OK && site < 0) {
        struct sg_site_text unknown = {0};

        status = sg_aggregate_site(reading->aggregate, &unknown, &totals.site);
    } else {
        totals.site = (uint32_t)site;
    }
    totals.comm = (uint32_t)comm;
    reading->blocked_ns += totals.blocked_ns;
    return status == SG_OK ? sg_aggregate_totals(reading->aggregate, &totals) : status;
}

static enum sg_status map_arm(struct reading *reading, const struct sg_logread *log,
                              const struct sg_record_arm *record)
{
    struct sg_trials *trials = sg_aggregate_trials(reading->aggregate);
    char *place = sg_logread_text(log, record, record->text_bytes);
    enum sg_status status;

    if (place == NULL)
        return SG_ERR_MEMORY;
    sg_trials_set_block(trials, record->block);
    status = sg_trials_arm(trials, place, sg_logread_part(place, record->text_bytes, 1),
                           &reading->arms[record->arm % SG_EXECUTED_LIMIT]);
    free(place);
    return status;
}

uint32_t sg_log_threads(const struct sg_logread *log)
{
    const struct sg_log_header *header = sg_logread_header(log);
    uint32_t threads = atomic_load_explicit(&header->thread_count, memory_order_relaxed);

    threads -= threads > 1 && header->progress_thread > 0;
    if (threads > UINT16_MAX) /* records have no more numbers */
        return UINT16_MAX;
    return threads > 0 ? threads : 1;
}

/* ---- the end of a rank's run ----------------------------------------------------------------- */

/* Begin of the call that a thread is in; 0: it is in none, or has just left it. */
static uint64_t open_since_ns(const struct sg_record_thread *record)
{
    uint32_t turn = atomic_load_explicit(&record->turn, memory_order_acquire);
    uint64_t end_ns = atomic_load_explicit(&record->end_ns, memory_order_acquire);
    uint64_t begin_ns = record->begin_ns;

    /* Acquire: begin_ns is read before turn is read again. */
    atomic_thread_fence(memory_order_acquire);
    return turn > 0 && turn % 2 == 0 && end_ns == 0 && begin_ns < SG_TIME_LIMIT_NS &&
                   atomic_load_explicit(&record->turn, memory_order_relaxed) == turn
               ? begin_ns
               : 0;
}

/* The log's last moment: the end of its last record, or the begin of a call that has no end. */
static uint64_t last_ns(struct sg_logread *log)
{
    uint64_t last_ns = sg_logread_last_ns(log), slot = 0;
    enum sg_record_kind kind;
    const void *record;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_THREAD && open_since_ns(record) > last_ns)
            last_ns = open_since_ns(record);
    }
    return last_ns;
}

static uint64_t of_day_ns(struct sg_logread *log)
{
    const struct sg_log_header *header = sg_logread_header(log);

    return header->realtime_ns + (last_ns(log) - header->monotonic_ns);
}

static void find_last(struct reading *reading)
{
    const struct sg_watch *watch = reading->aggregate->watch;

    reading->just_ended = watch != NULL && watch->just_ended;
    reading->lives =
        reading->just_ended || sg_logread_count_living(reading->set->logs, reading->set->count) > 0;
    for (int i = 0; i < reading->set->count; i++) {
        uint64_t of_day = of_day_ns(reading->set->logs[i]);

        if (of_day < SG_TIME_LIMIT_NS && of_day > reading->last_of_day_ns)
            reading->last_of_day_ns = of_day;
    }
}

/* Logs of some writers lack the end of MPI_Finalize. */
static bool has_ended(const struct sg_log_header *header)
{
    return header->finalize_end_ns != 0 ||
           (header->finalize_begin_ns != 0 &&
            atomic_load_explicit(&header->state, memory_order_relaxed) == SG_LOG_FINALIZED);
}

/* The log of a rank that has not reached the end of MPI_Finalize has no end: its run ends with the
 * job. A rank that died while others live ended with its last record. */
static uint64_t find_end_ns(const struct reading *reading, struct sg_logread *log)
{
    const struct sg_log_header *header = sg_logread_header(log);
    uint64_t own_ns = last_ns(log), of_day = of_day_ns(log), now_ns;

    if (has_ended(header))
        return header->finalize_end_ns != 0 ? header->finalize_end_ns : header->finalize_begin_ns;
    if (reading->lives && !reading->just_ended && !sg_logread_lives(log))
        return own_ns;
    if (!reading->lives)
        return reading->last_of_day_ns > of_day && of_day > 0
                   ? own_ns + (reading->last_of_day_ns - of_day)
                   : own_ns;
    now_ns = header->machine == sg_clocksync_machine()
                 ? sg_clock_ns()
                 : header->monotonic_ns + (sg_clock_of_ns(CLOCK_REALTIME) - header->realtime_ns);
    return now_ns > own_ns && now_ns < SG_TIME_LIMIT_NS ? now_ns : own_ns;
}

/* Adds the rank's time in calls that have not ended, which no statistics count. */
static void take_open(struct reading *reading, struct sg_logread *log, uint64_t end_ns)
{
    const struct sg_log_header *header = sg_logread_header(log);
    uint32_t rank = (uint32_t)header->rank;
    uint64_t slot = 0, ends_ns = sg_log_ends_ns(header);
    enum sg_record_kind kind;
    const void *record;

    if (has_ended(header))
        return;
    if (header->finalize_begin_ns != 0 && end_ns > header->finalize_begin_ns)
        sg_aggregate_ends(reading->aggregate, rank, ends_ns + (end_ns - header->finalize_begin_ns));
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        uint64_t since_ns = kind == SG_RECORD_THREAD ? open_since_ns(record) : 0;

        if (since_ns > header->init_end_ns && end_ns > since_ns &&
            (header->finalize_begin_ns == 0 || since_ns < header->finalize_begin_ns))
            sg_aggregate_open(reading->aggregate, rank, end_ns - since_ns);
    }
}

/* The run time is at least the time in collectives. */
static uint64_t run_ns(const struct reading *reading, const struct sg_logread *log, uint64_t end_ns,
                       uint32_t threads)
{
    const struct sg_log_header *header = sg_logread_header(log);
    uint64_t begin_ns = header->init_begin_ns ? header->init_begin_ns : header->monotonic_ns;
    uint64_t span_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

    if (header->finalize_begin_ns == 0 && span_ns < reading->blocked_ns / threads)
        return reading->blocked_ns / threads;
    return span_ns;
}

/* Reads definitions first: a statistics record may precede the site that it counts for. */
static enum sg_status read_log(struct reading *reading, struct sg_logread *log)
{
    uint32_t rank = (uint32_t)sg_logread_header(log)->rank;
    enum sg_record_kind kind;
    const void *record;
    enum sg_status status;
    uint64_t slot = 0;

    sg_map_clear(&reading->sites);
    sg_map_clear(&reading->log_comms);
    reading->blocked_ns = 0;
    memset(reading->arms, 0, sizeof reading->arms);
    status = sg_map_put(&reading->log_comms, WORLD, reading->world);
    if (status == SG_OK)
        status = sg_map_put(&reading->log_comms, SELF, reading->self);
    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_SITE)
            status = map_site(reading, log, record);
        else if (kind == SG_RECORD_COMM)
            status = map_comm(reading, record);
        else if (kind == SG_RECORD_ARM)
            status = map_arm(reading, log, record);
    }
    slot = 0;
    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_STAT)
            status = take_stat(reading, rank, record);
    }
    if (status == SG_OK) {
        uint32_t threads = sg_log_threads(log);
        uint64_t end_ns = find_end_ns(reading, log);

        sg_aggregate_threads(reading->aggregate, rank, threads);
        sg_aggregate_run_time(reading->aggregate, rank, run_ns(reading, log, end_ns, threads));
        take_open(reading, log, end_ns);
    }
    return status;
}

enum sg_status sg_source_stats(const struct sg_log_set *set, struct sg_progress_line *progress,
                               struct sg_aggregate *aggregate)
{
    struct sg_log_names own_names = {0};
    struct reading reading = {
        .set = set, .aggregate = aggregate, .names = set->names != NULL ? set->names : &own_names};
    enum sg_status status = collect(&reading);

    find_last(&reading);
    if (status == SG_OK)
        status = place_comms(&reading);
    for (int i = 0; i < set->count && status == SG_OK; i++) {
        status = read_log(&reading, set->logs[i]);
        sg_progress_line_step(progress, "statistics", (uint64_t)i + 1, (uint64_t)set->count);
    }
    sg_progress_line_end(progress);
    if (status != SG_OK)
        sg_log("statistics: %s", sg_status_text(status));

    for (uint32_t i = 0; i < reading.comm_count; i++)
        free(reading.comms[i].name);
    free(reading.comms);
    sg_log_names_clear(&own_names);
    sg_map_clear(&reading.sites);
    sg_map_clear(&reading.log_comms);
    return status;
}

/* ---- the set of all logs, and their headers -------------------------------------------------- */

enum sg_status sg_log_set_open(const char *directory, struct sg_log_set *out)
{
    struct sg_log_set set = {0};
    enum sg_status status =
        sg_logread_open_all(directory, &set.logs, &set.count, &set.world_size, &set.missing);

    if (status == SG_OK)
        *out = set;
    return status;
}

void sg_log_set_close(struct sg_log_set *set)
{
    for (int i = 0; i < set->count; i++)
        sg_logread_close(set->logs[i]);
    free(set->logs);
    *set = (struct sg_log_set){0};
}

void sg_log_set_facts(const struct sg_log_set *set, struct sg_log_facts *out)
{
    struct sg_log_facts facts = {.complete = set->missing == 0,
                                 .living = sg_logread_count_living(set->logs, set->count)};

    for (int i = 0; i < set->count; i++) {
        const struct sg_log_header *header = sg_logread_header(set->logs[i]);
        uint64_t off_ns = sg_log_off_ns(header, sg_logread_last_ns(set->logs[i]));
        struct sg_waiting waiting;

        facts.off_ns = off_ns > facts.off_ns ? off_ns : facts.off_ns;
        if (facts.program == NULL && header->program[0] != '\0')
            facts.program = header->program;
        facts.any_otf2 |= header->trace_mode == SG_TRACE_OTF2;
        facts.complete &=
            atomic_load_explicit(&header->state, memory_order_relaxed) == SG_LOG_FINALIZED;
        facts.complete &= sg_logread_damaged(set->logs[i]) == 0;
        facts.unmanaged_calls +=
            atomic_load_explicit(&header->unmanaged_calls, memory_order_relaxed);
        facts.unmanaged_nonblocking +=
            atomic_load_explicit(&header->unmanaged_nonblocking, memory_order_relaxed);
        facts.unmanaged_full += atomic_load_explicit(&header->unmanaged_full, memory_order_relaxed);
        facts.overhead_calls += atomic_load_explicit(&header->overhead_calls, memory_order_relaxed);
        facts.overhead_ns += atomic_load_explicit(&header->overhead_ns, memory_order_relaxed);
        facts.overhead_long_calls +=
            atomic_load_explicit(&header->overhead_long_calls, memory_order_relaxed);
        sg_logread_waiting(set->logs[i], &waiting);
        sg_waiting_add(&facts.waiting, &waiting, header->host);
    }
    *out = facts;
}

static enum sg_status learn_of(struct sg_logread *log, struct sg_learned *learned)
{
    uint32_t rank = (uint32_t)sg_logread_header(log)->rank;
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_marker *marker = record;
        char *text;

        if (kind != SG_RECORD_MARKER || marker->marker != SG_MARKER_LEARNED)
            continue;
        text = sg_logread_text(log, record, marker->text_bytes);
        status = text != NULL ? sg_learned_add(learned, rank, text) : SG_ERR_MEMORY;
        free(text);
    }
    return status;
}

enum sg_status sg_log_set_learned(const struct sg_log_set *set, struct sg_learned *learned)
{
    enum sg_status status = SG_OK;

    for (int i = 0; i < set->count && status == SG_OK; i++)
        status = learn_of(set->logs[i], learned);
    if (status != SG_OK)
        sg_log("statistics: %s", sg_status_text(status));
    return status;
}
