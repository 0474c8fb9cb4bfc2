/* The recorded arrivals: for each call site, communicator, size class and algorithm a random sample
 * of the instances, with each rank's lateness and the cost of the instance.
 *
 * The sample is drawn with a fixed seed while the archive is read once (reservoir sampling), so
 * that memory does not grow with the number of instances. With many call sites all samples shrink
 * alike.
 */
#ifndef SG_ADVISE_SAMPLE_H
#define SG_ADVISE_SAMPLE_H

#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_SAMPLE_MAX 256u
#define SG_SAMPLE_MIN 10u /* with fewer instances there is no advice */
#define SG_GROUP_SITES 4  /* call sites that the members of one instance called from */

struct sg_arrival_sample {
    uint64_t order; /* in which the instances ended */
    uint64_t bytes;
    uint64_t blocked_ns; /* sum over the ranks */
    uint64_t *late_ns;   /* of each rank: after the first arrival; owned */
    uint32_t root;
};

/* Instances of one row of the report that have the same size class and algorithm. */
struct sg_group {
    uint32_t row;
    uint32_t next;      /* 1 + the index of another group of the row; 0: none */
    uint8_t size_class; /* sg_size_class */
    char *algorithm;    /* "": not known; owned */
    enum sg_operation operation;
    bool nonblocking;
    uint32_t size; /* ranks */
    uint64_t least_bytes, most_bytes;
    uint64_t instances;
    /* sums over all instances; the second is handling outside of calls */
    uint64_t blocked_ns, handler_ns;
    uint64_t root_last; /* instances of a reduce in which the root came last */
    /* Rows of the report that members called from. Beyond the room: many_sites. */
    uint32_t site_rows[SG_GROUP_SITES];
    int site_count;
    bool many_sites;
    uint32_t *node; /* of each rank, numbered from 0 in the order of ranks; owned */
    uint32_t nodes;
    bool several_machines;
    bool sampled;                      /* there was memory for it */
    struct sg_arrival_sample *samples; /* in order; owned */
    uint32_t count;
};

struct sg_sampling {
    struct sg_group *groups;
    uint32_t group_count;
    uint32_t ranks_per_node; /* of virtual nodes; 0: a machine's ranks share a node */
    struct sg_sampling_work *work;
};

/* Reads the run. ranks_per_node: STAGGER_RANKS_PER_NODE of that run. On failure one line has been
 * logged; clear both in either case. */
enum sg_status sg_sample_run(const char *path, bool progress, uint32_t ranks_per_node,
                             struct sg_report *report, struct sg_sampling *out);
void sg_sampling_clear(struct sg_sampling *sampling);

#endif
