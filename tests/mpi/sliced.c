/* Messages as programs send and receive them:
 *
 *     sliced [on COMMUNICATOR] CASE...
 *
 * On MPI_COMM_WORLD, or on a communicator that main makes from it.
 *
 * Every rank prints the data that it received, with their status. Except in the case "order", the
 * lines do not depend on how messages are carried. The cases are in the table below; "all" stands
 * for those that it marks.
 */
#define _GNU_SOURCE
#include "mpi_test.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>

#define MANY 1500

static int rank, ranks, next, before;
static const char *file; /* the last word */
static MPI_Comm comm;
static MPI_Comm apart; /* whose messages are MPICH's */
/* Out of the compiler's sight, which takes it for an array of no length. */
static MPI_Status *volatile ignored = MPI_STATUSES_IGNORE;

static unsigned hash(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    unsigned sum = 2166136261u;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * 16777619u;
    return sum;
}

static void fill(void *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(i * 31 + i / 251 + seed);
}

static void say(const char *what, const MPI_Status *status, const void *bytes, size_t size)
{
    MPI_Count count = -1;
    int cancelled = -1;

    MUST(MPI_Get_elements_x(status, MPI_BYTE, &count));
    MUST(MPI_Test_cancelled(status, &cancelled));
    printf("%d %s: from %d, tag %d, %lld bytes, cancelled %d, data %08x\n", rank, what,
           status->MPI_SOURCE, status->MPI_TAG, (long long)count, cancelled, hash(bytes, size));
}

static void sizes(void)
{
    static const int bytes[] = {0, 1, 7, 4096, 65535, 65536, 65537, 262144, 1 << 20};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        size_t size = (size_t)bytes[i];
        char *out = malloc(size + 1), *in = calloc(1, size + 1);
        MPI_Request requests[2];
        MPI_Status statuses[2];

        fill(out, size, (unsigned)rank);
        MUST(MPI_Irecv(in, bytes[i], MPI_CHAR, before, 3, comm, &requests[0]));
        MUST(MPI_Isend(out, bytes[i], MPI_CHAR, next, 3, comm, &requests[1]));
        MUST(MPI_Waitall(2, requests, statuses));
        REQUIRE(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        say("size", &statuses[0], in, size);
        memset(in, 0, size);
        MUST(MPI_Sendrecv(out, bytes[i], MPI_CHAR, next, 4, in, bytes[i], MPI_CHAR, before, 4, comm,
                          &statuses[0]));
        say("exchange", &statuses[0], in, size);
        MUST(MPI_Sendrecv_replace(in, bytes[i], MPI_CHAR, next, 5, before, MPI_ANY_TAG, comm,
                                  &statuses[0]));
        say("replace", &statuses[0], in, size);
        free(out);
        free(in);
    }
}

/* All send first; receives take tags in another order than they were sent in. */
static void tags(void)
{
    int value, got;
    MPI_Status status;

    for (int tag = 0; tag < 8; tag++) {
        value = 100 * rank + tag;
        MUST(MPI_Send(&value, 1, MPI_INT, next, tag, comm));
    }
    for (int tag = 7; tag > 3; tag--) {
        MUST(MPI_Recv(&got, 1, MPI_INT, before, tag, comm, &status));
        say("tag", &status, &got, sizeof got);
    }
    for (int i = 0; i < 4; i++) {
        MUST(MPI_Recv(&got, 1, MPI_INT, before, MPI_ANY_TAG, comm, &status));
        say("any tag", &status, &got, sizeof got);
    }
}

static void send_three(int value)
{
    for (int i = 0; i < 3; i++)
        MUST(MPI_Send(&value, 1, MPI_INT, 0, 10 + i, comm));
}

