/* Encoded events of an archive: parts of locations, which OTF2's callbacks encode, and blocks that
 * processes exchange. An event is its kind, location, time since the event before it in the same
 * buffer, arguments, attributes, and numbers or text. Only this program's own buffers are decoded.
 */
#ifndef SG_REPORT_ARCHIVE_ENCODING_H
#define SG_REPORT_ARCHIVE_ENCODING_H

#include "report/archive_definitions.h"
#include "report/archive_reading.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    struct sg_event event;                        /* that is being encoded */
};

extern const uint8_t sg_event_argument_counts[SG_EVENT_KIND_COUNT];

/* Appends an event. False: no memory. */
bool sg_event_put(struct sg_event_buffer *buffer, const struct sg_event *event);

void sg_event_encoder_start(struct sg_event_encoder *encoder, const struct sg_archive_defs *defs);
/* Returns callbacks, whose context is the encoder. They interrupt the reading if memory runs out.
 * NULL: no memory. */
OTF2_EvtReaderCallbacks *sg_event_encoder_callbacks(void);

#endif
