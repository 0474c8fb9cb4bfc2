/* Compares users' operations of MPI_Reduce and MPI_Allreduce with a sequential reference:
 * commutative or not, of several types, at every root and many sizes, in place, on communicators in
 * other orders of ranks, between calls with predefined operations that return early, and with late
 * ranks. The functions' names tell the script which algorithm ran where:
 *
 *     user_operations
 *
 * The operations end the program if they run outside the thread and the call that they belong to,
 * or inside each other. At the end each rank prints the hash of all its results.
 */
#include "mpi_test.h"

#define COUNT_MAX 5000

static int rank, ranks;   /* of the communicator in use */
static int number_of[64]; /* its ranks' numbers in MPI_COMM_WORLD */
static uint64_t results_hash = 1;
static __thread int in_call; /* this thread is in a call whose operation is the user's */
static int inside;           /* of an operation */
static uint32_t mine[COUNT_MAX], got[COUNT_MAX], expected[COUNT_MAX];

struct pair {
    double value;
    int location;
};
static struct pair my_pairs[COUNT_MAX], got_pairs[COUNT_MAX];

static void begin_operation(void)
{
    REQUIRE(in_call);
    REQUIRE(inside++ == 0);
}

static void end_operation(void)
{
    REQUIRE(--inside == 0);
}

/* x -> a x + b, modulo 2^16 each: first left, then right. Associative, exact, not commutative. */
static uint32_t composed(uint32_t left, uint32_t right)
{
    uint16_t a = (uint16_t)(left >> 16), b = (uint16_t)left;
    uint16_t c = (uint16_t)(right >> 16), d = (uint16_t)right;

    return (uint32_t)(uint16_t)((uint32_t)c * a) << 16 | (uint16_t)((uint32_t)c * b + d);
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *left = in;
    uint32_t *right = inout;

    begin_operation();
    REQUIRE(*type == MPI_UINT32_T);
    for (int i = 0; i < *count; i++)
        right[i] = composed(left[i], right[i]);
    end_operation();
}

/* Modulo a prime: exact and commutative, and none of MPI's. */
static uint32_t multiplied(uint32_t left, uint32_t right)
{
    return (uint32_t)((uint64_t)left * right % 4294967291u);
}

static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *left = in;
    uint32_t *right = inout;

    (void)type;
    begin_operation();
    for (int i = 0; i < *count; i++)
        right[i] = multiplied(left[i], right[i]);
    end_operation();
}

/* The last of the least: of pairs, whose padding is nobody's. */
static void last_least(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct pair *left = in;
    struct pair *right = inout;

    begin_operation();
    REQUIRE(*type == MPI_DOUBLE_INT);
    for (int i = 0; i < *count; i++) {
        if (left[i].value < right[i].value) {
            right[i].value = left[i].value;
            right[i].location = left[i].location;
        }
    }
    end_operation();
}

static uint32_t value_of(int number, int i)
{
    return (uint32_t)((number + 1) * 2654435761u + (uint32_t)i * 40503u) | 1;
}

static void expect(uint32_t (*operation)(uint32_t, uint32_t), int count)
{
    for (int i = 0; i < count; i++) {
        expected[i] = value_of(number_of[0], i);
        for (int r = 1; r < ranks; r++)
            expected[i] = operation(expected[i], value_of(number_of[r], i));
    }
}

static void check(int count)
{
    for (int i = 0; i < count; i++) {
        REQUIRE(got[i] == expected[i]);
        results_hash = (results_hash ^ got[i]) * UINT64_C(0x100000001b3);
    }
    REQUIRE(count == COUNT_MAX || got[count] == 0xdddddddd);
}

static void prepare(int count)
{
    for (int i = 0; i < count; i++)
        mine[i] = value_of(number_of[rank], i);
    memset(got, 0xdd, sizeof got);
}

/* Some ranks are late, in a way that only the numbers decide. */
static void dawdle(int turn)
{
    volatile uint32_t sink = 0;

    if ((turn + rank) % 3 == 0) {
        for (int i = 0; i < 20000; i++)
            sink = sink + 1;
    }
}

static void users_reduce(MPI_Op op, int count, int root, int in_place, MPI_Comm comm)
{
    const void *from = mine;

    /* MPICH 4.0.2 reads through MPI_IN_PLACE where its tree's root is another rank. */
    if (in_place && rank == root && root == 0) {
        memcpy(got, mine, (size_t)count * sizeof *mine);
        from = MPI_IN_PLACE;
    }
    in_call = 1;
    MUST(MPI_Reduce(from, got, count, MPI_UINT32_T, op, root, comm));
    in_call = 0;
}

