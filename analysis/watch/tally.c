#include "watch/job.h"

#include "core/room.h"
#include "core/text.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

/* One log's maps: from its call-site numbers to ids, from its function numbers to ours, and from
 * threads to their open calls. */
struct scan {
    struct sg_live_tally *tally;
    const struct sg_live_job *job;
    const struct sg_live_log *log;
    struct sg_map sites, functions, stay_by_thread;
};

static uint64_t load(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* ---- call sites ------------------------------------------------------------------------------ */

static uint64_t key_of(uint32_t id, uint32_t function)
{
    return (uint64_t)id << 32 | function;
}

static enum sg_status find_place(struct sg_live_tally *tally, uint32_t id, uint32_t function,
                                 uint32_t *out)
{
    struct sg_live_place place = {.id = id, .function = function};
    int64_t found = sg_map_get(&tally->place_by_key, key_of(id, function));

    if (found < 0) {
        place.now = calloc(tally->ranks, sizeof *place.now);
        place.before = calloc(tally->ranks, sizeof *place.before);
        if (place.now == NULL || place.before == NULL ||
            !SG_APPEND(tally->places, tally->place_count, place)) {
            free(place.now);
            free(place.before);
            return SG_ERR_MEMORY;
        }
        found = tally->place_count - 1;
        if (sg_map_put(&tally->place_by_key, key_of(id, function), (uint32_t)found) != SG_OK)
            return SG_ERR_MEMORY;
    }
    *out = (uint32_t)found;
    return SG_OK;
}

/* A call whose site is not in the log counts for the unknown site, as in reports. */
static enum sg_status find_of_log(struct scan *scan, uint32_t site, uint32_t function,
                                  uint32_t *out)
{
    int64_t id = sg_map_get(&scan->sites, site);

    return find_place(scan->tally, id >= 0 ? (uint32_t)id : 0, function, out);
}

/* ---- a log's statistics ---------------------------------------------------------------------- */

static enum sg_status take_function(struct scan *scan, const struct sg_record_function *record)
{
    char *name = sg_logread_text(scan->log->held, record, record->text_bytes);
    enum sg_status status = name != NULL ? SG_OK : SG_ERR_MEMORY;
    uint32_t function;

    if (status == SG_OK)
        status = sg_names_number(&scan->tally->functions, name, &function);
    free(name);
    return status == SG_OK ? sg_map_put(&scan->functions, record->index, function) : status;
}

static enum sg_status read_definitions(struct scan *scan)
{
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while (status == SG_OK && (record = sg_logread_next(scan->log->held, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_SITE) {
            const struct sg_record_site *site = record;

            status = sg_map_put(&scan->sites, site->index, site->id);
        } else if (kind == SG_RECORD_FUNCTION) {
            status = take_function(scan, record);
        }
    }
    return status;
}

static enum sg_status add(struct scan *scan, uint32_t site, uint32_t function, uint64_t calls,
                          uint64_t time_ns)
{
    struct sg_live_part *part;
    uint32_t place;
    enum sg_status status = find_of_log(scan, site, function, &place);

    if (status != SG_OK)
        return status;
    part = &scan->tally->places[place].now[scan->log->rank];
    part->calls += calls;
    part->time_ns += time_ns;
    return SG_OK;
}

static enum sg_status number_operation(struct sg_live_tally *tally, uint8_t operation,
                                       bool nonblocking, uint32_t *out)
{
    return sg_names_number(
        &tally->functions,
        (nonblocking ? sg_operation_nonblocking_regions : sg_operation_regions)[operation], out);
}

static enum sg_status take_stat(struct scan *scan, const struct sg_record_stat *record)
{
    uint32_t function;
    enum sg_status status;

    if (record->operation >= SG_OPERATION_COUNT || load(&record->calls) == 0)
        return SG_OK;
    status = number_operation(scan->tally, record->operation, record->nonblocking != 0, &function);
    return status == SG_OK
               ? add(scan, record->site, function, load(&record->calls), load(&record->own_ns))
               : status;
}

static enum sg_status take_profile(struct scan *scan, const struct sg_record_profile *record)
{
    int64_t function = sg_map_get(&scan->functions, record->function);

    if (function < 0 || load(&record->calls) == 0)
        return SG_OK;
    return add(scan, record->site, (uint32_t)function, load(&record->calls),
               load(&record->time_ns));
}

static enum sg_status read_statistics(struct scan *scan)
{
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while (status == SG_OK && (record = sg_logread_next(scan->log->held, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_STAT)
            status = take_stat(scan, record);
        else if (kind == SG_RECORD_PROFILE)
            status = take_profile(scan, record);
    }
    return status;
}

/* ---- open calls ------------------------------------------------------------------------------ */

/* A thread is in one MPI call. Other calls that look open were left by a jump, so the latest
 * counts. */
static enum sg_status add_stay(struct scan *scan, uint32_t thread, struct sg_live_stay stay,
                               uint32_t function, uint64_t begin_ns)
{
    uint64_t clock_ns = sg_live_job_clock_ns(scan->job, scan->log);
    int64_t found = sg_map_get(&scan->stay_by_thread, thread);
    enum sg_status status = find_of_log(scan, stay.site, function, &stay.place);

    if (status != SG_OK || begin_ns == 0)
        return status;
    stay.open_ns = clock_ns > begin_ns ? clock_ns - begin_ns : 0;
    if (found >= 0) {
        if (stay.open_ns < scan->tally->stays[found].open_ns)
            scan->tally->stays[found] = stay;
        return SG_OK;
    }
    if (!SG_APPEND(scan->tally->stays, scan->tally->stay_count, stay))
        return SG_ERR_MEMORY;
    return sg_map_put(&scan->stay_by_thread, thread, scan->tally->stay_count - 1);
}

static enum sg_status take_open(struct scan *scan, const struct sg_live_call *open)
{
    const struct sg_record_call *call = &open->record.call;
    const struct sg_record_event *event = &open->record.event;
    struct sg_live_stay stay = {.log = scan->log, .call = open};
    uint32_t function;
    enum sg_status status;
    int64_t found;

    if (open->is_over)
        return SG_OK;
    if (open->record.bytes[0] == SG_RECORD_CALL && call->operation < SG_OPERATION_COUNT) {
        stay.site = call->site;
        status = number_operation(scan->tally, call->operation, false, &function);
        return status == SG_OK ? add_stay(scan, call->thread, stay, function, call->begin_ns)
                               : status;
    }
    found = open->record.bytes[0] == SG_RECORD_EVENT ? sg_map_get(&scan->functions, event->function)
                                                     : -1;
    stay.site = event->site;
    return found >= 0 ? add_stay(scan, event->thread, stay, (uint32_t)found, event->begin_ns)
                      : SG_OK;
}

static enum sg_status read_open(struct scan *scan)
{
    uint32_t first = scan->tally->stay_count;
    enum sg_status status = SG_OK;

    if (scan->log->state != SG_LIVE_RUNS)
        return SG_OK;
    for (uint32_t i = 0; i < scan->log->open_count && status == SG_OK; i++)
        status = take_open(scan, &scan->log->open[i]);
    for (uint32_t i = first; i < scan->tally->stay_count; i++) {
        const struct sg_live_stay *stay = &scan->tally->stays[i];
        struct sg_live_part *part = &scan->tally->places[stay->place].now[scan->log->rank];

        part->open_calls++;
        part->open_ns += stay->open_ns;
    }
    return status;
}

/* ---- samples --------------------------------------------------------------------------------- */

static enum sg_status read_samples(struct scan *scan)
{
    const struct sg_live_log *log = scan->log;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < log->sum_count && status == SG_OK; i++) {
        const struct sg_live_sum *sum = &log->sums[i];
        int64_t function = sg_map_get(&scan->functions, sum->function);
        struct sg_live_part *parts;
        uint32_t place;

        if (function < 0)
            continue;
        status = find_of_log(scan, sum->site, (uint32_t)function, &place);
        if (status != SG_OK)
            continue;
        parts = scan->tally->places[place].now;
        parts[log->rank].samples += sum->samples;
        if (sum->late != SG_LIVE_NOT_LATE) {
            parts[sum->late].late_samples += sum->samples;
            parts[sum->late].late_ns += sum->ns;
        }
    }
    return status;
}

/* ---- all logs -------------------------------------------------------------------------------- */

static enum sg_status scan_log(struct sg_live_tally *tally, const struct sg_live_job *job,
                               const struct sg_live_log *log)
{
    struct scan scan = {.tally = tally, .job = job, .log = log};
    enum sg_status status = SG_OK;

    if (log->held != NULL)
        status = read_definitions(&scan);
    if (status == SG_OK && log->held != NULL)
        status = read_statistics(&scan);
    if (status == SG_OK && log->held != NULL)
        status = read_open(&scan);
    if (status == SG_OK && log->held != NULL)
        status = read_samples(&scan);
    sg_map_clear(&scan.sites);
    sg_map_clear(&scan.functions);
    sg_map_clear(&scan.stay_by_thread);
    return status;
}

enum sg_status sg_live_tally_take(struct sg_live_tally *tally, const struct sg_live_job *job)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < tally->place_count; i++) {
        struct sg_live_place *place = &tally->places[i];
        struct sg_live_part *before = place->before;

        place->before = place->now;
        place->now = memset(before, 0, tally->ranks * sizeof *before);
    }
    tally->stay_count = 0;
    free(tally->stays);
    tally->stays = NULL;
    for (uint32_t i = 0; i < job->log_count && status == SG_OK; i++)
        status = scan_log(tally, job, &job->logs[i]);
    return status;
}

