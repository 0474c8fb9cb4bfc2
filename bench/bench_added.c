/* Measures the overhead of the library on calls that programs make often: intercepted calls against
 * calls that are not (PMPI), in alternating blocks of one run, with 8-byte messages of the process
 * to itself. For each function it prints the median time of a call without the library, and the
 * median of the blocks' differences, in ns:
 *
 *     MPI_Send 75.0 61.2
 *
 * A message's receive is not intercepted in either. One process.
 */
#include "blocks.h"

#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 301, CALLS = 200, WARM_BLOCKS = 20, BYTES = 8 };

static char sent[BYTES], received[BYTES];
static MPI_Request receive, request;
static int flag;

static void begin_receive(void)
{
    PMPI_Irecv(received, BYTES, MPI_CHAR, 0, 1, MPI_COMM_SELF, &receive);
}

static void end_receive(void)
{
    PMPI_Wait(&receive, MPI_STATUS_IGNORE);
}

static void send_intercepted(void)
{
    begin_receive();
    MPI_Send(sent, BYTES, MPI_CHAR, 0, 1, MPI_COMM_SELF);
    end_receive();
}

static void send_plain(void)
{
    begin_receive();
    PMPI_Send(sent, BYTES, MPI_CHAR, 0, 1, MPI_COMM_SELF);
    end_receive();
}

static void isend_intercepted(void)
{
    begin_receive();
    MPI_Isend(sent, BYTES, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_receive();
}

static void isend_plain(void)
{
    begin_receive();
    PMPI_Isend(sent, BYTES, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    end_receive();
}

static void iprobe_intercepted(void)
{
    MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void iprobe_plain(void)
{
    PMPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void bcast_intercepted(void)
{
    MPI_Bcast(sent, BYTES, MPI_CHAR, 0, MPI_COMM_SELF);
}

static void bcast_plain(void)
{
    PMPI_Bcast(sent, BYTES, MPI_CHAR, 0, MPI_COMM_SELF);
}

static const struct {
    const char *name;
    void (*intercepted)(void), (*plain)(void);
} functions[] = {
    {"MPI_Send", send_intercepted, send_plain},
    {"MPI_Isend+MPI_Wait", isend_intercepted, isend_plain},
    {"MPI_Iprobe", iprobe_intercepted, iprobe_plain},
    {"MPI_Bcast", bcast_intercepted, bcast_plain},
};

static double block_of(void (*call)(void))
{
    double start = now_ns();

    for (int i = 0; i < CALLS; i++)
        call();
    return (now_ns() - start) / CALLS;
}

int main(int argc, char **argv)
{
    static double plain[BLOCKS], added[BLOCKS];

    MPI_Init(&argc, &argv);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (int i = -WARM_BLOCKS; i < BLOCKS; i++) {
            double without = block_of(functions[f].plain);
            double with = block_of(functions[f].intercepted);

            if (i < 0)
                continue;
            plain[i] = without;
            added[i] = with - without;
        }
        printf("%s %.1f %.1f\n", functions[f].name, median(plain, BLOCKS), median(added, BLOCKS));
    }
    MPI_Finalize();
    return 0;
}
