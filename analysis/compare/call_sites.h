/* The call sites of the runs of one side: one for each call site and operation, over its
 * communicators and over the runs. It is identified by id, or else by function, file and line.
 */
#ifndef SG_COMPARE_CALL_SITES_H
#define SG_COMPARE_CALL_SITES_H

#include "compare/collect.h"
#include "compare/comparison.h"

/* Of one run. */
struct sg_entry {
    const struct sg_report_site *site;
    const struct sg_collected *collected; /* NULL: nothing in the events */
    struct sg_side side;
    uint64_t longest_ns;   /* blocked, of its rows */
    struct sg_entry *next; /* the same of a later run */
};

struct sg_entries {
    struct sg_entry *items;
    uint32_t count;
};

/* Of all runs of a side. */
struct sg_call_site {
    const struct sg_report_site *site; /* of the first run that has it */
    struct sg_entry *first;
    bool by_place; /* ids differ among the runs */
    bool matched;
};

struct sg_call_sites {
    struct sg_call_site *items;
    uint32_t count;
    struct sg_collection *collections; /* by run, as */
    struct sg_entries *entries;
};

typedef bool sg_same_site(const struct sg_report_site *a, const struct sg_report_site *b);

sg_same_site sg_same_id, sg_same_source_line;

/* The one that is the same and not matched. NULL if several are, because then the match is
 * ambiguous. */
struct sg_call_site *sg_call_sites_find(struct sg_call_sites *sites,
                                        const struct sg_report_site *of, sg_same_site *same);

/* Lists the call sites of the runs, none of them matched. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_call_sites_list(struct sg_call_sites *sites, const struct sg_report *runs,
                                  uint32_t run_count);

void sg_call_sites_clear(struct sg_call_sites *sites, uint32_t run_count);

#endif