static void anyone(void)
{
    int value, sum = 0;

    if (rank > 0)
        send_three(7 * rank);
    for (int i = 0; rank == 0 && i < 3 * (ranks - 1); i++) {
        MPI_Status status;

        MUST(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        REQUIRE(value == 7 * status.MPI_SOURCE);
        sum += value * status.MPI_TAG;
    }
    if (rank == 0)
        printf("0 anyone: %d\n", sum);
    MUST(MPI_Barrier(comm));
}

/* A rank that receives in a slice answers in the same slice, so all answers belong to one slice.
 * The ranks answer in turn, the last first. */
static void order(void)
{
    MPI_Request requests[3 * 16];
    MPI_Status statuses[3 * 16];
    int values[3 * 16], count = 3 * (ranks - 1), token = 0;

    REQUIRE(ranks <= 16);
    for (int i = 0; rank == 0 && i < count; i++)
        MUST(MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]));
    for (int to = 1; rank == 0 && to < ranks; to++)
        MUST(MPI_Send(NULL, 0, MPI_INT, to, 9, comm));
    if (rank > 0) {
        MUST(MPI_Recv(NULL, 0, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
        if (rank + 1 < ranks)
            MUST(MPI_Recv(&token, 1, MPI_INT, rank + 1, 0, apart, MPI_STATUS_IGNORE));
        send_three(rank);
        if (rank > 1)
            MUST(MPI_Send(&token, 1, MPI_INT, rank - 1, 0, apart));
        return;
    }
    MUST(MPI_Waitall(count, requests, statuses));
    for (int i = 0; i < count; i++)
        printf("0 from %d, tag %d\n", statuses[i].MPI_SOURCE, statuses[i].MPI_TAG);
}

static void derived(void)
{
    int in[64], out[64], packed[16];
    MPI_Datatype column, pair;
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < 64; i++)
        out[i] = 1000 * rank + i;
    MUST(MPI_Type_vector(8, 1, 8, MPI_INT, &column));
    MUST(MPI_Type_commit(&column));
    memset(in, 0, sizeof in);
    MUST(MPI_Sendrecv(out, 1, column, next, 1, in, 1, column, before, 1, comm, &status));
    say("column", &status, in, sizeof in);
    MUST(MPI_Sendrecv(out, 1, column, next, 1, packed, 16, MPI_INT, before, 1, comm, &status));
    say("column as row", &status, packed, 8 * sizeof *packed);
    MUST(MPI_Type_contiguous(3, MPI_INT, &pair));
    MUST(MPI_Type_commit(&pair));
    memset(in, 0, sizeof in);
    /* It ends within an element; and the type is freed before it is there. */
    MUST(MPI_Irecv(in, 4, pair, before, 2, comm, &request));
    MUST(MPI_Type_free(&pair));
    MUST(MPI_Send(out, 7, MPI_INT, next, 2, comm));
    MUST(MPI_Wait(&request, &status));
    say("part of an element", &status, in, sizeof in);
    memset(in, 0, sizeof in);
    MUST(MPI_Irecv(in, 1, column, before, 2, comm, &request));
    MUST(MPI_Type_free(&column));
    MUST(MPI_Ssend(out, 8, MPI_INT, next, 2, comm));
    MUST(MPI_Wait(&request, &status));
    say("row as column", &status, in, sizeof in);
}

static int class_of(int error)
{
    int class = -1;

    MUST(MPI_Error_class(error, &class));
    return class;
}

/* Calls that complete several requests use MPI_COMM_WORLD's handler. */
static void handle(MPI_Errhandler handler)
{
    MUST(MPI_Comm_set_errhandler(comm, handler));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
}

