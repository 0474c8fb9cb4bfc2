/* Reads the present call of each thread from the logs of a run (open_calls.h). Nothing in a log is
 * trusted: indices, ranks and times are checked, and the number of threads is bounded.
 */
#include "report/open_calls.h"

#include "core/clock.h"
#include "core/clocksync.h"
#include "core/hash.h"
#include "core/room.h"
#include "core/text.h"
#include "report/aggregate.h"
#include "report/source_stats.h"
#include "report/wait_tracker.h"
#include "trace/export/logread.h"
#include "trace/export/strings.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MOST 64u /* of a rank */
#define READ_TRIES 1000

/* These indices have the same meaning in every log (struct sg_record_profile_comm). */
enum { NONE = 0, WORLD = 1, SELF = 2 };

/* A copy of a thread's record. */
struct present {
    struct sg_record_thread record;
    uint64_t end_ns;
};

/* The log being read. */
struct reading {
    const struct sg_log_set *set;
    struct sg_aggregate *aggregate;
    struct sg_log_names *names;
    struct sg_open_calls *open;
    struct sg_logread *log;
    struct present present[THREADS_MOST];
    uint32_t present_count;
    uint32_t first; /* of the log's calls */
    uint64_t origin_ns;
    bool just_ended;
};

/* ---- a thread's record ----------------------------------------------------------------------- */

/* False: the thread changed it all the time, or was killed while it did. */
static bool copy(const struct sg_record_thread *from, struct present *out)
{
    for (int i = 0; i < READ_TRIES; i++) {
        uint32_t turn = atomic_load_explicit(&from->turn, memory_order_acquire);

        if (turn % 2 != 0)
            continue;
        memcpy(&out->record, from, sizeof out->record);
        out->end_ns = atomic_load_explicit(&from->end_ns, memory_order_acquire);
        /* Acquire: the fields are read before turn is read again. */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&from->turn, memory_order_relaxed) == turn)
            return turn > 0;
    }
    return false;
}

static bool is_sound(const struct present *present)
{
    uint64_t begin_ns = present->record.begin_ns, end_ns = present->end_ns;

    return begin_ns > 0 && begin_ns < SG_TIME_LIMIT_NS && end_ns < SG_TIME_LIMIT_NS &&
           (present->record.operation <= SG_OPERATION_COUNT ||
            present->record.operation == SG_THREAD_PASSES);
}

/* Only the fields that its call has set are kept. */
static void clear_stale(struct sg_record_thread *record)
{
    if (record->operation != SG_THREAD_PASSES)
        return;
    record->operation = 0;
    record->comm = record->order = 0;
    record->to = record->to_tag = record->from = record->from_tag = SG_OPEN_NOBODY;
}

