/* Samples the recorded arrivals: for each call site, communicator, size class and algorithm a
 * random sample of the instances, with each rank's lateness and the cost of the instance.
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
#define SG_GROUP_SITES 4  /* most call sites noted for the members of a group */

struct sg_arrival_sample {
    uint64_t order; /* number of the instance in the order of their ends */
    uint64_t bytes;
    uint64_t blocked_ns; /* sum over the ranks */
    uint64_t *late_ns;   /* by rank: time after the first arrival; owned */
    uint32_t root;
};

/* Instances of one row of the report that have the same size class and algorithm. */
struct sg_group {
    uint32_t row;
    uint32_t next;      /* 1 + the index of the row's next group; 0: none */
    uint8_t size_class; /* sg_size_class */
    char *algorithm;    /* "": unknown; owned */
    enum sg_operation operation;
    bool nonblocking;
    uint32_t size; /* ranks */
    uint64_t least_bytes, most_bytes;
    uint64_t instances;
    /* Sums over all instances; handler_ns is handling outside of calls. */
    uint64_t blocked_ns, handler_ns;
    uint64_t root_last; /* instances of a reduce to which the root came last */
    /* Report rows that members called from; many_sites: there are more than fit. */
    uint32_t site_rows[SG_GROUP_SITES];
    int site_count;
    bool many_sites;
    uint32_t *node; /* of each rank, numbered from 0 by first appearance; owned */
    uint32_t nodes;
    bool several_machines;
    bool sampled;                      /* an instance has been sampled */
    struct sg_arrival_sample *samples; /* in the order of the instances; owned */
    uint32_t count;
};

struct sg_sampling {
    struct sg_group *groups;
    uint32_t group_count;
    uint32_t ranks_per_node; /* ranks in a virtual node; 0: a machine's ranks share a node */
    struct sg_sampling_work *work;
};

/* Reads the run in path. ranks_per_node: the run's STAGGER_RANKS_PER_NODE. On failure one line has
 * been logged; clear both outputs in either case. */
enum sg_status sg_sample_run(const char *path, bool progress, uint32_t ranks_per_node,
                             struct sg_report *report, struct sg_sampling *out);
void sg_sampling_clear(struct sg_sampling *sampling);

#endif
