/* Opens an archive, reads its definitions and clocks, and drives the reading of events.
 * archive_events.c interprets the events. OTF2's first error is kept for the log line about a
 * failure.
 */
#include "report/source_otf2.h"

#include "processes/processes.h"
#include "report/archive_calls.h"
#include "report/archive_definitions.h"
#include "report/archive_reading.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_EVENTS UINT64_C(20000) /* between steps of the progress line */

struct archive {
    const char *path;
    const struct sg_watch *watch; /* NULL: none */
    OTF2_Reader *reader;
    struct sg_archive_defs defs;
    struct sg_report *report; /* filled while reading */
    uint64_t trial_block;     /* collectives per block; 0: no trial */
    struct sg_archive_reading *reading;
    double offset_error_ticks;      /* negative: none seen */
    struct sg_location_clock clock; /* of the current location */
    OTF2_TimeStamp clock_time;      /* time of its first offset */
    OTF2_ErrorCode code;            /* code of the complaint */
    char complaint[400];            /* OTF2's first error since the complaint was last cleared */
};

/* OTF2 reports an error at every level it passes through; the first report has the cause. */
static OTF2_ErrorCode on_error(void *context, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct archive *archive = context;
    int used;

    if (archive->complaint[0] != '\0')
        return code;
    used = snprintf(archive->complaint, sizeof archive->complaint, "%s",
                    OTF2_Error_GetDescription(code));
    if (used > 0 && (size_t)used < sizeof archive->complaint - 2 && format[0] != '\0') {
        archive->complaint[used++] = ':';
        archive->complaint[used++] = ' ';
        vsnprintf(archive->complaint + used, sizeof archive->complaint - (size_t)used, format,
                  arguments);
    }
    for (char *at = archive->complaint; *at != '\0'; at++) {
        if (*at == '\n')
            *at = ' ';
    }
    return code;
}

static enum sg_status complain(const struct archive *archive, const char *what)
{
    sg_log("%s: %s%s%s", archive->path, what, archive->complaint[0] ? ": " : "",
           archive->complaint);
    return SG_ERR_FORMAT;
}

/* Omits OTF2's own message: for a file that is not an anchor, it makes sense only to a reader of
 * OTF2's source. */
static enum sg_status refuse(const struct archive *archive)
{
    if (access(archive->path, R_OK) != 0)
        sg_log("%s: %m", archive->path);
    else
        sg_log("%s: not an OTF2 archive, or damaged, or of a later version", archive->path);
    return SG_ERR_FORMAT;
}

static void forget_complaint(struct archive *archive)
{
    archive->complaint[0] = '\0';
}

static void take_waiting(struct sg_run_waiting *waiting, const char *name, const char *value)
{
    char *fields = (char *)waiting;

    for (size_t i = 0; i < sizeof sg_wait_texts / sizeof *sg_wait_texts; i++) {
        if (strcmp(name, sg_wait_texts[i].name) == 0)
            snprintf(fields + sg_wait_texts[i].offset, sg_wait_texts[i].size_bytes, "%s", value);
    }
    for (size_t i = 0; i < sizeof sg_wait_numbers / sizeof *sg_wait_numbers; i++) {
        if (strcmp(name, sg_wait_numbers[i].name) == 0)
            *(uint64_t *)(fields + sg_wait_numbers[i].offset) = strtoull(value, NULL, 10);
    }
    for (uint64_t mode = 0; strcmp(name, SG_PROPERTY_WAIT_MODE) == 0 && mode < SG_WAIT_MODE_COUNT;
         mode++) {
        if (strcmp(value, sg_wait_mode_names[mode]) == 0)
            waiting->mode = mode;
    }
}

