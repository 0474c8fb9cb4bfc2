/* Measures the overhead of the library on one call: MPI_Barrier on MPI_COMM_SELF, which is
 * intercepted, against PMPI_Barrier, which is not, in alternating blocks of one run. Prints the
 * median time of a call of both kinds and the median of the blocks' differences, in ns. One
 * process. With the argument "leave" it exits without MPI_Finalize, so that its log stays for
 * measurement.
 */
#include "blocks.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCKS = 301, CALLS = 1000, WARM_BLOCKS = 20 };

static double block_of_calls(void)
{
    double start = now_ns();

    for (int i = 0; i < CALLS; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return (now_ns() - start) / CALLS;
}

static double block_of_plain_calls(void)
{
    double start = now_ns();

    for (int i = 0; i < CALLS; i++)
        PMPI_Barrier(MPI_COMM_SELF);
    return (now_ns() - start) / CALLS;
}

int main(int argc, char **argv)
{
    static double intercepted[BLOCKS], plain[BLOCKS], added[BLOCKS];

    MPI_Init(&argc, &argv);
    for (int i = 0; i < WARM_BLOCKS; i++) {
        block_of_plain_calls();
        block_of_calls();
    }
    for (int i = 0; i < BLOCKS; i++) {
        plain[i] = block_of_plain_calls();
        intercepted[i] = block_of_calls();
        added[i] = intercepted[i] - plain[i];
    }
    if (argc > 1)
        _exit(0);
    MPI_Finalize();
    double intercepted_ns = median(intercepted, BLOCKS);
    double plain_ns = median(plain, BLOCKS);
    double added_ns = median(added, BLOCKS);
    printf("%.1f %.1f %.1f %ld\n", plain_ns, intercepted_ns, added_ns,
           (long)(BLOCKS + WARM_BLOCKS) * CALLS);
    return 0;
}
