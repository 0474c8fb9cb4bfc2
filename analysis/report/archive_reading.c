/* Merges the events of locations, or of other processes: each source has a buffer of encoded
 * events, and a heap orders the sources by their next event. Blocks of other processes have the
 * encoding of parts of locations.
 */
#include "report/archive_reading.h"

#include "processes/processes.h"
#include "report/archive_encoding.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define PART_EVENTS UINT64_C(256)        /* of a location that stays open */
#define WHOLE_EVENTS UINT64_C(4096)      /* of one that does not */
#define OPEN_BYTES (UINT64_C(256) << 20) /* OTF2's chunks of the locations that stay open */
#define OTHER_FILES 64                   /* of the process, beside those of locations */

struct source {
    struct sg_event_buffer buffer;
    uint32_t process;        /* 0: a location of this process, else the process that sends */
    uint32_t location;       /* if it is one */
    OTF2_EvtReader *events;  /* NULL: not open */
    uint64_t read, of_other; /* events read so far, in all; those of another process */
    bool ended;
};

/* The next event of a source, read up to its time. */
struct next {
    const uint8_t *rest; /* of the event, in the source's buffer */
    OTF2_TimeStamp ticks;
    OTF2_LocationRef ref;
    struct source *source;
    uint32_t location;
    uint8_t kind; /* enum sg_archive_event_kind, SG_EVENT_HAS_ATTRIBUTES */
};

struct sg_archive_reading {
    OTF2_Reader *reader;
    const struct sg_archive_defs *defs;
    const char *complaint;
    OTF2_EvtReaderCallbacks *callbacks;
    struct source *sources; /* locations of this process, or other processes */
    uint32_t source_count;
    struct next *heap;
    uint32_t heap_count;
    bool started;
    struct sg_event_encoder encoder; /* of a part of a location */
    struct sg_event_buffer block;    /* for process 0 */
    uint64_t open_count, open_max;
    uint64_t count;
    struct sg_archive_event event;
    enum sg_status status;
};

/* ---- decoding -------------------------------------------------------------------------------- */

