/* Uses every way of waiting in MPI: waits ROUNDS [messages], with no collectives in the rounds.
 * Rank 0 prints a checksum of all received data, which does not depend on time. Each rank prints to
 * stderr how often it yielded in the rounds, if tests/mpi/yields_library.c is preloaded.
 */
#include "mpi_test.h"

#include <dlfcn.h>

#define SMALL 16
#define LARGE 40000 /* more than is sent at once */
#define TAG 5

static int rank, size, left, right;
static uint64_t sum;

static void take(const int *values, int count)
{
    for (int i = 0; i < count; i++)
        sum = (sum ^ (uint64_t)values[i]) * UINT64_C(0x100000001b3);
}

static void fill(int *values, int count, int seed)
{
    for (int i = 0; i < count; i++)
        values[i] = seed * 1000003 + i;
}

static void exchange(int count, int seed)
{
    static int out[LARGE], in[LARGE], more[LARGE];
    MPI_Request requests[4];
    MPI_Status status, statuses[4];
    int flag = 0, index, got, indices[4];

    fill(out, count, seed * 64 + rank);
    MUST(MPI_Sendrecv(out, count, MPI_INT, right, TAG, in, count, MPI_INT, left, TAG,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    take(in, count);
    MUST(MPI_Isend(out, count, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Probe(left, TAG, MPI_COMM_WORLD, &status));
    MUST(MPI_Get_count(&status, MPI_INT, &got));
    REQUIRE(got == count && status.MPI_SOURCE == left);
    MUST(MPI_Recv(in, count, MPI_INT, left, TAG, MPI_COMM_WORLD, &status));
    MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    take(in, count);
    MUST(MPI_Issend(out, count, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[0]));
    while (!flag)
        MUST(MPI_Iprobe(left, TAG, MPI_COMM_WORLD, &flag, &status));
    MUST(MPI_Irecv(in, count, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[1]));
    for (flag = 0; !flag;)
        MUST(MPI_Test(&requests[1], &flag, &status));
    MUST(MPI_Waitany(1, requests, &index, &status));
    take(in, count);
    MUST(MPI_Irecv(in, count, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Irecv(more, count, MPI_INT, right, TAG + 1, MPI_COMM_WORLD, &requests[1]));
    MUST(MPI_Isend(out, count, MPI_INT, left, TAG + 1, MPI_COMM_WORLD, &requests[2]));
    MUST(MPI_Isend(out, count, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[3]));
    MUST(MPI_Waitsome(4, requests, &got, indices, statuses));
    REQUIRE(got > 0);
    MUST(MPI_Waitall(4, requests, statuses));
    take(in, count);
    take(more, count);
}

static void collect(int seed)
{
    int mine[64 * 4], all[64 * 4], root = seed % size;
    MPI_Request request;
    MPI_Comm comm;

    fill(mine, 4 * size, seed + rank);
    MUST(MPI_Alltoall(mine, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD));
    take(all, 4 * size);
    MUST(MPI_Allgather(mine, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD));
    take(all, 4 * size);
    MUST(MPI_Ibcast(mine, 4, MPI_INT, root, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    take(mine, 4);
    MUST(MPI_Scan(mine, all, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    take(all, 4);
    MUST(MPI_Allreduce(MPI_IN_PLACE, mine, 4, MPI_INT, MPI_BXOR, MPI_COMM_WORLD));
    take(mine, 4);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
    MUST(MPI_Bcast(mine, 4, MPI_INT, 0, comm));
    take(mine, 4);
    MUST(MPI_Comm_free(&comm));
}

static void put(int seed)
{
    int *shared, value = seed * 64 + rank;
    MPI_Win window;

    MUST(MPI_Win_allocate(sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared,
                          &window));
    *shared = -1;
    MUST(MPI_Win_fence(0, window));
    MUST(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window));
    MUST(MPI_Win_fence(0, window));
    take(shared, 1);
    MUST(MPI_Win_free(&window));
}

static long yields(void)
{
    long (*count)(void);

    *(void **)&count = dlsym(NULL, "counted_yields"); /* in any object of the program's */
    return count == NULL ? 0 : count();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    bool messages = argc > 2;
    uint64_t all[64];

    START(rank, size);
    REQUIRE(size <= 64);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    long before = yields();
    for (int i = 0; i < rounds; i++) {
        exchange(SMALL, i);
        if (!messages)
            collect(i);
    }
    exchange(LARGE, rounds);
    fprintf(stderr, "yields: %ld\n", yields() - before);
    put(rounds);
    MUST(MPI_Gather(&sum, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < size; i++)
        printf("rank %d received %016llx\n", i, (unsigned long long)all[i]);
    MUST(MPI_Finalize());
    return 0;
}
