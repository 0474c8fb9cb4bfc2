/* The instance window: joins the members' calls of one collective.
 *
 * Calls arrive in the order of their ends, from all ranks mixed. A communicator and a sequence
 * number on it identify an instance. It lives from its first member's call to its last; then it is
 * passed on, and its memory is reused. Memory thus depends on how far ranks run ahead of each
 * other, not on the number of events.
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

/* A member's entry into a collective. */
struct sg_arrival {
    int64_t begin_ns;
    uint32_t member;
};

/* Sorts by time. Of members that enter together the lowest comes last. */
void sg_arrivals_sort(struct sg_arrival *arrivals, uint32_t count);
/* Returns the last of sorted members to enter before a member left at a time: it was in the
 * collective while that one was not, so it waited for it, whatever the algorithm. The member itself
 * if there is none. */
uint32_t sg_arrivals_awaited(const struct sg_arrival *arrivals, uint32_t count, uint32_t member,
                             int64_t left_ns);

/* One member's call. Times are ns on the common clock; they may be negative. */
struct sg_member_call {
    int64_t begin_ns;
    int64_t end_ns; /* of a nonblocking call: its completion */
    /* for a nonblocking call */
    uint64_t start_ns, exposed_ns, hidden_ns;
    uint64_t bytes;
    struct sg_counts counts;
    uint32_t site;      /* index in the aggregate */
    uint32_t algorithm; /* index in the aggregate */
    uint32_t arm;       /* candidate of a trial: index in the aggregate; 0: none */
    uint32_t rank;      /* in MPI_COMM_WORLD */
    uint32_t thread;    /* number among the rank's locations */
    bool nonblocking;   /* started by MPI_Ibarrier and so on */
    bool is_mpich;      /* MPICH's own function ran it */
    bool present;
};

struct sg_instance {
    uint64_t seq;
    uint32_t comm; /* index in the aggregate and in the window */
    uint32_t size; /* members */
    enum sg_operation operation;
    bool nonblocking;
    uint32_t root;                     /* rank in the communicator, for an operation with a root */
    struct sg_member_call *calls;      /* by rank in the communicator */
    const struct sg_arrival *arrivals; /* in the order of sg_arrivals_sort(); NULL if size is 1 */
};

/* Receives every complete instance, which is valid only during the call. */
typedef enum sg_status (*sg_instance_sink)(void *context, const struct sg_instance *instance);

struct sg_window_counts {
    uint64_t instances;     /* complete ones */
    uint64_t dropped_calls; /* calls of incomplete or inconsistent instances */
    size_t live;            /* instances held now */
    size_t live_max;        /* the most held at once */
};

enum sg_status sg_window_create(sg_instance_sink sink, void *context,
                                struct sg_instance_window **out);
void sg_window_destroy(struct sg_instance_window *window);

/* Adds the next communicator, numbered from 0. size > 0. Returns SG_OK or SG_ERR_MEMORY. */
enum sg_status sg_window_add_comm(struct sg_instance_window *window, uint32_t size);

/* Adds one call. member < size. An instance becomes inconsistent, and all its calls count as
 * dropped, if a member calls twice or if a call differs from the others in operation, root or
 * blocking. Returns SG_OK, SG_ERR_MEMORY, or the sink's error. */
enum sg_status sg_window_add(struct sg_instance_window *window, uint32_t comm, uint64_t seq,
                             uint32_t member, enum sg_operation operation, uint32_t root,
                             const struct sg_member_call *call);

/* Drops incomplete instances. */
void sg_window_finish(struct sg_instance_window *window);

struct sg_window_counts sg_window_counts(const struct sg_instance_window *window);

#endif