static void truncated(void)
{
    char in[16] = "", out[16] = "0123456789abcde";
    MPI_Request requests[2];
    MPI_Status statuses[2];

    handle(MPI_ERRORS_RETURN);
    MUST(MPI_Send(out, 16, MPI_CHAR, next, 1, comm));
    int error = MPI_Recv(in, 4, MPI_CHAR, before, 1, comm, &statuses[0]);
    printf("%d cut: %s, from %d, tag %d\n", rank,
           class_of(error) == MPI_ERR_TRUNCATE ? "truncated" : "not truncated",
           statuses[0].MPI_SOURCE, statuses[0].MPI_TAG);
    REQUIRE(in[4] == '\0');
    MUST(MPI_Irecv(in, 4, MPI_CHAR, before, 2, comm, &requests[0]));
    MUST(MPI_Irecv(in + 8, 4, MPI_CHAR, before, 3, comm, &requests[1]));
    MUST(MPI_Send(out, 16, MPI_CHAR, next, 2, comm));
    MUST(MPI_Send(out, 4, MPI_CHAR, next, 3, comm));
    error = MPI_Waitall(2, requests, statuses);
    REQUIRE(class_of(error) == MPI_ERR_IN_STATUS);
    printf("%d of two: %s, %s\n", rank,
           class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE ? "truncated" : "whole",
           statuses[1].MPI_ERROR == MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_ERR_PENDING
               ? "whole or pending"
               : "neither");
    if (requests[1] != MPI_REQUEST_NULL)
        MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MUST(MPI_Irecv(in, 4, MPI_CHAR, before, 4, comm, &requests[0]));
    MUST(MPI_Send(out, 5, MPI_CHAR, next, 4, comm));
    error = MPI_Wait(&requests[0], &statuses[0]);
    printf("%d alone: %s\n", rank,
           class_of(error) == MPI_ERR_TRUNCATE ? "truncated" : "not truncated");
    handle(MPI_ERRORS_ARE_FATAL);
}

