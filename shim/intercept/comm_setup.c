/* Sets up communicators and ends them (comm_setup.h). The state is an MPI attribute, so MPICH's
 * delete callback reports when the handle becomes free. States whose operations are still pending
 * end later, in sg_comm_end_freed.
 *
 * Members on one machine share an engine in a segment of rank 0's; others have one segment a
 * machine, linked over RDMA. All members agree at the end; if one fails, none has an engine.
 */
#include "intercept/comm_setup.h"

#include "bcs/live/emds.h"
#include "core/altstack.h"
#include "core/clock.h"
#include "intercept/choose.h"
#include "internode/internode.h"
#include "intranode/memory.h"
#include "intranode/mpi/intranode.h"
#include "intranode/mpi/pool.h"
#include "mpi/gpu_buffers.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"
#include "profile/comms.h"
#include "runtime/present.h"
#include "runtime/recording.h"
#include "runtime/settings.h"
#include "wait/wait.h"
#include "wait/yielding.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- engine ------------------------------------------------------------------------------ */

enum sg_comm_extent { SG_COMM_ONE_NODE, SG_COMM_ONE_MACHINE, SG_COMM_SEVERAL_MACHINES };

struct sg_comm_members {
    enum sg_comm_extent extent; /* smallest extent that contains all members */
    int *world_ranks;           /* by rank; NULL: out of memory */
};

/* Rank 0's segment on one machine, offered to the other members. */
struct sg_comm_offer {
    bool offers;
    int error; /* errno if it could not be made */
    struct sg_segment_ticket ticket;
};

#define PIECE 64 /* ranks translated per call */
#define NAME_BYTES 64

/* Memory of this rank that others still read stays mapped in their processes. */
static void free_engine(struct sg_comm *comm)
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

/* Returns true for an intracommunicator with all members in MPI_COMM_WORLD. Every member gets the
 * same result (in the other world, too, where this world's ranks are the outsiders). The caller
 * frees out->world_ranks in any case. */
static bool find_members(MPI_Comm handle, int size, struct sg_comm_members *out)
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

/* The members by node, and their nodes by machine. */
struct map {
    struct sg_grouping nodes, machines;
};

static void free_map(struct map *map)
{
    free((void *)map->nodes.runs);
    free((void *)map->machines.runs);
}

static bool group_nodes(const struct sg_comm_members *members, int size, struct sg_grouping *nodes)
{
    struct sg_grouping_maker maker;

    sg_grouping_begin(&maker, sg_process.size);
    for (int rank = 0; rank < size; rank++)
        sg_grouping_add(&maker, sg_placement_node(members->world_ranks[rank]));
    return sg_grouping_end(&maker, nodes) != NULL;
}

static bool group_machines(const struct sg_comm_members *members, const struct sg_grouping *nodes,
                           struct sg_grouping *machines)
{
    struct sg_grouping_maker maker;

    sg_grouping_begin(&maker, sg_process.size);
    for (int node = 0; node < nodes->groups; node++)
        sg_grouping_add(&maker,
                        sg_placement_machine(members->world_ranks[sg_grouping_first(nodes, node)]));
    return sg_grouping_end(&maker, machines) != NULL;
}

/* False: no memory. The caller frees the map in any case. */
static bool make_map(const struct sg_comm *comm, const struct sg_comm_members *members,
                     struct map *map)
{
    *map = (struct map){0};
    return members->world_ranks != NULL && group_nodes(members, comm->size, &map->nodes) &&
           group_machines(members, &map->nodes, &map->machines);
}

