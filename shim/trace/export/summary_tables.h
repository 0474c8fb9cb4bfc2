/* Tables of a log's definitions while they are made: they grow, and are sorted by index. */
#ifndef SG_TRACE_SUMMARY_TABLES_H
#define SG_TRACE_SUMMARY_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed item more; NULL when out of memory. */
void *sg_summary_table_add(void *table, uint32_t *count, size_t item_bytes);

/* To sort and search what begins with a uint32_t, its index in the log. */
int sg_summary_table_by_index(const void *a, const void *b);

/* Sorts by index and leaves out second definitions of one index, as damage may bring about;
 * clear_item frees what such an item holds. */
void sg_summary_table_sort(void *table, uint32_t *count, size_t item_bytes,
                           void (*clear_item)(void *item));

/* The world ranks behind a name, padded to 4 bytes, in the text of a record: count of them,
 * malloc'ed. NULL: they are not all there, not all ranks of the world, or there is no memory. */
uint32_t *sg_summary_table_read_members(const char *text, uint32_t text_bytes, uint32_t count,
                                        int32_t world_size);

/* count words behind those; malloc'ed. NULL: they are not all there, or there is no memory. */
uint32_t *sg_summary_table_read_words(const char *text, uint32_t text_bytes, uint32_t first,
                                      uint32_t count);

#endif
