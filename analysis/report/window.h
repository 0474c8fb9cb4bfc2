/* The instance window: brings the members' calls of one collective together.
 *
 * Calls come in the order in which they end, from all ranks mixed. An instance, named by its
 * communicator and its sequence number there, lives from its first member's call to its last and
 * is then handed on and its memory used again: what is held depends on how far ranks run ahead of
 * each other, not on the number of events.
 *
 * Not thread-safe.
 */
#ifndef SG_REPORT_WINDOW_H
#define SG_REPORT_WINDOW_H

#include "core/operation.h"
#include "core/status.h"
#include "report/counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_window;

/* One member's part. Times are ns on the common clock; they may be negative. */
struct sg_call {
    int64_t begin_ns;
    int64_t end_ns; /* of a post: of its completion */
    /* of a post */
    uint64_t start_ns, exposed_ns, hidden_ns;
    uint64_t bytes;
    struct sg_counts counts;
    uint32_t site;      /* index in the aggregate */
    uint32_t algorithm; /* index in the aggregate */
    uint32_t arm;       /* of a trial, likewise; 0: of none */
    uint32_t rank;      /* in MPI_COMM_WORLD */
    uint32_t thread;    /* number among the rank's locations */
    bool nonblocking;   /* a post */
    bool present;
};

struct sg_instance {
    uint64_t seq;
    uint32_t comm; /* index in the aggregate and in the window */
    uint32_t size; /* members */
    enum sg_operation operation;
    bool nonblocking;
    uint32_t root;         /* rank in the communicator; for a reduce only */
    struct sg_call *calls; /* by rank in the communicator */
};

/* Called with every complete instance, which is valid during the call only. */
typedef enum sg_status (*sg_instance_sink)(void *context, const struct sg_instance *instance);

struct sg_window_counts {
    uint64_t instances;     /* complete */
    uint64_t dropped_calls; /* of instances that never were, or that contradict themselves */
    size_t live;            /* instances held now */
    size_t live_max;        /* most that were ever held at once */
};

enum sg_status sg_window_create(sg_instance_sink sink, void *context, struct sg_window **out);
void sg_window_destroy(struct sg_window *window);

/* The next communicator, numbered from 0. size > 0. SG_ERR_MEMORY only. */
enum sg_status sg_window_add_comm(struct sg_window *window, uint32_t size);

/* One call. member < size. A second call of one member in an instance, or one that differs from
 * the others in operation, root or blocking, spoils the instance: all its calls count as dropped.
 * Errors: SG_ERR_MEMORY, or what the sink returns. */
enum sg_status sg_window_add(struct sg_window *window, uint32_t comm, uint64_t seq, uint32_t member,
                             enum sg_operation operation, uint32_t root,
                             const struct sg_call *call);

/* Drops what is not complete. */
void sg_window_finish(struct sg_window *window);

struct sg_window_counts sg_window_counts(const struct sg_window *window);

#endif
