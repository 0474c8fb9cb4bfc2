/* Memory layout common to all transports: the parts of a message follow one another, each at a
 * multiple of SG_TRANSPORT_PART_ALIGN; data that several processors write is on separate cache
 * lines. */
#ifndef SG_TRANSPORT_PAYLOAD_H
#define SG_TRANSPORT_PAYLOAD_H

#include "transport/transport.h"

#define SG_TRANSPORT_PART_ALIGN 16
#define SG_TRANSPORT_LINE_BYTES 64 /* of the processor's caches */

static inline size_t sg_transport_round(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Returns the offset of an object of that size at *end, and moves *end to the next cache line. */
static inline size_t sg_transport_lay(size_t *end, size_t bytes)
{
    size_t at = *end;

    *end = sg_transport_round(at + bytes, SG_TRANSPORT_LINE_BYTES);
    return at;
}

/* Distance between parts of a message. */
static inline size_t sg_transport_stride(const struct sg_header *header)
{
    return sg_transport_round(header->bytes, SG_TRANSPORT_PART_ALIGN);
}

/* Size of all parts as a receiver sees them; 0: no payload. */
static inline size_t sg_transport_payload_bytes(const struct sg_header *header)
{
    return header->parts * sg_transport_stride(header);
}

/* Capacity for any payload that the setup allows, including the padding of small parts. */
static inline size_t sg_transport_payload_room(const struct sg_transport_setup *setup)
{
    size_t fill = setup->eager_bytes < SG_PARTS_MAX ? setup->eager_bytes : SG_PARTS_MAX;

    return sg_transport_round(setup->eager_bytes + fill * (SG_TRANSPORT_PART_ALIGN - 1),
                              SG_TRANSPORT_LINE_BYTES);
}

/* True if a message is within the limits that a sender must keep. */
bool sg_transport_send_fits(const struct sg_transport_setup *setup,
                            const struct sg_transport_send *send);

/* Copies the parts one after another. */
void sg_transport_gather(const struct sg_transport_send *send, unsigned char *out);

#endif
