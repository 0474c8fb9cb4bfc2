/* Finds the nodes and machines of a communicator's members, and makes the engine they share: one
 * segment of rank 0's on one machine, or one segment a machine linked over RDMA. All members agree
 * at the end; if one fails, none has an engine.
 */
#include "intercept/comm_engine.h"

#include "intercept/choose.h"
#include "internode/internode.h"
#include "intranode/memory.h"
#include "intranode/mpi/intranode.h"
#include "intranode/mpi/pool.h"
#include "mpi/gpu_buffers.h"
#include "mpi/real.h"
#include "runtime/present.h"
#include "runtime/settings.h"
#include "wait/yielding.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE 64 /* ranks translated per call */
#define NAME_BYTES 64

void sg_comm_free_engine(struct sg_comm *comm)
{
    sg_unmet_forget(comm);
    if (comm->intranode != NULL)
        sg_intranode_free(comm->intranode);
    if (comm->internode != NULL)
        sg_internode_free(comm->internode);
    comm->intranode = NULL;
    comm->internode = NULL;
}

/* A name for log lines. */
static const char *name_of(const struct sg_comm *comm, char name[NAME_BYTES])
{
    if (comm->name[0] != '\0')
        return comm->name;
    snprintf(name, NAME_BYTES, "a communicator of %d ranks", comm->size);
    return name;
}

/* MPICH may take a process of another world, spawned or connected, for one of this world (4.0.2
 * over libfabric does): then two members have the same rank. */
static bool are_distinct(const int *world_ranks, int size)
{
    bool *seen = calloc((size_t)sg_process.size, sizeof *seen);
    bool distinct = true;

    for (int i = 0; seen != NULL && i < size && distinct; i++) {
        distinct = !seen[world_ranks[i]];
        seen[world_ranks[i]] = true;
    }
    free(seen);
    return distinct;
}

bool sg_comm_find_members(MPI_Comm handle, int size, struct sg_comm_members *out)
{
    MPI_Group group, world_group;
    bool inside = true, one_node = true, one_machine = true;
    int node = -1, machine = -1, is_inter = 0;

    *out = (struct sg_comm_members){0};
    sg_real.Comm_test_inter(handle, &is_inter);
    if (is_inter)
        return false;
    out->world_ranks = malloc((size_t)size * sizeof *out->world_ranks);
    sg_real.Comm_group(handle, &group);
    sg_real.Comm_group(MPI_COMM_WORLD, &world_group);
    for (int first = 0; first < size && inside; first += PIECE) {
        int count = size - first < PIECE ? size - first : PIECE;
        int from[PIECE], to[PIECE];

        for (int i = 0; i < count; i++)
            from[i] = first + i;
        sg_real.Group_translate_ranks(group, count, from, world_group, to);
        for (int i = 0; i < count; i++) {
            inside = inside && to[i] != MPI_UNDEFINED;
            if (!inside)
                break;
            if (node < 0) {
                node = sg_placement_node(to[i]);
                machine = sg_placement_machine(to[i]);
            }
            one_node = one_node && sg_placement_node(to[i]) == node;
            one_machine = one_machine && sg_placement_machine(to[i]) == machine;
            if (out->world_ranks != NULL)
                out->world_ranks[first + i] = to[i];
        }
    }
    sg_real.Group_free(&group);
    sg_real.Group_free(&world_group);
    inside = inside && (out->world_ranks == NULL || are_distinct(out->world_ranks, size));
    out->extent = one_node      ? SG_COMM_ONE_NODE
                  : one_machine ? SG_COMM_ONE_MACHINE
                                : SG_COMM_SEVERAL_MACHINES;
    return inside;
}

/* ---- one machine ---- */

/* Nodes and machines of the members, numbered in the order of the ranks. */
struct map {
    int *node, *machine; /* by rank */
    const char **host;   /* by rank; for several machines only */
    int nodes, machines;
};

static void free_map(struct map *map)
{
    free(map->node);
    free(map->machine);
    free(map->host);
}

/* Numbers the nodes or machines that extent returns. numbers: array of the world's size, zeroed.
 * Returns how many there are. */
static int number(int *numbers, const int *world_ranks, int size, int (*extent)(int world_rank),
                  int *out)
{
    int count = 0;

    for (int rank = 0; rank < size; rank++) {
        int *number = &numbers[extent(world_ranks[rank])];

        if (*number == 0)
            *number = ++count;
        out[rank] = *number - 1;
    }
    return count;
}