/* Messages of 0 to 12 bytes: whole and partial elements, in types with holes and without. */
static void parts(void)
{
    enum { TYPES = 7 };
    static const int lengths[] = {1, 2}, singles[] = {1, 1}, at[] = {0, 3};
    static const MPI_Aint apart_by[] = {0, 8}, near[] = {0, 4};
    static const MPI_Datatype mixed[] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype types[TYPES];
    char in[128], out[12];

    MUST(MPI_Type_indexed(2, lengths, at, MPI_INT, &types[0]));
    MUST(MPI_Type_contiguous(3, MPI_INT, &types[1]));
    MUST(MPI_Type_create_struct(2, singles, apart_by, mixed, &types[2]));
    MUST(MPI_Type_create_hindexed(2, lengths, near, MPI_INT, &types[3]));
    MUST(MPI_Type_vector(3, 2, 4, MPI_CHAR, &types[4]));
    MUST(MPI_Type_dup(MPI_2INT, &types[5]));
    MUST(MPI_Type_vector(2, 1, 2, MPI_SHORT, &types[6]));
    fill(out, sizeof out, 7);
    handle(MPI_ERRORS_RETURN);
    for (int i = 0; i < TYPES * 26; i++) {
        int type = i / 26, bytes = i / 2 % 13, error;
        MPI_Request request;
        MPI_Status status;

        if (i % 26 == 0)
            MUST(MPI_Type_commit(&types[type]));
        memset(in, 0x55, sizeof in);
        MUST(MPI_Irecv(in, 4, types[type], before, 1, comm, &request));
        MUST(MPI_Send(out, bytes, MPI_BYTE, next, 1, comm));
        if (i % 2 == 0) {
            error = MPI_Wait(&request, &status);
        } else {
            (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
            memset(in, 0x55, sizeof in);
            MUST(MPI_Send(out, bytes, MPI_BYTE, next, 1, comm));
            error = MPI_Recv(in, 4, types[type], before, 1, comm, &status);
        }
        printf("%d type %d, %d bytes: class %d\n", rank, type, bytes, class_of(error));
        say("part", &status, in, sizeof in);
    }
    handle(MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < TYPES; i++)
        MUST(MPI_Type_free(&types[i]));
}

static void wrong(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0, flag;

    handle(MPI_ERRORS_RETURN);
    printf("%d wrong: %d %d %d %d %d %d\n", rank,
           class_of(MPI_Send(&value, 1, MPI_INT, ranks, 0, comm)) == MPI_ERR_RANK,
           class_of(MPI_Recv(&value, -1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT,
           class_of(MPI_Isend(&value, 1, MPI_INT, 0, -5, comm, &request)) == MPI_ERR_TAG,
           class_of(MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request)) == MPI_ERR_TYPE,
           class_of(MPI_Iprobe(ranks, 0, comm, &flag, MPI_STATUS_IGNORE)) == MPI_ERR_RANK,
           class_of(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &value, 1, MPI_INT, -7, 0, comm,
                                 MPI_STATUS_IGNORE)) != MPI_SUCCESS);
    handle(MPI_ERRORS_ARE_FATAL);
}

static void probed(void)
{
    char out[40], in[40];
    MPI_Status status;
    int count, flag = 0;

    fill(out, sizeof out, (unsigned)rank);
    MUST(MPI_Isend(out, 17 + rank, MPI_CHAR, next, 6, comm, &(MPI_Request){0}));
    MUST(MPI_Probe(MPI_ANY_SOURCE, 6, comm, &status));
    say("probe", &status, NULL, 0);
    MUST(MPI_Get_count(&status, MPI_CHAR, &count));
    MUST(MPI_Recv(in, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
    say("probed", &status, in, (size_t)count);
    MUST(MPI_Iprobe(before, 8, comm, &flag, &status));
    REQUIRE(!flag);
    MUST(MPI_Sendrecv(out, 1, MPI_CHAR, next, 9, in, 1, MPI_CHAR, before, 9, comm,
                      MPI_STATUS_IGNORE));
    MUST(MPI_Send(out, 5, MPI_CHAR, next, 7, comm));
    while (!flag)
        MUST(MPI_Iprobe(before, MPI_ANY_TAG, comm, &flag, &status));
    say("iprobe", &status, NULL, 0);
    MUST(MPI_Recv(in, 5, MPI_CHAR, before, 7, comm, &status));
    say("iprobed", &status, in, 5);
}

static void nobody(void)
{
    int value = 5;
    MPI_Request request;
    MPI_Status status;

    MUST(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    MUST(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status));
    say("nobody", &status, &value, sizeof value);
    MUST(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Probe(MPI_PROC_NULL, 1, comm, &status));
    say("nobody", &status, &value, sizeof value);
    /* The ends of a line. */
    MUST(MPI_Sendrecv(&rank, 1, MPI_INT, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, 2, &value, 1,
                      MPI_INT, rank > 0 ? rank - 1 : MPI_PROC_NULL, 2, comm, &status));
    say("line", &status, &value, sizeof value);
}

static void itself(void)
{
    int value = rank, got = -1;
    MPI_Request request;
    MPI_Status status;
    char *large = malloc(300000), *copy = calloc(1, 300000);

    MUST(MPI_Send(&value, 1, MPI_INT, rank, 1, comm));
    MUST(MPI_Recv(&got, 1, MPI_INT, rank, 1, comm, &status));
    say("itself", &status, &got, sizeof got);
    fill(large, 300000, 5);
    MUST(MPI_Isend(large, 300000, MPI_CHAR, rank, 1, comm, &request));
    MUST(MPI_Recv(copy, 300000, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, &status));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say("itself", &status, copy, 300000);
    free(large);
    free(copy);
}

/* Each of many ways to complete requests. */
static void completed(void)
{
    enum { COUNT = 6 };
    int out[COUNT], in[COUNT], done, index, flag, indices[COUNT], sum = 0;
    MPI_Request sends[COUNT], receives[COUNT];
    MPI_Status status, statuses[COUNT];

    for (int way = 0; way < 7; way++) {
        for (int i = 0; i < COUNT; i++) {
            in[i] = -1;
            out[i] = 100 * way + 10 * i + rank;
            MUST(MPI_Irecv(&in[i], 1, MPI_INT, before, i, comm, &receives[i]));
        }
        for (int i = 0; i < COUNT; i++)
            MUST(MPI_Issend(&out[i], 1, MPI_INT, next, i, comm, &sends[i]));
        done = flag = 0;
        while (way == 0 && done < COUNT) {
            MUST(MPI_Waitany(COUNT, receives, &index, &status));
            REQUIRE(status.MPI_TAG == index && status.MPI_SOURCE == before);
            done++;
        }
        while (way == 1 && done < COUNT) {
            MUST(MPI_Waitsome(COUNT, receives, &index, indices, statuses));
            for (int i = 0; i < index; i++)
                REQUIRE(statuses[i].MPI_TAG == indices[i]);
            done += index;
        }
        for (int i = 0; way == 2 && i < COUNT; i++) {
            for (flag = 0; !flag;)
                MUST(MPI_Test(&receives[i], &flag, &status));
        }
        while (way == 3 && !flag)
            MUST(MPI_Testall(COUNT, receives, &flag, statuses));
        while (way == 4 && done < COUNT) {
            MUST(MPI_Testany(COUNT, receives, &index, &flag, &status));
            done += flag && index != MPI_UNDEFINED;
        }
        while (way == 5 && done < COUNT) {
            MUST(MPI_Testsome(COUNT, receives, &index, indices, statuses));
            done += index;
        }
        for (int i = 0; way == 6 && i < COUNT; i++) {
            for (flag = 0; !flag;)
                MUST(MPI_Request_get_status(receives[i], &flag, &status));
            MUST(MPI_Wait(&receives[i], &status));
        }
        MUST(MPI_Waitall(COUNT, sends, ignored));
        for (int i = 0; i < COUNT; i++) {
            REQUIRE(receives[i] == MPI_REQUEST_NULL && in[i] == 100 * way + 10 * i + before);
            sum += in[i];
        }
    }
    printf("%d completed: %d\n", rank, sum);
}

/* More than there is room for at a time; a request that is freed; collectives between them. */
static void many(void)
{
    static int in[MANY], out[MANY];
    static MPI_Request requests[MANY];
    long sum = 0;

    for (int i = 0; i < MANY; i++) {
        MUST(MPI_Irecv(&in[i], 1, MPI_INT, before, i % 5, comm, &requests[i]));
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Request request;

        out[i] = i * (rank + 1);
        MUST(MPI_Isend(&out[i], 1, MPI_INT, next, i % 5, comm, &request));
        MUST(MPI_Request_free(&request));
    }
    MUST(MPI_Barrier(comm));
    MUST(MPI_Waitall(MANY, requests, ignored));
    for (int i = 0; i < MANY; i++) {
        REQUIRE(in[i] == i * (before + 1));
        sum += in[i];
    }
    MUST(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, comm));
    printf("%d many: %ld\n", rank, sum);
}

/* Messages of another communicator and collectives, while one waits. */
static void beside(void)
{
    MPI_Comm copy;
    MPI_Request requests[2];
    int value = rank, got = -1, other = -1, sum = 0;

    MUST(MPI_Comm_dup(comm, &copy));
    MUST(MPI_Irecv(&got, 1, MPI_INT, before, 1, comm, &requests[0]));
    MUST(MPI_Irecv(&other, 1, MPI_INT, next, 1, copy, &requests[1]));
    MUST(MPI_Send(&value, 1, MPI_INT, before, 1, copy));
    MUST(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    MUST(MPI_Send(&value, 1, MPI_INT, next, 1, comm));
    MUST(MPI_Waitall(2, requests, ignored));
    printf("%d beside: %d %d %d\n", rank, got, other, sum);
    MUST(MPI_Comm_free(&copy));
}

/* The last rank sends what nobody receives, and receives what nobody sends. */
static void unmatched(void)
{
    static int value;
    MPI_Request request;

    if (rank == ranks - 1) {
        MUST(MPI_Send(&rank, 1, MPI_INT, 0, 77, comm));
        MUST(MPI_Irecv(&value, 1, MPI_INT, 0, 78, comm, &request));
        MUST(MPI_Request_free(&request));
    }
    printf("%d unmatched\n", rank);
}

/* As code does that is loaded later: nothing tells of it before it calls. */
static void late(void)
{
    int (*bsend)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*init)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;

    *(void **)&bsend = dlsym(RTLD_DEFAULT, "MPI_Bsend");
    *(void **)&init = dlsym(RTLD_DEFAULT, "MPI_Recv_init");
    REQUIRE(bsend != NULL && init != NULL);
    handle(MPI_ERRORS_RETURN);
    printf("%d late: %d %d\n", rank,
           class_of(bsend(&value, 1, MPI_INT, next, 0, comm)) == MPI_ERR_UNSUPPORTED_OPERATION,
           class_of(init(&value, 1, MPI_INT, before, 0, comm, &request)) ==
               MPI_ERR_UNSUPPORTED_OPERATION);
    MUST(init(&value, 1, MPI_INT, before, 0, apart, &request));
    MUST(MPI_Request_free(&request));
    handle(MPI_ERRORS_ARE_FATAL);
}

/* One of the ranks is killed while messages go around. */
static void killed(void)
{
    for (int i = 0;; i++) {
        int got = -1;

        MUST(MPI_Sendrecv(&i, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, comm,
                          MPI_STATUS_IGNORE));
        REQUIRE(got == i);
        if (rank == 1 && i == 100)
            raise(SIGKILL);
    }
}

/* Communicators that end before what is under way on them. */
static void freed(void)
{
    size_t size = 1 << 20;
    char *out = malloc(size), *in = calloc(1, size);
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Comm copy;
    int value = -1;

    fill(out, size, (unsigned)rank);
    for (int i = 0; i < 3; i++) {
        MUST(MPI_Comm_dup(comm, &copy));
        MUST(MPI_Irecv(in, 1 << 20, MPI_CHAR, before, 3, copy, &requests[0]));
        MUST(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, copy, &requests[1]));
        MUST(MPI_Isend(out, 1 << 20, MPI_CHAR, next, 3, copy, &requests[2]));
        MUST(MPI_Send(&rank, 1, MPI_INT, before, 4, copy));
        if (i < 2)
            MUST(MPI_Comm_free(&copy));
        else
            MUST(MPI_Comm_disconnect(&copy));
        MUST(MPI_Waitall(3, requests, statuses));
        say("freed", &statuses[0], in, size);
        say("freed", &statuses[1], &value, sizeof value);
        memset(in, 0, size);
    }
    free(out);
    free(in);
}

/* Some free it before a barrier that the others free it behind. */
static void freed_early(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Comm copy;
    int value = -1;

    MUST(MPI_Comm_dup(comm, &copy));
    if (rank == 1)
        MUST(MPI_Irecv(&value, 1, MPI_INT, 0, 5, copy, &request));
    if (rank > 0)
        MUST(MPI_Comm_free(&copy));
    MUST(MPI_Barrier(comm));
    if (rank == 0) {
        MUST(MPI_Ssend(&rank, 1, MPI_INT, 1, 5, copy));
        MUST(MPI_Comm_free(&copy));
    }
    MUST(MPI_Wait(&request, &status));
    if (rank == 1)
        say("freed early", &status, &value, sizeof value);
}

/* ... and with what nobody receives. */
static void dropped(void)
{
    static int value;
    MPI_Request request;
    MPI_Comm copy;
    int flag = 1;

    MUST(MPI_Comm_dup(comm, &copy));
    MUST(MPI_Send(&rank, 1, MPI_INT, next, 77, copy));
    MUST(MPI_Irecv(&value, 1, MPI_INT, next, 78, copy, &request));
    MUST(MPI_Comm_free(&copy));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    printf("%d dropped: %d\n", rank, flag);
}

/* Rank 1 sends when the file is there: whoever runs this has then read what rank 0 waits for. */
static void stalled(void)
{
    int value = 5;

    if (rank == 0)
        MUST(MPI_Recv(&value, 1, MPI_INT, 1, 5, comm, MPI_STATUS_IGNORE));
    while (rank == 1 && access(file, F_OK) != 0)
        sched_yield();
    if (rank == 1)
        MUST(MPI_Send(&value, 1, MPI_INT, 0, 5, comm));
    printf("%d stalled\n", rank);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool is_of_all;
} cases[] = {
    {"sizes", sizes, true},
    {"tags", tags, true},
    {"anyone", anyone, true},
    {"derived", derived, true},
    {"truncated", truncated, true},
    {"wrong", wrong, true},
    {"probed", probed, true},
    {"nobody", nobody, true},
    {"itself", itself, true},
    {"completed", completed, true},
    {"many", many, true},
    {"beside", beside, true},
    {"parts", parts, true},
    {"order", order, false},
    {"unmatched", unmatched, false},
    {"killed", killed, false},
    {"late", late, false},
    {"freed", freed, false},
    {"dropped", dropped, false},
    {"stalled", stalled, false},
    {"freed_early", freed_early, false},
};

/* Several of what makes one. */
static void make(const char *what)
{
    int size, place, period = 1;

    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &place));
    if (strcmp(what, "dup") == 0) {
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    } else if (strcmp(what, "reversed") == 0) {
        MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, size - place, &comm));
    } else if (strcmp(what, "halves") == 0) {
        MUST(MPI_Comm_split(MPI_COMM_WORLD, place % 2, 0, &comm));
    } else if (strcmp(what, "cart") == 0) {
        MUST(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &comm));
    } else {
        MPI_Group all, some;
        int left_out = size - 1;

        REQUIRE(strcmp(what, "created") == 0);
        MUST(MPI_Comm_group(MPI_COMM_WORLD, &all));
        MUST(MPI_Group_excl(all, 1, &left_out, &some));
        MUST(MPI_Comm_create(MPI_COMM_WORLD, some, &comm));
        MUST(MPI_Group_free(&some));
        MUST(MPI_Group_free(&all));
    }
}