static inline uint64_t take_number(const uint8_t **at)
{
    uint64_t number = *(*at)++;

    if (number < 0x80)
        return number;
    number &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        uint8_t byte = *(*at)++;

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

static uint64_t unfolded(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}

/* Reads kind, location and time of the next event; take_rest() reads the rest. */
static inline void take_head(struct sg_event_buffer *buffer, struct next *out)
{
    const uint8_t *at = buffer->bytes + buffer->at;

    out->kind = *at++;
    out->location = (uint32_t)take_number(&at);
    buffer->read_ticks += unfolded(take_number(&at));
    out->ticks = buffer->read_ticks;
    out->rest = at;
    buffer->at = (size_t)(at - buffer->bytes);
}

static inline void take_rest(struct sg_event_buffer *buffer, const struct next *head,
                             struct sg_archive_event *out)
{
    const uint8_t *at = buffer->bytes + buffer->at;
    enum sg_archive_event_kind kind =
        (enum sg_archive_event_kind)(head->kind & ~SG_EVENT_HAS_ATTRIBUTES);

    out->kind = kind;
    out->location = head->location;
    out->ticks = head->ticks;
    for (uint8_t i = 0; i < sg_event_argument_counts[kind]; i++)
        out->arguments[i] = take_number(&at);
    out->attributes.present =
        (head->kind & SG_EVENT_HAS_ATTRIBUTES) != 0 ? (uint32_t)take_number(&at) : 0;
    for (uint32_t left = out->attributes.present; left != 0; left &= left - 1)
        out->attributes.values[__builtin_ctz(left)] = take_number(&at);
    if (kind == SG_EVENT_METRIC) {
        out->number_count = *at++;
        for (uint8_t i = 0; i < out->number_count; i++)
            out->numbers[i] = take_number(&at);
    } else if (kind == SG_EVENT_FAILURE) {
        memcpy(out->text, at, sizeof out->text);
        at += sizeof out->text;
    }
    buffer->at = (size_t)(at - buffer->bytes);
}

static void set_failure(struct sg_archive_event *event, enum sg_status status, const char *what,
                        const char *complaint)
{
    event->kind = SG_EVENT_FAILURE;
    event->attributes.present = 0;
    event->arguments[0] = (uint64_t)status;
    memset(event->text, 0, sizeof event->text);
    snprintf(event->text, sizeof event->text, "%s%s%s", what, complaint[0] != '\0' ? ": " : "",
             complaint);
}

/* ---- locations ------------------------------------------------------------------------------- */

static void close_events(struct sg_archive_reading *reading, struct source *source)
{
    if (source->events == NULL)
        return;
    OTF2_Reader_CloseEvtReader(reading->reader, source->events);
    source->events = NULL;
    reading->open_count--;
}

/* Puts a failure behind the events that were read. */
static void fail(struct sg_archive_reading *reading, struct source *source, const char *what)
{
    bool no_memory = reading->encoder.out_of_memory;
    struct sg_archive_event *event = &reading->event;

    event->location = source->location;
    event->ticks = source->buffer.written_ticks;
    set_failure(event, no_memory ? SG_ERR_MEMORY : SG_ERR_FORMAT, no_memory ? "" : what,
                no_memory ? "" : reading->complaint);
    /* The room of a record is always left, but for the first. */
    if (!sg_event_put(&source->buffer, event))
        reading->status = SG_ERR_MEMORY;
    source->ended = true;
    close_events(reading, source);
}

/* Opens the location at its next event. */
static bool open_events(struct sg_archive_reading *reading, struct source *source)
{
    OTF2_LocationRef ref = reading->defs->locations[source->location].ref;

    source->events = OTF2_Reader_GetEvtReader(reading->reader, ref);
    if (source->events == NULL)
        return false;
    reading->open_count++;
    return OTF2_Reader_RegisterEvtCallbacks(reading->reader, source->events, reading->callbacks,
                                            &reading->encoder) == OTF2_SUCCESS &&
           (source->read == 0 ||
            OTF2_EvtReader_Seek(source->events, source->read + 1) == OTF2_SUCCESS);
}

/* A location that was read as a whole waits for its turn. */
static void give_room_back(struct sg_event_buffer *buffer)
{
    uint8_t *bytes = buffer->end > 0 ? realloc(buffer->bytes, buffer->end) : NULL;

    if (bytes == NULL)
        return;
    buffer->bytes = bytes;
    buffer->capacity = buffer->end;
}

/* Reads the location's next part. */
static void fill(struct sg_archive_reading *reading, struct source *source)
{
    uint64_t count = 0, left = reading->defs->locations[source->location].event_count, wanted;
    bool stays_open;
    OTF2_ErrorCode code;

    left -= source->read < left ? source->read : left;
    source->buffer.at = source->buffer.end = 0;
    source->buffer.read_ticks = source->buffer.written_ticks;
    if (source->events == NULL && !open_events(reading, source)) {
        fail(reading, source, "an event file cannot be read");
        return;
    }
    stays_open = left > WHOLE_EVENTS && reading->open_count <= reading->open_max;
    /* Asks for one event more than are left, to meet the end: no reader opens behind it. */
    wanted = stays_open ? PART_EVENTS : left > WHOLE_EVENTS ? WHOLE_EVENTS : WHOLE_EVENTS + 1;
    reading->encoder.into = &source->buffer;
    reading->encoder.location = source->location;
    code = OTF2_Reader_ReadLocalEvents(reading->reader, source->events, wanted, &count);
    source->read += count;
    reading->count += count;
    if (reading->encoder.out_of_memory || code != OTF2_SUCCESS) {
        fail(reading, source, "damaged events");
        return;
    }
    source->ended = count < wanted;
    if (source->ended || !stays_open)
        close_events(reading, source);
    if (source->ended)
        give_room_back(&source->buffer);
}

/* Reads a part of the source that has events for a report. False: it has ended. */
static bool refill(struct sg_archive_reading *reading, struct source *source)
{
    struct sg_event_buffer *buffer = &source->buffer;

    while (!source->ended && buffer->at == buffer->end) {
        const uint8_t *bytes = NULL;
        size_t size_bytes;

        if (source->process == 0) {
            fill(reading, source);
            continue;
        }
        size_bytes = sg_processes_receive(source->process, &bytes);
        source->ended = size_bytes == 0;
        if (source->ended)
            break;
        memcpy(&source->of_other, bytes, sizeof source->of_other);
        *buffer = (struct sg_event_buffer){
            .bytes = (uint8_t *)bytes, .at = sizeof source->of_other, .end = size_bytes};
    }
    return buffer->at < buffer->end;
}

/* ---- merging --------------------------------------------------------------------------------- */

static bool is_before(const struct next *left, const struct next *right)
{
    return left->ticks != right->ticks ? left->ticks < right->ticks : left->ref < right->ref;
}

/* Moves an entry from the heap's place `at` to where it belongs. */
static void sink(struct sg_archive_reading *reading, uint32_t at)
{
    struct next *heap = reading->heap, entry = heap[at];
    uint32_t child;

    while ((child = 2 * at + 1) < reading->heap_count) {
        if (child + 1 < reading->heap_count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &entry))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* False: the source has ended. */
static bool find_next(struct sg_archive_reading *reading, struct source *source, struct next *out)
{
    if (!refill(reading, source))
        return false;
    take_head(&source->buffer, out);
    out->source = source;
    out->ref = reading->defs->locations[out->location].ref;
    return true;
}

/* The next event is of this source again or of one of these two. Those of thousands of sources are
 * in no cache, and arrive while this one is being used. */
static void expect_next(const struct sg_archive_reading *reading)
{
    for (uint32_t i = 1; i < 3 && i < reading->heap_count; i++) {
        __builtin_prefetch(reading->heap[i].rest);
        __builtin_prefetch(reading->heap[i].source, 1);
    }
}

static void start(struct sg_archive_reading *reading)
{
    reading->started = true;
    for (uint32_t i = 0; i < reading->source_count; i++)
        reading->heap_count +=
            find_next(reading, &reading->sources[i], &reading->heap[reading->heap_count]);
    for (uint32_t i = reading->heap_count / 2; i-- > 0;)
        sink(reading, i);
}

const struct sg_archive_event *sg_archive_reading_next(struct sg_archive_reading *reading)
{
    struct next *first = reading->heap;

    if (!reading->started) {
        start(reading);
    } else if (reading->heap_count > 0) {
        struct sg_event_buffer *buffer = &first->source->buffer;

        if (buffer->at == buffer->end && first->source->ended) {
            free(first->source->process == 0 ? buffer->bytes : NULL);
            *buffer = (struct sg_event_buffer){0};
        }
        if (!find_next(reading, first->source, first))
            *first = reading->heap[--reading->heap_count];
        sink(reading, 0);
    }
    if (reading->status != SG_OK || reading->heap_count == 0)
        return NULL;
    expect_next(reading);
    take_rest(&first->source->buffer, first, &reading->event);
    if (reading->event.kind != SG_EVENT_FAILURE)
        return &reading->event;
    reading->status = (enum sg_status)reading->event.arguments[0];
    return NULL;
}

enum sg_status sg_archive_reading_failure(const struct sg_archive_reading *reading,
                                          const char **text)
{
    *text = reading->event.kind == SG_EVENT_FAILURE ? reading->event.text : "";
    return reading->status;
}

uint64_t sg_archive_reading_count(const struct sg_archive_reading *reading)
{
    uint64_t count = reading->count;

    for (uint32_t i = 0; i < reading->source_count; i++)
        count += reading->sources[i].of_other;
    return count;
}

/* ---- other processes ------------------------------------------------------------------------- */

/* Process 0 has enough to do with the events of all: alone it reads them, too. */
static uint32_t owner_of(uint32_t location)
{
    uint32_t others = sg_processes_count() - 1;

    return others > 0 ? 1 + location % others : 0;
}

bool sg_archive_reading_owns(uint32_t location)
{
    return owner_of(location) == sg_processes_number();
}

bool sg_archive_reading_clock(struct sg_archive_reading *reading, uint32_t location,
                              struct sg_location_clock *out)
{
    struct source *source = &reading->sources[owner_of(location) - 1];
    struct sg_archive_event *event = &reading->event;
    struct next head;

    if (find_next(reading, source, &head))
        take_rest(&source->buffer, &head, event);
    else
        set_failure(event, SG_ERR_FORMAT, "another process cannot read it", "");
    if (event->kind == SG_EVENT_FAILURE) {
        reading->status = (enum sg_status)event->arguments[0];
        return false;
    }
    *out = (struct sg_location_clock){.count = event->arguments[0],
                                      .first_offset = (int64_t)event->arguments[1],
                                      .last_offset = (int64_t)event->arguments[2],
                                      .between = (int64_t)event->arguments[3],
                                      .has_offset = event->arguments[5] != 0};
    memcpy(&out->deviation, &event->arguments[4], sizeof out->deviation);
    return true;
}

/* Sends what was written so far. False: process 0 wants no more. */
static bool flush(struct sg_archive_reading *reading)
{
    struct sg_event_buffer *block = &reading->block;
    bool wanted = true;

    if (block->end > sizeof reading->count) {
        memcpy(block->bytes, &reading->count, sizeof reading->count);
        wanted = sg_processes_send(block->bytes, block->end);
    }
    block->end = sizeof reading->count;
    block->written_ticks = 0;
    return wanted;
}

static bool send_event(struct sg_archive_reading *reading, const struct sg_archive_event *event)
{
    struct sg_event_buffer *block = &reading->block;

    return sg_event_put(block, event) &&
           (block->capacity - block->end >= SG_EVENT_BYTES_MAX || flush(reading));
}

void sg_archive_reading_send_clock(struct sg_archive_reading *reading, uint32_t location,
                                   const struct sg_location_clock *clock)
{
    struct sg_archive_event *event = &reading->event;

    event->kind = SG_EVENT_CLOCK;
    event->location = location;
    event->ticks = 0;
    event->attributes.present = 0;
    event->arguments[0] = clock->count;
    event->arguments[1] = (uint64_t)clock->first_offset;
    event->arguments[2] = (uint64_t)clock->last_offset;
    event->arguments[3] = (uint64_t)clock->between;
    memcpy(&event->arguments[4], &clock->deviation, sizeof event->arguments[4]);
    event->arguments[5] = clock->has_offset;
    send_event(reading, event);
}

void sg_archive_reading_send_failure(struct sg_archive_reading *reading, enum sg_status status,
                                     const char *text)
{
    reading->event.location = 0;
    reading->event.ticks = 0;
    set_failure(&reading->event, status, text, "");
    send_event(reading, &reading->event);
    flush(reading);
}

void sg_archive_reading_send_events(struct sg_archive_reading *reading)
{
    const struct sg_archive_event *event = NULL;
    const char *text;

    while ((event = sg_archive_reading_next(reading)) != NULL && send_event(reading, event))
        ;
    if (event != NULL)
        return;
    /* A failure stays at its place among the events. */
    if (sg_archive_reading_failure(reading, &text) != SG_OK) {
        if (reading->event.kind != SG_EVENT_FAILURE)
            set_failure(&reading->event, reading->status, "", "");
        send_event(reading, &reading->event);
    }
    flush(reading);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* OTF2 keeps a file open for every open location. */
static uint64_t files_allowed(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur > OTHER_FILES ? limit.rlim_cur - OTHER_FILES : 0;
}

/* If an archive defines a location twice, the definition that its reference finds is read. */
static bool is_read(const struct sg_archive_defs *defs, uint32_t location)
{
    return defs->locations[location].event_count > 0 &&
           sg_map_get(&defs->location_index, defs->locations[location].ref) == (int64_t)location;
}

static void add_sources(struct sg_archive_reading *reading)
{
    for (uint32_t i = 0; i < reading->defs->location_count; i++) {
        if (sg_archive_reading_owns(i) && is_read(reading->defs, i))
            reading->sources[reading->source_count++].location = i;
    }
    for (uint32_t i = 1; i < sg_processes_count() && sg_processes_number() == 0; i++)
        reading->sources[reading->source_count++].process = i;
}

enum sg_status sg_archive_reading_create(OTF2_Reader *reader, const struct sg_archive_defs *defs,
                                         const char *complaint, struct sg_archive_reading **out)
{
    struct sg_archive_reading *reading = calloc(1, sizeof *reading);
    uint64_t chunk_bytes = 0, definition_bytes = 0, files = files_allowed();
    uint32_t count = sg_processes_count();
    size_t most = defs->location_count / (count > 1 ? count - 1 : 1) + 1 + count;

    if (reading == NULL)
        return SG_ERR_MEMORY;
    reading->reader = reader;
    reading->defs = defs;
    reading->complaint = complaint;
    reading->callbacks = sg_event_encoder_callbacks();
    reading->sources = calloc(most, sizeof *reading->sources);
    reading->heap = calloc(most, sizeof *reading->heap);
    if (sg_processes_number() != 0)
        reading->block.bytes = malloc(SG_PROCESSES_BLOCK_BYTES);
    reading->block.capacity = SG_PROCESSES_BLOCK_BYTES;
    reading->block.end = sizeof reading->count;
    if (reading->callbacks == NULL || reading->sources == NULL || reading->heap == NULL ||
        (sg_processes_number() != 0 && reading->block.bytes == NULL)) {
        sg_archive_reading_destroy(reading);
        return SG_ERR_MEMORY;
    }
    sg_event_encoder_start(&reading->encoder, defs);
    add_sources(reading);
    OTF2_Reader_GetChunkSize(reader, &chunk_bytes, &definition_bytes);
    reading->open_max = OPEN_BYTES / (chunk_bytes > 0 ? chunk_bytes : OPEN_BYTES);
    if (reading->open_max > files)
        reading->open_max = files;
    *out = reading;
    return SG_OK;
}

void sg_archive_reading_destroy(struct sg_archive_reading *reading)
{
    if (reading == NULL)
        return;
    for (uint32_t i = 0; i < reading->source_count; i++) {
        struct source *source = &reading->sources[i];

        close_events(reading, source);
        if (source->process == 0)
            free(source->buffer.bytes);
        else
            sg_processes_stop(source->process);
    }
    if (reading->callbacks != NULL)
        OTF2_EvtReaderCallbacks_Delete(reading->callbacks);
    free(reading->block.bytes);
    free(reading->sources);
    free(reading->heap);
    free(reading);
}
