/* Measures MPI functions in which ranks wait for each other: call_times SECONDS CALL...
 *
 * For each call rank 0 prints the median over batches, in microseconds: "CALL RANKS TIME". The
 * length of a batch depends on the call's duration; each batch begins with a barrier, and there are
 * at least nine. Works with any MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES 65536
#define BATCHES 401
#define BATCHES_MIN 9
#define BATCH_S 0.002

static int rank, ranks, right, left;
static char out[BYTES], in[BYTES];
static MPI_Win window;

static void call_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void call_bcast(void)
{
    MPI_Bcast(out, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void call_reduce(void)
{
    double mine = 1, sum;

    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void call_allreduce(void)
{
    double mine = 1, sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_alltoall(void)
{
    MPI_Alltoall(out, 1024, MPI_BYTE, in, 1024, MPI_BYTE, MPI_COMM_WORLD);
}

static void call_allgather(void)
{
    MPI_Allgather(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD);
}

static void call_sendrecv(void)
{
    MPI_Sendrecv(out, 8, MPI_BYTE, right, 0, in, 8, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* To and fro between two ranks, of which each waits for the other; the rest wait in the batch's
 * barrier. */
static void call_pingpong(void)
{
    if (rank == 0) {
        MPI_Send(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static void call_waitall(void)
{
    MPI_Request requests[16];
    MPI_Status statuses[16];

    for (int i = 0; i < 8; i++) {
        MPI_Irecv(in + 8 * i, 8, MPI_BYTE, left, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(out, 8, MPI_BYTE, right, i, MPI_COMM_WORLD, &requests[8 + i]);
    }
    MPI_Waitall(16, requests, statuses);
}

static void call_probe(void)
{
    MPI_Request request;
    MPI_Status status;

    MPI_Isend(out, 8, MPI_BYTE, right, 0, MPI_COMM_WORLD, &request);
    MPI_Probe(left, 0, MPI_COMM_WORLD, &status);
    MPI_Recv(in, 8, MPI_BYTE, left, 0, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, &status);
}

static void call_fence(void)
{
    MPI_Win_fence(0, window);
}

static void call_lock(void)
{
    double value = 1;

    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Put(&value, 1, MPI_DOUBLE, right, rank, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(right, window);
}

static void call_dup(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"barrier", call_barrier},     {"bcast", call_bcast},       {"reduce", call_reduce},
    {"allreduce", call_allreduce}, {"alltoall", call_alltoall}, {"allgather", call_allgather},
    {"sendrecv", call_sendrecv},   {"pingpong", call_pingpong}, {"waitall", call_waitall},
    {"probe", call_probe},         {"win_fence", call_fence},   {"win_lock", call_lock},
    {"comm_dup", call_dup},
};

static int compare(const void *a, const void *b)
{
    double left_s = *(const double *)a, right_s = *(const double *)b;

    return (left_s > right_s) - (left_s < right_s);
}

static double batch(void (*call)(void), int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int i = 0; i < count; i++)
        call();
    return (MPI_Wtime() - begin_s) / count;
}

static void measure(const char *name, void (*call)(void), double limit_s)
{
    static double times_s[BATCHES];
    double begin_s;
    int count = 1, batches = 0, goes_on = 1;

    for (double first_s = batch(call, 3); rank == 0 && first_s * count < BATCH_S && count < 10000;)
        count *= 2;
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (begin_s = MPI_Wtime(); goes_on; batches++) {
        times_s[batches] = batch(call, count);
        goes_on =
            batches + 1 < BATCHES && (batches + 1 < BATCHES_MIN || MPI_Wtime() - begin_s < limit_s);
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    qsort(times_s, (size_t)batches, sizeof *times_s, compare);
    if (rank == 0)
        printf("%s %d %.2f\n", name, ranks, times_s[batches / 2] * 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    void *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    for (int i = 2; i < argc; i++) {
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            int is_fence = calls[k].call == call_fence;

            if (strcmp(argv[i], calls[k].name) != 0)
                continue;
            if (is_fence)
                MPI_Win_fence(0, window);
            measure(calls[k].name, calls[k].call, atof(argv[1]));
            if (is_fence)
                MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
