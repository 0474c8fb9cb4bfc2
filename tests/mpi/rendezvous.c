/* A rank waits in a collective while its peer waits for a large message from it:
 *
 *     rendezvous barrier|reduce|allreduce
 *
 * Rank 0 starts a send of 64 MiB and enters the collective; rank 1 receives first. The message
 * advances only while rank 0 drives MPICH.
 */
#include "mpi_test.h"

#define BYTES (64 << 20)

static void collective(const char *name)
{
    int mine = 1, sum = 0;

    if (strcmp(name, "barrier") == 0)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    else if (strcmp(name, "reduce") == 0)
        MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    else
        MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    char *message = malloc(BYTES);
    MPI_Request request;
    int rank, size;

    REQUIRE(argc == 2 && message != NULL);
    START(rank, size);
    REQUIRE(size == 2);
    if (rank == 0) {
        memset(message, 0x17, BYTES);
        MUST(MPI_Isend(message, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
        collective(argv[1]);
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MUST(MPI_Recv(message, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        REQUIRE(message[0] == 0x17 && message[BYTES - 1] == 0x17);
        collective(argv[1]);
    }
    MUST(MPI_Finalize());
    if (rank == 0)
        printf("the message came\n");
    return 0;
}
