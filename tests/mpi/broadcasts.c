/* Broadcasts through the library. Compares every byte with the root's, for all sizes at which the
 * form changes, from every root, with types that differ between the ranks.
 *
 *     broadcasts results      sizes, roots, types, communicators
 *     broadcasts later        the same of MPI_Ibcast, several at once
 *     broadcasts ahead [COUNT BYTES]   a root that is back before the others have called
 *     broadcasts passed       an inner node of the tree that has not called, of 4 ranks on 4 nodes
 *     broadcasts threads      by two threads at a time, on communicators of their own
 *     broadcasts wrong WHAT   the last of three ranks or more has other "bytes", another "root" or
 *                             "operation"
 *
 * Nothing may be written past the received data, nor between the elements of a type with holes.
 */
#include "mpi_test.h"

#include <pthread.h>

#define GUARD_BYTES 64
#define UNTOUCHED 0xa7
#define AHEAD 7 /* slots of the ring but one */

static int rank, ranks;
static _Atomic long compared;
/* Out of the compiler's sight, which takes it for an array of no length. */
static MPI_Status *volatile ignored = MPI_STATUSES_IGNORE;

static unsigned char value(size_t index, int call)
{
    return (unsigned char)(index * 7 + index / 251 + (size_t)call * 13);
}

static const size_t sizes[] = {1,     3,     8,     15,    16,    17,    48,     49,
                               64,    255,   1024,  1025,  4095,  4096,  4097,   8192,
                               32768, 32769, 65535, 65536, 65537, 99999, 262144, 1048577};
#define SIZES (sizeof sizes / sizeof *sizes)

/* ---- bytes ----------------------------------------------------------------------------------- */

static void broadcast_bytes(size_t size, int root, MPI_Comm comm, int call)
{
    unsigned char *buffer = malloc(size + GUARD_BYTES);
    int own;

    REQUIRE(buffer != NULL);
    MUST(MPI_Comm_rank(comm, &own));
    memset(buffer, UNTOUCHED, size + GUARD_BYTES);
    for (size_t i = 0; i < size && own == root; i++)
        buffer[i] = value(i, call);
    MUST(MPI_Bcast(buffer, (int)size, MPI_BYTE, root, comm));
    for (size_t i = 0; i < size; i++)
        REQUIRE(buffer[i] == value(i, call));
    for (size_t i = size; i < size + GUARD_BYTES; i++)
        REQUIRE(buffer[i] == UNTOUCHED);
    free(buffer);
    compared++;
}

/* ---- types ----------------------------------------------------------------------------------- */

struct pair {
    double value;
    int index; /* 4 bytes of padding behind it */
};

/* So many of the elements, in one of these ways: each has the same numbers on all ranks. */
enum form { CONTIGUOUS, STRIDED, COUNTED_AT_ONCE, FORMS };

static void broadcast_form(enum form form, int count, int root, int call)
{
    int *buffer = malloc(2 * (size_t)count * sizeof *buffer), step = form == STRIDED ? 2 : 1;
    MPI_Datatype type = MPI_INT;

    REQUIRE(buffer != NULL);
    for (int i = 0; i < 2 * count; i++)
        buffer[i] = rank == root && i % step == 0 && i / step < count ? i / step + call : -1;
    if (form == STRIDED)
        MUST(MPI_Type_vector(count, 1, 2, MPI_INT, &type));
    if (form == COUNTED_AT_ONCE)
        MUST(MPI_Type_contiguous(count, MPI_INT, &type));
    if (form != CONTIGUOUS)
        MUST(MPI_Type_commit(&type));
    MUST(MPI_Bcast(buffer, form == CONTIGUOUS ? count : 1, type, root, MPI_COMM_WORLD));
    for (int i = 0; i < 2 * count; i++)
        REQUIRE(buffer[i] == (i % step == 0 && i / step < count ? i / step + call : -1));
    if (form != CONTIGUOUS)
        MUST(MPI_Type_free(&type));
    free(buffer);
    compared++;
}