static void take_property(struct archive *archive, const char *name, const char *value)
{
    struct sg_report *report = archive->report;
    const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {
        {SG_PROPERTY_DROPPED, &report->dropped_calls},
        {SG_PROPERTY_RECORDED, &report->recorded_ns},
        {SG_PROPERTY_WANTED_BYTES, &report->wanted_bytes},
        {SG_PROPERTY_OFF, &report->off_ns},
        {SG_PROPERTY_UNMANAGED, &report->unmanaged_calls},
        {SG_PROPERTY_UNMANAGED_POSTS, &report->unmanaged_nonblocking},
        {SG_PROPERTY_UNMANAGED_FULL, &report->unmanaged_full},
        {SG_PROPERTY_OVERHEAD_CALLS, &report->overhead_calls},
        {SG_PROPERTY_OVERHEAD_NS, &report->overhead_ns},
        {SG_PROPERTY_OVERHEAD_LONG_CALLS, &report->overhead_long_calls},
        {SG_PROPERTY_TRIAL_BLOCK, &archive->trial_block},
    };

    if (strcmp(name, SG_PROPERTY_PARTIAL) == 0)
        report->partial = strcmp(value, "0") != 0;
    if (strcmp(name, SG_PROPERTY_CAUSES) == 0)
        report->all_sampled = strcmp(value, "all") == 0;
    if (strcmp(name, SG_PROPERTY_CALIBRATION) == 0)
        sg_calibration_parse(value, &report->calibration);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name) == 0)
            *numbers[i].number = strtoull(value, NULL, 10);
    }
    take_waiting(&report->waiting, name, value);
}

static void read_properties(struct archive *archive)
{
    char **names = NULL;
    uint32_t count = 0;

    if (OTF2_Reader_GetPropertyNames(archive->reader, &count, &names) != OTF2_SUCCESS)
        return;
    for (uint32_t i = 0; i < count; i++) {
        char *value = NULL;

        if (OTF2_Reader_GetProperty(archive->reader, names[i], &value) != OTF2_SUCCESS)
            continue;
        take_property(archive, names[i], value);
        free(value);
    }
    free(names);
}

/* stagger writes the program's name into the archive's description. */
static void read_program(struct archive *archive)
{
    char *creator = NULL, *description = NULL;

    if (OTF2_Reader_GetCreator(archive->reader, &creator) == OTF2_SUCCESS &&
        strncmp(creator, "stagger ", 8) == 0 &&
        OTF2_Reader_GetDescription(archive->reader, &description) == OTF2_SUCCESS &&
        description[0] != '\0') {
        archive->report->program = description;
        description = NULL;
    }
    free(creator);
    free(description);
}

static int64_t ns_of(const struct archive *archive, int64_t ticks)
{
    return (int64_t)((__int128)ticks * 1000000000 / (__int128)archive->defs.ticks_per_second);
}

static OTF2_CallbackCode on_offset(void *context, OTF2_TimeStamp time, int64_t offset,
                                   double deviation)
{
    struct archive *archive = context;
    struct sg_location_clock *clock = &archive->clock;

    clock->has_offset = clock->has_offset || offset != 0;
    if (clock->count++ == 0) {
        clock->first_offset = offset;
        archive->clock_time = time;
    }
    clock->last_offset = offset;
    clock->between = (int64_t)(time - archive->clock_time);
    if (isfinite(deviation) && deviation > clock->deviation)
        clock->deviation = deviation;
    return OTF2_CALLBACK_SUCCESS;
}

/* OTF2 clears the first chunk of a file, but not the others that it reads, and reads past the end
 * of a truncated file. Chunks of fresh pages contain zeros there, and OTF2 reports an error;
 * recycled memory could contain data that looks like records. */
static void keep_chunks_fresh(void)
{
    mallopt(M_MMAP_THRESHOLD, (int)(OTF2_CHUNK_SIZE_MIN / 2));
}

/* The local definitions of a location are a few records, and OTF2 reads them into a chunk of 4 MiB:
 * fresh pages for each location take ten times as long as the reading. */
static void recycle_chunks(void)
{
    mallopt(M_MMAP_THRESHOLD, (int)(2 * OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT));
    mallopt(M_TRIM_THRESHOLD, (int)(4 * OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT));
}

