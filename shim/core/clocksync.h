/* One clock for all ranks: global = local + offset, where global is rank 0's clock.
 *
 * One leader a machine (its lowest rank) measures; the machine's other ranks take its measurements,
 * after a check that they read one clock: where an answer seems to come before its question, they
 * do not, and each rank of that machine measures by itself.
 *
 * Leaders measure in a tree (paper 004, section 3.2, from the root down): the first 2^k of them
 * halve the distance round by round, and the rest follow in one round more, ceil(log2 n) in all.
 * Going down, whoever answers knows the global clock already, with its drift (as HCA3 has it), and
 * how far it may be wrong: errors add up along the path.
 *
 * A first measurement gives offsets; each further one, between batches of whatever is timed, keeps
 * them fresh and lets drifts be told (core/clocksync.h).
 *
 * Collective over the exchange; not from a signal handler.
 */
#ifndef SG_CORE_CLOCKSYNC_H
#define SG_CORE_CLOCKSYNC_H

#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

/* How one clock runs against the global one, from measurements with known errors.
 *
 *     global = local + offset(local)
 *
 * A measurement says: at this local time the offset is this, within so much. The model is a line
 * through the measurements, weighted by their precision, once they span a second at least: a slope
 * of two offsets that lie closer together is wrong by more than what clocks drift apart meanwhile.
 * Before that it is the last offset alone.
 *
 * The error is a bound, not an estimate, as long as the clocks run at constant rates up to
 * SG_CLOCK_WANDER: the true offset is a line, too, and passes each measurement within its error, so
 * that the two lines are apart by no more than their distances at the first and the last
 * measurement allow. A single offset is bounded by the rate at which any two clocks may drift
 * apart.
 *
 * Pure functions of the model; no libm.
 */

/* The newest are kept. */
#define SG_CLOCK_POINTS 32
/* What measurements have to span for a drift to be made of them. */
#define SG_CLOCK_BASELINE_NS UINT64_C(1000000000)
/* Crystals of computers are specified within 100 parts in a million. */
#define SG_CLOCK_DRIFT_MAX 200e-6
/* How much a rate changes over the seconds that a model is used for. */
#define SG_CLOCK_WANDER 1e-7

struct sg_clock_measurement {
    uint64_t local_ns;
    int64_t offset_ns; /* to add to a local time */
    uint64_t error_ns; /* at most so far from the truth */
};

/* Zeroes are a model without a measurement. */
struct sg_clock_model {
    bool exact; /* it is the global clock, and needs no measurement */
    uint32_t count;
    struct sg_clock_measurement points[SG_CLOCK_POINTS]; /* in the order of time */
    double drift;                                        /* of the offset: ns a ns */
    double intercept_ns; /* what the line has at the last point beyond that point's offset */
    double first_error_ns, last_error_ns; /* of the line, at the first and last point */
};

/* A measurement later than all so far. One that says less than the model does already, as on a
 * machine that was busy, is left out. */
void sg_clock_model_add(struct sg_clock_model *model, const struct sg_clock_measurement *point);
/* The rest wants one measurement at least, or an exact model. */
uint64_t sg_clock_model_global(const struct sg_clock_model *model, uint64_t local_ns);
uint64_t sg_clock_model_local(const struct sg_clock_model *model, uint64_t global_ns);
/* How far sg_clock_model_global may be from the truth at that local time. */
uint64_t sg_clock_model_error(const struct sg_clock_model *model, uint64_t local_ns);

/* Two processes measure how their clocks differ: one asks the other for the time repeatedly.
 *
 * The exchange with the shortest round trip tells most: the other clock was read at some time
 * between question and answer, so the middle is wrong by at most half the round trip, whichever way
 * took longer. Exchanges end when a number of them in a row brought no shorter round trip (paper
 * 004, section 3.1); this needs no knowledge of the network.
 *
 * Called on both sides; not from a signal handler.
 */

/* Paper 004, figure 6: within 10 % of the least there is, after about 180 exchanges. */
#define SG_CLOCK_PAIR_PATIENCE 100

/* A clock to be compared. */
struct sg_clock {
    uint64_t (*now_ns)(void);
    const struct sg_clock_model *model; /* on the global clock by it; NULL: as it is */
};

struct sg_clock_pair {
    struct sg_clock_measurement measured; /* of the asker's clock against the answerer's */
    uint64_t round_trip_ns;               /* the least */
    uint64_t deviation_ns;                /* standard deviation of the round trips */
    uint32_t exchanges;
    bool ordered; /* no answer was outside the time between its question and its return, by both
                     clocks as they are and what the answerer says they may be wrong by */
};

/* Every round trip as it is measured. */
typedef void (*sg_clock_pair_watch)(void *context, uint64_t round_trip_ns);

/* patience: exchanges without a new least, after which it ends. watch may be NULL. */
enum sg_status sg_clock_pair_ask(const struct sg_exchange *exchange, int answerer,
                                 const struct sg_clock *clock, uint32_t patience,
                                 sg_clock_pair_watch watch, void *context,
                                 struct sg_clock_pair *out);
enum sg_status sg_clock_pair_answer(const struct sg_exchange *exchange, int asker,
                                    const struct sg_clock *clock);

enum sg_clocksync_scheme {
    SG_CLOCKSYNC_TREE,
    SG_CLOCKSYNC_LINEAR /* rank 0 with one leader after the other: to compare with */
};

struct sg_clocksync; /* a rank's part; rank 0's machine has offset 0 */

/* What one synchronisation found, of the rank's leader. */
struct sg_clock_offset {
    struct sg_clock_measurement measured; /* by the model, so with all that was known before */
    uint64_t deviation_ns;                /* standard deviation of the round trips */
    uint32_t exchanges;                   /* round trips; 0 on rank 0's machine */
    uint32_t rounds;                      /* one after the other, the same on all ranks */
};

/* Finds out who shares a clock. clock_ns is the clock measured (sg_clock_ns; tests pass their own)
 * and machine what sg_clocksync_machine says. */
enum sg_status sg_clocksync_open(const struct sg_exchange *exchange, uint64_t machine,
                                 uint64_t (*clock_ns)(void), enum sg_clocksync_scheme scheme,
                                 struct sg_clocksync **out);
void sg_clocksync_close(struct sg_clocksync *sync); /* NULL is fine */
/* Synchronises, anew at each call. out may be NULL. */
enum sg_status sg_clocksync_measure(struct sg_clocksync *sync, struct sg_clock_offset *out);
/* Has a measurement after the first sg_clocksync_measure. */
const struct sg_clock_model *sg_clocksync_model(const struct sg_clocksync *sync);
/* The rank whose clock this rank's is. */
int sg_clocksync_leader(const struct sg_clocksync *sync);
int sg_clocksync_leader_count(const struct sg_clocksync *sync);
/* The place-th leader, from 0; rank 0 is the first. */
int sg_clocksync_leader_at(const struct sg_clocksync *sync, int place);
/* Identifies the clock this process reads: hash of the boot id and the time namespace. */
uint64_t sg_clocksync_machine(void);

#endif
