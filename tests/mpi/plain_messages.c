/* plain_messages LEVEL: messages and collectives as most programs use them, mixed with unusual
 * ones, at the level "single" or "multiple" of thread support. Two ranks; the order of all matches
 * is fixed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define MANY 40
#define BYTES 64

static char out[MANY][BYTES], in[MANY][BYTES];
static int rank, other, calls;
MPI_Status *none = MPI_STATUSES_IGNORE;

static void ping(MPI_Comm comm, int times)
{
    for (int i = 0; i < times; i++) {
        if (rank == 0)
            MPI_Send(out[0], i % BYTES, MPI_BYTE, 1, i, comm);
        else
            MPI_Recv(in[0], BYTES, MPI_BYTE, i % 2 ? 0 : MPI_ANY_SOURCE, i, comm,
                     MPI_STATUS_IGNORE);
        calls++;
    }
}

/* Some receives ask for more than comes, or for any rank and tag. */
static void crowd(MPI_Comm comm, int count)
{
    MPI_Request requests[2 * MANY];

    for (int i = 0; i < count; i++)
        MPI_Irecv(in[i], i % 5 == 3 ? BYTES : 8, MPI_BYTE, i % 7 == 2 ? MPI_ANY_SOURCE : other,
                  i % 11 == 4 ? MPI_ANY_TAG : i, comm, &requests[i]);
    MPI_Barrier(comm);
    for (int i = 0; i < count; i++)
        MPI_Isend(out[i], 8, MPI_BYTE, other, i, comm, &requests[count + i]);
    MPI_Waitall(2 * count, requests, none);
    calls += 2 * count + 1;
}

static void one_by_one(MPI_Comm comm, int times)
{
    MPI_Request requests[2];
    MPI_Status status;

    for (int i = 0; i < times; i++) {
        MPI_Irecv(in[0], 8, MPI_BYTE, other, i, comm, &requests[0]);
        MPI_Isend(out[0], 8, MPI_BYTE, other, i, comm, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], &status);
        calls += 4;
    }
}

/* Waits for plain messages together with others. */
static void unusual(MPI_Comm comm)
{
    MPI_Request requests[6];
    MPI_Datatype type;

    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Recv_init(in[0], 8, MPI_BYTE, other, 1, comm, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Irecv(in[1], 1, type, other, 2, comm, &requests[1]);
    MPI_Irecv(in[2], 8, MPI_BYTE, MPI_PROC_NULL, 3, comm, &requests[2]);
    MPI_Irecv(in[3], 8, MPI_BYTE, other, 99, comm, &requests[3]);
    MPI_Cancel(&requests[3]);
    MPI_Isend(out[0], 8, MPI_BYTE, other, 1, comm, &requests[4]);
    MPI_Isend(out[1], 1, type, other, 2, comm, &requests[5]);
    MPI_Waitall(6, requests, none);
    MPI_Request_free(&requests[0]);
    MPI_Type_free(&type);
    calls += 10;
}

/* Collectives that MPICH runs. */
static void together(MPI_Comm comm)
{
    int counts[2] = {2, 3}, places[2] = {0, 8}, numbers[4] = {0}, sums[4];

    for (int i = 0; i < 20; i++) {
        MPI_Alltoall(out[0], i, MPI_BYTE, in[0], i, MPI_BYTE, comm);
        MPI_Gather(out[0], 4, MPI_BYTE, in[0], 4, MPI_BYTE, i % 2, comm);
        MPI_Scatter(out[0], 4, MPI_BYTE, in[0], 4, MPI_BYTE, i % 2, comm);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in[0], 1 + i, MPI_BYTE, comm);
        MPI_Allgather(out[0], 2, MPI_2INT, in[0], 16, MPI_BYTE, comm);
        MPI_Allgatherv(out[0], counts[rank], MPI_BYTE, in[0], counts, places, MPI_BYTE, comm);
        MPI_Scan(numbers, sums, 2, MPI_INT, MPI_SUM, comm);
        MPI_Reduce_scatter_block(numbers, sums, 2, MPI_INT, MPI_SUM, comm);
        calls += 8;
    }
}

int main(int argc, char **argv)
{
    int level;

    if (argc > 1 && strcmp(argv[1], "multiple") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int round = 0; round < 3; round++) {
        MPI_Comm copy;

        ping(MPI_COMM_WORLD, 100);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        crowd(copy, 3 + round);
        crowd(copy, MANY);
        unusual(copy);
        one_by_one(MPI_COMM_WORLD, 30);
        ping(copy, 10);
        together(copy);
        together(MPI_COMM_WORLD);
        MPI_Comm_free(&copy);
    }
    if (rank == 0)
        printf("plain_messages: %d calls\n", calls);
    MPI_Finalize();
    return 0;
}