static void end_recycling(void)
{
    keep_chunks_fresh();
    mallopt(M_TRIM_THRESHOLD, (int)(OTF2_CHUNK_SIZE_MIN / 2));
    malloc_trim(0);
}

#define DAMAGED_LOCAL "damaged local definitions"

/* Tools need not write local definitions, but a file that exists must be complete. OTF2 loses the
 * memory of a chunk for each file that is missing. */
static bool has_definitions(const struct archive *archive, OTF2_LocationRef location)
{
    const char *end = strrchr(archive->path, '.');
    int length = end != NULL ? (int)(end - archive->path) : (int)strlen(archive->path);
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%.*s/%llu.def", length, archive->path,
                        (unsigned long long)location);

    return used < 0 || (size_t)used >= sizeof path || access(path, F_OK) == 0 || errno != ENOENT;
}

/* OTF2 applies a location's clock offsets to its events only if its local definitions were read.
 * False: they are damaged. */
static bool read_location(struct archive *archive, OTF2_LocationRef location,
                          const OTF2_DefReaderCallbacks *callbacks)
{
    OTF2_DefReader *reader;
    OTF2_ErrorCode code;
    uint64_t count;

    archive->clock = (struct sg_location_clock){.deviation = -1};
    if (!has_definitions(archive, location))
        return true;
    reader = OTF2_Reader_GetDefReader(archive->reader, location);
    if (reader == NULL)
        return false;
    code = OTF2_Reader_RegisterDefCallbacks(archive->reader, reader, callbacks, archive);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllLocalDefinitions(archive->reader, reader, &count);
    OTF2_Reader_CloseDefReader(archive->reader, reader);
    return code == OTF2_SUCCESS;
}

static enum sg_status heard(const struct archive *archive, enum sg_status status)
{
    if (status == SG_ERR_MEMORY)
        sg_log("%s: %s", archive->path, sg_status_text(status));
    return status;
}

/* Threads of a rank share its clock: the offsets of the first thread are used. */
static enum sg_status tell_clock(struct archive *archive, const struct sg_def_location *location)
{
    const struct sg_location_clock *clock = &archive->clock;
    const struct sg_watch *watch = archive->watch;
    struct sg_seen_clock seen = {.rank = (uint32_t)location->rank,
                                 .first_offset_ns = ns_of(archive, clock->first_offset),
                                 .last_offset_ns = ns_of(archive, clock->last_offset),
                                 .between_ns = ns_of(archive, clock->between),
                                 .error_ns = location->clock_error_ns};

    if (clock->count == 0 || location->rank < 0 || location->thread > 0 || watch == NULL ||
        watch->clock == NULL)
        return SG_OK;
    return heard(archive, watch->clock(watch->context, &seen));
}

static enum sg_status take_clock(struct archive *archive, struct sg_def_location *location)
{
    const struct sg_location_clock *clock = &archive->clock;

    archive->report->has_offsets = archive->report->has_offsets || clock->has_offset;
    if (clock->deviation > archive->offset_error_ticks)
        archive->offset_error_ticks = clock->deviation;
    if (clock->deviation > 0 && clock->deviation < 0x1p62)
        location->clock_error_ns = (uint64_t)ns_of(archive, (int64_t)clock->deviation);
    return tell_clock(archive, location);
}

static enum sg_status tell_locations(const struct archive *archive)
{
    const struct sg_watch *watch = archive->watch;
    enum sg_status status = SG_OK;

    if (watch == NULL || watch->location == NULL)
        return SG_OK;
    for (uint32_t i = 0; i < archive->defs.location_count && status == SG_OK; i++) {
        const struct sg_def_location *location = &archive->defs.locations[i];
        const char *name = sg_archive_string(&archive->defs, location->name);
        struct sg_seen_location seen = {(uint32_t)location->rank, location->thread, location->node,
                                        name != NULL ? name : ""};

        if (location->rank >= 0)
            status = watch->location(watch->context, &seen);
    }
    return heard(archive, status);
}