/* For messages about other machines. */
static const char *host_of(const struct sg_exchange *exchange, int rank)
{
    const MPI_Comm *comm = exchange->context;

    return sg_rdma_host(sg_report_world_rank(*comm, rank));
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
                                       .by_endpoint = &map->nodes,
                                       .by_machine = &map->machines,
                                       .host_of = host_of,
                                       .rules = sg_process.rules,
                                       .messages_rule = comm->messages_rule};

    if (map->machines.groups > 1) {
        setup.ops = sg_rdma_ops();
        setup.exchange = &comm->exchange;
    } else if (map->nodes.groups > SG_INTERNODE_ENDPOINTS_MAX) {
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

/* Rank 0 calls it before the others learn of the offer. */
static void offer_engine(struct sg_comm *comm, const struct sg_comm_members *members,
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
        status = sg_intranode_offer(name_of(comm, name), members->world_ranks, comm->size,
                                    &comm->intranode, &offer->ticket);
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
        free_engine(comm);
}

/* ---- several machines ---- */

/* A rank's report on the segment that it made or could not make. */
struct offering {
    struct sg_segment_ticket ticket;
    int32_t status, error;
};

/* Ranks of a machine; each rank trades offerings with the first, which trades with all others. */
struct company {
    int first, count;
    int *partners;
    struct offering *own, *theirs; /* by partner */
};

static void free_company(struct company *company)
{
    free(company->partners);
    free(company->own);
    free(company->theirs);
}

/* False: no memory. The caller frees the company in any case. */
static bool find_company(const struct sg_comm *comm, const struct map *map, struct company *out)
{
    struct sg_group_place node = sg_grouping_place(&map->nodes, comm->rank);
    int machine = sg_grouping_place(&map->machines, node.group).group;
    int nodes = sg_grouping_size(&map->machines, machine);
    size_t room = (size_t)nodes * (size_t)map->nodes.most;

    *out = (struct company){
        .first = sg_grouping_first(&map->nodes, sg_grouping_first(&map->machines, machine)),
        .partners = calloc(room, sizeof *out->partners),
        .own = calloc(room, sizeof *out->own),
        .theirs = calloc(room, sizeof *out->theirs)};
    if (out->partners == NULL || out->own == NULL || out->theirs == NULL)
        return false;
    if (out->first != comm->rank)
        out->partners[out->count++] = out->first;
    for (int i = 0; i < nodes && out->first == comm->rank; i++) {
        int of = sg_grouping_item(&map->machines, machine, i);
        int ranks = sg_grouping_size(&map->nodes, of);

        for (int local = i == 0; local < ranks; local++)
            out->partners[out->count++] = sg_grouping_item(&map->nodes, of, local);
    }
    return true;
}

/* Shares one segment a machine. False: some rank failed. */
static bool share_with(struct sg_comm *comm, const struct map *map, struct company *company)
{
    struct offering own = {.status = SG_OK};
    bool is_first = company->first == comm->rank;
    enum sg_status status;
    int first_failed;

    if (is_first) {
        own.status = set_up_internode(comm, map, true, &own.ticket);
        own.error = errno;
        for (int i = 0; i < company->count; i++)
            company->own[i] = own;
    }
    status = sg_exchange_trade(&comm->exchange, company->partners, company->count, company->own,
                               company->theirs, sizeof own);
    if (status == SG_OK && !is_first) {
        own = company->theirs[0];
        if (own.status == SG_OK) {
            own.status = set_up_internode(comm, map, false, &own.ticket);
            own.error = errno;
        }
    }
    if (status == SG_OK)
        status = sg_exchange_agree(&comm->exchange, own.status == SG_OK, &first_failed);
    if (is_first && comm->internode != NULL)
        sg_segment_seal(&own.ticket);
    errno = own.error;
    if (status == SG_OK && first_failed == comm->rank && own.status != SG_ERR_MISSING)
        say_without(comm);
    return status == SG_OK && first_failed < 0;
}

static bool share_segments(struct sg_comm *comm, const struct map *map, bool has_map)
{
    struct company company = {.first = -1};
    bool has_company = has_map && find_company(comm, map, &company), shares;
    int first_without = 0;

    shares = sg_exchange_agree(&comm->exchange, has_company, &first_without) == SG_OK &&
             first_without < 0 && share_with(comm, map, &company);
    if (first_without == comm->rank) {
        errno = ENOMEM;
        say_without(comm);
    }
    free_company(&company);
    return shares;
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
        free_engine(comm);
    else
        warn_of_sites(comm);
    comm->devices = first_with_driver >= 0;
    free_map(&map);
}

/* All members call it, if there are several: collective over talk, a communicator of the same
 * group. */
static void make_engine(struct sg_comm *comm, MPI_Comm talk, const struct sg_comm_members *members,
                        const struct sg_comm_offer *offer)
{
    if (members->extent != SG_COMM_SEVERAL_MACHINES)
        share_segment(comm, talk, members, offer);
    else if (sg_rdma_ops() != NULL)
        set_up_machines(comm, talk, members);
}

/* ---- set-up ------------------------------------------------------------------------------ */

static int keyval = MPI_KEYVAL_INVALID;
/* Value on a communicator that is not set up: its barriers and allreduces so far. */
static int calls_keyval = MPI_KEYVAL_INVALID;
static atomic_uint next_index;   /* of communicators in the log */
static atomic_uint next_counter; /* of communicators with this rank as rank 0 */

/* Identity that the members agree on; rank 0 broadcasts it. */
struct identity {
    bool managed;
    struct sg_comm_offer offer;
    uint32_t root_world_rank;
    uint32_t root_counter;
    char name[MPI_MAX_OBJECT_NAME];
};

/* ---- set-up ---- */

/* Writes the communicator's definition; only rank 0's lists the members. */
static void record(struct sg_comm *comm, MPI_Comm handle, const struct identity *identity,
                   const int *members)
{
    const struct sg_profile_comm *profile;
    bool has_members = comm->rank == 0;
    size_t name_bytes = (strlen(comm->name) + 1 + 3) & ~(size_t)3;
    size_t text_bytes = name_bytes + (has_members ? (size_t)comm->size * sizeof(uint32_t) : 0);
    struct sg_record_comm *entry = NULL;
    char *text;

    comm->index = SG_COMM_UNRECORDED;
    if (sg_process.log == NULL)
        return;
    profile = sg_profile_comm_of(handle);
    text = calloc(1, text_bytes);
    if (text != NULL) {
        memcpy(text, comm->name, strlen(comm->name));
        if (has_members)
            memcpy(text + name_bytes, members, text_bytes - name_bytes);
        entry = sg_recording_define_comm(sg_process.log, text, text_bytes);
        free(text);
    }
    if (entry == NULL)
        return;
    comm->index = atomic_fetch_add(&next_index, 1);
    entry->has_members = has_members;
    entry->index = comm->index;
    entry->root_world_rank = identity->root_world_rank;
    entry->root_counter = identity->root_counter;
    entry->size = (uint32_t)comm->size;
    entry->rank = (uint32_t)comm->rank;
    entry->parent = UINT32_MAX;
    entry->text_bytes = (uint32_t)text_bytes;
    entry->created_ns = sg_clock_ns();
    entry->profile_comm = profile != NULL ? profile->index : 0;
    sg_log_publish(entry, SG_RECORD_COMM);
}

/* Rank 0 decides the communicator's identity. */
static void name_identity(MPI_Comm handle, int world_rank, struct identity *identity)
{
    int length;

    identity->managed = true;
    identity->root_world_rank = (uint32_t)world_rank;
    identity->root_counter = atomic_fetch_add(&next_counter, 1);
    if (sg_real.Comm_get_name(handle, identity->name, &length) != MPI_SUCCESS)
        identity->name[0] = '\0';
}

/* Agrees on the identity by one broadcast over talk, a communicator of the same group for stagger's
 * own messages. Then makes the engine and writes the definition. */
static void identify(struct sg_comm *comm, MPI_Comm handle, MPI_Comm talk,
                     const struct sg_comm_members *members)
{
    struct identity identity = {.managed = false};

    if (comm->rank == 0 && members->world_ranks != NULL) {
        name_identity(handle, members->world_ranks[0], &identity);
        memcpy(comm->name, identity.name, sizeof comm->name);
        if (comm->size > 1)
            offer_engine(comm, members, &identity.offer);
    }
    if (comm->size > 1 &&
        sg_yielding_bcast(&identity, (int)sizeof identity, MPI_BYTE, 0, talk) != MPI_SUCCESS)
        identity.managed = false;
    comm->managed = identity.managed;
    memcpy(comm->name, identity.name, sizeof comm->name);
    if (comm->managed && comm->size > 1)
        make_engine(comm, talk, members, &identity.offer);
    if (comm->managed)
        record(comm, handle, &identity, members->world_ranks);
    if (comm->internode != NULL && sg_internode_has_slices(comm->internode))
        sg_emds_know(comm->internode, comm->index);
}

/* Sets up the communicator if it can be managed. */
static void fill(struct sg_comm *comm, MPI_Comm handle, MPI_Comm talk)
{
    struct sg_comm_members members;

    sg_real.Comm_rank(handle, &comm->rank);
    sg_real.Comm_size(handle, &comm->size);
    if (find_members(handle, comm->size, &members))
        identify(comm, handle, talk, &members);
    free(members.world_ranks);
}

static void link_profile(struct sg_comm *comm, MPI_Comm handle)
{
    comm->profile = sg_process.log != NULL ? sg_profile_comm_link(handle, &comm->seq) : NULL;
}

bool sg_comm_is_due(MPI_Comm handle)
{
    uintptr_t wanted = (uintptr_t)sg_process.config.setup_after, calls = 0;
    void *before;
    int is_counted;

    if (sg_real.Comm_get_attr(handle, calls_keyval, &before, &is_counted) == MPI_SUCCESS &&
        is_counted)
        calls = (uintptr_t)before;
    if (++calls < wanted)
        sg_real.Comm_set_attr(handle, calls_keyval, (void *)calls);
    return calls >= wanted;
}

struct set_up {
    MPI_Comm handle;
    int messages_rule;
    struct sg_comm *comm; /* NULL: no memory */
};

static struct sg_comm *set_up(MPI_Comm handle, int messages_rule)
{
    struct sg_comm *comm;

    sg_comm_end_freed();
    comm = sg_comm_take();
    if (comm == NULL)
        return NULL;
    comm->managed = false;
    comm->devices = false;
    comm->index = SG_COMM_UNRECORDED;
    comm->name[0] = '\0';
    comm->intranode = NULL;
    comm->internode = NULL;
    comm->unmet = NULL;
    comm->messages_rule = messages_rule;
    comm->is_sliced = false;
    memset(comm->last, 0, sizeof comm->last);
    memset(comm->trial, 0, sizeof comm->trial);
    atomic_store(&comm->seq, 0);
    fill(comm, handle, handle);
    sg_comm_insert(comm, handle);
    link_profile(comm, handle);
    sg_real.Comm_set_attr(handle, keyval, comm);
    return comm;
}

static void run_set_up(void *argument)
{
    struct set_up *what = argument;

    what->comm = set_up(what->handle, what->messages_rule);
}

struct sg_comm *sg_comm_set_up(MPI_Comm handle, int messages_rule)
{
    struct set_up what = {.handle = handle, .messages_rule = messages_rule};

    sg_altstack_run(run_set_up, &what);
    return what.comm;
}

/* ---- a communicator's end ---- */

static void begin_drain(struct sg_comm *comm)
{
    if (comm->internode != NULL)
        sg_internode_begin_drain(comm->internode);
}

/* True when the other ranks have taken all that this rank left for them. */
static bool has_empty_box(const struct sg_comm *comm)
{
    return comm->intranode == NULL || sg_intranode_is_drained(comm->intranode);
}

static void drain(struct sg_comm *comm)
{
    struct sg_wait wait = {0};

    if (comm->internode != NULL)
        sg_internode_drain(comm->internode);
    while (!has_empty_box(comm))
        sg_wait_brief(&wait);
}

/* MPICH calls it when its own operations on the communicator are complete, from MPI_Comm_free or
 * from its progress engine. No MPI function may be called there, so it waits for nothing. */
static int on_delete(MPI_Comm handle, int key, void *value, void *extra)
{
    struct sg_comm *comm = value;

    if (!comm->moves)
        sg_comm_remove(comm);
    return MPI_SUCCESS;
}

static bool try_end(struct sg_comm *comm)
{
    if (comm->internode != NULL && !sg_internode_try_drain(comm->internode))
        return false;
    if (!has_empty_box(comm))
        return false;
    free_engine(comm);
    return true;
}

void sg_comm_end_freed(void)
{
    if (sg_process_running())
        sg_comm_end_removed(try_end);
}

/* MPICH deletes the attribute that was set last first, and returns only the result of the last
 * callback: stagger's callback would hide an error of the application's. So stagger's attribute is
 * set again. The count of calls is deleted for the same reason. */
static void put_attribute_first(struct sg_comm *comm, MPI_Comm handle)
{
    comm->moves = true;
    sg_real.Comm_delete_attr(handle, keyval);
    comm->moves = false;
    sg_real.Comm_set_attr(handle, keyval, comm);
}

void sg_comm_leave(MPI_Comm handle)
{
    struct sg_comm *comm;

    if (!sg_process_running() || handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return;
    comm = sg_comm_find(handle);
    sg_real.Comm_delete_attr(handle, calls_keyval);
    if (comm == NULL)
        return;
    put_attribute_first(comm, handle);
    if (comm->internode == NULL || !sg_internode_is_linked(comm->internode))
        return;
    sg_internode_drain(comm->internode);
    sg_yielding_barrier(comm->talk);
}

/* ---- start and stop ---- */

enum sg_status sg_comm_start(int messages_rule)
{
    if (sg_real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL) !=
            MPI_SUCCESS ||
        sg_real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &calls_keyval,
                                   NULL) != MPI_SUCCESS)
        return SG_ERR_SYSTEM;
    /* Their counters are 0 and 1 if their rank 0 is world rank 0; on every rank, 1 is
     * MPI_COMM_SELF's. */
    sg_comm_find(MPI_COMM_WORLD)->messages_rule = messages_rule;
    sg_comm_find(MPI_COMM_SELF)->messages_rule = -1;
    fill(sg_comm_find(MPI_COMM_WORLD), MPI_COMM_WORLD, sg_process.world);
    atomic_store(&next_counter, 1);
    fill(sg_comm_find(MPI_COMM_SELF), MPI_COMM_SELF, MPI_COMM_SELF);
    link_profile(sg_comm_find(MPI_COMM_WORLD), MPI_COMM_WORLD);
    link_profile(sg_comm_find(MPI_COMM_SELF), MPI_COMM_SELF);
    return SG_OK;
}

static bool begin_drain_of_removed(struct sg_comm *comm)
{
    begin_drain(comm);
    return false;
}

static bool drain_removed(struct sg_comm *comm)
{
    drain(comm);
    return false;
}

static bool end_removed(struct sg_comm *comm)
{
    free_engine(comm);
    return true;
}

void sg_comm_drain(void)
{
    /* Begin to drain all before waiting for any: each rank walks its table in its own order. */
    sg_comm_each(begin_drain);
    sg_comm_end_removed(begin_drain_of_removed);
    sg_comm_each(drain);
    sg_comm_end_removed(drain_removed);
}

void sg_comm_stop(void)
{
    sg_comm_drain();
    /* Until all ranks are here, others may still access what this rank shares with them. */
    if (sg_rdma_ops() != NULL)
        sg_yielding_barrier(sg_process.world);
    sg_comm_each(free_engine);
    sg_comm_end_removed(end_removed);
    /* Attributes that are still set keep working: MPI frees a keyval when the last one is gone. */
    sg_real.Comm_free_keyval(&keyval);
    sg_real.Comm_free_keyval(&calls_keyval);
}
