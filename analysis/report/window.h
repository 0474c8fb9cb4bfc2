/* The instance window: brings the members' calls of one collective together.
 *
 * Calls come in the order in which they end, from all ranks mixed. An instance is named by its
 * communicator and its sequence number there. It lives from its first member's call to its last;
 * then it is passed on and its memory is used again. So memory depends on how far ranks run ahead
 * of each other, not on the number of events.
 *
 * Not thread-safe.
 */
#ifndef SG_REPORT_WINDOW_H
#define SG_REPORT_WINDOW_H

#include "core/status.h"
#include "core/text.h"
#include "report/counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_instance_window;

/* One member's part. Times are ns on the common clock; they may be negative. */
struct sg_member_call {
    int64_t begin_ns;
    int64_t end_ns; /* of a nonblocking call: its completion */
    /* of a nonblocking call */
    uint64_t start_ns, exposed_ns, hidden_ns;
    uint64_t bytes;
    struct sg_counts counts;
    uint32_t site;      /* index in the aggregate */
    uint32_t algorithm; /* index in the aggregate */
    uint32_t arm;       /* of a trial, likewise; 0: of none */
    uint32_t rank;      /* in MPI_COMM_WORLD */
    uint32_t thread;    /* number among the rank's locations */
    bool nonblocking;   /* it was started by MPI_Ibarrier and so on */
    bool present;
};

struct sg_instance {
    uint64_t seq;
    uint32_t comm; /* index in the aggregate and in the window */
    uint32_t size; /* members */
    enum sg_operation operation;
    bool nonblocking;
    uint32_t root;                /* rank in the communicator; for a reduce only */
    struct sg_member_call *calls; /* by rank in the communicator */
};

/* Called with every complete instance, which is valid during the call only. */
typedef enum sg_status (*sg_instance_sink)(void *context, const struct sg_instance *instance);

struct sg_window_counts {
    uint64_t instances;     /* complete */
    uint64_t dropped_calls; /* of instances that are incomplete or inconsistent */
    size_t live;            /* instances held now */
    size_t live_max;        /* the most that were held at once */
};

enum sg_status sg_window_create(sg_instance_sink sink, void *context,
                                struct sg_instance_window **out);
void sg_window_destroy(struct sg_instance_window *window);

/* The next communicator, numbered from 0. size > 0. SG_ERR_MEMORY only. */
enum sg_status sg_window_add_comm(struct sg_instance_window *window, uint32_t size);

/* One call. member < size. An instance becomes inconsistent, and all its calls count as dropped, if
 * a member calls twice or if a call differs from the others in operation, root or blocking. Errors:
 * SG_ERR_MEMORY, or what the sink returns. */
enum sg_status sg_window_add(struct sg_instance_window *window, uint32_t comm, uint64_t seq,
                             uint32_t member, enum sg_operation operation, uint32_t root,
                             const struct sg_member_call *call);

/* Drops incomplete instances. */
void sg_window_finish(struct sg_instance_window *window);

struct sg_window_counts sg_window_counts(const struct sg_instance_window *window);

#endif
