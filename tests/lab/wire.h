/* A transport between machines for the lab's programs: loads libstagger-verbs.so, shares memory
 * among the ranks of a host, exchanges data over MPI, and opens one transport per rank, connected
 * to all.
 */
#ifndef SG_TESTS_LAB_WIRE_H
#define SG_TESTS_LAB_WIRE_H

#include "mpi/mpi_test.h"
#include "transport/verbs/verbs.h"

#define WIRE_HOSTS_MAX 16
/* Per host, for slots and cells; located after `shared`. */
#define WIRE_REGION_BYTES ((size_t)1 << 20)

struct wire {
    const struct sg_verbs *verbs;
    const struct sg_transport_ops *ops;
    struct sg_transport *transport;
    struct sg_exchange exchange;
    struct sg_transport_location place;
    struct sg_transport_setup setup;
    struct sg_group_run rank_run, endpoint_run;
    struct sg_grouping by_endpoint, by_machine;
    int host, hosts;       /* this rank's; each host has equally many consecutive ranks */
    unsigned char *region; /* zero at first */
};

/* Default settings of the programs. Use after MPI_Init. */
extern const struct sg_verbs_settings wire_settings;

/* Loads the library and opens the device; ends the program on failure. */
void wire_start(struct wire *wire, const struct sg_verbs_settings *settings);
/* Opens one endpoint for `servers` ranks of a host. Returns SG_OK on all ranks or on none. */
enum sg_status wire_open(struct wire *wire, int servers, uint32_t inflight, uint32_t staged,
                         uint32_t eager_bytes);
/* Connects to all endpoints, its own included. */
enum sg_status wire_connect(struct wire *wire);
void wire_close(struct wire *wire);

/* An exchange over *comm; the exchange keeps the pointer. */
struct sg_exchange wire_exchange(MPI_Comm *comm);

#endif
