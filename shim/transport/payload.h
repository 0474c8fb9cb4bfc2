/* The layout of memory that every transport uses: the parts of a message one after another, each at
 * a multiple of SG_TRANSPORT_PART_ALIGN; what several processors write on lines of its own.
 */
#ifndef SG_TRANSPORT_PAYLOAD_H
#define SG_TRANSPORT_PAYLOAD_H

#include "transport/transport.h"

#define SG_TRANSPORT_PART_ALIGN 16
#define SG_TRANSPORT_LINE_BYTES 64 /* of the processor's caches */

static inline size_t sg_transport_round(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Where something of that size lies behind *end, which moves on to the next line. */
static inline size_t sg_transport_lay(size_t *end, size_t bytes)
{
    size_t at = *end;

    *end = sg_transport_round(at + bytes, SG_TRANSPORT_LINE_BYTES);
    return at;
}

/* From one part of a message to the next. */
static inline size_t sg_transport_stride(const struct sg_header *header)
{
    return sg_transport_round(header->bytes, SG_TRANSPORT_PART_ALIGN);
}

/* Of all parts as a receiver sees them; 0: there is nothing to carry. */
static inline size_t sg_transport_payload_bytes(const struct sg_header *header)
{
    return header->parts * sg_transport_stride(header);
}

/* Room for any payload that such a setup allows, small parts filled up included. */
static inline size_t sg_transport_payload_room(const struct sg_transport_setup *setup)
{
    size_t fill = setup->eager_bytes < SG_PARTS_MAX ? setup->eager_bytes : SG_PARTS_MAX;

    return sg_transport_round(setup->eager_bytes + fill * (SG_TRANSPORT_PART_ALIGN - 1),
                              SG_TRANSPORT_LINE_BYTES);
}

/* What a sender must keep to. */
bool sg_transport_send_fits(const struct sg_transport_setup *setup,
                            const struct sg_transport_send *send);

/* Lays the parts one after another. */
void sg_transport_gather(const struct sg_transport_send *send, unsigned char *out);

#endif
