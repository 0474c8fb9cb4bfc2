/* Judges trials (result.h): turns rounds into confidence intervals and winners. Also defines what
 * is known of trials while a run is read, which trials.c fills. */
#ifndef SG_REPORT_JUDGE_H
#define SG_REPORT_JUDGE_H

#include "core/status.h"
#include "report/filter.h"
#include "report/result.h"

/* Trials while a run is read: the candidates, and for each call site and communicator the blocks in
 * which the candidates took turns. */

struct sg_tried_sums {
    uint64_t instances, calls;
    uint64_t ns[SG_TRIED_COUNT];
};

/* The cost of one block on one communicator. */
struct sg_tried_block {
    uint64_t number;
    uint32_t arm; /* candidate; 0: only late contributions are known so far */
    /* The block's first instance, by number, and its others. */
    uint64_t low_seq;
    bool has_low;
    struct sg_tried_sums low, rest;
};

struct sg_tried_arm {
    char *place, *text;
    uint32_t first_of_place; /* the lowest candidate with the same left side */
};

/* One candidate's calls in a group, including those whose blocks are not used. */
struct sg_tried_calls {
    uint64_t calls, declined, blocked_ns;
};

/* The calls of a trial from one call site on one communicator. */
struct sg_tried_group {
    uint32_t place; /* the trial, by its lowest candidate */
    uint32_t site, comm;
    enum sg_operation operation;
    bool nonblocking;
    bool has_events;
    uint64_t mixed_calls;
    struct sg_map block_by_number;
    struct sg_tried_block *blocks;
    uint32_t block_count;
    struct sg_tried_calls *calls; /* by candidate; [SG_REPORT_ARMS_MAX + 1] */
};

struct sg_trials {
    uint64_t block;
    struct sg_tried_arm arms[SG_REPORT_ARMS_MAX + 1]; /* from 1 */
    uint32_t arm_count;
    struct sg_tried_group *groups;
    uint32_t group_count;
    struct sg_map group_by_key;
};

static inline void sg_tried_add(struct sg_tried_sums *into, const struct sg_tried_sums *more)
{
    into->instances += more->instances;
    into->calls += more->calls;
    for (int tried = 0; tried < SG_TRIED_COUNT; tried++)
        into->ns[tried] += more->ns[tried];
}

/* Fills costs, verdicts and least of a trial whose candidates are known and counted. Each round has
 * the sums of all candidates, arm_count in a row. May merge neighbouring rounds in place. */
enum sg_status sg_trials_judge(struct sg_report_trial *trial, struct sg_tried_sums *rounds,
                               uint32_t round_count);
/* Sorts candidates by cost, and updates the indices of the cheapest. */
void sg_trials_sort(struct sg_report_trial *trial);

#endif