static void broadcast_pairs(int count, int root, int call)
{
    struct pair *buffer = malloc((size_t)count * sizeof *buffer);

    REQUIRE(buffer != NULL);
    memset(buffer, UNTOUCHED, (size_t)count * sizeof *buffer);
    for (int i = 0; i < count && rank == root; i++) {
        buffer[i].value = i + call;
        buffer[i].index = i - call;
    }
    MUST(MPI_Bcast(buffer, count, MPI_DOUBLE_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        const unsigned char *end = (const unsigned char *)&buffer[i] + sizeof(double) + sizeof(int);

        REQUIRE(buffer[i].value == i + call && buffer[i].index == i - call);
        for (int k = 0; k < 4; k++)
            REQUIRE(end[k] == UNTOUCHED);
    }
    free(buffer);
    compared++;
}

static void broadcast_types(void)
{
    static const int counts[] = {1, 2, 5, 100, 1024, 1025, 5000, 20000, 40000};
    int call = 0;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int root = 0; root < ranks; root++) {
            /* The ranks' forms differ, and each form is once the root's. */
            for (int shift = 0; shift < FORMS; shift++)
                broadcast_form((enum form)((rank + shift) % FORMS), counts[i], root, ++call);
            broadcast_pairs(counts[i], root, ++call);
        }
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void broadcast_nothing(void)
{
    MPI_Datatype nothing;
    int one = rank;

    MUST(MPI_Type_contiguous(0, MPI_INT, &nothing));
    MUST(MPI_Type_commit(&nothing));
    MUST(MPI_Bcast(&one, 0, MPI_INT, 0, MPI_COMM_WORLD));
    MUST(MPI_Bcast(&one, rank % 2 ? 5 : 0, rank % 2 ? nothing : MPI_INT, 0, MPI_COMM_WORLD));
    MUST(MPI_Bcast(NULL, 0, MPI_INT, ranks - 1, MPI_COMM_WORLD));
    REQUIRE(one == rank);
    MUST(MPI_Type_free(&nothing));
}

/* MPI_BOTTOM: the type holds the address of the elements. */
static void broadcast_bottom(int root)
{
    int number = rank == root ? 12 + root : -1, one = 1;
    MPI_Datatype type;
    MPI_Aint address;

    MUST(MPI_Get_address(&number, &address));
    MUST(MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type));
    MUST(MPI_Type_commit(&type));
    MUST(MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD));
    REQUIRE(number == 12 + root);
    MUST(MPI_Type_free(&type));
}

static void broadcast_counted(MPI_Count size, int root)
{
    unsigned char *buffer = malloc((size_t)size);

    REQUIRE(buffer != NULL);
    for (MPI_Count i = 0; i < size; i++)
        buffer[i] = rank == root ? value((size_t)i, 5) : UNTOUCHED;
    MUST(MPI_Bcast_c(buffer, size, MPI_CHAR, root, MPI_COMM_WORLD));
    for (MPI_Count i = 0; i < size; i++)
        REQUIRE(buffer[i] == value((size_t)i, 5));
    free(buffer);
}

/* A blocking one, while another goes on. */
static void broadcast_later(int root)
{
    int number = rank == root ? 4711 + root : -1;
    MPI_Request request;

    MUST(MPI_Ibcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD, &request));
    broadcast_bytes(100, root, MPI_COMM_WORLD, root);
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    REQUIRE(number == 4711 + root);
}

/* ---- several at once ------------------------------------------------------------------------- */

#define LATER 12

/* Pending broadcasts with different roots, counts and types. The ranks use different forms of a
 * type and free it at once. Element i of number k is i + k. */
struct later {
    int *numbers;
    int count, step;
};

