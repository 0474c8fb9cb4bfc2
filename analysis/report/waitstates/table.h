/* A hash table of what is outstanding: its elements contain their link, and are removed when they
 * are done, so that the table's memory depends on the most that are outstanding at a time.
 *
 * The caller compares keys: elements of one hash come one after another. Zero-initialised is empty.
 * Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_TABLE_H
#define SG_REPORT_WAITSTATES_TABLE_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct sg_table_link {
    struct sg_table_link *next; /* of the same bucket */
    uint64_t hash;
};

struct sg_link_table {
    struct sg_table_link **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    size_t count;
};

/* SG_ERR_MEMORY only (not logged): nothing is changed. */
enum sg_status sg_link_table_add(struct sg_link_table *table, struct sg_table_link *link,
                                 uint64_t hash);
/* It is in the table. */
void sg_link_table_remove(struct sg_link_table *table, struct sg_table_link *link);

/* The first, and the next, of this hash; NULL: no more. */
struct sg_table_link *sg_link_table_first(const struct sg_link_table *table, uint64_t hash);
struct sg_table_link *sg_link_table_next(const struct sg_table_link *link);

/* Passes every element to release, after which the table is as at first. */
void sg_link_table_clear(struct sg_link_table *table,
                         void (*release)(void *context, struct sg_table_link *link), void *context);

#endif
