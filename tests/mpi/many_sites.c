/* Messages from every rank to every other one, from 1000 call sites, to measure the memory of their
 * profile.
 *
 * many_sites [0]: with 0, sends nothing. Rank 0 prints the anonymous and private memory of all
 * ranks before and after the messages, in KiB: "start N" and "end N".
 */
#include "mpi_test.h"

static int rank, size;

/* Each rank's i-th site sends to the rank i + 1 behind it, and around again. */
static void send_one(int site, int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                           MPI_Request *))
{
    int to = (rank + 1 + site % (size - 1)) % size;
    int from = (rank + size - 1 - site % (size - 1)) % size;
    double out = rank, in = -1;
    MPI_Request request;

    MUST(send(&out, 1, MPI_DOUBLE, to, site, MPI_COMM_WORLD, &request));
    MUST(PMPI_Recv(&in, 1, MPI_DOUBLE, from, site, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(PMPI_Wait(&request, MPI_STATUS_IGNORE));
    REQUIRE(in == from);
}

/* A site each: a call of its own. */
#define SITE(n)                                                                                    \
    static int send_##n(const void *buffer, int count, MPI_Datatype type, int to, int tag,         \
                        MPI_Comm comm, MPI_Request *request)                                       \
    {                                                                                              \
        int error = MPI_Isend(buffer, count, type, to, tag, comm, request);                        \
                                                                                                   \
        return error == 0 ? 0 : n;                                                                 \
    }
#define TEN(n)                                                                                     \
    SITE(n##0)                                                                                     \
    SITE(n##1)                                                                                     \
    SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) SITE(n##8) SITE(n##9)
#define HUNDRED(n)                                                                                 \
    TEN(n##0)                                                                                      \
    TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
/* clang-format off */
HUNDRED(1)
HUNDRED(2)
HUNDRED(3)
HUNDRED(4)
HUNDRED(5)
HUNDRED(6)
HUNDRED(7)
HUNDRED(8)
HUNDRED(9) HUNDRED(10)
#undef SITE
#define SITE(n) send_##n,
    static int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                MPI_Request *) = {HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4)
                                                      HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8)
                                                          HUNDRED(9) HUNDRED(10)};
/* clang-format on */

/* Private memory of this process, in KiB. */
static long private_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = 0, part;

    REQUIRE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Private_Dirty: %ld", &part) == 1)
            kib += part;
    }
    fclose(file);
    return kib;
}

static void print_memory(const char *when)
{
    long own = private_kib(), all = 0;

    MUST(PMPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("%s %ld\n", when, all);
}

int main(int argc, char **argv)
{
    START(rank, size);
    REQUIRE(size > 1);
    print_memory("start");
    if (argc < 2 || strcmp(argv[1], "0") != 0) {
        for (int site = 0; site < (int)(sizeof sends / sizeof *sends); site++)
            send_one(site, sends[site]);
    }
    print_memory("end");
    MUST(MPI_Finalize());
    return 0;
}
