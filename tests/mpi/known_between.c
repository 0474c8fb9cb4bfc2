/* Calls between two groups that wait for known ranks, on 4 ranks, for
 * tests/report/test_known_waits.py.
 *
 * The groups are ranks 2, 0 (in this order) and 1, 3. Each function makes one kind of wait, ROUNDS
 * times; the late rank computes until the others are about to call, and for LATE_S. Barriers of all
 * ranks separate the functions. A copy of the communicator, and a part of it, are used too.
 */
#include "known.h"

#define ROUNDS 5

static int rank, value, values[4];
static MPI_Comm between;

/* The root argument of a rooted collective whose root is world rank `root`. */
static int root_of(int root)
{
    int peers[] = {1, 0, 0, 1}; /* ranks in the groups, by rank */

    return rank == root ? MPI_ROOT : rank % 2 == root % 2 ? MPI_PROC_NULL : peers[root];
}

NOINLINE static void message(int late)
{
    hold_back(late);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 5, between); /* to rank 3 */
    else if (rank == 3)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, between, MPI_STATUS_IGNORE);
    STAY;
}

NOINLINE static void posted(int late)
{
    MPI_Request request = MPI_REQUEST_NULL;

    hold_back(late);
    if (rank == 1)
        MPI_Isend(&value, 1, MPI_INT, 0, 6, between, &request); /* to rank 2 */
    else if (rank == 2)
        MPI_Irecv(&value, 1, MPI_INT, 0, 6, between, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    STAY;
}

SITE(barrier(int late), hold_back(late), MPI_Barrier(between))
SITE(bcast(int late), hold_back(late), MPI_Bcast(&value, 1, MPI_INT, root_of(late), between))

/* To rank 1. Rank 2 waits for rank 0 of its own group. */
SITE(reduce(int late), hold_back(late),
     MPI_Reduce(&value, values, 1, MPI_INT, MPI_SUM, root_of(1), between))
/* To rank 2. */
SITE(gather(int late), hold_back(late),
     MPI_Gather(&value, 1, MPI_INT, values, 1, MPI_INT, root_of(2), between))
SITE(allreduce(int late), hold_back(late),
     MPI_Allreduce(&value, values, 1, MPI_INT, MPI_SUM, between))

/* Only the group of rank 2 gets something. */
NOINLINE static void one_way(int late)
{
    int sent = rank % 2, received = 1 - sent;

    hold_back(late);
    MPI_Allgather(&value, sent, MPI_INT, values, received, MPI_INT, between);
    STAY;
}

NOINLINE static void ialltoall(int late)
{
    MPI_Request request;

    hold_back(late);
    MPI_Ialltoall(values, 1, MPI_INT, values + 2, 1, MPI_INT, between, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    STAY;
}

static void rounds(void (*call)(int late), int late)
{
    for (int i = 0; i < ROUNDS; i++) {
        call(late);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void copies(void)
{
    MPI_Comm comm = between, copy, part;

    MUST(MPI_Comm_dup(comm, &copy));
    MUST(MPI_Comm_set_name(copy, "copy"));
    between = copy;
    rounds(barrier, 3);
    MUST(MPI_Comm_split(comm, rank / 2, 0, &part));
    MUST(MPI_Comm_set_name(part, rank / 2 ? "upper" : "lower"));
    MUST(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, part));
    REQUIRE(value == (rank ^ 1));
    MUST(MPI_Comm_free(&part));
    MUST(MPI_Intercomm_merge(copy, rank % 2, &part));
    MUST(MPI_Comm_set_name(part, "merged"));
    MUST(MPI_Bcast(&value, 1, MPI_INT, 0, part));
    MUST(MPI_Comm_free(&part));
    MUST(MPI_Comm_free(&copy));
    between = comm;
}

int main(int argc, char **argv)
{
    MPI_Comm half;

    known_init(&argc, &argv, &rank);
    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank % 2 ? rank : -rank, &half));
    MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 1, 5, &between));
    MUST(MPI_Comm_set_name(between, "between"));
    rounds(message, 0);
    rounds(posted, 1);
    rounds(barrier, 3);
    rounds(bcast, 0);
    rounds(reduce, 0);
    rounds(gather, 3);
    rounds(allreduce, 3);
    rounds(one_way, 1);
    rounds(ialltoall, 0);
    copies();
    MUST(MPI_Comm_free(&half));
    MUST(MPI_Comm_free(&between));
    known_finalize();
    return 0;
}