int main(int argc, char **argv)
{
    int first = 1;
    bool stays = false; /* until MPI_Finalize */
    MPI_Request request;

    MUST(MPI_Init(&argc, &argv));
    comm = MPI_COMM_WORLD;
    /* Begun by one that returns before it is there. */
    MUST(MPI_Comm_idup(MPI_COMM_WORLD, &apart, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (argc > 2 && strcmp(argv[1], "on") == 0) {
        make(argv[2]);
        stays = strcmp(argv[2], "dup") == 0;
        first = 3;
    }
    file = argv[argc - 1];
    if (comm != MPI_COMM_NULL) {
        MUST(MPI_Comm_rank(comm, &rank));
        MUST(MPI_Comm_size(comm, &ranks));
        next = (rank + 1) % ranks;
        before = (rank + ranks - 1) % ranks;
    }
    for (int i = first; comm != MPI_COMM_NULL && i < argc; i++) {
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            if (strcmp(argv[i], cases[j].name) == 0 ||
                (cases[j].is_of_all && strcmp(argv[i], "all") == 0)) {
                cases[j].run();
                /* Wildcards are for messages of their own case. */
                MUST(MPI_Barrier(comm));
            }
        }
    }
    printf("%d finished\n", rank);
    if (comm != MPI_COMM_WORLD && comm != MPI_COMM_NULL && !stays)
        MUST(MPI_Comm_free(&comm));
    MUST(MPI_Comm_free(&apart));
    MUST(MPI_Finalize());
    return 0;
}
