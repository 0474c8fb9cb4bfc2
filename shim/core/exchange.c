#include "core/exchange.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static enum sg_status serial_gather(void *context, const void *data, size_t size_bytes, void **all,
                                    size_t *sizes)
{
    void *copy = malloc(size_bytes + 1);

    if (copy == NULL)
        return SG_ERR_MEMORY;
    memcpy(copy, data, size_bytes);
    *all = copy;
    sizes[0] = size_bytes;
    return SG_OK;
}

static enum sg_status serial_broadcast(void *context, void *data, size_t size_bytes)
{
    return SG_OK;
}

const struct sg_exchange sg_exchange_serial = {
    .rank = 0,
    .size = 1,
    .gather = serial_gather,
    .broadcast = serial_broadcast,
};

enum sg_status sg_exchange_share(const struct sg_exchange *exchange, void **data,
                                 size_t *size_bytes)
{
    char scratch[65536];
    uint64_t size = exchange->rank == 0 ? *size_bytes : 0;
    char *copy = exchange->rank == 0 ? *data : NULL;
    enum sg_status status = exchange->broadcast(exchange->context, &size, sizeof size);

    if (status != SG_OK)
        return status;
    if (exchange->rank != 0) {
        copy = malloc(size + 1);
        if (copy != NULL)
            copy[size] = '\0';
    }
    /* In pieces, so that a rank without memory can take part until the end. */
    for (uint64_t done = 0; done < size && status == SG_OK; done += sizeof scratch) {
        size_t piece = size - done < sizeof scratch ? size - done : sizeof scratch;

        status = exchange->broadcast(exchange->context, copy ? copy + done : scratch, piece);
    }
    if (status == SG_OK && copy == NULL && exchange->rank != 0)
        status = SG_ERR_MEMORY;
    if (status == SG_OK) {
        *data = copy;
        *size_bytes = size;
    } else if (exchange->rank != 0) {
        free(copy);
    }
    return status;
}

/* Gathers data of one size from all ranks at rank 0. */
static enum sg_status gather_alike(const struct sg_exchange *exchange, const void *own,
                                   size_t size_bytes, void **all)
{
    size_t *sizes = calloc((size_t)exchange->size, sizeof *sizes);
    enum sg_status status;

    if (sizes == NULL)
        abort();
    *all = NULL;
    status = exchange->gather(exchange->context, own, size_bytes, all, sizes);
    free(sizes);
    return status;
}

enum sg_status sg_exchange_collect(const struct sg_exchange *exchange, const void *own,
                                   size_t size_bytes, void **all)
{
    size_t all_bytes = (size_t)exchange->size * size_bytes;
    enum sg_status status = gather_alike(exchange, own, size_bytes, all);

    return status == SG_OK ? sg_exchange_share(exchange, all, &all_bytes) : status;
}

enum sg_status sg_exchange_unite(const struct sg_exchange *exchange, void *data, size_t size_bytes)
{
    void *all;
    enum sg_status status = gather_alike(exchange, data, size_bytes, &all);

    if (status == SG_OK && exchange->rank == 0) {
        for (size_t i = 0; i < (size_t)exchange->size * size_bytes; i++)
            ((unsigned char *)data)[i % size_bytes] |= ((unsigned char *)all)[i];
    }
    free(all);
    return status;
}

enum sg_status sg_exchange_agree(const struct sg_exchange *exchange, int ok, int *first_false)
{
    unsigned char flag = ok != 0;
    void *all;
    int32_t first = -1;
    enum sg_status status = gather_alike(exchange, &flag, sizeof flag, &all);

    if (status == SG_OK && exchange->rank == 0) {
        for (int rank = exchange->size - 1; rank >= 0; rank--) {
            if (!((unsigned char *)all)[rank])
                first = rank;
        }
    }
    free(all);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, &first, sizeof first);
    if (status == SG_OK)
        *first_false = first;
    return status;
}
