/* The state of a table of calls while profile_table.c fills it and makes the result from it. */
#ifndef SG_REPORT_GATHERED_H
#define SG_REPORT_GATHERED_H

#include "report/aggregate.h"
#include "report/between_calls.h"
#include "report/filter.h"
#include "report/profile_calls.h"

/* A function's name; or the name of communicators, with their size. */
struct sg_call_label {
    char *text;
    uint32_t size;
};

struct sg_call_labels {
    struct sg_call_label *of;
    uint32_t count;
    struct sg_map index; /* by hash */
};

struct sg_gathered_row {
    struct sg_call_place place;
    uint32_t sum; /* number of the sum for its function and call site */
    bool is_left_out;
    struct sg_call_figures figures;
};

struct sg_gathered_rank {
    uint64_t time_ns;
    uint64_t callers; /* a bit for each thread that called; the last bit is for all further ones */
    bool is_seen;
};

struct sg_call_table {
    const struct sg_aggregate *aggregate;
    const struct sg_filter *filter;
    struct sg_call_labels functions, comms;
    struct sg_gathered_row *rows;
    struct sg_call_pair *pairs;
    struct sg_gathered_rank *ranks;
    uint32_t row_count, sum_count, pair_count, rank_count;
    struct sg_map sum_by_key, row_by_key, pair_by_key;
    uint64_t other_messages, other_bytes;
    struct sg_call_targets one_sided;
    struct sg_mmds mmds; /* without names */
    struct sg_slice_set slices;
    struct sg_before_sums *before;
};

/* Finds the row of a function, call site and communicator; adds it if there is none. */
enum sg_status sg_call_table_row(struct sg_call_table *table, const struct sg_call_place *place,
                                 struct sg_gathered_row **out);
void sg_call_table_name(const struct sg_call_table *table, const struct sg_call_place *place,
                        struct sg_report_site *out);
void sg_call_figures_add(struct sg_call_figures *into, const struct sg_call_figures *more);

#endif