/* Logs the failure of a reading. */
static enum sg_status say_failure(const struct archive *archive)
{
    const char *text;
    enum sg_status status = sg_archive_reading_failure(archive->reading, &text);

    if (status == SG_ERR_MEMORY)
        return heard(archive, status);
    sg_log("%s: %s", archive->path, text);
    return SG_ERR_FORMAT;
}

/* The clock of a location, which this process or another one reads. */
static enum sg_status find_clock(struct archive *archive, uint32_t location,
                                 const OTF2_DefReaderCallbacks *callbacks)
{
    if (!sg_archive_reading_owns(location))
        return sg_archive_reading_clock(archive->reading, location, &archive->clock)
                   ? SG_OK
                   : say_failure(archive);
    return read_location(archive, archive->defs.locations[location].ref, callbacks)
               ? SG_OK
               : complain(archive, DAMAGED_LOCAL);
}

static enum sg_status read_local_definitions(struct archive *archive)
{
    OTF2_DefReaderCallbacks *callbacks = OTF2_DefReaderCallbacks_New();
    enum sg_status status = SG_OK;
    uint64_t without = 0;

    if (callbacks == NULL)
        return complain(archive, "out of memory for its clocks");
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, on_offset);
    recycle_chunks();
    for (uint32_t i = 0; i < archive->defs.location_count && status == SG_OK; i++) {
        struct sg_def_location *location = &archive->defs.locations[i];

        if (location->event_count == 0)
            continue;
        status = find_clock(archive, i, callbacks);
        without += archive->clock.count == 0;
        if (status == SG_OK)
            status = take_clock(archive, location);
    }
    OTF2_DefReaderCallbacks_Delete(callbacks);
    end_recycling();
    if (archive->offset_error_ticks >= 0) {
        archive->report->has_offset_error = true;
        archive->report->offset_error_ns = (uint64_t)llround(
            archive->offset_error_ticks * 1e9 / (double)archive->defs.ticks_per_second);
        archive->report->locations_without_offset = without;
    }
    return status;
}

/* Selects the locations that this process reads. NULL, or the complaint. */
static const char *select_locations(struct archive *archive)
{
    for (uint32_t i = 0; i < archive->defs.location_count; i++) {
        const struct sg_def_location *location = &archive->defs.locations[i];

        if (location->event_count > 0 && sg_archive_reading_owns(i) &&
            OTF2_Reader_SelectLocation(archive->reader, location->ref) != OTF2_SUCCESS)
            return "a location cannot be selected";
    }
    return NULL;
}

static const char *open_event_files(struct archive *archive)
{
    forget_complaint(archive);
    return OTF2_Reader_OpenEvtFiles(archive->reader) == OTF2_SUCCESS
               ? NULL
               : "its event files cannot be opened";
}

static enum sg_status begin_reading(struct archive *archive)
{
    enum sg_status status =
        heard(archive, sg_archive_reading_create(archive->reader, &archive->defs,
                                                 archive->complaint, &archive->reading));
    const char *failure = status == SG_OK ? select_locations(archive) : NULL;

    if (status != SG_OK || failure != NULL)
        return status != SG_OK ? status : complain(archive, failure);
    if (OTF2_Reader_OpenDefFiles(archive->reader) == OTF2_SUCCESS) {
        status = read_local_definitions(archive);
        OTF2_Reader_CloseDefFiles(archive->reader);
    }
    failure = status == SG_OK ? open_event_files(archive) : NULL;
    return failure == NULL ? status : complain(archive, failure);
}

static enum sg_status read_events(struct archive *archive, struct sg_progress_line *progress,
                                  struct sg_archive_events *events)
{
    struct sg_archive_reading *reading = archive->reading;
    const struct sg_archive_event *event = NULL;
    enum sg_status status = SG_OK;
    const char *text;
    uint64_t done;

