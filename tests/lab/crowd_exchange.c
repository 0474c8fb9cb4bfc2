/* The exchange of a crowd (crowd_exchange.h): barriers within a process, and MPI messages between
 * the processes' first endpoints.
 */
#include "lab/crowd_exchange.h"

#include "mpi/mpi_test.h"
#include "transport/world.h"

#include <pthread.h>

static MPI_Comm comm;
static int own_rank, ranks;

int crowd_rank_of(int endpoint)
{
    return endpoint % ranks;
}

/* Meeting point of a process's threads; the first endpoint's thread talks to the other processes.
 */
static struct meeting {
    pthread_barrier_t barrier;
    const void *data[WORLD_ENDPOINTS];
    size_t sizes[WORLD_ENDPOINTS];
} meeting;

static bool speaks(int endpoint)
{
    return endpoint == own_rank;
}

/* On rank 0: all endpoints' data in their order. */
static void collect(int endpoints, void **all, size_t *sizes)
{
    unsigned char *pieces[WORLD_ENDPOINTS], *out;
    size_t total = 0;

    for (int i = 0; i < endpoints; i++) {
        if (crowd_rank_of(i) == 0) {
            sizes[i] = meeting.sizes[i];
        } else {
            MPI_Status status;
            int count;

            MUST(MPI_Probe(crowd_rank_of(i), i, comm, &status));
            MUST(MPI_Get_count(&status, MPI_BYTE, &count));
            sizes[i] = (size_t)count;
        }
        REQUIRE((pieces[i] = malloc(sizes[i] + 1)));
        if (crowd_rank_of(i) == 0)
            memcpy(pieces[i], meeting.data[i], sizes[i]);
        else
            MUST(MPI_Recv(pieces[i], (int)sizes[i], MPI_BYTE, crowd_rank_of(i), i, comm,
                          MPI_STATUS_IGNORE));
        total += sizes[i];
    }
    REQUIRE((out = malloc(total + 1)));
    *all = out;
    for (int i = 0; i < endpoints; i++) {
        memcpy(out, pieces[i], sizes[i]);
        out += sizes[i];
        free(pieces[i]);
    }
}

static enum sg_status gather(void *context, const void *data, size_t bytes, void **all,
                             size_t *sizes)
{
    const struct crowd_seat *seat = context;

    meeting.data[seat->endpoint] = data;
    meeting.sizes[seat->endpoint] = bytes;
    pthread_barrier_wait(&meeting.barrier);
    if (seat->endpoint == 0)
        collect(seat->endpoints, all, sizes);
    for (int i = 0; speaks(seat->endpoint) && i < seat->endpoints; i++) {
        if (own_rank > 0 && crowd_rank_of(i) == own_rank)
            MUST(MPI_Send(meeting.data[i], (int)meeting.sizes[i], MPI_BYTE, 0, i, comm));
    }
    pthread_barrier_wait(&meeting.barrier);
    return SG_OK;
}

static enum sg_status broadcast(void *context, void *data, size_t bytes)
{
    const struct crowd_seat *seat = context;

    if (speaks(seat->endpoint)) {
        MUST(MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, comm));
        meeting.data[seat->endpoint] = data;
    }
    pthread_barrier_wait(&meeting.barrier);
    if (!speaks(seat->endpoint))
        memcpy(data, meeting.data[own_rank], bytes);
    pthread_barrier_wait(&meeting.barrier);
    return SG_OK;
}

void crowd_exchange_start(void)
{
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_rank(comm, &own_rank));
    MUST(MPI_Comm_size(comm, &ranks));
}

void crowd_exchange_open(unsigned here)
{
    REQUIRE(pthread_barrier_init(&meeting.barrier, NULL, here) == 0);
}

void crowd_exchange_close(void)
{
    pthread_barrier_destroy(&meeting.barrier);
}

void crowd_exchange_of(struct crowd_seat *seat, struct sg_exchange *out)
{
    *out = (struct sg_exchange){.rank = seat->endpoint,
                                .size = seat->endpoints,
                                .context = seat,
                                .gather = gather,
                                .broadcast = broadcast};
}
