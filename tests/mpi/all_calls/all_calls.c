/* Makes every blocking call with data that are the same in every run, and prints for each a line
 * with the rank, the call, its error class and a digest of its results, so that two runs can be
 * compared.
 *
 *     all_calls NAME [threads]
 *
 * Rank N writes its lines to the file NAME.N. MPI's files go to the directory TMPDIR. Statuses
 * begin with a mark in MPI_ERROR, which shows whether a call has written it.
 */
#include "all_calls.h"

#include <stdint.h>
#include <string.h>

int rank, size;
FILE *out;
MPI_Status *volatile ignored = MPI_STATUSES_IGNORE;

static uint64_t digest(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

int class_of(int error)
{
    int class;

    MPI_Error_class(error, &class);
    return class;
}

void tell(const char *call, int error, const void *data, size_t bytes)
{
    fprintf(out, "%d %s: class %d, %016llx\n", rank, call, class_of(error),
            (unsigned long long)digest(data, bytes));
}

MPI_Status marked(void)
{
    MPI_Status status;

    memset(&status, 0x55, sizeof status);
    status.MPI_ERROR = MARK;
    return status;
}

void tell_status(const char *call, const MPI_Status *status, MPI_Datatype type)
{
    int count = -7, cancelled = -7;

    MPI_Get_count(status, type, &count);
    MPI_Test_cancelled(status, &cancelled);
    fprintf(out, "%d %s: source %d, tag %d, count %d, cancelled %d, error %d\n", rank, call,
            status->MPI_SOURCE, status->MPI_TAG, count, cancelled,
            status->MPI_ERROR == MARK ? MARK : class_of(status->MPI_ERROR));
}

void fill(int *data, int count, int from, int call)
{
    for (int i = 0; i < count; i++)
        data[i] = from * 1000003 + call * 7919 + i * 31;
}

int main(int argc, char **argv)
{
    char name[4096];
    int provided;
    MPI_Comm copy;

    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size > 1 && size <= RANKS_MAX / 2);
    REQUIRE(argc > 1);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    out = fopen(name, "w");
    REQUIRE(out != NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (size > 1) {
        send_ring("send", MPI_Send, COUNT, 1, copy);
        send_ring("send of nothing", MPI_Send, 0, 2, copy);
        send_ring("send of much", MPI_Send, LARGE, 3, MPI_COMM_WORLD);
        send_ring("ssend", MPI_Ssend, COUNT, 4, MPI_COMM_WORLD);
        send_ring("ssend of much", MPI_Ssend, LARGE, 5, copy);
    }
    try_ready(copy);
    try_buffered(copy);
    try_sendrecv(COUNT, 6, copy);
    try_sendrecv(LARGE, 7, copy);
    try_probes(COUNT, copy);
    try_probes(LARGE, copy);
    try_order(copy);
    try_waits(copy);
    try_persistent(copy);
    try_cancelled(copy);
    try_generalized(copy);
    try_nonblocking(copy);
    try_nonblocking(MPI_COMM_WORLD);
    try_collectives(MPI_COMM_WORLD);
    try_collectives(MPI_COMM_SELF);
    try_large_counts(copy);
    try_neighbours();
    try_communicators();
    try_windows();
    try_files();
    try_errors();
    MPI_Comm_free(&copy);
    REQUIRE(fclose(out) == 0);
    MPI_Finalize();
    return 0;
}
