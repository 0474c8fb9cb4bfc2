#include "core/exchange.h"

#include "core/hash.h"

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

static enum sg_status serial_combine(void *context, enum sg_combination how, uint64_t *values,
                                     int count)
{
    return SG_OK;
}

const struct sg_exchange sg_exchange_serial = {
    .rank = 0,
    .size = 1,
    .gather = serial_gather,
    .broadcast = serial_broadcast,
    .combine = serial_combine,
};

/* As sg_exchange_share, if all ranks know the size and the first begin_bytes. */
static enum sg_status share_sized(const struct sg_exchange *exchange, void **data, size_t size,
                                  const void *begin, size_t begin_bytes)
{
    char scratch[65536];
    char *copy = exchange->rank == 0 ? *data : NULL;
    enum sg_status status = SG_OK;

    if (exchange->rank != 0) {
        copy = malloc(size + 1);
        if (copy != NULL)
            copy[size] = '\0';
        if (copy != NULL && begin_bytes > 0)
            memcpy(copy, begin, begin_bytes);
    }
    /* In pieces, so that a rank without memory can take part until the end. */
    for (size_t done = begin_bytes; done < size && status == SG_OK; done += sizeof scratch) {
        size_t piece = size - done < sizeof scratch ? size - done : sizeof scratch;

        status = exchange->broadcast(exchange->context, copy ? copy + done : scratch, piece);
    }
    if (status == SG_OK && copy == NULL && exchange->rank != 0)
        status = SG_ERR_MEMORY;
    if (status == SG_OK)
        *data = copy;
    else if (exchange->rank != 0)
        free(copy);
    return status;
}

/* The size goes with the first bytes: little data take one broadcast. */
enum sg_status sg_exchange_share(const struct sg_exchange *exchange, void **data,
                                 size_t *size_bytes)
{
    struct {
        uint64_t size_bytes;
        char begin[4088];
    } first = {0};
    enum sg_status status;
    size_t begin_bytes;

    if (exchange->rank == 0) {
        first.size_bytes = *size_bytes;
        begin_bytes = *size_bytes < sizeof first.begin ? *size_bytes : sizeof first.begin;
        if (begin_bytes > 0)
            memcpy(first.begin, *data, begin_bytes);
    }
    status = exchange->broadcast(exchange->context, &first, sizeof first);
    begin_bytes = first.size_bytes < sizeof first.begin ? first.size_bytes : sizeof first.begin;
    if (status == SG_OK)
        status = share_sized(exchange, data, first.size_bytes, first.begin, begin_bytes);
    if (status == SG_OK)
        *size_bytes = first.size_bytes;
    return status;
}

/* Gathers data of one size from all ranks at rank 0. */
static enum sg_status gather_alike(const struct sg_exchange *exchange, const void *own,
                                   size_t size_bytes, void **all)
{
    size_t *sizes = exchange->rank == 0 ? calloc((size_t)exchange->size, sizeof *sizes) : NULL;
    enum sg_status status;

    if (exchange->rank == 0 && sizes == NULL)
        abort();
    *all = NULL;
    status = exchange->gather(exchange->context, own, size_bytes, all, sizes);
    free(sizes);
    return status;
}

enum sg_status sg_exchange_collect(const struct sg_exchange *exchange, const void *own,
                                   size_t size_bytes, void **all)
{
    enum sg_status status = gather_alike(exchange, own, size_bytes, all);

    return status == SG_OK
               ? share_sized(exchange, all, (size_t)exchange->size * size_bytes, NULL, 0)
               : status;
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

void sg_exchange_add(enum sg_combination how, uint64_t *values, const uint64_t *others, int count)
{
    for (int i = 0; i < count; i++) {
        if (how == SG_COMBINE_SUM)
            values[i] += others[i];
        else if (others[i] < values[i])
            values[i] = others[i];
    }
}

enum sg_status sg_exchange_combine(const struct sg_exchange *exchange, enum sg_combination how,
                                   uint64_t *values, int count)
{
    size_t size_bytes = (size_t)count * sizeof *values;
    enum sg_status status;
    void *all;

    if (exchange->combine != NULL)
        return exchange->combine(exchange->context, how, values, count);
    status = gather_alike(exchange, values, size_bytes, &all);
    for (int rank = 1; status == SG_OK && exchange->rank == 0 && rank < exchange->size; rank++)
        sg_exchange_add(how, values, (const uint64_t *)all + (size_t)rank * (size_t)count, count);
    free(all);
    return status == SG_OK ? exchange->broadcast(exchange->context, values, size_bytes) : status;
}

/* Both ranks of a pair add its hash, with opposite signs: if each pair is named by both, the sum of
 * all is 0. */
static enum sg_status check_pairs(const struct sg_exchange *exchange, const int *with, int count)
{
    uint64_t rank = (uint64_t)exchange->rank, sum = 0;
    enum sg_status status;

    for (int i = 0; i < count; i++) {
        uint64_t other = (uint64_t)with[i];

        if (rank < other)
            sum += sg_hash_mix(rank << 32 | other);
        else
            sum -= sg_hash_mix(other << 32 | rank);
    }
    status = sg_exchange_combine(exchange, SG_COMBINE_SUM, &sum, 1);
    return status == SG_OK && sum != 0 ? SG_ERR_ARGUMENT : status;
}

static enum sg_status trade_all(const struct sg_exchange *exchange, const int *with, int count,
                                const void *own, void *theirs, size_t size_bytes)
{
    size_t row_bytes = (size_t)exchange->size * size_bytes; /* a rank's records, by receiver */
    unsigned char *row = calloc(1, row_bytes + 1);
    void *rows;
    enum sg_status status;

    if (row == NULL)
        abort(); /* the others wait for this rank */
    for (int i = 0; i < count; i++)
        memcpy(row + (size_t)with[i] * size_bytes, (const char *)own + (size_t)i * size_bytes,
               size_bytes);
    status = sg_exchange_collect(exchange, row, row_bytes, &rows);
    free(row);
    if (status != SG_OK)
        return status;
    for (int i = 0; i < count; i++)
        memcpy((char *)theirs + (size_t)i * size_bytes,
               (char *)rows + (size_t)with[i] * row_bytes + (size_t)exchange->rank * size_bytes,
               size_bytes);
    free(rows);
    return SG_OK;
}

enum sg_status sg_exchange_trade(const struct sg_exchange *exchange, const int *with, int count,
                                 const void *own, void *theirs, size_t size_bytes)
{
    enum sg_status status = check_pairs(exchange, with, count);

    if (status != SG_OK)
        return status;
    return exchange->trade != NULL
               ? exchange->trade(exchange->context, with, count, own, theirs, size_bytes)
               : trade_all(exchange, with, count, own, theirs, size_bytes);
}

enum sg_status sg_exchange_agree(const struct sg_exchange *exchange, int ok, int *first_false)
{
    uint64_t none = INT64_MAX, first = ok ? none : (uint64_t)exchange->rank;
    enum sg_status status = sg_exchange_combine(exchange, SG_COMBINE_LEAST, &first, 1);

    if (status == SG_OK)
        *first_false = first == none ? -1 : (int)first;
    return status;
}