static void find_present(struct reading *reading)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    reading->present_count = 0;
    while (reading->present_count < THREADS_MOST &&
           (record = sg_logread_next(reading->log, &slot, &kind)) != NULL) {
        struct present *present = &reading->present[reading->present_count];

        if (kind == SG_RECORD_THREAD && copy(record, present) && is_sound(present) &&
            (present->end_ns == 0 || present->record.thread == 0)) {
            clear_stale(&present->record);
            reading->present_count++;
        }
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Time of day of a time in the log. */
static uint64_t of_day(const struct sg_logread *log, uint64_t ns)
{
    const struct sg_log_header *header = sg_logread_header(log);

    return header->realtime_ns + (ns - header->monotonic_ns);
}

/* Time of day of the first MPI_Init. */
static uint64_t origin_of(const struct sg_log_set *set)
{
    uint64_t origin_ns = UINT64_MAX;

    for (int i = 0; i < set->count; i++) {
        const struct sg_log_header *header = sg_logread_header(set->logs[i]);
        uint64_t begin_ns =
            header->init_begin_ns != 0 ? header->init_begin_ns : header->monotonic_ns;
        uint64_t at_ns = of_day(set->logs[i], begin_ns);

        origin_ns = at_ns < origin_ns ? at_ns : origin_ns;
    }
    return origin_ns;
}

static void set_times(const struct reading *reading, const struct present *present,
                      struct sg_rank_call *call)
{
    uint64_t since_ns = present->end_ns != 0 ? present->end_ns : present->record.begin_ns;
    bool is_here = sg_logread_header(reading->log)->machine == sg_clocksync_machine();
    uint64_t at_ns = is_here ? since_ns : of_day(reading->log, since_ns);
    uint64_t now_ns = is_here ? sg_clock_ns() : sg_clock_of_ns(CLOCK_REALTIME);
    int64_t from_origin = (int64_t)(of_day(reading->log, since_ns) - reading->origin_ns);

    call->since_ns = from_origin > 0 ? from_origin : 0;
    call->has_age = reading->just_ended || sg_logread_lives(reading->log);
    call->age_ns = call->has_age && now_ns > at_ns ? now_ns - at_ns : 0;
}

/* ---- communicators --------------------------------------------------------------------------- */

uint64_t sg_open_comm_key(const struct sg_record_profile_comm *record)
{
    uint64_t key;

    if (record->index == WORLD)
        return 1;
    if (record->index == SELF || record->identity == 0)
        return 0;
    key = sg_hash_mix(sg_hash_word(record->identity, record->ordinal));
    return key > 1 ? key : 2;
}

static struct sg_open_comm *find_comm(const struct sg_open_calls *open, uint64_t key)
{
    for (uint32_t i = 0; i < open->comm_count && key != 0; i++) {
        if (open->comms[i].key == key)
            return &open->comms[i];
    }
    return NULL;
}

static enum sg_status add_comm(struct reading *reading, const struct sg_record_profile_comm *record,
                               uint32_t *out)
{
    struct sg_open_calls *open = reading->open;
    struct sg_open_comm *known = find_comm(open, sg_open_comm_key(record));
    struct sg_open_comm comm = {.key = sg_open_comm_key(record),
                                .is_inter = record->is_inter != 0,
                                .is_world = record->index == WORLD};

    if (known != NULL) {
        *out = (uint32_t)(known - open->comms);
        return SG_OK;
    }
    comm.name = sg_logread_text(reading->log, record, record->text_bytes);
    if (comm.name == NULL || !SG_APPEND(open->comms, open->comm_count, comm)) {
        free(comm.name);
        return SG_ERR_MEMORY;
    }
    sg_text_clean(comm.name);
    *out = open->comm_count - 1;
    return SG_OK;
}

enum sg_status sg_open_comm_take(struct sg_open_comm *comm, const struct sg_logread *log,
                                 const struct sg_record_profile_comm *record, uint32_t ranks)
{
    uint64_t count = (uint64_t)record->size + (record->is_inter ? record->peers : 0);
    uint64_t name_bytes;
    char *text;

    if (comm->members != NULL || comm->is_world || !record->has_members || count == 0 ||
        count > ranks)
        return SG_OK;
    text = sg_logread_text(log, record, record->text_bytes);
    if (text == NULL)
        return SG_ERR_MEMORY;
    name_bytes = (strlen(text) + 1 + 3) & ~(uint64_t)3;
    if (name_bytes + count * sizeof(uint32_t) <= record->text_bytes) {
        comm->members = malloc(count * sizeof *comm->members);
        comm->count = (uint32_t)count;
        comm->own_count = record->size;
        if (comm->members != NULL)
            memcpy(comm->members, text + name_bytes, count * sizeof *comm->members);
    }
    free(text);
    for (uint32_t i = 0; comm->members != NULL && i < comm->count; i++) {
        if (comm->members[i] >= ranks) {
            free(comm->members);
            comm->members = NULL;
        }
    }
    return SG_OK;
}

static enum sg_status take_members(struct reading *reading, const void *record)
{
    struct sg_open_comm *comm = find_comm(reading->open, sg_open_comm_key(record));

    return comm != NULL ? sg_open_comm_take(comm, reading->log, record, reading->open->rank_count)
                        : SG_OK;
}

static enum sg_status take_name(struct reading *reading, const void *record)
{
    return sg_log_names_take(reading->names, reading->log, record);
}

/* Passes on the records of a kind of all logs. */
static enum sg_status each(struct reading *reading, enum sg_record_kind wanted,
                           enum sg_status (*take)(struct reading *reading, const void *record))
{
    enum sg_status status = SG_OK;

    for (int i = 0; i < reading->set->count; i++) {
        enum sg_record_kind kind;
        const void *record;
        uint64_t slot = 0;

        reading->log = reading->set->logs[i];
        while (status == SG_OK && (record = sg_logread_next(reading->log, &slot, &kind)) != NULL) {
            if (kind == wanted)
                status = take(reading, record);
        }
    }
    return status;
}

int64_t sg_open_comm_world(const struct sg_open_comm *comm, uint32_t ranks, uint32_t own,
                           int64_t rank)
{
    uint32_t first = 0, count = comm->own_count;

    if (rank < 0)
        return SG_OPEN_NOBODY;
    if (comm->is_world)
        return rank < ranks ? rank : SG_OPEN_NOBODY;
    if (comm->members == NULL)
        return SG_OPEN_NOBODY;
    for (uint32_t i = 0; comm->is_inter && i < comm->own_count; i++) {
        if (comm->members[i] == own) {
            first = comm->own_count;
            count = comm->count - comm->own_count;
        }
    }
    return rank < count ? (int64_t)comm->members[first + rank] : SG_OPEN_NOBODY;
}

static int64_t world_of(const struct sg_open_calls *open, const struct sg_rank_call *call,
                        int64_t rank)
{
    if (rank == SG_OPEN_ANY)
        return SG_OPEN_ANY;
    return call->comm != SG_OPEN_NO_COMM
               ? sg_open_comm_world(&open->comms[call->comm], open->rank_count, call->rank, rank)
               : SG_OPEN_NOBODY;
}

/* ---- a rank's calls -------------------------------------------------------------------------- */

static const char *keep_name(struct sg_open_calls *open, char *name)
{
    if (name == NULL)
        return NULL;
    for (uint32_t i = 0; i < open->name_count; i++) {
        if (strcmp(open->names[i], name) == 0) {
            free(name);
            return open->names[i];
        }
    }
    if (!SG_APPEND(open->names, open->name_count, name)) {
        free(name);
        return NULL;
    }
    return name;
}

/* A loop of tests is one call: its thread is in it, or was a moment ago. */
static void join_tests(const struct reading *reading, const struct present *present,
                       struct sg_rank_call *call)
{
    struct present polling = *present;

    if (!call->tests || call->is_open || (call->has_age && sg_open_call_lasts(call)))
        return;
    polling.end_ns = 0;
    call->is_open = true;
    set_times(reading, &polling, call);
}

static enum sg_status take_function(struct reading *reading,
                                    const struct sg_record_function *record)
{
    const char *name = NULL;

    for (uint32_t i = 0; i < reading->present_count; i++) {
        struct sg_rank_call *call = &reading->open->calls[reading->first + i];
        const struct sg_record_thread *thread = &reading->present[i].record;

        if (thread->operation != 0 || thread->function != record->index)
            continue;
        if (name == NULL)
            name =
                keep_name(reading->open, sg_logread_text(reading->log, record, record->text_bytes));
        if (name == NULL)
            return SG_ERR_MEMORY;
        call->function = name;
        call->tests = sg_waitstate_only_tests(name);
        join_tests(reading, &reading->present[i], call);
    }
    return SG_OK;
}

static enum sg_status take_site(struct reading *reading, const struct sg_record_site *record)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < reading->present_count && status == SG_OK; i++) {
        if (reading->present[i].record.site == record->index && record->index != 0)
            status = sg_log_names_site(reading->names, reading->log, record, reading->aggregate,
                                       &reading->open->calls[reading->first + i].site);
    }
    return status;
}

