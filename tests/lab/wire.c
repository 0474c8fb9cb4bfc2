/* Sets up a verbs transport between the lab's machines for a test program (wire.h). */
#include "lab/wire.h"

#include "core/imports.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const struct sg_verbs_settings wire_settings = {.device = "",
                                                .port = -1,
                                                .gid_index = -1,
                                                .partition = -1,
                                                .mtu = -1,
                                                .multicast = true,
                                                .memory_bytes = (uint64_t)256 << 20};

/* ---- exchange -------------------------------------------------------------------------------- */

static enum sg_status gather(void *context, const void *data, size_t bytes, void **all,
                             size_t *sizes)
{
    MPI_Comm comm = *(MPI_Comm *)context;
    int rank, ranks, own = (int)bytes, *counts, *places, total = 0;

    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &ranks));
    counts = calloc((size_t)ranks * 2, sizeof *counts);
    REQUIRE(counts != NULL);
    places = counts + ranks;
    MUST(MPI_Gather(&own, 1, MPI_INT, counts, 1, MPI_INT, 0, comm));
    for (int i = 0; i < ranks; i++) {
        places[i] = total;
        total += counts[i];
        if (rank == 0)
            sizes[i] = (size_t)counts[i];
    }
    if (rank == 0)
        REQUIRE((*all = malloc((size_t)total + 1)));
    MUST(MPI_Gatherv(data, own, MPI_BYTE, rank == 0 ? *all : NULL, counts, places, MPI_BYTE, 0,
                     comm));
    free(counts);
    return SG_OK;
}

static enum sg_status broadcast(void *context, void *data, size_t bytes)
{
    return MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, *(MPI_Comm *)context) == MPI_SUCCESS
               ? SG_OK
               : SG_ERR_SYSTEM;
}

struct sg_exchange wire_exchange(MPI_Comm *comm)
{
    struct sg_exchange exchange = {.context = comm, .gather = gather, .broadcast = broadcast};

    MUST(MPI_Comm_rank(*comm, &exchange.rank));
    MUST(MPI_Comm_size(*comm, &exchange.size));
    return exchange;
}

/* ---- memory of a host ------------------------------------------------------------------------ */

/* The ranks of a host map one file in /dev/shm, which is gone as soon as all have. */
static void *map_shared(size_t bytes)
{
    MPI_Comm here;
    char name[64];
    int rank, file;

    MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    MUST(MPI_Comm_rank(here, &rank));
    snprintf(name, sizeof name, "/stagger-wire-%d", (int)getpid());
    MUST(MPI_Bcast(name, sizeof name, MPI_BYTE, 0, here));
    if (rank == 0) {
        REQUIRE((file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600)) >= 0);
        REQUIRE(ftruncate(file, (off_t)bytes) == 0);
        MUST(MPI_Barrier(here));
    } else {
        MUST(MPI_Barrier(here));
        REQUIRE((file = shm_open(name, O_RDWR, 0600)) >= 0);
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(memory != MAP_FAILED);
    close(file);
    MUST(MPI_Barrier(here));
    if (rank == 0)
        shm_unlink(name);
    MUST(MPI_Comm_free(&here));
    return memory;
}

/* ---- the transport --------------------------------------------------------------------------- */

static void find_host(struct wire *wire)
{
    MPI_Comm here;
    int ranks;

    MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    MUST(MPI_Comm_size(here, &ranks));
    MUST(MPI_Comm_free(&here));
    wire->host = wire->exchange.rank / ranks;
    wire->hosts = wire->exchange.size / ranks;
}

void wire_start(struct wire *wire, const struct sg_verbs_settings *settings)
{
    static MPI_Comm comm;
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *reason = NULL;

    REQUIRE(length > 0);
    program[length] = '\0';
    *strrchr(program, '/') = '\0'; /* the library is in the directory above */
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    wire->exchange = wire_exchange(&comm);
    find_host(wire);
    wire->verbs = sg_companion_load(program, SG_VERBS_LIBRARY, SG_VERBS_SYMBOL, &reason);
    if (wire->verbs == NULL || !wire->verbs->start(settings, NULL, &reason)) {
        fprintf(stderr, "verbs: %s\n", reason);
        _exit(3);
    }
    REQUIRE(wire->verbs->version == SG_VERBS_VERSION);
    wire->ops = wire->verbs->ops;
}

enum sg_status wire_open(struct wire *wire, int servers, uint32_t inflight, uint32_t staged,
                         uint32_t eager_bytes)
{
    int each = wire->exchange.size / wire->hosts, local = wire->exchange.rank % each;
    size_t shared_bytes;

    REQUIRE(each % servers == 0);
    wire->setup = (struct sg_transport_setup){.endpoints = wire->exchange.size / servers,
                                              .here = each / servers,
                                              .location = &wire->place,
                                              .inflight = inflight,
                                              .staged = staged,
                                              .eager_bytes = eager_bytes};
    shared_bytes = wire->ops->shared_bytes(&wire->setup);
    REQUIRE(shared_bytes > 0);
    wire->rank_run = (struct sg_group_run){.width = servers};
    wire->by_endpoint = (struct sg_grouping){.items = wire->exchange.size,
                                             .groups = wire->setup.endpoints,
                                             .most = servers,
                                             .run_count = 1,
                                             .runs = &wire->rank_run};
    wire->endpoint_run = (struct sg_group_run){.width = wire->setup.here};
    wire->by_machine = (struct sg_grouping){.items = wire->setup.endpoints,
                                            .groups = wire->hosts,
                                            .most = wire->setup.here,
                                            .run_count = 1,
                                            .runs = &wire->endpoint_run};
    wire->place = (struct sg_transport_location){.exchange = &wire->exchange,
                                                 .ranks = &wire->by_endpoint,
                                                 .machines = &wire->by_machine,
                                                 .servers_max = servers,
                                                 .memory_bytes = shared_bytes + WIRE_REGION_BYTES,
                                                 .self = wire->exchange.rank / servers,
                                                 .index = local / servers,
                                                 .server = local % servers,
                                                 .servers = servers,
                                                 .adds = true};
    wire->place.memory = map_shared(wire->place.memory_bytes);
    wire->region = (unsigned char *)wire->place.memory + shared_bytes;
    return wire->ops->open(&wire->setup, wire->place.memory, &wire->transport);
}

enum sg_status wire_connect(struct wire *wire)
{
    int32_t *all = calloc((size_t)wire->setup.endpoints, sizeof *all);

    REQUIRE(all != NULL);
    for (int32_t i = 0; i < wire->setup.endpoints; i++)
        all[i] = i;
    enum sg_status status = wire->ops->remote->connect(wire->transport, all, wire->setup.endpoints);
    free(all);
    return status;
}

void wire_close(struct wire *wire)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    wire->ops->close(wire->transport);
    REQUIRE(munmap(wire->place.memory, wire->place.memory_bytes) == 0);
}
