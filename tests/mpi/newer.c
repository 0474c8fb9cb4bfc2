/* MPI 4.1 functions that wait for messages to leave a buffer, in a program whose MPI may lack them.
 *
 *     newer call    calls each, as libnewer.so, or an MPI of 4.1 that gets a buffer, expects it
 *     newer find    says of each whether dlsym finds it
 *     newer bound   calls one to which the program is bound weakly, if it is there
 */
#include "mpi_test.h"

#include <dlfcn.h>

#define NAMES(X)                                                                                   \
    X(Buffer_flush)                                                                                \
    X(Buffer_iflush)                                                                               \
    X(Comm_attach_buffer)                                                                          \
    X(Comm_detach_buffer)                                                                          \
    X(Comm_detach_buffer_c)                                                                        \
    X(Comm_flush_buffer)                                                                           \
    X(Comm_iflush_buffer)                                                                          \
    X(Session_detach_buffer)                                                                       \
    X(Session_flush_buffer)                                                                        \
    X(Session_iflush_buffer)                                                                       \
    X(Request_get_status_all)                                                                      \
    X(Send)

int MPI_Comm_flush_buffer(MPI_Comm comm) __attribute__((weak));

static char buffer[4096];

static void *find(const char *name)
{
    char symbol[64];

    snprintf(symbol, sizeof symbol, "MPI_%s", name);
    return dlsym(RTLD_DEFAULT, symbol);
}

static void say_what_is_found(void)
{
#define SAY(name) printf("%s %s\n", #name, find(#name) != NULL ? "is there" : "is not there");
    NAMES(SAY)
}

static void call(void)
{
    int (*attach)(MPI_Comm, void *, int), (*detach)(MPI_Comm, void *, int *);
    int (*flush)(MPI_Comm), (*iflush)(MPI_Comm, MPI_Request *);
    int (*flush_all)(void), (*iflush_all)(MPI_Request *);
    int mine = 7, came = -1, rank, size, length = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    void *detached = NULL;

    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    *(void **)&attach = find("Comm_attach_buffer");
    *(void **)&detach = find("Comm_detach_buffer");
    *(void **)&flush = find("Comm_flush_buffer");
    *(void **)&iflush = find("Comm_iflush_buffer");
    *(void **)&flush_all = find("Buffer_flush");
    *(void **)&iflush_all = find("Buffer_iflush");
    REQUIRE(attach != NULL && detach != NULL && flush != NULL && iflush != NULL);
    REQUIRE(flush_all != NULL && iflush_all != NULL);

    MUST(attach(MPI_COMM_WORLD, buffer, sizeof buffer));
    MUST(MPI_Bsend(&mine, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD));
    MUST(MPI_Recv(&came, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
    REQUIRE(came == 7);
    for (int i = 0; i < 3; i++)
        MUST(flush(MPI_COMM_WORLD));
    MUST(iflush(MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MUST(detach(MPI_COMM_WORLD, &detached, &length));
    REQUIRE(detached == buffer && length == (int)sizeof buffer);

    MUST(MPI_Buffer_attach(buffer, sizeof buffer));
    MUST(flush_all());
    MUST(iflush_all(&requests[0]));
    MUST(iflush_all(&requests[1]));
    MUST(MPI_Waitall(2, requests, statuses));
    MUST(MPI_Buffer_detach(&detached, &length));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    REQUIRE(flush(MPI_COMM_NULL) != MPI_SUCCESS);
}

/* Volatile: the compiler may know that a function is there. */
static void call_what_is_bound(void)
{
    int (*volatile flush)(MPI_Comm) = MPI_Comm_flush_buffer;
    int class = MPI_SUCCESS;

    if (flush == NULL) {
        printf("not there\n");
        return;
    }
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MUST(MPI_Error_class(flush(MPI_COMM_WORLD), &class));
    printf("%s\n", class == MPI_SUCCESS                     ? "done"
                   : class == MPI_ERR_UNSUPPORTED_OPERATION ? "unsupported"
                                                            : "another error");
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    MUST(MPI_Init(&argc, &argv));
    if (strcmp(argv[1], "call") == 0)
        call();
    else if (strcmp(argv[1], "find") == 0)
        say_what_is_found();
    else
        call_what_is_bound();
    MUST(MPI_Finalize());
    return 0;
}