void sg_live_tally_clear(struct sg_live_tally *tally)
{
    for (uint32_t i = 0; i < tally->place_count; i++) {
        free(tally->places[i].now);
        free(tally->places[i].before);
    }
    sg_names_clear(&tally->functions);
    free(tally->places);
    free(tally->stays);
    sg_map_clear(&tally->place_by_key);
    *tally = (struct sg_live_tally){.ranks = tally->ranks};
}

const struct sg_live_place *sg_live_tally_find(const struct sg_live_tally *tally, uint32_t id,
                                               const char *function)
{
    int64_t number = sg_names_find(&tally->functions, function);
    int64_t found =
        number >= 0 ? sg_map_get(&tally->place_by_key, key_of(id, (uint32_t)number)) : -1;

    return found >= 0 ? &tally->places[found] : NULL;
}

uint64_t sg_live_part_gain_ns(const struct sg_live_place *place, uint32_t rank)
{
    const struct sg_live_part *now = &place->now[rank], *before = &place->before[rank];
    uint64_t now_ns = now->time_ns + now->open_ns;
    uint64_t before_ns = before->open_ns + (now->calls >= before->calls ? before->time_ns : 0);

    return now_ns > before_ns ? now_ns - before_ns : 0;
}

uint64_t sg_live_part_gain_calls(const struct sg_live_place *place, uint32_t rank)
{
    uint64_t now = place->now[rank].calls, before = place->before[rank].calls;

    return now >= before ? now - before : now;
}
