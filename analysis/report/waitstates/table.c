#include "report/waitstates/table.h"

#include <stdlib.h>

#define FIRST_BUCKETS 64

static struct sg_table_link **bucket_of(const struct sg_link_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static enum sg_status grow(struct sg_link_table *table)
{
    struct sg_link_table larger = {.bucket_count = table->bucket_count > 0 ? 2 * table->bucket_count
                                                                           : FIRST_BUCKETS,
                                   .count = table->count};

    larger.buckets = calloc(larger.bucket_count, sizeof *larger.buckets);
    if (larger.buckets == NULL)
        return SG_ERR_MEMORY;
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct sg_table_link *next;

        for (struct sg_table_link *link = table->buckets[i]; link != NULL; link = next) {
            struct sg_table_link **bucket = bucket_of(&larger, link->hash);

            next = link->next;
            link->next = *bucket;
            *bucket = link;
        }
    }
    free(table->buckets);
    *table = larger;
    return SG_OK;
}

enum sg_status sg_link_table_add(struct sg_link_table *table, struct sg_table_link *link,
                                 uint64_t hash)
{
    struct sg_table_link **bucket;

    if (table->count >= table->bucket_count && grow(table) != SG_OK)
        return SG_ERR_MEMORY;
    bucket = bucket_of(table, hash);
    *link = (struct sg_table_link){*bucket, hash};
    *bucket = link;
    table->count++;
    return SG_OK;
}

void sg_link_table_remove(struct sg_link_table *table, struct sg_table_link *link)
{
    struct sg_table_link **at = bucket_of(table, link->hash);

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->count--;
}

static struct sg_table_link *find(struct sg_table_link *link, uint64_t hash)
{
    while (link != NULL && link->hash != hash)
        link = link->next;
    return link;
}

struct sg_table_link *sg_link_table_first(const struct sg_link_table *table, uint64_t hash)
{
    return table->bucket_count > 0 ? find(*bucket_of(table, hash), hash) : NULL;
}

struct sg_table_link *sg_link_table_next(const struct sg_table_link *link)
{
    return find(link->next, link->hash);
}

void sg_link_table_clear(struct sg_link_table *table,
                         void (*release)(void *context, struct sg_table_link *link), void *context)
{
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct sg_table_link *next;

        for (struct sg_table_link *link = table->buckets[i]; link != NULL; link = next) {
            next = link->next;
            release(context, link);
        }
    }
    free(table->buckets);
    *table = (struct sg_link_table){0};
}
