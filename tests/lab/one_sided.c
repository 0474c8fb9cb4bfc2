/* One-sided access to the other rank's memory: rank 0 writes, from one byte to many packets, and
 * reads the data back; rank 1 adds to a word on rank 0's host.
 */
#include "pair.h"

#include <string.h>

enum { WRITE_BYTES = 100000, ADDS = 50, COUNTER = PAIR_BUFFER_BYTES - 16, OLD = COUNTER + 8 };

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + i / 256 + 1);
}

static void write_and_read(struct pair *pair, size_t size_bytes)
{
    struct ibv_send_wr write = {.opcode = IBV_WR_RDMA_WRITE,
                                .wr.rdma = {pair->other.buffer, pair->other.rkey}};
    struct ibv_send_wr read = {.opcode = IBV_WR_RDMA_READ,
                               .wr.rdma = {pair->other.buffer, pair->other.rkey}};

    if (pair->rank == 0) {
        for (size_t i = 0; i < size_bytes; i++)
            pair->buffer[i] = pattern(i);
        pair_request(pair, &write, 0, size_bytes);
        memset(pair->buffer, 0, size_bytes);
        pair_request(pair, &read, 0, size_bytes);
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (size_t i = 0; i < size_bytes; i++)
        REQUIRE(pair->buffer[i] == pattern(i));
    REQUIRE(pair->buffer[size_bytes] == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    memset(pair->buffer, 0, size_bytes);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* Rank 1 adds and sees each old value; rank 0, in whose memory the word is, posts nothing. */
static void fetch_and_add(struct pair *pair)
{
    uint64_t old, counter;

    for (uint64_t i = 0; pair->rank == 1 && i < ADDS; i++) {
        struct ibv_send_wr add = {
            .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
            .wr.atomic = {.remote_addr = pair->other.buffer + COUNTER,
                          .compare_add = 3,
                          .rkey = pair->other.rkey},
        };
        pair_request(pair, &add, OLD, sizeof old);
        memcpy(&old, pair->buffer + OLD, sizeof old);
        REQUIRE(old == 3 * i);
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    memcpy(&counter, pair->buffer + COUNTER, sizeof counter);
    REQUIRE(counter == (pair->rank == 0 ? 3 * ADDS : 0));
}

int main(void)
{
    struct pair pair;

    pair_open(&pair);
    write_and_read(&pair, 1);
    write_and_read(&pair, WRITE_BYTES);
    fetch_and_add(&pair);
    pair_close(&pair);
    return 0;
}
