/* Makes communicators in every way, names each and uses it once; readers of the logs recognise them
 * by their names. On 4 ranks, with MPI_THREAD_MULTIPLE. Prints nothing.
 */
#include "mpi_test.h"

#include <pthread.h>

#define RANKS 4
#define AGAIN 3

static int rank;
static bool is_silent; /* communicators are made, and not used */

static void use(MPI_Comm comm, const char *name)
{
    int is_inter, data = 0, root = 0, own;

    if (comm == MPI_COMM_NULL || is_silent)
        return;
    MUST(MPI_Comm_set_name(comm, name));
    MUST(MPI_Comm_test_inter(comm, &is_inter));
    MUST(MPI_Comm_rank(comm, &own));
    if (is_inter) { /* from the even ranks' to the odd ones' first */
        root = rank % 2 == 1 ? 0 : own == 0 ? MPI_ROOT : MPI_PROC_NULL;
    }
    MUST(MPI_Bcast(&data, 1, MPI_INT, root, comm));
}

static void use_and_free(MPI_Comm comm, const char *name)
{
    use(comm, name);
    if (comm != MPI_COMM_NULL)
        MUST(MPI_Comm_free(&comm));
}

static void duplicates(void)
{
    MPI_Comm first, second, third;
    MPI_Request requests[2];
    char name[] = "freed 0", own[] = "own 0";

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    MUST(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &second));
    use(second, "dup_with_info");
    use(first, "dup"); /* in another order than they were made */
    /* Two at a time; their completions may come in any order. */
    MUST(MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[0]));
    MUST(MPI_Comm_idup(first, &third, &requests[1]));
    if (rank % 2 == 0)
        MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    if (rank < 2)
        use(third, "idup of dup");
    use(second, "idup");
    if (rank >= 2)
        use(third, "idup of dup");
    for (int i = 0; i < AGAIN; i++, name[6]++) {
        MUST(MPI_Comm_dup(first, &second));
        use_and_free(second, name);
    }
    for (int i = 0; i < AGAIN; i++) {
        MUST(MPI_Comm_dup(first, &second));
        use_and_free(second, "again");
    }
    MUST(MPI_Comm_dup(MPI_COMM_SELF, &second));
    own[4] = (char)('0' + rank);
    use_and_free(second, own);
    MUST(MPI_Comm_free(&first));
}

static void parts(void)
{
    MPI_Comm comm, half;
    MPI_Group world, group;
    const int ranks[] = {3, 1}, single[] = {2};

    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    use(half, rank % 2 ? "odd" : "even");
    MUST(MPI_Comm_split(half, 0, rank, &comm));
    use_and_free(comm, rank % 2 ? "odd again" : "even again");
    MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    use_and_free(comm, "shared");
    MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MUST(MPI_Group_incl(world, 2, ranks, &group));
    MUST(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    use_and_free(comm, "created");
    if (rank % 2 == 1) {
        MUST(MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm));
        use_and_free(comm, "created by group");
        MUST(MPI_Comm_create_group(half, group, 7, &comm));
        use_and_free(comm, "created by group again");
    }
    MUST(MPI_Group_free(&group));
    MUST(MPI_Group_incl(world, 1, single, &group));
    MUST(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    use_and_free(comm, "single");
    MUST(MPI_Group_free(&group));
    MUST(MPI_Group_free(&world));
    MUST(MPI_Comm_free(&half));
}

static void topologies(void)
{
    const int dims[] = {2, 2}, periods[] = {0, 0}, remains[] = {1, 0};
    const int index[] = {1, 2, 3, 4}, edges[] = {1, 0, 3, 2};
    int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS, one = 1;
    MPI_Comm grid, comm;

    MUST(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    use(grid, "grid");
    MUST(MPI_Cart_sub(grid, remains, &comm));
    use_and_free(comm, rank % 2 ? "odd column" : "even column");
    MUST(MPI_Comm_free(&grid));
    MUST(MPI_Graph_create(MPI_COMM_WORLD, RANKS, index, edges, 0, &comm));
    use_and_free(comm, "graph");
    MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &one, 1, &next, &one,
                                        MPI_INFO_NULL, 0, &comm));
    use_and_free(comm, "adjacent");
    MUST(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, &one, MPI_INFO_NULL, 0,
                               &comm));
    use_and_free(comm, "distributed");
}

static void between(void)
{
    MPI_Comm half, inter, comm;

    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter));
    use(inter, "inter");
    MUST(MPI_Intercomm_merge(inter, rank % 2, &comm));
    use_and_free(comm, "merged");
    MUST(MPI_Comm_dup(inter, &comm));
    use_and_free(comm, "dup of inter");
    MUST(MPI_Comm_split(inter, rank / 2, 0, &comm));
    use_and_free(comm, rank / 2 ? "upper inter" : "lower inter");
    MUST(MPI_Comm_free(&inter));
    MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter));
    use_and_free(inter, "inter again");
    MUST(MPI_Comm_free(&half));
}

/* Each of two threads makes its own. */
struct maker {
    MPI_Comm from;
    char name[12];
};

static void *make(void *argument)
{
    struct maker *maker = argument;
    MPI_Comm comm;

    for (int i = 0; i < AGAIN; i++, maker->name[9]++) {
        MUST(MPI_Comm_dup(maker->from, &comm));
        use_and_free(comm, maker->name);
    }
    return NULL;
}

static void threads(void)
{
    struct maker makers[] = {{.name = "thread 0 0"}, {.name = "thread 1 0"}};
    pthread_t thread;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &makers[0].from));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &makers[1].from));
    /* Ranks begin with different ones. */
    REQUIRE(pthread_create(&thread, NULL, make, &makers[rank % 2]) == 0);
    make(&makers[1 - rank % 2]);
    REQUIRE(pthread_join(thread, NULL) == 0);
    MUST(MPI_Comm_free(&makers[0].from));
    MUST(MPI_Comm_free(&makers[1].from));
}

int main(int argc, char **argv)
{
    int provided, size;
    MPI_Comm comm;

    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    REQUIRE(provided == MPI_THREAD_MULTIPLE);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    REQUIRE(size == RANKS);
    use(MPI_COMM_SELF, "MPI_COMM_SELF");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_set_name(comm, "reduced"));
    MUST(MPI_Barrier(comm)); /* set up for the library's collectives */
    MUST(MPI_Comm_free(&comm));
    /* Rank 2 does not record these communicators but makes them all the same. */
    MUST(MPI_Pcontrol(rank != 2));
    is_silent = true;
    parts();
    is_silent = false;
    MUST(MPI_Pcontrol(1));
    duplicates();
    parts();
    topologies();
    between();
    threads();
    MUST(MPI_Finalize());
    return 0;
}
