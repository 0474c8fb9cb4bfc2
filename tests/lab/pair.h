/* Two ranks on two hosts, joined by one RC queue pair, for the programs that show what the lab's
 * RDMA devices do. MPI carries the addresses and says whose turn it is.
 */
#ifndef SG_TESTS_LAB_PAIR_H
#define SG_TESTS_LAB_PAIR_H

#include "mpi/mpi_test.h"

#include <infiniband/verbs.h>
#include <stdint.h>

enum { PAIR_BUFFER_BYTES = 1 << 18, PAIR_QUEUE = 64 };

/* Where a rank is reached, as it tells the other. */
struct pair_address {
    uint64_t buffer;
    uint32_t rkey, queue_pair;
    union ibv_gid gid;
};

struct pair {
    int rank;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel; /* of receive_cq */
    struct ibv_cq *send_cq, *receive_cq;
    struct ibv_qp *queue_pair;
    struct ibv_mr *region; /* of buffer, open to the other rank's writes, reads and atomics */
    unsigned char *buffer; /* PAIR_BUFFER_BYTES, zero */
    struct pair_address other;
};

/* Calls MPI_Init and connects; collective over two ranks. A failure ends the program. */
void pair_open(struct pair *pair);

void pair_close(struct pair *pair);

/* Posts one request to the other rank and returns when it has completed well. size_bytes from local
 * in the own buffer go to, or come from, the place the caller has set in *request with the opcode.
 */
void pair_request(struct pair *pair, struct ibv_send_wr *request, size_t local, size_t size_bytes);

/* Polls until a completion comes, at most for seconds: 1 and *completion, or 0. */
int pair_poll(struct ibv_cq *cq, struct ibv_wc *completion, int seconds);

#endif