    for (uint64_t i = 1; status == SG_OK && (event = sg_archive_reading_next(reading)) != NULL;
         i++) {
        status = sg_archive_events_take(events, event);
        if (i % STEP_EVENTS == 0)
            sg_progress_line_step(progress, "events", sg_archive_reading_count(reading),
                                  archive->defs.event_count);
    }
    sg_progress_line_end(progress);
    done = sg_archive_reading_count(reading);
    if (status != SG_OK)
        return heard(archive, status);
    if (sg_archive_reading_failure(reading, &text) != SG_OK)
        return say_failure(archive);
    if (done < archive->defs.event_count) {
        sg_log("%s: truncated: only %llu of %llu events", archive->path, (unsigned long long)done,
               (unsigned long long)archive->defs.event_count);
        return SG_ERR_FORMAT;
    }
    return SG_OK;
}

/* Runs after the clocks were read: they determine which causes can be found. */
static enum sg_status begin_events(struct archive *archive, struct sg_aggregate *aggregate,
                                   struct sg_archive_waits **waits,
                                   struct sg_archive_events **events)
{
    enum sg_status status = SG_OK;

    if (archive->watch != NULL && archive->watch->waitstates)
        status = sg_archive_waits_create(&archive->defs, aggregate, archive->watch, waits);
    if (status == SG_OK)
        status = sg_archive_events_create(&archive->defs, aggregate, *waits, events);
    return heard(archive, status);
}

static enum sg_status read_archive(struct archive *archive, struct sg_progress_line *progress)
{
    struct sg_archive_events *events = NULL;
    struct sg_aggregate *aggregate = NULL;
    struct sg_archive_waits *waits = NULL;
    enum sg_status status;

    OTF2_Reader_SetSerialCollectiveCallbacks(archive->reader);
    read_properties(archive);
    read_program(archive);
    status = sg_archive_markers_read(archive->reader, &archive->report->learned);
    forget_complaint(archive);
    if (status != SG_OK)
        return heard(archive, status);
    status = sg_archive_defs_read(archive->reader, &archive->defs);
    if (status == SG_OK)
        status = sg_archive_defs_resolve(&archive->defs, archive->path);
    else if (status == SG_ERR_FORMAT)
        return complain(archive, "damaged definitions");
    if (status == SG_ERR_MEMORY)
        sg_log("%s: out of memory for its definitions", archive->path);
    if (status != SG_OK)
        return status;
    if (archive->defs.event_count == 0) {
        sg_log("%s: an archive without events", archive->path);
        return SG_ERR_MISSING;
    }
    status = sg_aggregate_create(archive->defs.rank_count, &aggregate);
    if (status == SG_OK && archive->watch != NULL && archive->watch->calls)
        status = sg_archive_defs_name_sites(&archive->defs, aggregate);
    if (status != SG_OK) {
        sg_log("%s: %s", archive->path, sg_status_text(status));
        goto err_aggregate;
    }
    sg_aggregate_watch(aggregate, archive->watch);
    sg_trials_set_block(sg_aggregate_trials(aggregate), archive->trial_block);
    status = heard(archive,
                   sg_aggregate_read_rules(aggregate, archive->path, &archive->report->waiting));
    if (status == SG_OK)
        status = tell_locations(archive);
    sg_processes_give(archive->path);
    if (status == SG_OK)
        status = begin_reading(archive);
    if (status == SG_OK)
        status = begin_events(archive, aggregate, &waits, &events);
    if (status == SG_OK)
        status = read_events(archive, progress, events);
    if (status == SG_OK) {
        struct sg_window_counts counts = sg_archive_events_finish(events);

        archive->report->dropped_calls += counts.dropped_calls;
        archive->report->window_max = counts.live_max;
        archive->report->strings = aggregate;
        aggregate = NULL;
    }
    if (status == SG_OK && waits != NULL)
        status = heard(archive, sg_archive_waits_finish(waits, archive->report));
    sg_archive_reading_destroy(archive->reading);
    OTF2_Reader_CloseEvtFiles(archive->reader);
    sg_archive_events_destroy(events);
    sg_archive_waits_destroy(waits);
err_aggregate:
    sg_aggregate_destroy(aggregate);
    return status;
}