static void start_later(struct later *later, int number, int count, MPI_Comm comm,
                        MPI_Request *request)
{
    enum form form = (enum form)((rank + number) % FORMS);
    bool is_root = rank == number % ranks;
    MPI_Datatype type = MPI_INT;

    *later =
        (struct later){malloc(2 * (size_t)count * sizeof(int)), count, form == STRIDED ? 2 : 1};
    REQUIRE(later->numbers != NULL);
    for (int i = 0; i < 2 * count; i++)
        later->numbers[i] = is_root && i % later->step == 0 && i / later->step < count
                                ? i / later->step + number
                                : -1;
    if (form == STRIDED) {
        MPI_Datatype relative;
        MPI_Aint address;
        int one = 1;

        /* From the bottom of the memory. */
        MUST(MPI_Type_vector(count, 1, 2, MPI_INT, &relative));
        MUST(MPI_Get_address(later->numbers, &address));
        MUST(MPI_Type_create_hindexed(1, &one, &address, relative, &type));
        MUST(MPI_Type_free(&relative));
    } else if (form == COUNTED_AT_ONCE) {
        MUST(MPI_Type_contiguous(count, MPI_INT, &type));
    }
    if (form != CONTIGUOUS)
        MUST(MPI_Type_commit(&type));
    MUST(MPI_Ibcast(form == STRIDED ? MPI_BOTTOM : later->numbers, form == CONTIGUOUS ? count : 1,
                    type, number % ranks, comm, request));
    if (form != CONTIGUOUS)
        MUST(MPI_Type_free(&type));
}

static void check_later_of(const struct later *later, int number)
{
    for (int i = 0; i < 2 * later->count; i++)
        REQUIRE(later->numbers[i] == (i % later->step == 0 && i / later->step < later->count
                                          ? i / later->step + number
                                          : -1));
    free(later->numbers);
    compared++;
}

static void check_later(void)
{
    static const int counts[] = {1, 4, 255, 256, 257, 1024, 5000, 40000};
    struct later later[LATER];
    MPI_Request requests[LATER];
    int done;

    /* Sets it up: a broadcast alone does not. */
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < LATER; i++)
            start_later(&later[i], round + i, counts[(round + i) % 8], MPI_COMM_WORLD,
                        &requests[i]);
        broadcast_bytes(3000, round % ranks, MPI_COMM_WORLD, round);
        for (int i = LATER - 1; i >= 0 && round % 3 == 0; i--)
            MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        for (done = 0; !done && round % 3 == 1;)
            MUST(MPI_Testall(LATER, requests, &done, ignored));
        if (round % 3 == 2)
            MUST(MPI_Waitall(LATER, requests, ignored));
        for (int i = 0; i < LATER; i++)
            check_later_of(&later[i], round + i);
    }
}

