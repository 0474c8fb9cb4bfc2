/* Reads the events of an archive in time order over all its locations, with the fields and
 * attributes that a report needs. Several processes (processes/processes.h) share the locations:
 * each reads its own, and process 0 merges what the others send.
 *
 * The order is that of OTF2's global reader: by time, at equal times by location, and on a location
 * as recorded. It does not depend on the number of processes: of the next events of all locations
 * the first is also the first of its process. A failure to read a location is a record after the
 * events before it, so all numbers of processes report the same one.
 *
 * Memory: a location whose events are few is read as a whole and closed. OTF2 keeps a chunk of
 * memory, 1 MiB by default, and an open file for each of the others; beyond a limit of both, a
 * location is opened again for each of its parts. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_READING_H
#define SG_REPORT_ARCHIVE_READING_H

#include "core/status.h"
#include "report/archive_definitions.h"
#include "trace/export/vocabulary.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

/* The attributes of an event that are known by name and have their type. */
struct sg_event_attributes {
    uint32_t present; /* by enum sg_attribute_ref: a bit */
    uint64_t values[SG_ATTRIBUTE_COUNT];
};

static inline bool sg_event_has(const struct sg_event_attributes *attributes,
                                enum sg_attribute_ref which)
{
    return (attributes->present >> which & 1) != 0;
}

/* False: the attribute is missing; *out is unchanged. */
static inline bool sg_event_attribute(const struct sg_event_attributes *attributes,
                                      enum sg_attribute_ref which, uint64_t *out)
{
    if (!sg_event_has(attributes, which))
        return false;
    *out = attributes->values[which];
    return true;
}

/* Each kind with its number of arguments. */
#define SG_EVENT_KINDS(X)                                                                          \
    X(ENTER, 1)               /* region */                                                         \
    X(LEAVE, 1)               /* region */                                                         \
    X(COLLECTIVE, 5)          /* op, communicator, root, sent, received */                         \
    X(COLLECTIVE_BEGUN, 1)    /* request */                                                        \
    X(COLLECTIVE_COMPLETE, 6) /* as COLLECTIVE, request */                                         \
    X(METRIC, 1)              /* class; and numbers */                                             \
    X(PARAMETER, 2)           /* parameter, value */                                               \
    X(SEND, 4)                /* peer, communicator, tag, bytes */                                 \
    X(ISEND, 5)               /* as SEND, request */                                               \
    X(RECEIVE, 4)             /* as SEND */                                                        \
    X(RECEIVED, 5)            /* as ISEND */                                                       \
    X(POST, 1)                /* request */                                                        \
    X(SENT, 1)                /* request */                                                        \
    X(CANCELLED, 1)           /* request */                                                        \
    X(RMA_COLLECTIVE, 2)      /* window, op */                                                     \
    X(RMA_GROUP, 2)           /* window, group */                                                  \
    X(RMA_REQUEST_LOCK, 3)    /* window, target, type */                                           \
    X(RMA_RELEASE_LOCK, 2)    /* window, target */                                                 \
    X(RMA_OPERATION, 3)       /* window, target, number */                                         \
    X(RMA_OPERATED_HERE, 2)   /* window, number */                                                 \
    X(RMA_OPERATED, 2)        /* window, number */                                                 \
    X(CLOCK, 6)               /* struct sg_location_clock; no event of the archive */              \
    X(FAILURE, 1)             /* enum sg_status; text; likewise */

#define SG_EVENT_NAME(name, count) SG_EVENT_##name,
enum sg_event_kind { SG_EVENT_KINDS(SG_EVENT_NAME) SG_EVENT_KIND_COUNT };
#undef SG_EVENT_NAME

/* Places of arguments. */
enum { SG_EVENT_PEER, SG_EVENT_COMM, SG_EVENT_TAG, SG_EVENT_BYTES, SG_EVENT_MESSAGE_REQUEST };
enum { SG_EVENT_OP, SG_EVENT_ROOT = 2, SG_EVENT_SENT_BYTES, SG_EVENT_RECEIVED_BYTES };
enum { SG_EVENT_WINDOW = 0, SG_EVENT_COLLECTIVE_REQUEST = 5, SG_EVENT_ARGUMENTS = 6 };

#define SG_FAILURE_BYTES 480

struct sg_event {
    enum sg_event_kind kind;
    uint32_t location; /* index in the definitions */
    OTF2_TimeStamp ticks;
    uint64_t arguments[SG_EVENT_ARGUMENTS];
    struct sg_event_attributes attributes;
    uint8_t number_count; /* of METRIC; not of others */
    uint64_t numbers[UINT8_MAX];
    char text[SG_FAILURE_BYTES]; /* of FAILURE */
};

/* The local definitions of a location. */
struct sg_location_clock {
    uint64_t count;                             /* of offsets; 0: none */
    int64_t first_offset, last_offset, between; /* ticks */
    double deviation;                           /* the largest; negative: none */
    bool has_offset;                            /* some offset is not 0 */
};

struct sg_archive_reading;

/* Makes a reading of the locations with events. Reader and definitions must outlive it. complaint:
 * OTF2's current error, for the text of failures; "" while there is none. SG_ERR_MEMORY, not
 * logged. */
enum sg_status sg_archive_reading_create(OTF2_Reader *reader, const struct sg_archive_defs *defs,
                                         const char *complaint, struct sg_archive_reading **out);
void sg_archive_reading_destroy(struct sg_archive_reading *reading);

/* True if this process reads the location. */
bool sg_archive_reading_owns(uint32_t location);
/* Receives the clock of a location that another process reads. Call for each of them in the order
 * of locations, before the first event. False: the process failed, see
 * sg_archive_reading_failure(). */
bool sg_archive_reading_clock(struct sg_archive_reading *reading, uint32_t location,
                              struct sg_location_clock *out);

/* Returns the next event, valid until the next call; NULL: the end, or a failure. */
const struct sg_event *sg_archive_reading_next(struct sg_archive_reading *reading);
/* Returns SG_OK if nothing failed; else the status, and the text to log ("" if memory ran out). */
enum sg_status sg_archive_reading_failure(const struct sg_archive_reading *reading,
                                          const char **text);
/* Returns the number of events read so far, over all processes, also of kinds that no report
 * needs. */
uint64_t sg_archive_reading_count(const struct sg_archive_reading *reading);

/* In other processes than 0: sends a clock, a failure, or all events. */
void sg_archive_reading_send_clock(struct sg_archive_reading *reading, uint32_t location,
                                   const struct sg_location_clock *clock);
void sg_archive_reading_send_failure(struct sg_archive_reading *reading, enum sg_status status,
                                     const char *text);
void sg_archive_reading_send_events(struct sg_archive_reading *reading);

#endif
