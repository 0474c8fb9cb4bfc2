/* Tables of a log's definitions, for the construction of a summary: a table grows item by item
 * and is then sorted by index. Each item begins with a uint32_t, its index in the log. Logs may
 * be damaged, so readers check lengths and ranks, and duplicates are removed. */
#ifndef SG_TRACE_SUMMARY_TABLES_H
#define SG_TRACE_SUMMARY_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* Appends a zeroed item; NULL when out of memory. table: address of the pointer to the items. */
void *sg_summary_table_add(void *table, uint32_t *count, size_t item_bytes);

/* Compares items by index, for qsort and bsearch. */
int sg_summary_table_by_index(const void *a, const void *b);

/* Sorts by index and removes repeated definitions of an index, which a damaged log may have.
 * clear_item frees the memory that a removed item owns. */
void sg_summary_table_sort(void *table, uint32_t *count, size_t item_bytes,
                           void (*clear_item)(void *item));

/* Reads count world ranks from a record's text, where they follow the name, padded to 4 bytes;
 * malloc'ed. NULL: the text is too short, a rank is outside the world, or out of memory. */
uint32_t *sg_summary_table_read_members(const char *text, uint32_t text_bytes, uint32_t count,
                                        int32_t world_size);

/* Reads count words from a record's text, from the word with index first after the padded name;
 * malloc'ed. NULL: the text is too short, or out of memory. */
uint32_t *sg_summary_table_read_words(const char *text, uint32_t text_bytes, uint32_t first,
                                      uint32_t count);

#endif
