/* Selects the part of a run that a report covers: call sites and communicators as rules write them
 * (rule/rule.h), ranks, and a time interval. An instance's skew and wait are measured among all its
 * members; only those of its calls that match the filter are counted.
 *
 * Also has what most of the report uses: a hash map, the columns of ranks, and the text on how
 * ranks waited.
 */
#ifndef SG_REPORT_FILTER_H
#define SG_REPORT_FILTER_H

#include "core/room.h"
#include "core/status.h"
#include "core/text.h"
#include "output/column.h"
#include "report/report.h"
#include "rule/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sg_report_site;

/* All zero takes everything. The caller owns the texts. */
struct sg_filter {
    const char *site, *comm, *ranks, *time;
    struct sg_rule *rule;       /* for site and comm; NULL: any */
    struct sg_rank_list ranges; /* valid if `ranks` is set */
    int64_t from_ns, to_ns;     /* valid if `time` is set: the first arrival is in [from, to) */
};

/* Parses the texts. False: the message says which one is wrong and why. */
bool sg_filter_parse(struct sg_filter *filter, char message[], size_t message_bytes);
void sg_filter_clear(struct sg_filter *filter);

static inline bool sg_filter_is_set(const struct sg_filter *filter)
{
    return filter != NULL && (filter->site != NULL || filter->comm != NULL ||
                              filter->ranks != NULL || filter->time != NULL);
}

/* Returns a row's call site as rules match it. */
struct sg_rule_site sg_filter_rule_site(const struct sg_report_site *row);
/* A NULL filter takes everything. */
bool sg_filter_takes_row(const struct sg_filter *filter, const struct sg_report_site *row);
bool sg_filter_takes_rank(const struct sg_filter *filter, uint32_t rank);
bool sg_filter_takes_time(const struct sg_filter *filter, int64_t time_ns);

/* A hash map from 64-bit keys to 32-bit values. Keys are an archive's references, which may be
 * sparse (location ids are rank + thread * 2^32), or pairs of them; values are indices of arrays.
 *
 * No removal. Zero-initialised is empty. Not thread-safe.
 */

struct sg_map {
    struct sg_map_entry *entries;
};

/* Sets or replaces. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_map_put(struct sg_map *map, uint64_t key, uint32_t value);
/* Returns the value, or -1. */
int64_t sg_map_get(const struct sg_map *map, uint64_t key);
/* Numbers keys: returns the key's value. If the key is new (*is_new), stores `count` as its value
 * and returns it. -1: out of memory; *is_new is false. */
int64_t sg_map_number(struct sg_map *map, uint64_t key, uint32_t count, bool *is_new);
void sg_map_clear(struct sg_map *map);
/* The index of a key's value in an array, of which the map has the numbers: appends the value if
 * the key is new. -1: out of memory. */
#define SG_MAP_INDEX(map, key, array, count, ...)                                                  \
    ({                                                                                             \
        bool is_new_;                                                                              \
        int64_t index_ = sg_map_number(map, key, count, &is_new_);                                 \
        is_new_ && !SG_APPEND(array, count, __VA_ARGS__) ? -1 : index_;                            \
    })

/* A short list of different names. Zero-initialised is empty. */
struct sg_names {
    char **of;
    uint32_t count;
};

/* The name's number; -1: the list does not have it. */
int64_t sg_names_find(const struct sg_names *names, const char *name);
/* The same, but adds a new name. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_names_number(struct sg_names *names, const char *name, uint32_t *out);
void sg_names_clear(struct sg_names *names);

/* ---- how ranks waited, for the report's text and page ---------------------------------------- */

/* True if some machine had fewer processors than ranks. */
static inline bool sg_report_is_oversubscribed(const struct sg_report *report)
{
    return report->waiting.short_ranks > 0;
}

/* True if it was, and the ranks' own use of the processors explains most of the time that ranks
 * were ready to work and had none. Otherwise other programs had them. */
bool sg_report_is_crowded(const struct sg_report *report);
/* Writes "yielded 1.20s and slept 3.40s a rank, 4.1% and 12% of the run", or "spun"; nothing if it
 * is not known. */
void sg_report_put_waited(const struct sg_report *report, FILE *out);
/* Prints the advice for OpenMP threads that spin; call if sg_waiting_has_spinning(). */
void sg_report_put_spinning(const struct sg_report *report, FILE *out);

#endif
