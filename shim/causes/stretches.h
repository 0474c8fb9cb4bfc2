/* The stretches that a thread has open: what lies between two collectives of a communicator that
 * follow each other. One that is chosen begins with the communicator's next collective; until then
 * it is armed.
 *
 * Pure; one thread's.
 */
#ifndef SG_CAUSES_STRETCHES_H
#define SG_CAUSES_STRETCHES_H

#include <stdbool.h>
#include <stdint.h>

#define SG_STRETCHES_MOST 8 /* of each communicator one that is armed and one that has begun */

struct sg_open_stretch {
    uint64_t hash; /* by which it was chosen */
    uint64_t key;  /* of its communicator, not 0 */
    uint32_t comm, number;
    bool is_armed;
};

struct sg_open_stretches {
    struct sg_open_stretch open[SG_STRETCHES_MOST]; /* in the order of their begin */
    int count;
};

/* Where there are too many, the one that is there for longest is given up. */
void sg_stretches_add(struct sg_open_stretches *stretches, const struct sg_open_stretch *stretch);

/* Takes the communicator's out: that which is armed, or that which has begun. False: there is none,
 * and *out is as before. */
bool sg_stretches_take(struct sg_open_stretches *stretches, uint64_t key, bool is_armed,
                       struct sg_open_stretch *out);

/* The last to begin; NULL: none has. */
const struct sg_open_stretch *sg_stretches_current(const struct sg_open_stretches *stretches);

#endif
