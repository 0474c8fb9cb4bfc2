/* Each rank sleeps between barriers, in each round another one for the longest. It measures by its
 * own clock how long it was outside of MPI before each barrier, and its run up to MPI_Finalize.
 * Rank 0 prints "RANK BEGIN_NS RUN_NS NS NS ..." for each rank; the last NS is after the barriers.
 */
#include "clock.h"
#include "mpi_test.h"

#include <inttypes.h>

#define ROUNDS 8
#define FIGURES (ROUNDS + 3)
#define RANKS_MAX 8

static void print(int ranks, const uint64_t *figures)
{
    for (int rank = 0; rank < ranks; rank++) {
        printf("%d", rank);
        for (int i = 0; i < FIGURES; i++)
            printf(" %" PRIu64, figures[rank * FIGURES + i]);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    uint64_t began_ns = now_ns(), left_ns, figures[FIGURES], all[RANKS_MAX * FIGURES];
    int rank, ranks;

    MUST(MPI_Init(&argc, &argv));
    left_ns = now_ns();
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(ranks <= RANKS_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        int longest = round % ranks == rank;

        sleep_until(now_ns() + UINT64_C(1000000) * (longest ? 60 : 20 + 10 * (unsigned)rank));
        figures[2 + round] = now_ns() - left_ns;
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        left_ns = now_ns();
    }
    sleep_until(now_ns() + 30000000);
    figures[2 + ROUNDS] = now_ns() - left_ns;
    figures[0] = began_ns;
    figures[1] = now_ns() - began_ns;
    MUST(MPI_Gather(figures, FIGURES, MPI_UINT64_T, all, FIGURES, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    MUST(MPI_Finalize());
    if (rank == 0)
        print(ranks, all);
    return 0;
}
