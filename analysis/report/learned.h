/* What the algorithm `auto` has learned in a run: markers of the archive, or of the logs where they
 * hold statistics alone. The text of one is written by shim/intranode/mpi/auto.c:
 *
 *     RULE=ARM; calls=N learnings=N changes=N; ARM=NS ARM=NS ...
 *
 * The last one of a rule and rank holds.
 */
#ifndef SG_REPORT_LEARNED_H
#define SG_REPORT_LEARNED_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_LEARNED_ARMS_MAX 8

struct sg_learned_arm {
    const char *text; /* as a rule has it */
    double cost_ns;   /* of a call on a rank, by the last learning */
};

struct sg_learned_place {
    uint32_t rank;   /* that told: rank 0 of the communicator, in the world */
    char *rule;      /* left side; owned, with all other texts in it */
    const char *arm; /* that is the best */
    uint64_t calls, learnings, changes;
    struct sg_learned_arm arms[SG_LEARNED_ARMS_MAX];
    uint32_t arm_count;
};

/* Zero-initialised is empty. */
struct sg_learned {
    struct sg_learned_place *places;
    uint32_t count;
};

/* A text that is none is passed over. SG_ERR_MEMORY, not logged, or SG_OK. */
enum sg_status sg_learned_add(struct sg_learned *learned, uint32_t rank, const char *text);
void sg_learned_clear(struct sg_learned *learned);
/* Whether the place is the one whose rule is printed, of those that have the same left side: the
 * one with the most calls. */
bool sg_learned_is_first(const struct sg_learned *learned, const struct sg_learned_place *place);

#endif