static void refuse(void)
{
    int number = 0;

    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    REQUIRE(MPI_Bcast(&number, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    REQUIRE(MPI_Bcast(&number, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    REQUIRE(MPI_Bcast(&number, 1, MPI_INT, ranks, MPI_COMM_WORLD) != MPI_SUCCESS);
    REQUIRE(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void check_results(void)
{
    MPI_Comm reversed, half;
    int sum, one = 1;

    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    for (size_t i = 0; i < SIZES; i++) {
        for (int root = 0; root < ranks; root++) {
            broadcast_bytes(sizes[i], root, MPI_COMM_WORLD, (int)i + root);
            broadcast_bytes(sizes[i], root, reversed, (int)i - root);
        }
        broadcast_bytes(sizes[i], 0, half, (int)i);
        /* Operations that share the slots. */
        MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == ranks);
        if (i % 3 == 0)
            MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    broadcast_types();
    broadcast_nothing();
    for (int root = 0; root < ranks; root++) {
        broadcast_counted(70000, root);
        broadcast_bottom(root);
        broadcast_later(root);
    }
    refuse();
    MUST(MPI_Comm_free(&half));
    MUST(MPI_Comm_free(&reversed));
}

/* The others call when the root has told them that it is back from all: if it waited for them, all
 * would wait for ever. */
static void check_ahead(int count, size_t size)
{
    unsigned char buffers[AHEAD][4096];

    REQUIRE(count <= AHEAD && size <= sizeof buffers[0]);

    for (int root = 0; root < ranks; root++) {
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < count; i++)
            memset(buffers[i], rank == root ? root + i : UNTOUCHED, size);
        if (rank != root)
            MUST(MPI_Recv(NULL, 0, MPI_BYTE, root, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i++)
            MUST(MPI_Bcast(buffers[i], (int)size, MPI_BYTE, root, MPI_COMM_WORLD));
        for (int i = 0; i < ranks && rank == root; i++) {
            if (i != root)
                MUST(MPI_Send(NULL, 0, MPI_BYTE, i, 1, MPI_COMM_WORLD));
        }
        for (int i = 0; i < count; i++) {
            for (size_t k = 0; k < size; k++)
                REQUIRE(buffers[i][k] == root + i);
        }
        compared++;
    }
}

/* Rank 2 calls when rank 3, which is below it in the tree, has told it that it has the data. */
static void check_passed(void)
{
    for (int i = 0; i < 20; i++) {
        int number = rank == 0 ? i : -1;

        /* All expect the next one. */
        MUST(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        number = rank == 0 ? 100 + i : -1;
        if (rank == 2)
            MUST(MPI_Recv(NULL, 0, MPI_BYTE, 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
        if (rank == 3)
            MUST(MPI_Send(NULL, 0, MPI_BYTE, 2, 1, MPI_COMM_WORLD));
        REQUIRE(number == 100 + i);
        compared++;
    }
}

/* Broadcasts all sizes, in ascending order or, on a communicator in another order, descending. */
static void *broadcast_in_thread(void *context)
{
    const MPI_Comm *comm = context;
    int result;

    MUST(MPI_Comm_compare(*comm, MPI_COMM_WORLD, &result));
    for (size_t i = 0; i < SIZES; i++) {
        size_t at = result == MPI_SIMILAR ? SIZES - 1 - i : i;

        for (int root = 0; root < ranks; root++)
            broadcast_bytes(sizes[at], root, *comm, (int)at + root);
    }
    return NULL;
}

static void check_threads(void)
{
    MPI_Comm comms[2];
    pthread_t thread;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]));
    /* Sets them up: broadcasts alone do not. */
    for (int i = 0; i < 2; i++)
        MUST(MPI_Barrier(comms[i]));
    REQUIRE(pthread_create(&thread, NULL, broadcast_in_thread, &comms[1]) == 0);
    broadcast_in_thread(&comms[0]);
    REQUIRE(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 2; i++)
        MUST(MPI_Comm_free(&comms[i]));
}

static void disagree(const char *what)
{
    bool other = rank == ranks - 1;
    int numbers[4] = {0};

    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (other && strcmp(what, "operation") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(numbers, other && strcmp(what, "bytes") == 0 ? 4 : 2, MPI_INT,
                  other && strcmp(what, "root") == 0 ? 1 : 0, MPI_COMM_WORLD);
    /* Nobody is alone with a call that is over. */
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int wanted, provided;

    REQUIRE(argc > 1);
    wanted = strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MUST(MPI_Init_thread(&argc, &argv, wanted, &provided));
    REQUIRE(provided >= wanted);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (strcmp(argv[1], "wrong") == 0)
        disagree(argv[2]);
    else if (strcmp(argv[1], "ahead") == 0)
        check_ahead(argc > 3 ? atoi(argv[2]) : AHEAD, argc > 3 ? strtoul(argv[3], NULL, 0) : 4096);
    else if (strcmp(argv[1], "later") == 0)
        check_later();
    else if (strcmp(argv[1], "passed") == 0)
        check_passed();
    else if (strcmp(argv[1], "threads") == 0)
        check_threads();
    else
        check_results();
    printf("rank %d: %ld broadcasts compared\n", rank, compared);
    MUST(MPI_Finalize());
    return 0;
}
