/* Several endpoints in one process over the verbs transport, as one transport of the tests: the
 * calls of each endpoint go to the transport that it has of its own. With several MPI ranks the
 * endpoints are dealt out among them, each rank a machine; rank 0 runs the tests, and what they do
 * for an endpoint of another rank is done there.
 */
#ifndef SG_TESTS_LAB_CROWD_H
#define SG_TESTS_LAB_CROWD_H

#include "transport/transport.h"

/* Of `remote` it has settled alone, for the endpoint whose access was the thread's last. */
extern const struct sg_transport_ops crowd_verbs;

/* MPI has been initialised; collective. The device is open. */
void crowd_start(const struct sg_transport_ops *verbs);
/* On rank 0: the other ranks leave crowd_serve. */
void crowd_stop(void);
/* On other ranks: does what rank 0 asks for. */
void crowd_serve(void);

#endif
