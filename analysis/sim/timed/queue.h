/* The event queue: a 4-ary heap on (time, number), where number counts the pushes. So the order is
 * total, and the same pushes give the same pops. Amortised O(log n), 24 bytes an entry.
 */
#ifndef SG_SIM_TIMED_QUEUE_H
#define SG_SIM_TIMED_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_queue_entry {
    uint64_t time_ns;
    uint64_t number;
    uint32_t kind;  /* the caller's */
    uint32_t index; /* the caller's */
};

/* Zeroed before first use. */
struct sg_queue {
    struct sg_queue_entry *list;
    size_t count, capacity;
    uint64_t pushed;
};

/* False when memory runs out. */
bool sg_queue_push(struct sg_queue *queue, uint64_t time_ns, uint32_t kind, uint32_t index);

/* The earliest entry; false when there is none. */
bool sg_queue_pop(struct sg_queue *queue, struct sg_queue_entry *entry);

void sg_queue_clear(struct sg_queue *queue);

#endif
