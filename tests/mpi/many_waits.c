/* Ranks that wait for each other in MPICH in many ways: many_waits SEED ROUNDS [kill]. Every rank
 * checks what it receives. Messages are eager and by rendezvous, some without a receive posted, so
 * that acknowledgements and answers matter, too. With "kill" rank 1 then kills itself, while the
 * others wait for it.
 */
#include "mpi_test.h"

#include <signal.h>

#define BYTES 200000
#define MANY 100

static int rank, ranks;
static unsigned seed;
static unsigned char out[BYTES], in[BYTES];

/* The same on all ranks. */
static unsigned draw(unsigned limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

static void fill(int from, size_t bytes)
{
    memset(out, from + 1, bytes);
}

static void came(int from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        REQUIRE(in[i] == (unsigned char)(from + 1));
    memset(in, 0, bytes);
}

static void ring(int bytes)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

    fill(rank, (size_t)bytes);
    MUST(MPI_Sendrecv(out, bytes, MPI_BYTE, right, 0, in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    came(left, (size_t)bytes);
}

/* More small messages than a queue of UCX has room for, then one that is synchronous. */
static void flood(int to)
{
    int from = (to + 1) % ranks;

    fill(from, 64);
    for (int i = 0; i < MANY; i++) {
        if (rank == from)
            MUST(MPI_Send(out, 64, MPI_BYTE, to, i, MPI_COMM_WORLD));
    }
    if (rank == from)
        MUST(MPI_Ssend(out, 64, MPI_BYTE, to, MANY, MPI_COMM_WORLD));
    for (int i = MANY; rank == to && i >= 0; i--) {
        MUST(MPI_Recv(in, 64, MPI_BYTE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        came(from, 64);
    }
}

static void all_to_all(int bytes)
{
    unsigned char *from = malloc((size_t)(ranks * bytes)), *into = malloc((size_t)(ranks * bytes));

    REQUIRE(from != NULL && into != NULL);
    memset(from, rank + 1, (size_t)(ranks * bytes));
    MUST(MPI_Alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < ranks; i++) {
        memcpy(in, into + i * bytes, (size_t)bytes);
        came(i, (size_t)bytes);
    }
    free(from);
    free(into);
}

static void window(int target)
{
    long *memory, one = 1, sum = 0;
    MPI_Win win;

    MUST(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                          &win));
    *memory = 0;
    MUST(MPI_Win_fence(0, win));
    MUST(MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win));
    MUST(MPI_Win_fence(0, win));
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    MUST(MPI_Get(&sum, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    MUST(MPI_Win_unlock(target, win));
    REQUIRE(sum == ranks);
    MUST(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 10;
    MPI_Comm comm;

    START(rank, ranks);
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        switch (draw(5)) {
        case 0:
            ring((int)draw(BYTES));
            break;
        case 1:
            flood((int)draw((unsigned)ranks));
            break;
        case 2:
            all_to_all((int)draw(draw(2) == 0 ? 100 : BYTES / 4));
            break;
        case 3:
            window((int)draw((unsigned)ranks));
            break;
        default:
            MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &comm));
            MUST(MPI_Comm_free(&comm));
        }
    }
    if (argc > 3) {
        if (rank == 1)
            raise(SIGKILL);
        MPI_Recv(in, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MUST(MPI_Finalize());
    return 0;
}
