/* Measures the costs of messages, copies, steps in shared memory and signals, once, when a recorded
 * run begins.
 *
 * Rank 0 measures alone, with one rank of its own node and with one of another node. The other
 * ranks of its machine sleep meanwhile, so that the costs are those of a quiet machine; if machines
 * differ, they are this machine's.
 *
 * Each cost is the first quartile of its samples. A measurement takes at most 0.3 ms (0.9 if other
 * work interferes), and none begins after within_ns. A cost that is not measured is 0.
 */
#ifndef SG_INTRANODE_CALIBRATE_H
#define SG_INTRANODE_CALIBRATE_H

#include "core/calibration.h"
#include "core/exchange.h"
#include "core/status.h"
#include "intranode/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_calibrate {
    const struct sg_exchange *exchange;
    /* Identical on all ranks: */
    int near;            /* a rank of rank 0's node; -1: none */
    int far;             /* a rank of another node; -1: none */
    int companion;       /* a rank of rank 0's machine, on any node; -1: none */
    const bool *listens; /* by rank: ranks of rank 0's machine, and far */
    int ranks;           /* number on rank 0's machine */
    /* Used by rank 0 only: */
    int signal;         /* number of a signal that stagger may use; 0: no signal is measured */
    uint64_t within_ns; /* limit: no measurement between ranks begins later */
};

/* Collective over the exchange; every rank gets the same costs. A status other than SG_OK:
 * communication failed, as reported by the exchange. */
enum sg_status sg_calibrate(const struct sg_calibrate *setup, struct sg_calibration *out);

/* Measurements that need no messages: within one process, and between two processes in shared
 * memory. */

#define SG_CALIBRATE_SAMPLES 64
#define SG_CALIBRATE_BUDGET_NS UINT64_C(300000)
#define SG_CALIBRATE_SEGMENT_BYTES 4096

struct sg_calibrate_samples {
    double ns[SG_CALIBRATE_SAMPLES];
    int count; /* samples beyond the capacity are dropped */
};

/* True until there are enough samples, or the budget has passed since began_ns (three budgets if
 * there are fewer than SG_CALIBRATED_FEW). */
bool sg_calibrate_wants_more(const struct sg_calibrate_samples *samples, uint64_t began_ns,
                             uint64_t now_ns);
void sg_calibrate_add(struct sg_calibrate_samples *samples, double ns);
/* Returns the first quartile: the cost without interference. 0 without samples. Sorts the samples.
 * Writes their number and spread to out if they are worse than those already there. */
double sg_calibrate_typical(struct sg_calibrate_samples *samples, struct sg_calibration *out);
/* Time of a signal to the calling thread, until its handler has returned. 0: the signal is blocked,
 * or has another handler. */
double sg_calibrate_signal_ns(int signal, struct sg_calibration *out);

struct sg_calibrate_steps {
    double step_ns; /* one way; the waiter spins, then yields, as collectives do */
    double wake_ns; /* one way, to a sleeping waiter */
};

#endif
