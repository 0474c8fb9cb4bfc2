/* A small host that runs protocols on a transport, for tests. An endpoint has a lock; its holder
 * feeds the protocol the messages that have arrived and carries the actions out through the
 * transport. Elements are 64 bits wide, operands and operations those of the mini host
 * (algos/mini_host.h), with every element of an operand alike. */
#ifndef SG_TESTS_TRANSPORT_HOST_H
#define SG_TESTS_TRANSPORT_HOST_H

#include "transport/transport.h"

#define HOST_SIZE 5
#define HOST_BYTES_MAX 512
#define HOST_CALLS_MAX 64

struct host;

struct host_setup {
    const struct sg_algo *algo;
    struct sg_algo_parameters parameters;
    const struct sg_transport_ops *ops;
    const struct sg_algo_call *calls; /* the same at every endpoint, in this order */
    uint32_t count;                   /* at most HOST_CALLS_MAX */
    uint64_t seed;
};

/* Aborts the program on failure. setup and its calls must outlive the host. */
struct host *host_new(const struct host_setup *setup);
void host_free(struct host *host);

/* Serves an endpoint, unless another thread does so at the moment. Any thread. */
void host_progress(struct host *host, int rank);

/* Serves an endpoint and makes its next call, or drains it after the last one, when it is time.
 * One thread an endpoint. False: every endpoint has left every instance. */
bool host_step(struct host *host, int rank);

/* Errors seen: a barrier or allreduce left too early, calls left twice or never, a send refused. */
uint32_t host_errors(const struct host *host);

/* Returns the number of accesses that were LATER, and have been answered. */
uint64_t host_answered_later(const struct host *host);

/* Returns the value of all elements of a result. False: they differ. */
bool host_result(const struct host *host, int rank, uint32_t seq, uint64_t *value);

#endif
