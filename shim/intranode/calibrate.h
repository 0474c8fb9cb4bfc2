/* The costs of messages, copies and so on: measured once, when a recorded run begins.
 *
 * Rank 0 measures alone, with one rank of its own node and with one of another node. The other
 * ranks of its machine sleep meanwhile, so that the costs are those of a quiet machine; if machines
 * differ, they are this machine's.
 *
 * Each cost is the first quartile of its samples. A measurement takes about a millisecond (three if
 * other work interferes), and none begins after within_ns. What is not measured is 0.
 */
#ifndef SG_INTRANODE_CALIBRATE_H
#define SG_INTRANODE_CALIBRATE_H

#include "core/calibration.h"
#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_calibrate {
    const struct sg_exchange *exchange;
    /* The same on all ranks. */
    int near;            /* a rank of rank 0's node; -1: there is none */
    int far;             /* one of another node; likewise */
    int companion;       /* one on its machine, of either node; likewise */
    const bool *listens; /* by rank: those of rank 0's machine, and far */
    int ranks;           /* on rank 0's machine */
    /* Of rank 0. */
    int signal;         /* that is stagger's to use; 0: none is measured */
    uint64_t within_ns; /* no measurement between ranks begins later than this */
};

/* Collective over the exchange; every rank gets the same costs. A status other than SG_OK:
 * communication failed, as reported by the exchange. */
enum sg_status sg_calibrate(const struct sg_calibrate *setup, struct sg_calibration *out);

#endif
