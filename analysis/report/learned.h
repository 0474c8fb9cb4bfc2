/* Reads what the algorithm `auto` has learned in a run: from the archive's markers, or from those
 * of the logs if they hold statistics alone. shim/mpi/learning.c writes the text of each:
 *
 *     RULE=ARM; calls=N learnings=N changes=N; ARM=NS ARM=NS ...
 *
 * The last text of a rule and rank counts.
 */
#ifndef SG_REPORT_LEARNED_H
#define SG_REPORT_LEARNED_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_LEARNED_ARMS_MAX 8

struct sg_learned_arm {
    const char *text; /* as in a rule */
    double cost_ns;   /* of a call on a rank, from the last learning */
};

struct sg_learned_place {
    uint32_t rank;   /* world rank of the communicator's rank 0, which reports */
    char *rule;      /* left side; owned, with all other texts in it */
    const char *arm; /* the best candidate */
    uint64_t calls, learnings, changes;
    struct sg_learned_arm arms[SG_LEARNED_ARMS_MAX];
    uint32_t arm_count;
};

/* Zero-initialised is empty. */
struct sg_learned {
    struct sg_learned_place *places;
    uint32_t count;
};

/* Adds a text; ignores a malformed one. SG_ERR_MEMORY, not logged, or SG_OK. */
enum sg_status sg_learned_add(struct sg_learned *learned, uint32_t rank, const char *text);
void sg_learned_clear(struct sg_learned *learned);

#endif
