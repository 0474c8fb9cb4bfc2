#include "transport/payload.h"

#include <string.h>

bool sg_transport_send_fits(const struct sg_transport_setup *setup,
                            const struct sg_transport_send *send)
{
    return send->header.parts <= SG_PARTS_MAX &&
           (uint64_t)send->header.parts * send->header.bytes <= setup->eager_bytes;
}

void sg_transport_gather(const struct sg_transport_send *send, unsigned char *out)
{
    size_t stride = sg_transport_stride(&send->header);

    if (send->header.bytes == 0)
        return;
    for (int i = 0; i < send->header.parts; i++)
        memcpy(out + (size_t)i * stride, send->parts[i], send->header.bytes);
}
