/* One RC queue pair between two ranks on two hosts, for the programs that show what the lab's RDMA
 * devices do. MPI carries the addresses and tells each rank when it is its turn.
 */
#ifndef SG_TESTS_LAB_PAIR_H
#define SG_TESTS_LAB_PAIR_H

#include "mpi/mpi_test.h"

#include <infiniband/verbs.h>
#include <stdint.h>

enum { PAIR_BUFFER_BYTES = 1 << 18, PAIR_QUEUE = 64 };

/* Address of a rank's buffer and queue pair, as sent to the other rank. */
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

/* Calls MPI_Init and connects; collective over two ranks. Ends the program on failure. */
void pair_open(struct pair *pair);

void pair_close(struct pair *pair);

/* Posts one request to the other rank and waits for its successful completion. Transfers size_bytes
 * at offset `local` of the own buffer; the caller sets the opcode and the remote address in
 * *request.
 */
void pair_request(struct pair *pair, struct ibv_send_wr *request, size_t local, size_t size_bytes);

/* Polls for a completion for at most `seconds`; returns 1 and *completion, or 0 on timeout. */
int pair_poll(struct ibv_cq *cq, struct ibv_wc *completion, int seconds);

#endif
