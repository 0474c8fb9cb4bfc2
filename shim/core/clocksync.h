/* One clock for all ranks: global = local + offset, where global is rank 0's clock. The file has
 * three layers: the model of a clock, the measurement between two processes, and the
 * synchronisation of all ranks.
 *
 * On each machine a leader (the lowest rank) measures, and the other ranks use its measurements. A
 * check first verifies that they read one clock: if an answer seems to precede its question, they
 * do not, and each rank of that machine measures by itself.
 *
 * Leaders measure in a tree (paper 004, section 3.2, from the root down): the first 2^k of them
 * halve the distance round by round, and one more round reaches the rest, ceil(log2 n) in all. Each
 * answerer already knows the global clock with its drift (as in HCA3) and its error bound: errors
 * add up along the path.
 *
 * The first measurement gives offsets; further ones, between batches of whatever is timed, refresh
 * them and determine the drifts. Collective over the exchange; not from a signal handler. */
#ifndef SG_CORE_CLOCKSYNC_H
#define SG_CORE_CLOCKSYNC_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- model: one clock against the global one, from measurements with known errors ----
 *
 *     global = local + offset(local)
 *
 * A measurement gives the offset at a local time, with an error bound. The model is a line through
 * the measurements, weighted by their precision, once they span at least a second: over less, the
 * error of the slope exceeds the drift itself. Before that it is the last offset alone.
 *
 * The error is a bound, not an estimate, as long as the clocks run at constant rates up to
 * SG_CLOCK_WANDER: the true offset is a line, too, and passes each measurement within its error, so
 * the distance of the two lines is limited by their distances at the first and last measurement.
 * For a single offset, the greatest drift between any two clocks gives the bound.
 *
 * Pure functions of the model; no libm. */

/* Number of measurements kept: the newest. */
#define SG_CLOCK_POINTS 32
/* Span of measurements from which a drift is computed. */
#define SG_CLOCK_BASELINE_NS UINT64_C(1000000000)
/* Computer crystals are specified to within 100 ppm. */
#define SG_CLOCK_DRIFT_MAX 200e-6
/* Change of a clock's rate over the seconds that a model is used for. */
#define SG_CLOCK_WANDER 1e-7

struct sg_clock_measurement {
    uint64_t local_ns;
    int64_t offset_ns; /* added to a local time */
    uint64_t error_ns; /* bound of the offset's error */
};

/* All zeros: a model without a measurement. */
struct sg_clock_model {
    bool exact; /* it is the global clock and needs no measurement */
    uint32_t count;
    struct sg_clock_measurement points[SG_CLOCK_POINTS]; /* in order of time */
    double drift;                                        /* of the offset: ns per ns */
    double intercept_ns; /* value of the line at the last point, relative to that point's offset */
    double first_error_ns, last_error_ns; /* of the line, at the first and last point */
};

/* Adds a measurement later than all so far. Ignores one that is less precise than the model already
 * is, as on a busy machine. */
void sg_clock_model_add(struct sg_clock_model *model, const struct sg_clock_measurement *point);
/* The functions below need at least one measurement, or an exact model. */
uint64_t sg_clock_model_global(const struct sg_clock_model *model, uint64_t local_ns);
uint64_t sg_clock_model_local(const struct sg_clock_model *model, uint64_t global_ns);
/* Bound of the error of sg_clock_model_global at that local time. */
uint64_t sg_clock_model_error(const struct sg_clock_model *model, uint64_t local_ns);

/* ---- measurement: one process asks another for the time repeatedly ----
 *
 * The exchange with the shortest round trip is the most precise: the other clock was read between
 * question and answer, so the midpoint is wrong by at most half the round trip, whichever direction
 * took longer. Exchanges end when a number of them in a row have brought no shorter round trip
 * (paper 004, section 3.1); this needs no knowledge of the network.
 *
 * Both sides call their function; not from a signal handler. */

/* Paper 004, figure 6: within 10 % of the minimum after about 180 exchanges. */
#define SG_CLOCK_PAIR_PATIENCE 100

/* A clock to compare. */
struct sg_clock {
    uint64_t (*now_ns)(void);
    const struct sg_clock_model *model; /* converts to the global clock; NULL: the clock is used as
                                         * it is */
};

struct sg_clock_pair {
    struct sg_clock_measurement measured; /* asker's clock against answerer's */
    uint64_t round_trip_ns;               /* the shortest */
    uint64_t deviation_ns;                /* standard deviation of the round trips */
    uint32_t exchanges;
    bool ordered; /* every answer lies between its question and its return, within the answerer's
                   * stated error */
};

/* Receives every round trip as it is measured. */
typedef void (*sg_clock_pair_watch)(void *context, uint64_t round_trip_ns);

/* patience: number of exchanges without a shorter round trip after which it ends. watch may be
 * NULL. */
enum sg_status sg_clock_pair_ask(const struct sg_exchange *exchange, int answerer,
                                 const struct sg_clock *clock, uint32_t patience,
                                 sg_clock_pair_watch watch, void *context,
                                 struct sg_clock_pair *out);
enum sg_status sg_clock_pair_answer(const struct sg_exchange *exchange, int asker,
                                    const struct sg_clock *clock);

enum sg_clocksync_scheme {
    SG_CLOCKSYNC_TREE,
    SG_CLOCKSYNC_LINEAR /* rank 0 with one leader after the other: for comparison */
};

struct sg_clocksync; /* one rank's part; rank 0's machine has offset 0 */

/* Result of one synchronisation, of the rank's leader. */
struct sg_clock_offset {
    struct sg_clock_measurement measured; /* by the model, so with all earlier measurements */
    uint64_t deviation_ns;                /* standard deviation of the round trips */
    uint32_t exchanges;                   /* round trips; 0 on rank 0's machine */
    uint32_t rounds;                      /* sequential rounds; the same on all ranks */
};

/* Determines which ranks share a clock. clock_ns is the clock to measure (sg_clock_ns; tests pass
 * their own), machine the value of sg_clocksync_machine. */
enum sg_status sg_clocksync_open(const struct sg_exchange *exchange, uint64_t machine,
                                 uint64_t (*clock_ns)(void), enum sg_clocksync_scheme scheme,
                                 struct sg_clocksync **out);
void sg_clocksync_close(struct sg_clocksync *sync); /* accepts NULL */
/* Synchronises; each call adds a measurement. out may be NULL. */
enum sg_status sg_clocksync_measure(struct sg_clocksync *sync, struct sg_clock_offset *out);
/* The model has a measurement after the first sg_clocksync_measure. */
const struct sg_clock_model *sg_clocksync_model(const struct sg_clocksync *sync);
/* The leader whose measurements this rank uses. */
int sg_clocksync_leader(const struct sg_clocksync *sync);
int sg_clocksync_leader_count(const struct sg_clocksync *sync);
/* The leader at an index from 0; rank 0 is the first. */
int sg_clocksync_leader_at(const struct sg_clocksync *sync, int place);
/* Identifies the clock that this process reads: hash of the boot id and the time namespace. */
uint64_t sg_clocksync_machine(void);

#endif
