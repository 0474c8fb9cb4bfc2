/* Two processes measure how their clocks differ: one asks the other for the time repeatedly.
 *
 * The exchange with the shortest round trip tells most: the other clock was read at some time
 * between question and answer, so the middle is wrong by at most half the round trip, whichever way
 * took longer. Exchanges end when a number of them in a row brought no shorter round trip (paper
 * 004, section 3.1); this needs no knowledge of the network.
 *
 * Called on both sides; not from a signal handler.
 */
#ifndef SG_CORE_CLOCKPAIR_H
#define SG_CORE_CLOCKPAIR_H

#include "core/clockmodel.h"
#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
