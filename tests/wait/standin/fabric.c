/* The stand-in library for libfabric: its symbols have versions, as libfabric's have. */
#include "wait/standin/fabric.h"

#include <stdlib.h>

#ifndef VERSION_MAJOR
#define VERSION_MAJOR 1u
#endif

int fi_fabric(void *attributes, struct fid_fabric **fabric, void *context)
{
    const struct standin *standin = attributes;

    if (standin->status != 0)
        return standin->status;
    *fabric = calloc(1, sizeof **fabric);
    if (*fabric == NULL)
        abort();
    (*fabric)->fid.context = context;
    (*fabric)->ops = standin->fabric;
    return 0;
}

uint32_t fi_version(void)
{
    return VERSION_MAJOR << 16 | 17u;
}
