/* Sets up communicators and ends them (comm_setup.h). The state is an MPI attribute, so MPICH's
 * delete callback reports when the handle becomes free. States whose operations are still pending
 * end later, in sg_comm_end_freed.
 */
#include "intercept/comm_setup.h"

#include "bcs/live/emds.h"
#include "core/altstack.h"
#include "core/clock.h"
#include "intercept/comm_engine.h"
#include "internode/internode.h"
#include "intranode/mpi/intranode.h"
#include "mpi/real.h"
#include "profile/comms.h"
#include "runtime/recording.h"
#include "runtime/settings.h"
#include "wait/wait.h"
#include "wait/yielding.h"

#include <stdlib.h>
#include <string.h>

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
            sg_comm_offer_engine(comm, members, &identity.offer);
    }
    if (comm->size > 1 &&
        sg_yielding_bcast(&identity, (int)sizeof identity, MPI_BYTE, 0, talk) != MPI_SUCCESS)
        identity.managed = false;
    comm->managed = identity.managed;
    memcpy(comm->name, identity.name, sizeof comm->name);
    if (comm->managed && comm->size > 1)
        sg_comm_make_engine(comm, talk, members, &identity.offer);
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
    if (sg_comm_find_members(handle, comm->size, &members))
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
    sg_comm_free_engine(comm);
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
    sg_comm_free_engine(comm);
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
    sg_comm_each(sg_comm_free_engine);
    sg_comm_end_removed(end_removed);
    /* Attributes that are still set keep working: MPI frees a keyval when the last one is gone. */
    sg_real.Comm_free_keyval(&keyval);
    sg_real.Comm_free_keyval(&calls_keyval);
}
