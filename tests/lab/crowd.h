/* Presents several endpoints of the verbs transport in one process as one transport to the contract
 * tests: each call goes to the endpoint's own transport. With several MPI ranks the endpoints are
 * dealt out among them, and each rank counts as a machine; rank 0 runs the tests and has other
 * ranks carry out the calls of their endpoints.
 */
#ifndef SG_TESTS_LAB_CROWD_H
#define SG_TESTS_LAB_CROWD_H

#include "transport/transport.h"

/* Its only remote operation is `settled`, which applies to the endpoint of the thread's last
 * access. */
extern const struct sg_transport_ops crowd_verbs;

/* Collective; after MPI_Init, with the device open. */
void crowd_start(const struct sg_transport_ops *verbs);
/* Rank 0 only: makes the other ranks return from crowd_serve. */
void crowd_stop(void);
/* Other ranks only: carries out rank 0's requests until crowd_stop. */
void crowd_serve(void);

#endif