/* False: no memory. The caller frees the map in any case. */
static bool make_map(const struct sg_comm *comm, const struct sg_comm_members *members,
                     struct map *map)
{
    const int *world_ranks = members->world_ranks;
    size_t size = (size_t)comm->size, world_size = (size_t)sg_process.size;
    int *numbers = calloc(2 * world_size, sizeof *numbers);
    bool ok;

    *map = (struct map){.node = malloc(size * sizeof *map->node),
                        .machine = malloc(size * sizeof *map->machine),
                        .host = calloc(size, sizeof *map->host)};
    ok = numbers != NULL && world_ranks != NULL && map->node != NULL && map->machine != NULL &&
         map->host != NULL;
    if (ok) {
        map->nodes = number(numbers, world_ranks, comm->size, sg_placement_node, map->node);
        map->machines = number(numbers + world_size, world_ranks, comm->size, sg_placement_machine,
                               map->machine);
        for (int rank = 0; rank < comm->size && members->extent == SG_COMM_SEVERAL_MACHINES; rank++)
            map->host[rank] = sg_rdma_host(world_ranks[rank]);
    }
    free(numbers);
    return ok;
}

/* Sets up the engine over several nodes: the first rank of a machine makes it, the machine's other
 * ranks join. */
static enum sg_status set_up_internode(struct sg_comm *comm, const struct map *map, bool makes,
                                       struct sg_segment_ticket *ticket)
{
    char name[NAME_BYTES];
    struct sg_internode_setup setup = {.name = comm->name,
                                       .called = name_of(comm, name),
                                       .rank = comm->rank,
                                       .ranks = comm->size,
                                       .endpoints = map->nodes,
                                       .endpoint_of = map->node,
                                       .machines = map->machines,
                                       .machine_of = map->machine,
                                       .hosts = map->host,
                                       .rules = sg_process.rules,
                                       .messages_rule = comm->messages_rule};

    if (map->machines > 1) {
        setup.ops = sg_rdma_ops();
        setup.exchange = &comm->exchange;
    } else if (map->nodes > SG_INTERNODE_ENDPOINTS_MAX) {
        return SG_ERR_MISSING;
    }
    return makes ? sg_internode_offer(&setup, &comm->internode, ticket)
                 : sg_internode_accept(&setup, ticket, &comm->internode);
}

/* Sets up the engine for several nodes of one machine. */
static enum sg_status set_up_one_machine(struct sg_comm *comm,
                                         const struct sg_comm_members *members, bool makes,
                                         struct sg_segment_ticket *ticket)
{
    struct map map;
    enum sg_status status = SG_ERR_MEMORY;

    if (make_map(comm, members, &map))
        status = set_up_internode(comm, &map, makes, ticket);
    free_map(&map);
    return status;
}

void sg_comm_offer_engine(struct sg_comm *comm, const struct sg_comm_members *members,
                          struct sg_comm_offer *offer)
{
    enum sg_status status = SG_ERR_MISSING;
    char name[NAME_BYTES];

    if (members->extent == SG_COMM_SEVERAL_MACHINES || !sg_memory_is_shared())
        return;
    errno = 0;
    if (members->extent == SG_COMM_ONE_MACHINE)
        status = set_up_one_machine(comm, members, true, &offer->ticket);
    else if (sg_intranode_wants_segment(sg_process.rules, comm->name, comm->size))
        status =
            sg_intranode_offer(name_of(comm, name), comm->size, &comm->intranode, &offer->ticket);
    offer->offers = status == SG_OK;
    offer->error = status == SG_ERR_MISSING ? 0 : errno;
}

/* Joins this rank to the members' engine. */
static bool take_part(struct sg_comm *comm, const struct sg_comm_members *members,
                      const struct sg_comm_offer *offer)
{
    struct sg_segment_ticket ticket = offer->ticket;

    if (members->extent == SG_COMM_ONE_MACHINE)
        return comm->rank == 0 || set_up_one_machine(comm, members, false, &ticket) == SG_OK;
    return members->world_ranks != NULL &&
           (comm->rank == 0 ||
            sg_intranode_accept(&ticket, comm->rank, &comm->intranode) == SG_OK) &&
           sg_intranode_use_pool(comm->intranode, members->world_ranks) &&
           sg_intranode_use_auto(comm->intranode, sg_process.rules, comm->name);
}

/* Logs once a process: if one communicator fails, others do too. */
static void say_without(const struct sg_comm *comm)
{
    static atomic_bool is_said;
    char name[NAME_BYTES];

    if (!atomic_exchange(&is_said, true))
        sg_log("rank %d of %s: no shared memory (%m): MPICH runs its collectives", comm->rank,
               name_of(comm, name));
}

