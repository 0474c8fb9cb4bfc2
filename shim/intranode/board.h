/* sg_exchange among the ranks of a machine in shared memory: they sleep while they wait, so that
 * an operation costs each of them a few switches of the processor, however many share it. One
 * rank of each machine, the leader, exchanges with those of other machines.
 *
 * In MPI_Init and MPI_Finalize; one thread of each rank.
 */
#ifndef SG_INTRANODE_BOARD_H
#define SG_INTRANODE_BOARD_H

#include "core/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_board {
    void *segment;     /* of sg_board_bytes(count), zeroed by its maker; the caller unmaps it */
    int number, count; /* of this rank among those of its machine, by world rank; 0: the leader */
    const int *ranks;  /* the leader: their world ranks */
    bool spins;        /* every rank of the machine has a processor */
    /* Called now and then in long waits; drives MPICH. */
    void (*idle)(void);
    /* Among leaders, in the order of their world ranks; sg_exchange_serial for one machine. World
     * rank 0 leads its machine. */
    struct sg_exchange between;
    /* Among all ranks; only send and receive are used. */
    struct sg_exchange all;
    uint32_t round; /* 0 at first */
};

size_t sg_board_bytes(int count);

/* *board must outlive *out. */
void sg_board_exchange(struct sg_board *board, struct sg_exchange *out);

#endif
