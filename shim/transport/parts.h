/* Payload of messages, and access to memory that the caller maps: what the transports within one
 * machine share.
 */
#ifndef SG_TRANSPORT_PARTS_H
#define SG_TRANSPORT_PARTS_H

#include "transport/transport.h"

#define SG_TRANSPORT_PART_ALIGN 16

static inline size_t sg_transport_round(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
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

    return sg_transport_round(setup->eager_bytes + fill * (SG_TRANSPORT_PART_ALIGN - 1), 64);
}

/* What a sender must keep to. */
bool sg_transport_send_fits(const struct sg_transport_setup *setup,
                            const struct sg_transport_send *send);

/* Lays the parts one after another. */
void sg_transport_gather(const struct sg_transport_send *send, unsigned char *out);

/* `access` for regions in memory: at once. */
enum sg_transport_result sg_transport_access_memory(const struct sg_action *action,
                                                    const struct sg_transport_region *region,
                                                    void *local, uint64_t value[8]);

#endif