static enum sg_status take_comm(struct reading *reading,
                                const struct sg_record_profile_comm *record)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < reading->present_count && status == SG_OK; i++) {
        if (reading->present[i].record.comm == record->index && record->index != NONE)
            status = add_comm(reading, record, &reading->open->calls[reading->first + i].comm);
    }
    return status;
}

/* Adds a call for each of the log's threads; definitions follow. */
static enum sg_status add_calls(struct reading *reading, uint32_t rank)
{
    struct sg_open_calls *open = reading->open;

    reading->first = open->call_count;
    for (uint32_t i = 0; i < reading->present_count; i++) {
        const struct sg_record_thread *record = &reading->present[i].record;
        struct sg_rank_call call = {.rank = rank,
                                    .thread = record->thread,
                                    .is_open = reading->present[i].end_ns == 0,
                                    .site = UINT32_MAX,
                                    .comm = SG_OPEN_NO_COMM,
                                    .order = record->order,
                                    .to = record->to,
                                    .from = record->from,
                                    .tag =
                                        record->from_tag >= 0 ? record->from_tag : record->to_tag};

        if (open->states[rank] == SG_OPEN_FINALIZES)
            call.function = "MPI_Finalize";
        else if (record->operation > 0)
            call.function = sg_operation_regions[record->operation - 1];
        set_times(reading, &reading->present[i], &call);
        if (!SG_APPEND(open->calls, open->call_count, call))
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

static enum sg_status take_definition(struct reading *reading, enum sg_record_kind kind,
                                      const void *record)
{
    if (kind == SG_RECORD_FUNCTION)
        return take_function(reading, record);
    if (kind == SG_RECORD_SITE)
        return take_site(reading, record);
    if (kind == SG_RECORD_PROFILE_COMM)
        return take_comm(reading, record);
    return SG_OK;
}

static enum sg_open_state state_of(const struct sg_logread *log)
{
    const struct sg_log_header *header = sg_logread_header(log);

    switch (atomic_load_explicit(&header->state, memory_order_relaxed)) {
    case SG_LOG_FINALIZED:
        return SG_OPEN_FINISHED;
    case SG_LOG_ABORTED:
        return SG_OPEN_ABORTED;
    default:
        break;
    }
    if (header->finalize_begin_ns != 0)
        return SG_OPEN_FINALIZES;
    return sg_logread_lives(log) ? SG_OPEN_RUNS : SG_OPEN_DIED;
}

/* The header tells when the rank called MPI_Finalize. */
static void enter_finalize(struct reading *reading)
{
    reading->present_count = 1;
    reading->present[0] =
        (struct present){.record = {.begin_ns = sg_logread_header(reading->log)->finalize_begin_ns,
                                    .function = UINT32_MAX,
                                    .to = SG_OPEN_NOBODY,
                                    .to_tag = SG_OPEN_NOBODY,
                                    .from = SG_OPEN_NOBODY,
                                    .from_tag = SG_OPEN_NOBODY}};
}

static enum sg_status read_log(struct reading *reading)
{
    uint32_t rank = (uint32_t)sg_logread_header(reading->log)->rank;
    enum sg_record_kind kind;
    enum sg_status status;
    const void *record;
    uint64_t slot = 0;

    if (rank >= reading->open->rank_count)
        return SG_OK;
    reading->open->states[rank] = state_of(reading->log);
    reading->open->living += sg_logread_lives(reading->log);
    if (sg_logread_header(reading->log)->run_end != 0)
        reading->open->run_end = sg_logread_header(reading->log)->run_end;
    if (reading->open->states[rank] == SG_OPEN_FINISHED)
        return SG_OK;
    find_present(reading);
    if (reading->open->states[rank] == SG_OPEN_FINALIZES)
        enter_finalize(reading);
    status = add_calls(reading, rank);
    while (status == SG_OK && reading->present_count > 0 &&
           (record = sg_logread_next(reading->log, &slot, &kind)) != NULL)
        status = take_definition(reading, kind, record);
    return status;
}

/* Sets names of sites and ranks of MPI_COMM_WORLD, which are known when all logs are read. */
static void complete(struct reading *reading)
{
    struct sg_open_calls *open = reading->open;

    for (uint32_t i = 0; i < open->call_count; i++) {
        struct sg_rank_call *call = &open->calls[i];

        if (call->site != UINT32_MAX)
            sg_aggregate_name_site(reading->aggregate, call->site, &call->place);
        call->to = world_of(open, call, call->to);
        call->from = world_of(open, call, call->from);
    }
}

static bool has_finished(const struct sg_log_set *set)
{
    for (int i = 0; i < set->count; i++) {
        if (state_of(set->logs[i]) != SG_OPEN_FINISHED)
            return false;
    }
    return true;
}

static enum sg_status read_all(struct reading *reading)
{
    enum sg_status status = each(reading, SG_RECORD_SITE_NAME, take_name);

    reading->origin_ns = origin_of(reading->set);
    for (int i = 0; i < reading->set->count && status == SG_OK; i++) {
        reading->log = reading->set->logs[i];
        status = read_log(reading);
    }
    if (status == SG_OK)
        status = each(reading, SG_RECORD_PROFILE_COMM, take_members);
    if (status != SG_OK)
        return status;
    complete(reading);
    return sg_open_calls_judge(reading->open);
}

enum sg_status sg_open_calls_read(const struct sg_log_set *set, struct sg_aggregate *aggregate,
                                  bool just_ended, struct sg_open_calls **out)
{
    struct sg_log_names own = {0};
    struct reading *reading;
    enum sg_status status = SG_ERR_MEMORY;

    *out = NULL;
    if (has_finished(set))
        return SG_OK;
    reading = calloc(1, sizeof *reading);
    if (reading == NULL)
        return SG_ERR_MEMORY;
    reading->set = set;
    reading->aggregate = aggregate;
    reading->names = set->names != NULL ? set->names : &own;
    reading->just_ended = just_ended;
    reading->open = calloc(1, sizeof *reading->open);
    if (reading->open != NULL) {
        reading->open->rank_count = (uint32_t)set->world_size;
        reading->open->states = malloc((size_t)set->world_size * sizeof *reading->open->states);
    }
    if (reading->open != NULL && reading->open->states != NULL) {
        for (uint32_t i = 0; i < reading->open->rank_count; i++)
            reading->open->states[i] = SG_OPEN_UNKNOWN;
        status = read_all(reading);
    }
    if (status == SG_OK)
        *out = reading->open;
    else
        sg_open_calls_free(reading->open);
    sg_log_names_clear(&own);
    free(reading);
    return status;
}

void sg_open_calls_free(struct sg_open_calls *open)
{
    if (open == NULL)
        return;
    for (uint32_t i = 0; i < open->comm_count; i++) {
        free(open->comms[i].name);
        free(open->comms[i].members);
    }
    for (uint32_t i = 0; i < open->absence_count; i++)
        free(open->absences[i].ranks);
    for (uint32_t i = 0; i < open->name_count; i++)
        free(open->names[i]);
    free(open->comms);
    free(open->absences);
    free(open->names);
    free(open->states);
    free(open->calls);
    free(open->groups);
    free(open->cycle);
    free(open->idle);
    free(open);
}

/* ---- the end of the run ---------------------------------------------------------------------- */

static bool note_end(void *context, const char *path, int rank)
{
    const uint32_t *run_end = context;
    struct sg_log_header header;
    struct sg_refusal refusal;
    int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file < 0)
        return true;
    if (pread(file, &header, sizeof header, 0) == sizeof header &&
        sg_logread_check(&header, &refusal) == SG_OK && header.rank == rank &&
        atomic_load_explicit(&header.state, memory_order_relaxed) != SG_LOG_FINALIZED &&
        pwrite(file, run_end, sizeof *run_end, offsetof(struct sg_log_header, run_end)) < 0)
        sg_log("%s: %m", path);
    close(file);
    return true;
}

void sg_open_calls_note_end(const char *directory, int exit_status, bool is_told)
{
    uint32_t run_end = SG_RUN_ENDED | (is_told ? SG_RUN_TOLD : 0) | (uint32_t)(exit_status & 0xff);

    sg_logread_visit(directory, note_end, &run_end);
}
