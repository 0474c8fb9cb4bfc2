/* Closes every descriptor from 3 up that refers to a file in stagger's output directory, opens its
 * own files in their place, and makes N rounds of collectives: closing N. Each rank's own file
 * closing.RANK.own holds ten bytes.
 */
#include "mpi_test.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    struct own_counts counts = {0};
    int rank, size, closed = 0;
    char name[64];

    START(rank, size);
    snprintf(name, sizeof name, "closing.%d.own", rank);
    for (int file = 3; file < 1024; file++) {
        char path[64], target[4096];

        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 4 || memcmp(target + length - 4, ".log", 4) != 0)
            continue;
        int own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
        REQUIRE(own >= 0 && dup2(own, file) == file);
        REQUIRE(write(own, "0123456789", 10) == 10);
        closed++;
    }
    REQUIRE(closed <= 1);
    for (int i = 0; i < rounds; i++) {
        int mine = i, sum;

        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
        COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == i * size);
    }
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
