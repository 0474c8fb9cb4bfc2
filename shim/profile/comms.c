/* Finds out what a communicator's calls depend on and writes it to the log (comms.h): members,
 * topology, name. Also groups. Two locks: one for groups, one for communicators; look-ups of known
 * communicators take none.
 */
#include "profile/comms.h"

#include "core/hash.h"
#include "mpi/real.h"
#include "profile/handles.h"
#include "profile/module.h"
#include "profile/site.h"
#include "runtime/recording.h"
#include "runtime/settings.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256u

/* Never freed. */
struct known {
    struct known *next;
    int number, size;
    int text[]; /* of the record: an empty name (a word of zeros), then the members */
};

static struct known *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int group_count;

static int record(const struct known *known)
{
    size_t text_bytes = (size_t)(1 + known->size) * sizeof known->text[0];
    struct sg_record_group *entry = sg_log_definition(sg_process.log, known->text, text_bytes);

    if (entry == NULL)
        return SG_NO_NUMBER;
    entry->index = (uint32_t)group_count;
    entry->size = (uint32_t)known->size;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_GROUP);
    return group_count++;
}

/* Call with the lock. */
static int find(const int *members, int size)
{
    size_t size_bytes = (size_t)size * sizeof *members;
    struct known **link = &buckets[sg_hash_bytes(SG_HASH_START, members, size_bytes) % BUCKETS];
    struct known *known = *link;

    while (known != NULL &&
           (known->size != size || memcmp(known->text + 1, members, size_bytes) != 0))
        known = known->next;
    if (known != NULL || group_count >= SG_GROUPS_MOST)
        return known != NULL ? known->number : SG_NO_NUMBER;
    known = calloc(1, sizeof *known + sizeof known->text[0] + size_bytes);
    if (known == NULL)
        return SG_NO_NUMBER;
    known->size = size;
    memcpy(known->text + 1, members, size_bytes);
    known->number = record(known);
    known->next = *link;
    *link = known;
    return known->number;
}

int sg_group_of_members(const int *members, int size)
{
    int number;

    pthread_mutex_lock(&lock);
    number = find(members, size);
    pthread_mutex_unlock(&lock);
    return number;
}

/* ---- topology of a communicator ----
 *
 * Neighborhood collectives move bytes according to it, and the log has it. Any thread; not from a
 * signal handler. Local: nothing is agreed with other ranks.
 */

/* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH; MPI_UNDEFINED: none. */
static int kind_of(MPI_Comm handle)
{
    int kind = MPI_UNDEFINED, is_inter = 1;

    if (sg_real.Comm_test_inter(handle, &is_inter) != MPI_SUCCESS || is_inter != 0 ||
        sg_real.Topo_test(handle, &kind) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return kind;
}

/* Returns the number of neighbors that a rank receives from and sends to. The communicator has one
 * group. Without a topology, *in and *out are unchanged. */
static void sg_topology_degrees(MPI_Comm handle, int rank, int *in, int *out)
{
    int kind = kind_of(handle), dimensions = 0, weighted;

    if (kind == MPI_CART) {
        sg_real.Cartdim_get(handle, &dimensions);
        *in = *out = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        sg_real.Graph_neighbors_count(handle, rank, in);
        *out = *in;
    } else if (kind == MPI_DIST_GRAPH) {
        sg_real.Dist_graph_neighbors_count(handle, in, out, &weighted);
    }
}

/* Returns the dimensions of a Cartesian topology, followed by their periodicity (0 or 1); the
 * caller frees. NULL: no such topology or no memory, and *dimensions is 0. */
static uint32_t *sg_topology_grid(MPI_Comm handle, uint8_t *dimensions)
{
    uint32_t *grid;
    int *words;
    int count = 0;

    *dimensions = 0;
    if (kind_of(handle) != MPI_CART || sg_real.Cartdim_get(handle, &count) != MPI_SUCCESS ||
        count < 1 || count > UINT8_MAX)
        return NULL;
    grid = malloc(2 * (size_t)count * sizeof *grid);
    words = malloc(3 * (size_t)count * sizeof *words);
    if (grid == NULL || words == NULL ||
        sg_real.Cart_get(handle, count, words, words + count, words + 2 * (size_t)count) !=
            MPI_SUCCESS) {
        free(words);
        free(grid);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        grid[i] = (uint32_t)words[i];
        grid[count + i] = words[count + i] != 0;
    }
    free(words);
    *dimensions = (uint8_t)count;
    return grid;
}

/* ---- sources ---- */

/* Ranks in the communicator, with MPI_PROC_NULL at the edge of a grid. False: not known. */
static bool find_sources(MPI_Comm handle, int rank, int in, int out, int *sources)
{
    int kind = kind_of(handle);

    if (kind == MPI_GRAPH)
        return sg_real.Graph_neighbors(handle, rank, in, sources) == MPI_SUCCESS;
    if (kind == MPI_DIST_GRAPH) {
        /* Ask for weights, too: a graph may have them. */
        int *rest = malloc(((size_t)in + 2 * (size_t)out + 1) * sizeof *rest);
        bool is_known =
            rest != NULL && sg_real.Dist_graph_neighbors(handle, in, sources, rest, out, rest + in,
                                                         rest + in + out) == MPI_SUCCESS;

        free(rest);
        return is_known;
    }
    for (int i = 0; i < in / 2; i++) {
        if (sg_real.Cart_shift(handle, i, 1, &sources[2 * i], &sources[2 * i + 1]) != MPI_SUCCESS)
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const int *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* Converts to ranks in MPI_COMM_WORLD, each once, sorted. Returns their number. */
static int order(int *sources, int count, int rank, const int *world_ranks)
{
    int others = 0, kept = 0;

    for (int i = 0; i < count; i++) {
        if (sources[i] >= 0 && sources[i] != rank)
            sources[others++] = world_ranks[sources[i]];
    }
    qsort(sources, (size_t)others, sizeof *sources, compare);
    for (int i = 0; i < others; i++) {
        if (kept == 0 || sources[kept - 1] != sources[i])
            sources[kept++] = sources[i];
    }
    return kept;
}

/* Returns 1 + the number in the log of the group of ranks whose data neighborhood collectives bring
 * to this rank, without itself. world_ranks: of the communicator's members. 0: none, or no
 * capacity. */
static uint32_t sg_topology_sources(MPI_Comm handle, int rank, const int *world_ranks)
{
    int in = 0, out = 0, count, number = SG_NO_NUMBER;
    int *sources;

    sg_topology_degrees(handle, rank, &in, &out);
    if (in < 1)
        return 0;
    sources = malloc((size_t)in * sizeof *sources);
    if (sources != NULL && find_sources(handle, rank, in, out, sources)) {
        count = order(sources, in, rank, world_ranks);
        if (count > 0)
            number = sg_group_of_members(sources, count);
    }
    free(sources);
    return (uint32_t)(number + 1);
}

struct comms_known {
    struct sg_handle handle;
    struct sg_profile_comm comm;
    uint64_t key; /* hash of its members and its name; 0: not known */
};

/* A number free for the next communicator with the same key. */
struct unused {
    uint64_t key;
    uint32_t index;
    struct unused *next;
};

static struct sg_handles comms = {.none = MPI_COMM_NULL};
static pthread_mutex_t comms_lock = PTHREAD_MUTEX_INITIALIZER;
static struct unused *unused[SG_HANDLE_BUCKETS];
static uint32_t last_index;

/* ---- the log ---- */

/* Data for a communicator's definition. */
struct definition {
    MPI_Comm handle;
    const struct sg_profile_comm *comm;
    struct sg_identity identity;
    char name[MPI_MAX_OBJECT_NAME + 1];
};

static void name(struct definition *definition)
{
    int length;

    if (sg_real.Comm_get_name(definition->handle, definition->name, &length) != MPI_SUCCESS)
        definition->name[0] = '\0';
}

static uint64_t key_of(const struct definition *definition)
{
    uint64_t members = definition->identity.members;
    uint64_t key;

    if (members == 0)
        return 0;
    key = sg_hash_bytes(members, definition->name, strlen(definition->name));
    return key != 0 ? key : 1;
}

/* The data of a record. */
struct data {
    char *text; /* name, members if included, grid; NULL: no memory */
    size_t bytes;
    bool has_members;
    uint8_t dimensions;
    uint32_t sources;
};

/* Only with events: their archive has topologies. world_ranks: of the members. */
static uint32_t *topology_of(const struct definition *definition, const int *world_ranks,
                             struct data *data)
{
    if (sg_process.config.trace != SG_TRACE_OTF2 || world_ranks == NULL ||
        definition->comm->in_degree + definition->comm->out_degree == 0)
        return NULL;
    data->sources = sg_topology_sources(definition->handle, definition->comm->rank, world_ranks);
    return sg_topology_grid(definition->handle, &data->dimensions);
}

static struct data data_of(const struct definition *definition)
{
    size_t name_bytes = (strlen(definition->name) + 1 + 3) & ~(size_t)3;
    struct data data = {.has_members = definition->comm->rank == 0};
    bool has_topology = definition->comm->in_degree + definition->comm->out_degree > 0;
    int count = 0, own_count;
    int *ranks = definition->identity.hash != 0 && (data.has_members || has_topology)
                     ? sg_identity_members(definition->handle, &count, &own_count)
                     : NULL;
    uint32_t *grid = topology_of(definition, ranks, &data);
    size_t members_bytes, grid_bytes = 2 * (size_t)data.dimensions * sizeof *grid;

    data.has_members = data.has_members && ranks != NULL;
    members_bytes = data.has_members ? (size_t)count * sizeof(uint32_t) : 0;
    data.bytes = name_bytes + members_bytes + grid_bytes;
    data.text = calloc(1, data.bytes);
    if (data.text != NULL) {
        memcpy(data.text, definition->name, strlen(definition->name));
        if (members_bytes > 0)
            memcpy(data.text + name_bytes, ranks, members_bytes);
        if (grid_bytes > 0)
            memcpy(data.text + name_bytes + members_bytes, grid, grid_bytes);
    }
    free(grid);
    free(ranks);
    return data;
}

/* Returns its number in the log; 0: no capacity. */
static uint32_t comms_record(const struct definition *definition)
{
    const struct sg_profile_comm *comm = definition->comm;
    const struct sg_identity *identity = &definition->identity;
    struct sg_record_profile_comm *entry = NULL;
    struct data data = data_of(definition);

    if (data.text != NULL)
        entry = sg_recording_define_comm(sg_process.log, data.text, data.bytes);
    free(data.text);
    if (entry == NULL)
        return 0;
    entry->index = ++last_index;
    entry->is_inter = comm->is_inter;
    entry->is_world = definition->handle == MPI_COMM_WORLD;
    entry->has_members = data.has_members;
    entry->dimensions = data.dimensions;
    entry->sources = data.sources;
    entry->peers = (uint32_t)comm->peers;
    entry->rank = (uint32_t)comm->rank;
    entry->text_bytes = (uint32_t)data.bytes;
    entry->ordinal = identity->ordinal;
    entry->identity = identity->hash;
    entry->size = (uint32_t)comm->size;
    entry->parent = identity->parent;
    entry->created_ns = identity->created_ns;
    sg_log_publish(entry, SG_RECORD_PROFILE_COMM);
    return last_index;
}

static uint32_t take_unused(uint64_t key)
{
    struct unused **link = &unused[key % SG_HANDLE_BUCKETS], *found;
    uint32_t index;

    while (*link != NULL && (*link)->key != key)
        link = &(*link)->next;
    found = *link;
    if (key == 0 || found == NULL)
        return 0;
    index = found->index;
    *link = found->next;
    free(found);
    return index;
}

static void put_unused(const struct comms_known *known)
{
    struct unused *one;

    if (known->key == 0 || known->comm.index == 0 || sg_process.config.trace == SG_TRACE_OTF2)
        return;
    one = malloc(sizeof *one);
    if (one == NULL)
        return;
    *one = (struct unused){known->key, known->comm.index, unused[known->key % SG_HANDLE_BUCKETS]};
    unused[known->key % SG_HANDLE_BUCKETS] = one;
}

/* ---- the table ---- */

/* Call with comms_lock. */
static void define(struct comms_known *known, MPI_Comm handle, struct sg_profile_comm *comm)
{
    struct definition definition = {
        .handle = handle, .comm = comm, .identity = sg_identity_of(handle)};

    name(&definition);
    known->key = key_of(&definition);
    if (definition.identity.hash != 0 && comm->size + (comm->is_inter ? comm->peers : 0) > 1)
        comm->key =
            sg_hash_mix(sg_hash_word(definition.identity.hash, definition.identity.ordinal)) | 1;
    comm->index = take_unused(known->key);
    if (comm->index == 0)
        comm->index = comms_record(&definition);
    known->comm = *comm;
    sg_handles_set(known, handle);
}

static struct comms_known *make(MPI_Comm handle)
{
    struct sg_profile_comm comm = {.rank = 0};
    struct comms_known *known;
    int is_inter = 0;

    if (sg_real.Comm_test_inter(handle, &is_inter) != MPI_SUCCESS)
        return NULL;
    comm.is_inter = is_inter != 0;
    sg_real.Comm_rank(handle, &comm.rank);
    sg_real.Comm_size(handle, &comm.size);
    comm.peers = comm.size;
    if (comm.is_inter)
        sg_real.Comm_remote_size(handle, &comm.peers);
    if (!comm.is_inter)
        sg_topology_degrees(handle, comm.rank, &comm.in_degree, &comm.out_degree);
    pthread_mutex_lock(&comms_lock);
    known = sg_handles_take(&comms, handle, sizeof *known);
    if (known != NULL && sg_handles_of(known) != handle)
        define(known, handle, &comm);
    pthread_mutex_unlock(&comms_lock);
    return known;
}

struct sg_profile_comm *sg_profile_comm_of(MPI_Comm handle)
{
    struct comms_known *known;

    if (handle == MPI_COMM_NULL)
        return NULL;
    known = sg_handles_find(&comms, handle);
    if (__builtin_expect(known == NULL, 0))
        known = make(handle);
    return known != NULL ? &known->comm : NULL;
}

struct sg_profile_comm *sg_profile_comm_asked(MPI_Comm handle)
{
    struct comms_known *known = handle != MPI_COMM_NULL ? sg_handles_find(&comms, handle) : NULL;

    if (__builtin_expect(known != NULL, 1))
        return &known->comm;
    return sg_identity_of(handle).hash != 0 ? sg_profile_comm_of(handle) : NULL;
}

uint32_t sg_profile_comm_index(MPI_Comm handle)
{
    const struct comms_known *known =
        handle != MPI_COMM_NULL ? sg_handles_find(&comms, handle) : NULL;

    return known != NULL ? known->comm.index : 0;
}

struct search {
    uint32_t index;
    MPI_Comm found;
};

static void look_at(void *of, void *context)
{
    const struct comms_known *known = of;
    struct search *search = context;

    if (known->comm.index == search->index && known->comm.is_inter)
        search->found = sg_handles_of(known);
}

/* Call with comms_lock. */
static MPI_Comm find_inter(uint32_t index)
{
    struct search search = {index, MPI_COMM_NULL};

    sg_handles_each(&comms, look_at, &search);
    return search.found;
}

uint32_t sg_profile_comm_world(uint32_t index, int peer)
{
    int rank = MPI_UNDEFINED;
    MPI_Group world, remote;
    MPI_Comm handle;

    pthread_mutex_lock(&comms_lock);
    handle = find_inter(index);
    if (handle != MPI_COMM_NULL && sg_real.Comm_remote_group(handle, &remote) == MPI_SUCCESS) {
        sg_real.Comm_group(MPI_COMM_WORLD, &world);
        if (sg_real.Group_translate_ranks(remote, 1, &peer, world, &rank) != MPI_SUCCESS)
            rank = MPI_UNDEFINED;
        sg_real.Group_free(&world);
        sg_real.Group_free(&remote);
    }
    pthread_mutex_unlock(&comms_lock);
    return rank >= 0 ? 1 + (uint32_t)rank : 0;
}

struct sg_profile_comm *sg_profile_comm_link(MPI_Comm handle, const atomic_uint *managed)
{
    struct sg_profile_comm *comm = sg_profile_comm_of(handle);

    if (comm != NULL)
        atomic_store_explicit(&comm->managed, managed, memory_order_relaxed);
    return comm;
}

uint32_t sg_profile_comm_order(struct sg_profile_comm *comm)
{
    const atomic_uint *managed = atomic_load_explicit(&comm->managed, memory_order_relaxed);

    return atomic_fetch_add_explicit(&comm->passed, 1, memory_order_relaxed) +
           (managed != NULL ? atomic_load_explicit(managed, memory_order_relaxed) : 0);
}

static void give_up(MPI_Comm handle)
{
    struct comms_known *known;

    pthread_mutex_lock(&comms_lock);
    known = sg_handles_find(&comms, handle);
    if (known != NULL) {
        put_unused(known);
        sg_handles_set(known, MPI_COMM_NULL);
        atomic_fetch_add_explicit(&sg_site_meaning, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&comms_lock);
}

static bool to_world(MPI_Comm handle, int *ranks, int count)
{
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    bool is_known = sg_real.Comm_group(handle, &group) == MPI_SUCCESS &&
                    sg_real.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS;

    memcpy(ranks + count, ranks, (size_t)count * sizeof *ranks);
    is_known = is_known && sg_real.Group_translate_ranks(group, count, ranks + count, world,
                                                         ranks) == MPI_SUCCESS;
    if (group != MPI_GROUP_NULL)
        sg_real.Group_free(&group);
    if (world != MPI_GROUP_NULL)
        sg_real.Group_free(&world);
    for (int i = 0; i < count && is_known; i++)
        is_known = ranks[i] >= 0;
    return is_known;
}

int sg_profile_comm_group(MPI_Comm handle, int *ranks, int count)
{
    if (handle != MPI_COMM_WORLD && !to_world(handle, ranks, count))
        return SG_NO_NUMBER;
    return sg_group_of_members(ranks, count);
}

void sg_profile_comm_forget(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL)
        return;
    give_up(handle);
    sg_identity_forget(handle);
}

void sg_profile_comm_made(MPI_Comm handle, const struct sg_profile_birth *birth)
{
    const struct sg_profile_comm *parent = sg_profile_comm_of(birth->parent);
    struct sg_identity_source source = {
        .handle = handle,
        .members = birth->has_members ? birth->parent : handle,
        .parent = birth->is_ordered ? birth->parent : MPI_COMM_NULL,
        .parent_index = parent != NULL ? parent->index : 0,
    };

    give_up(handle); /* the end of its last communicator may not have been seen */
    sg_identity_take(&source);
}

void sg_profile_comms_start(void)
{
    static const struct sg_profile_birth first = {.parent = MPI_COMM_NULL};

    sg_profile_comm_made(MPI_COMM_WORLD, &first);
    sg_profile_comm_made(MPI_COMM_SELF, &first);
    sg_profile_comm_of(MPI_COMM_WORLD);
    sg_profile_comm_of(MPI_COMM_SELF);
}
