/* Completes nonblocking collectives by MPI 4.1's MPI_Request_get_status_any, _some and _all alone.
 * The functions are looked up at run time: MPICH before 4.2 has none, and libstatus_of_many.so
 * stands for one that has. The argument is their prefix, "MPI" or "MPIX"; with "bound" the program
 * uses those that the loader bound it to.
 */
#include "mpi_test.h"

#include <dlfcn.h>

enum { REQUESTS = 4 };

typedef int (*get_all)(int, const MPI_Request *, int *, MPI_Status *);
typedef int (*get_any)(int, const MPI_Request *, int *, int *, MPI_Status *);
typedef int (*get_some)(int, const MPI_Request *, int *, int *, MPI_Status *);

/* An mpi.h may declare them otherwise, without const. */
int bound_all(int, const MPI_Request *, int *, MPI_Status *) __asm__("MPI_Request_get_status_all")
    __attribute__((weak));
int bound_any(int, const MPI_Request *, int *, int *,
              MPI_Status *) __asm__("MPI_Request_get_status_any") __attribute__((weak));
int bound_some(int, const MPI_Request *, int *, int *,
               MPI_Status *) __asm__("MPI_Request_get_status_some") __attribute__((weak));

static const char *prefix;
static int mine[REQUESTS], sum[REQUESTS], rank, size;
static MPI_Request requests[REQUESTS];

static void *find(const char *name)
{
    char symbol[64];
    void *function;

    if (strcmp(prefix, "bound") == 0) {
        function = strcmp(name, "all") == 0   ? (void *)bound_all
                   : strcmp(name, "any") == 0 ? (void *)bound_any
                                              : (void *)bound_some;
        REQUIRE(function != NULL);
        return function;
    }
    snprintf(symbol, sizeof symbol, "%s_Request_get_status_%s", prefix, name);
    function = dlsym(RTLD_DEFAULT, symbol);
    REQUIRE(function != NULL);
    return function;
}

static void post(void)
{
    for (int i = 0; i < REQUESTS; i++) {
        mine[i] = rank + i;
        sum[i] = -1;
        MUST(MPI_Iallreduce(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
    }
}

static void finish(void)
{
    MPI_Status statuses[REQUESTS];

    for (int i = 0; i < REQUESTS; i++) {
        REQUIRE(sum[i] == size * (size - 1) / 2 + size * i);
        REQUIRE(requests[i] != MPI_REQUEST_NULL);
    }
    MUST(MPI_Waitall(REQUESTS, requests, statuses));
}

static void ask_all(get_all get)
{
    int flag = 0;

    post();
    while (!flag)
        MUST(get(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE));
    finish();
}

/* One that is done is not asked for again. */
static void ask_any(get_any get)
{
    MPI_Request left[REQUESTS];
    int done = 0;

    post();
    for (int i = 0; i < REQUESTS; i++)
        left[i] = requests[i];
    while (done < REQUESTS) {
        int index = -1, flag = 0;

        MUST(get(REQUESTS, left, &index, &flag, MPI_STATUS_IGNORE));
        if (!flag)
            continue;
        REQUIRE(index >= 0 && index < REQUESTS && left[index] != MPI_REQUEST_NULL);
        left[index] = MPI_REQUEST_NULL;
        done++;
    }
    finish();
}

static void ask_some(get_some get)
{
    int count = 0, indices[REQUESTS];

    post();
    while (count < REQUESTS)
        MUST(get(REQUESTS, requests, &count, indices, MPI_STATUSES_IGNORE));
    finish();
}

/* All requests are MPI_REQUEST_NULL. */
static void ask_none(get_all all, get_any any, get_some some)
{
    int flag = 0, index = -1, count = -1, indices[REQUESTS];

    MUST(all(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE));
    REQUIRE(flag);
    flag = 0;
    MUST(any(REQUESTS, requests, &index, &flag, MPI_STATUS_IGNORE));
    REQUIRE(flag && index == MPI_UNDEFINED);
    MUST(some(REQUESTS, requests, &count, indices, MPI_STATUSES_IGNORE));
    REQUIRE(count == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    prefix = argv[1];
    START(rank, size);
    for (int i = 0; i < 5; i++) {
        ask_all((get_all)find("all"));
        ask_any((get_any)find("any"));
        ask_some((get_some)find("some"));
    }
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    ask_none((get_all)find("all"), (get_any)find("any"), (get_some)find("some"));
    MUST(MPI_Finalize());
    printf("rank %d ok\n", rank);
    return 0;
}