enum sg_status sg_source_otf2(const char *anchor, struct sg_progress_line *progress,
                              const struct sg_watch *watch, struct sg_report *report)
{
    struct archive archive = {
        .path = anchor, .watch = watch, .report = report, .offset_error_ticks = -1};
    enum sg_status status = sg_archive_files_check(anchor);

    if (status != SG_OK)
        return status;
    keep_chunks_fresh();
    report->has_events = true;
    OTF2_Error_RegisterCallback(on_error, &archive);
    archive.reader = OTF2_Reader_Open(anchor);
    if (archive.reader == NULL)
        status = refuse(&archive);
    else
        status = read_archive(&archive, progress);
    sg_progress_line_end(progress);
    sg_archive_defs_clear(&archive.defs);
    if (archive.reader != NULL)
        OTF2_Reader_Close(archive.reader);
    OTF2_Error_RegisterCallback(NULL, NULL);
    return status;
}

/* ---- the other processes --------------------------------------------------------------------- */

/* Sends the clocks of this process's locations. NULL, or the complaint. */
static const char *send_clocks(struct archive *archive)
{
    OTF2_DefReaderCallbacks *callbacks = OTF2_DefReaderCallbacks_New();
    bool sound = true;

    if (callbacks == NULL)
        return "out of memory for its clocks";
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, on_offset);
    recycle_chunks();
    for (uint32_t i = 0; i < archive->defs.location_count && sound; i++) {
        const struct sg_def_location *location = &archive->defs.locations[i];

        if (location->event_count == 0 || !sg_archive_reading_owns(i))
            continue;
        sound = read_location(archive, location->ref, callbacks);
        if (sound)
            sg_archive_reading_send_clock(archive->reading, i, &archive->clock);
    }
    OTF2_DefReaderCallbacks_Delete(callbacks);
    end_recycling();
    return sound ? NULL : DAMAGED_LOCAL;
}

static const char *send_locations(struct archive *archive)
{
    const char *failure = select_locations(archive);

    if (failure == NULL && OTF2_Reader_OpenDefFiles(archive->reader) == OTF2_SUCCESS) {
        failure = send_clocks(archive);
        OTF2_Reader_CloseDefFiles(archive->reader);
    }
    if (failure == NULL)
        failure = open_event_files(archive);
    if (failure == NULL)
        sg_archive_reading_send_events(archive->reading);
    return failure;
}

/* Process 0 has read the same definitions. */
static void serve(struct archive *archive)
{
    char text[SG_FAILURE_BYTES];
    const char *failure;
    enum sg_status status;

    OTF2_Reader_SetSerialCollectiveCallbacks(archive->reader);
    status = sg_archive_defs_read(archive->reader, &archive->defs);
    if (status == SG_OK)
        status = sg_archive_defs_resolve(&archive->defs, archive->path);
    if (status == SG_OK)
        status = sg_archive_reading_create(archive->reader, &archive->defs, archive->complaint,
                                           &archive->reading);
    if (status != SG_OK)
        return;
    failure = send_locations(archive);
    if (failure == NULL)
        return;
    snprintf(text, sizeof text, "%s%s%s", failure, archive->complaint[0] != '\0' ? ": " : "",
             archive->complaint);
    sg_archive_reading_send_failure(archive->reading, SG_ERR_FORMAT, text);
}

void sg_source_otf2_serve(void)
{
    char *anchor = sg_processes_await();
    struct archive archive = {.path = anchor};

    if (anchor != NULL) {
        keep_chunks_fresh();
        OTF2_Error_RegisterCallback(on_error, &archive);
        archive.reader = OTF2_Reader_Open(anchor);
        if (archive.reader != NULL)
            serve(&archive);
        sg_processes_send_end();
        sg_archive_reading_destroy(archive.reading);
        sg_archive_defs_clear(&archive.defs);
        if (archive.reader != NULL)
            OTF2_Reader_Close(archive.reader);
        OTF2_Error_RegisterCallback(NULL, NULL);
    }
    free(anchor);
    sg_processes_leave();
}
