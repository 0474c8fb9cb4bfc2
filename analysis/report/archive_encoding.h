/* Encoded events of an archive: parts of locations, which OTF2's callbacks encode, and blocks that
 * processes exchange. An event is its kind, location, time since the event before it in the same
 * buffer, arguments, attributes, and numbers or text. Only this program's own buffers are decoded.
 */
#ifndef SG_REPORT_ARCHIVE_ENCODING_H
#define SG_REPORT_ARCHIVE_ENCODING_H

#include "report/archive_definitions.h"
#include "trace/export/vocabulary.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
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
enum sg_archive_event_kind { SG_EVENT_KINDS(SG_EVENT_NAME) SG_EVENT_KIND_COUNT };
#undef SG_EVENT_NAME

/* Places of arguments. */
enum { SG_EVENT_PEER, SG_EVENT_COMM, SG_EVENT_TAG, SG_EVENT_BYTES, SG_EVENT_MESSAGE_REQUEST };
enum { SG_EVENT_OP, SG_EVENT_ROOT = 2, SG_EVENT_SENT_BYTES, SG_EVENT_RECEIVED_BYTES };
enum { SG_EVENT_WINDOW = 0, SG_EVENT_COLLECTIVE_REQUEST = 5, SG_EVENT_ARGUMENTS = 6 };

#define SG_FAILURE_BYTES 480

struct sg_archive_event {
    enum sg_archive_event_kind kind;
    uint32_t location; /* index in the definitions */
    OTF2_TimeStamp ticks;
    uint64_t arguments[SG_EVENT_ARGUMENTS];
    struct sg_event_attributes attributes;
    uint8_t number_count; /* of METRIC; not of others */
    uint64_t numbers[UINT8_MAX];
    char text[SG_FAILURE_BYTES]; /* of FAILURE */
};

/* No event takes more. */
#define SG_EVENT_BYTES_MAX ((size_t)4096)
#define SG_EVENT_HAS_ATTRIBUTES 0x80 /* in the byte of a kind */
#define SG_EVENT_ATTRIBUTE_REFS 256

/* Encoded events, between `at` and `end`. */
struct sg_event_buffer {
    uint8_t *bytes;
    size_t capacity, at, end;
    OTF2_TimeStamp written_ticks, read_ticks; /* of the last event written or read */
};

/* Encodes the events of a location. */
struct sg_event_encoder {
    const struct sg_archive_defs *defs;
    struct sg_event_buffer *into;
    uint32_t location; /* index in the definitions */
    bool out_of_memory;
    int8_t attribute_of[SG_EVENT_ATTRIBUTE_REFS]; /* enum sg_attribute_ref by reference; -1: none */
    struct sg_archive_event event;                /* that is being encoded */
};

extern const uint8_t sg_event_argument_counts[SG_EVENT_KIND_COUNT];

/* Appends an event. False: no memory. */
bool sg_event_put(struct sg_event_buffer *buffer, const struct sg_archive_event *event);

void sg_event_encoder_start(struct sg_event_encoder *encoder, const struct sg_archive_defs *defs);
/* Returns callbacks, whose context is the encoder. They interrupt the reading if memory runs out.
 * NULL: no memory. */
OTF2_EvtReaderCallbacks *sg_event_encoder_callbacks(void);

#endif
