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
 * them fresh and lets drifts be told (core/clockmodel.h).
 *
 * Collective over the exchange; not from a signal handler.
 */
#ifndef SG_CORE_CLOCKSYNC_H
#define SG_CORE_CLOCKSYNC_H

#include "core/clockmodel.h"
#include "core/clockpair.h"
#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

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