static void users_allreduce(MPI_Op op, int count, int in_place, MPI_Comm comm)
{
    const void *from = mine;

    if (in_place) {
        memcpy(got, mine, (size_t)count * sizeof *mine);
        from = MPI_IN_PLACE;
    }
    in_call = 1;
    MUST(MPI_Allreduce(from, got, count, MPI_UINT32_T, op, comm));
    in_call = 0;
}

/* A reduce with a predefined operation, from which other ranks than the root may return early. */
static void early_reduce(MPI_Comm comm, int turn)
{
    uint64_t own = (uint64_t)(rank + turn), sum = 0;

    MUST(MPI_Reduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, turn % ranks, comm));
    if (rank == turn % ranks)
        REQUIRE(sum ==
                (uint64_t)ranks * (uint64_t)(ranks - 1) / 2 + (uint64_t)ranks * (uint64_t)turn);
}

static void use(MPI_Comm comm, MPI_Op op, uint32_t (*operation)(uint32_t, uint32_t))
{
    static const int counts[] = {1, 3, 256, 257, 700, COUNT_MAX};
    int turn = 0;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        expect(operation, counts[i]);
        for (int in_place = 0; in_place < 2; in_place++, turn++) {
            for (int root = 0; root < ranks; root++) {
                prepare(counts[i]);
                dawdle(turn + root);
                users_reduce(op, counts[i], root, in_place, comm);
                if (rank == root)
                    check(counts[i]);
                dawdle(root);
                early_reduce(comm, turn + root);
            }
            prepare(counts[i]);
            dawdle(turn);
            users_allreduce(op, counts[i], in_place, comm);
            check(counts[i]);
        }
    }
}

static void pairs(void)
{
    MPI_Op op;

    MUST(MPI_Op_create(last_least, 0, &op));
    memset(got_pairs, 0xdd, sizeof got_pairs);
    for (int i = 0; i < 60; i++) {
        my_pairs[i].value = (rank * 7 + i) % 5;
        my_pairs[i].location = rank;
    }
    in_call = 1;
    MUST(MPI_Allreduce(my_pairs, got_pairs, 60, MPI_DOUBLE_INT, op, MPI_COMM_WORLD));
    in_call = 0;
    for (int i = 0; i < 60; i++) {
        int least = 0;
        const unsigned char *bytes = (const unsigned char *)&got_pairs[i];

        for (int r = 1; r < ranks; r++)
            least = (r * 7 + i) % 5 <= (least * 7 + i) % 5 ? r : least;
        REQUIRE(got_pairs[i].value == (least * 7 + i) % 5 && got_pairs[i].location == least);
        REQUIRE(bytes[12] == 0xdd && bytes[15] == 0xdd);
    }
    MUST(MPI_Op_free(&op));
}

static void number_ranks(MPI_Comm comm)
{
    int world;

    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &world));
    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &ranks));
    MUST(MPI_Allgather(&world, 1, MPI_INT, number_of, 1, MPI_INT, comm));
}

static MPI_Comm in_order(int key)
{
    MPI_Comm comm;

    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm));
    number_ranks(comm);
    MUST(MPI_Barrier(comm));
    return comm;
}

/* Nonblocking calls go on outside of the application's threads, and so are MPICH's. */
static void nonblocking(MPI_Op op)
{
    MPI_Request request;

    expect(composed, 300);
    prepare(300);
    in_call = 1;
    MUST(MPI_Iallreduce(mine, got, 300, MPI_UINT32_T, op, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    in_call = 0;
    check(300);
}

int main(int argc, char **argv)
{
    MPI_Op product, composition;
    int world, worlds;

    START(world, worlds);
    REQUIRE(worlds <= 64);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    number_ranks(MPI_COMM_WORLD);
    MUST(MPI_Op_create(multiply, 1, &product));
    MUST(MPI_Op_create(compose, 0, &composition));
    use(MPI_COMM_WORLD, product, multiplied);
    use(MPI_COMM_WORLD, composition, composed);
    pairs();
    nonblocking(composition);
    MPI_Comm comm = in_order(worlds - world);
    use(comm, composition, composed);
    MUST(MPI_Comm_free(&comm));
    /* A node's ranks do not follow each other. */
    comm = in_order(world % 2 * worlds + world);
    use(comm, composition, composed);
    use(comm, product, multiplied);
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Op_free(&product));
    MUST(MPI_Op_free(&composition));
    printf("rank %d: %016llx\n", world, (unsigned long long)results_hash);
    MUST(MPI_Finalize());
    return 0;
}