/* Makes the members' engine in rank 0's segment, or on no rank. */
static void share_segment(struct sg_comm *comm, MPI_Comm talk,
                          const struct sg_comm_members *members, const struct sg_comm_offer *offer)
{
    int ok = offer->offers && take_part(comm, members, offer);
    int error = comm->rank == 0 && !offer->offers ? offer->error : errno;
    /* The minimum over all ranks: takes part; has no driver. */
    int own[2] = {ok, !sg_device_look()}, all[2] = {0, 0};

    if (offer->offers && sg_yielding_allreduce(own, all, 2, MPI_INT, MPI_MIN, talk) != MPI_SUCCESS)
        all[0] = all[1] = 0;
    comm->devices = offer->offers && !all[1];
    if (offer->offers && comm->rank == 0)
        sg_segment_seal(&offer->ticket);
    errno = error;
    if (!ok && (offer->offers || (comm->rank == 0 && error != 0)))
        say_without(comm);
    if (!all[0])
        sg_comm_free_engine(comm);
}

/* ---- several machines ---- */

/* A rank's report on the segment that it made or could not make. */
struct offering {
    struct sg_segment_ticket ticket;
    int32_t status, error;
};

static int first_of_machine(const struct map *map, int of)
{
    int rank = 0;

    while (map->machine[rank] != map->machine[of])
        rank++;
    return rank;
}

/* Shares one segment a machine. False: some rank failed. */
static bool share_segments(struct sg_comm *comm, const struct map *map, bool has_map)
{
    int first = has_map ? first_of_machine(map, comm->rank) : -1;
    struct offering own = {.status = SG_ERR_MEMORY, .error = ENOMEM}, *all;
    void *offerings = NULL;
    enum sg_status status;
    int first_failed;

    if (first == comm->rank) {
        own.status = set_up_internode(comm, map, true, &own.ticket);
        own.error = errno;
    }
    status = sg_exchange_collect(&comm->exchange, &own, sizeof own, &offerings);
    all = offerings;
    if (status == SG_OK && has_map && first != comm->rank) {
        own.status = all[first].status;
        own.error = all[first].error;
        if (own.status == SG_OK) {
            own.status = set_up_internode(comm, map, false, &all[first].ticket);
            own.error = errno;
        }
    }
    free(offerings);
    if (status == SG_OK)
        status = sg_exchange_agree(&comm->exchange, own.status == SG_OK, &first_failed);
    if (first == comm->rank && comm->internode != NULL)
        sg_segment_seal(&own.ticket);
    errno = own.error;
    if (status == SG_OK && first_failed == comm->rank && own.status != SG_ERR_MISSING)
        say_without(comm);
    return status == SG_OK && first_failed < 0;
}

static void warn_of_sites(const struct sg_comm *comm)
{
    static atomic_bool warned;
    bool by_site = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++)
        by_site = by_site || sg_process.by_site[operation];
    if (by_site && !sg_internode_agrees(comm->internode) && comm->rank == 0 &&
        !atomic_exchange(&warned, true))
        sg_log("rules that name call sites do not apply to a communicator of %d ranks over several "
               "machines: it has too many nodes, or more ranks per node than STAGGER_VERBS_SENDERS",
               comm->size);
}

/* Collective: makes the engine on every rank, or on none. */
static void set_up_machines(struct sg_comm *comm, MPI_Comm talk,
                            const struct sg_comm_members *members)
{
    struct map map;
    bool has_map = make_map(comm, members, &map);
    int first_with_driver = -1;

    comm->talk = talk;
    sg_exchange_mpi(&comm->talk, comm->rank, comm->size, &comm->exchange);
    if (!share_segments(comm, &map, has_map) || sg_internode_link(comm->internode) != SG_OK ||
        sg_exchange_agree(&comm->exchange, !sg_device_look(), &first_with_driver) != SG_OK)
        sg_comm_free_engine(comm);
    else
        warn_of_sites(comm);
    comm->devices = first_with_driver >= 0;
    free_map(&map);
}

void sg_comm_make_engine(struct sg_comm *comm, MPI_Comm talk, const struct sg_comm_members *members,
                         const struct sg_comm_offer *offer)
{
    if (members->extent != SG_COMM_SEVERAL_MACHINES)
        share_segment(comm, talk, members, offer);
    else if (sg_rdma_ops() != NULL)
        set_up_machines(comm, talk, members);
}
