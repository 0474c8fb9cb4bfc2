/* A transport between machines for the programs of the lab: libstagger-verbs.so loaded, memory that
 * the ranks of a host share, an exchange over MPI, and one transport for each rank, connected to
 * all.
 */
#ifndef SG_TESTS_LAB_WIRE_H
#define SG_TESTS_LAB_WIRE_H

#include "mpi/mpi_test.h"
#include "transport/verbs/verbs_device.h"

#define WIRE_HOSTS_MAX 16
/* Of each host, for slots and cells, behind `shared`. */
#define WIRE_REGION_BYTES ((size_t)1 << 20)

struct wire {
    const struct sg_verbs *verbs;
    const struct sg_transport_ops *ops;
    struct sg_transport *transport;
    struct sg_exchange exchange;
    struct sg_transport_location place;
    struct sg_transport_setup setup;
    int host, hosts;       /* this rank's; a host has the same ranks in a row */
    unsigned char *region; /* zero at first */
};

/* MPI has been initialised. The settings that programs take unless they try others. */
extern const struct sg_verbs_settings wire_settings;

/* Loads the library and opens the device; ends the program when it cannot. */
void wire_start(struct wire *wire, const struct sg_verbs_settings *settings);
/* One endpoint for so many ranks of a host. SG_OK on all or none. */
enum sg_status wire_open(struct wire *wire, int servers, uint32_t inflight, uint32_t staged,
                         uint32_t eager_bytes);
/* To all endpoints, itself included. */
enum sg_status wire_connect(struct wire *wire);
void wire_close(struct wire *wire);

/* The exchange over a communicator, which it points to. */
struct sg_exchange wire_exchange(MPI_Comm *comm);

#endif
