#include "trace/export/definitions.h"

#include "core/hash.h"
#include "trace/export/vocabulary.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- system tree ----------------------------------------------------------------------------- */

/* The tree has a machine at the top, below it a node for each host and clock, below a node the
 * sockets and cores that ranks were bound to. A rank is attached at the lowest level that its
 * affinity mask determines. Only rank 0 builds the tree. */
struct sg_system_tree {
    struct sg_tree_node {
        const struct sg_summary *summary; /* of the first rank there; NULL: the machine */
        uint32_t parent;
        struct sg_socket place; /* a socket's has no core; a node's has neither */
    } * nodes;                  /* by number; the machine is 0 */
    uint32_t count;
    uint32_t *parents;   /* by rank: its node */
    const char *machine; /* its name; valid as long as unified */
    char system[65];     /* the operating system's name, if there are several hosts */
};

#define MACHINE 0
#define FIRST_HOST 1

/* ---- numbering ------------------------------------------------------------------------------ */

/* Finds nodes by their contents, with open addressing: there may be as many cores as ranks. */
struct node_table {
    uint32_t *slots; /* 0: free */
    size_t size;     /* a power of two, more than twice the nodes */
};

static bool is_node(const struct sg_tree_node *node, uint32_t parent,
                    const struct sg_summary *summary, struct sg_socket place)
{
    return node->parent == parent && node->place.socket == place.socket &&
           node->place.core == place.core && node->summary->machine == summary->machine &&
           strcmp(node->summary->host, summary->host) == 0;
}

/* Finds the child of parent for a rank's host, socket or core. A new node gets the next number. */
static uint32_t find_node(struct sg_system_tree *tree, struct node_table *table, uint32_t parent,
                          const struct sg_summary *summary, struct sg_socket place)
{
    const uint64_t key[] = {parent, place.socket, place.core, summary->machine};
    uint64_t hash = sg_hash_bytes(SG_HASH_START, key, sizeof key);
    size_t at = sg_hash_bytes(hash, summary->host, strlen(summary->host)) & (table->size - 1);

    while (table->slots[at] != 0) {
        if (is_node(&tree->nodes[table->slots[at]], parent, summary, place))
            return table->slots[at];
        at = (at + 1) & (table->size - 1);
    }
    tree->nodes[tree->count] = (struct sg_tree_node){summary, parent, place};
    return table->slots[at] = tree->count++;
}

static uint32_t place_rank(struct sg_system_tree *tree, struct node_table *table,
                           const struct sg_summary *summary)
{
    struct sg_socket place = {0};
    uint32_t node = find_node(tree, table, MACHINE, summary, place);

    if (summary->place.socket == 0)
        return node;
    place.socket = summary->place.socket;
    node = find_node(tree, table, node, summary, place);
    if (summary->place.core == 0)
        return node;
    place.core = summary->place.core;
    return find_node(tree, table, node, summary, place);
}

/* Names the machine after its only host, or else after the operating system. */
static const char *name_machine(struct sg_system_tree *tree, const struct sg_unified *unified)
{
    struct utsname system;
    uint32_t hosts = 0;

    for (uint32_t i = FIRST_HOST; i < tree->count; i++)
        hosts += tree->nodes[i].parent == MACHINE;
    if (hosts == 1)
        return unified->summaries[0].host;
    snprintf(tree->system, sizeof tree->system, "%s",
             uname(&system) == 0 ? system.sysname : "machine");
    return tree->system;
}

/* False: out of memory. Clear the tree in any case, and do not copy it: machine may point into it.
 * A rank without a log is placed on the first host. */
static bool sg_system_tree_make(struct sg_system_tree *tree, const struct sg_unified *unified)
{
    size_t ranks = (size_t)unified->world_size;
    struct node_table table = {.size = 16};

    while (table.size < 8 * ranks)
        table.size *= 2;
    table.slots = calloc(table.size, sizeof *table.slots);
    tree->nodes = calloc(3 * ranks + FIRST_HOST, sizeof *tree->nodes);
    tree->parents = calloc(ranks, sizeof *tree->parents);
    if (table.slots == NULL || tree->nodes == NULL || tree->parents == NULL) {
        free(table.slots);
        return false;
    }
    tree->nodes[tree->count++] = (struct sg_tree_node){.parent = UINT32_MAX};
    for (size_t rank = 0; rank < ranks; rank++) {
        const struct sg_summary *summary = sg_unified_summary(unified, (uint32_t)rank);

        tree->parents[rank] =
            summary != NULL ? place_rank(tree, &table, summary) : (uint32_t)FIRST_HOST;
    }
    free(table.slots);
    tree->machine = name_machine(tree, unified);
    return true;
}

static void sg_system_tree_clear(struct sg_system_tree *tree)
{
    free(tree->nodes);
    free(tree->parents);
    *tree = (struct sg_system_tree){0};
}

/* ---- writing the tree ------------------------------------------------------------------------ */

static void write_node(struct sg_archive *archive, OTF2_GlobalDefWriter *writer, uint32_t number,
                       uint32_t name, uint32_t kind, uint32_t parent, OTF2_SystemTreeDomain domain)
{
    if (writer == NULL)
        return;
    sg_archive_check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                                  writer, number, name, kind,
                                  number == MACHINE ? OTF2_UNDEFINED_SYSTEM_TREE_NODE : parent));
    sg_archive_check(archive,
                     OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, number, domain));
}

/* writer: NULL to collect strings only. */
static void sg_system_tree_write(const struct sg_system_tree *tree, struct sg_archive *archive,
                                 struct sg_unified *unified, OTF2_GlobalDefWriter *writer)
{
    struct sg_strings *strings = &unified->strings;

    write_node(archive, writer, MACHINE, sg_strings_add(strings, tree->machine),
               sg_strings_add(strings, "machine"), MACHINE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    for (uint32_t i = FIRST_HOST; i < tree->count; i++) {
        const struct sg_tree_node *node = &tree->nodes[i];
        uint32_t name;

        if (node->place.core != 0) {
            name = sg_strings_addf(strings, "core %u", node->place.core - 1);
            write_node(archive, writer, i, name, sg_strings_add(strings, "core"), node->parent,
                       OTF2_SYSTEM_TREE_DOMAIN_CORE);
        } else if (node->place.socket != 0) {
            name = sg_strings_addf(strings, "socket %u", node->place.socket - 1);
            write_node(archive, writer, i, name, sg_strings_add(strings, "socket"), node->parent,
                       OTF2_SYSTEM_TREE_DOMAIN_SOCKET);
        } else {
            name = sg_strings_add(strings, node->summary->host);
            write_node(archive, writer, i, name, sg_strings_add(strings, "node"), node->parent,
                       OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
        }
    }
}

/* ---- global tables --------------------------------------------------------------------------- */

/* Writes the global tables. They are traversed twice: first to collect the strings, which come
 * first in the archive, then to write them. */
struct definer {
    struct sg_archive *archive;
    struct sg_unified *unified;
    OTF2_GlobalDefWriter *writer;
    bool collecting;
    const struct sg_location *locations; /* by rank, then thread */
    size_t location_count;
    struct sg_system_tree tree;
};

static uint32_t text_of(struct definer *definer, const char *string)
{
    return sg_strings_add(&definer->unified->strings, string);
}

static void check(struct definer *definer, OTF2_ErrorCode code)
{
    sg_archive_check(definer->archive, code);
}

/* ---- clock, strings, paradigm --------------------------------------------------------------- */

static void define_clock(struct definer *definer, uint64_t begin_ns, uint64_t end_ns)
{
    /* Any rank's pair of clock readings serves. Ranks are in order, and rank 0's is exact. */
    const struct sg_summary *summary = &definer->unified->summaries[0];
    uint64_t created_ns = sg_summary_global_ns(summary, summary->monotonic_ns);
    uint64_t realtime_ns = summary->realtime_ns + (begin_ns - created_ns);

    check(definer,
          OTF2_GlobalDefWriter_WriteClockProperties(definer->writer, UINT64_C(1000000000), begin_ns,
                                                    end_ns - begin_ns + 1, realtime_ns));
}

static void define_strings(struct definer *definer)
{
    const struct sg_strings *strings = &definer->unified->strings;

    for (uint32_t number = 0; number < strings->count; number++)
        check(definer,
              OTF2_GlobalDefWriter_WriteString(definer->writer, number, strings->texts[number]));
}

static void define_paradigm(struct definer *definer)
{
    uint32_t name = text_of(definer, "MPI");
    OTF2_AttributeValue comm_template = {.stringRef = text_of(definer, "MPI Communicator ${id}")};
    OTF2_AttributeValue window_template = {.stringRef = text_of(definer, "MPI Window ${id}")};

    if (definer->collecting)
        return;
    check(definer, OTF2_GlobalDefWriter_WriteParadigm(definer->writer, OTF2_PARADIGM_MPI, name,
                                                      OTF2_PARADIGM_CLASS_PROCESS));
    check(definer, OTF2_GlobalDefWriter_WriteParadigmProperty(
                       definer->writer, OTF2_PARADIGM_MPI,
                       OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE, OTF2_TYPE_STRING, comm_template));
    check(definer,
          OTF2_GlobalDefWriter_WriteParadigmProperty(definer->writer, OTF2_PARADIGM_MPI,
                                                     OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE,
                                                     OTF2_TYPE_STRING, window_template));
}

/* ---- locations ----------------------------------------------------------------------------- */

static void define_location_groups(struct definer *definer)
{
    for (int rank = 0; rank < definer->unified->world_size; rank++) {
        uint32_t name = sg_strings_addf(&definer->unified->strings, "MPI Rank %d", rank);

        if (!definer->collecting)
            check(definer, OTF2_GlobalDefWriter_WriteLocationGroup(
                               definer->writer, (OTF2_LocationGroupRef)rank, name,
                               OTF2_LOCATION_GROUP_TYPE_PROCESS, definer->tree.parents[rank],
                               OTF2_UNDEFINED_LOCATION_GROUP));
    }
}

static void define_locations(struct definer *definer)
{
    for (size_t i = 0; i < definer->location_count; i++) {
        const struct sg_location *location = &definer->locations[i];
        uint32_t rank = sg_location_rank(location);
        uint32_t thread = sg_location_thread(location);
        const struct sg_summary *summary = sg_unified_summary(definer->unified, rank);
        uint32_t name;

        if (thread == 0)
            name = text_of(definer, "Master thread");
        else if (summary != NULL && summary->progress_thread == thread + 1)
            name = text_of(definer, "Progress thread");
        else
            name = sg_strings_addf(&definer->unified->strings, "Thread %u", thread);
        if (!definer->collecting)
            check(definer, OTF2_GlobalDefWriter_WriteLocation(definer->writer, location->id, name,
                                                              OTF2_LOCATION_TYPE_CPU_THREAD,
                                                              location->events, rank));
    }
}

/* ---- regions -------------------------------------------------------------------------------- */

static void define_region(struct definer *definer, uint32_t ref, const char *name,
                          OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
    uint32_t text = text_of(definer, name);
    uint32_t none = text_of(definer, "");
    uint32_t file = text_of(definer, paradigm == OTF2_PARADIGM_MPI       ? "MPI"
                                     : role == OTF2_REGION_ROLE_FUNCTION ? ""
                                                                         : "stagger");

    if (!definer->collecting)
        check(definer,
              OTF2_GlobalDefWriter_WriteRegion(definer->writer, ref, text, text, none, role,
                                               paradigm, OTF2_REGION_FLAG_NONE, file, 0, 0));
}

static void define_regions(struct definer *definer)
{
    static const OTF2_RegionRole roles[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = OTF2_REGION_ROLE_BARRIER,
        [SG_OPERATION_REDUCE] = OTF2_REGION_ROLE_COLL_ALL2ONE,
        [SG_OPERATION_ALLREDUCE] = OTF2_REGION_ROLE_COLL_ALL2ALL,
        [SG_OPERATION_BCAST] = OTF2_REGION_ROLE_COLL_ONE2ALL,
    };

    /* Regions must be in the order of their numbers: readers take any other order for damage. */
    for (uint32_t i = 0; i < SG_OPERATION_COUNT; i++)
        define_region(definer, i, sg_operation_regions[i], roles[i], OTF2_PARADIGM_MPI);
    for (uint32_t i = 0; i < SG_OPERATION_COUNT; i++)
        define_region(definer, SG_REGION_REF_POSTS + i, sg_operation_nonblocking_regions[i],
                      roles[i], OTF2_PARADIGM_MPI);
    define_region(definer, SG_REGION_REF_INIT, SG_REGION_NAME_INIT, OTF2_REGION_ROLE_FUNCTION,
                  OTF2_PARADIGM_MPI);
    define_region(definer, SG_REGION_REF_FINALIZE, SG_REGION_NAME_FINALIZE,
                  OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    define_region(definer, SG_REGION_REF_LATE, SG_REGION_NAME_LATE, OTF2_REGION_ROLE_CODE,
                  OTF2_PARADIGM_USER);
    define_region(definer, SG_REGION_REF_PROGRAM, definer->unified->summaries[0].program,
                  OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
    for (uint32_t i = 0; i < definer->unified->function_count; i++) {
        const char *name = definer->unified->functions[i];

        define_region(definer, SG_REGION_REF_FUNCTIONS + i, name, sg_mpi_region_of(name).role,
                      OTF2_PARADIGM_MPI);
    }
    for (uint32_t i = 0; i < definer->unified->frame_count; i++)
        define_region(definer, SG_REGION_REF_FUNCTIONS + definer->unified->function_count + i,
                      definer->unified->strings.texts[definer->unified->frames[i]],
                      OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
}

/* ---- groups and communicators --------------------------------------------------------------- */

/* Groups already written, so that duplicates of a communicator share one. */
struct group_table {
    struct group {
        uint64_t hash;
        const uint32_t *members;
        uint32_t size;
    } * groups;
    uint32_t count;
};

static void write_group(struct definer *definer, uint32_t ref, OTF2_GroupType type,
                        const uint32_t *members, uint32_t count)
{
    uint64_t *wide = calloc((size_t)count + 1, sizeof *wide);

    if (wide == NULL) {
        sg_archive_note(definer->archive, SG_ERR_MEMORY);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        wide[i] = members != NULL ? members[i] : i;
    check(definer,
          OTF2_GlobalDefWriter_WriteGroup(definer->writer, ref, text_of(definer, ""), type,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, wide));
    free(wide);
}

/* Returns the group with these members, and writes it if it is new. */
static uint32_t find_group(struct definer *definer, struct group_table *table,
                           const uint32_t *members, uint32_t size)
{
    size_t size_bytes = size * sizeof *members;
    uint64_t hash = sg_hash_bytes(SG_HASH_START, members, size_bytes);

    for (uint32_t i = 0; i < table->count; i++) {
        const struct group *known = &table->groups[i];

        if (known->hash == hash && known->size == size &&
            memcmp(known->members, members, size_bytes) == 0)
            return SG_GROUP_REF_OTHERS + i;
    }
    table->groups[table->count] = (struct group){hash, members, size};
    write_group(definer, SG_GROUP_REF_OTHERS + table->count, OTF2_GROUP_TYPE_COMM_GROUP, members,
                size);
    return SG_GROUP_REF_OTHERS + table->count++;
}

static bool is_inter(const struct sg_unified *unified, uint32_t ref)
{
    return ref > SG_COMM_SELF_REF && ref != SG_NO_COMM &&
           unified->comms.definitions[ref - SG_COMM_SELF_REF - 1].remote_size > 0;
}

/* The parent of an intracommunicator must be an intracommunicator. An intercommunicator has a
 * parent only if it is a copy or a part of another intercommunicator; otherwise its two groups know
 * different parents. */
static void define_comm(struct definer *definer, struct group_table *table, uint32_t ref,
                        const struct sg_comm_definition *comm)
{
    uint32_t group = find_group(definer, table, comm->members, comm->size), second;
    bool has_inter = is_inter(definer->unified, comm->parent);

    if (comm->remote_size == 0) {
        check(definer, OTF2_GlobalDefWriter_WriteComm(definer->writer, ref, comm->name, group,
                                                      comm->parent == SG_NO_COMM || has_inter
                                                          ? OTF2_UNDEFINED_COMM
                                                          : comm->parent,
                                                      OTF2_COMM_FLAG_NONE));
        return;
    }
    second = find_group(definer, table, comm->members + comm->size, comm->remote_size);
    check(definer, OTF2_GlobalDefWriter_WriteInterComm(
                       definer->writer, ref, comm->name, group, second,
                       has_inter ? comm->parent : OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

static void define_comms(struct definer *definer)
{
    const struct sg_unified *unified = definer->unified;
    uint32_t world_size = (uint32_t)unified->world_size;
    uint32_t world = text_of(definer, "MPI_COMM_WORLD");
    uint32_t self = text_of(definer, "MPI_COMM_SELF");
    struct group_table table = {0};

    if (definer->collecting)
        return;
    table.groups = calloc(2 * (size_t)unified->comms.count + unified->windows.group_count + 1,
                          sizeof *table.groups);
    if (table.groups == NULL) {
        sg_archive_note(definer->archive, SG_ERR_MEMORY);
        return;
    }
    /* A master thread's location has its rank's number. */
    write_group(definer, SG_GROUP_REF_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, world_size);
    write_group(definer, SG_GROUP_REF_WORLD, OTF2_GROUP_TYPE_COMM_GROUP, NULL, world_size);
    write_group(definer, SG_GROUP_REF_SELF, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    check(definer, OTF2_GlobalDefWriter_WriteComm(definer->writer, SG_COMM_WORLD_REF, world,
                                                  SG_GROUP_REF_WORLD, OTF2_UNDEFINED_COMM,
                                                  OTF2_COMM_FLAG_NONE));
    check(definer,
          OTF2_GlobalDefWriter_WriteComm(definer->writer, SG_COMM_SELF_REF, self, SG_GROUP_REF_SELF,
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    /* Groups of windows come first: the plan has already given the ranks their numbers. */
    for (uint32_t i = 0; i < unified->windows.group_count; i++)
        find_group(definer, &table, unified->windows.groups[i].members,
                   unified->windows.groups[i].size);
    for (uint32_t i = 0; i < unified->comms.count; i++)
        define_comm(definer, &table, SG_COMM_SELF_REF + 1 + i, &unified->comms.definitions[i]);
    free(table.groups);
}

/* ---- windows --------------------------------------------------------------------------------- */

static void define_windows(struct sg_archive *archive, const struct sg_unified *unified,
                           OTF2_GlobalDefWriter *writer)
{
    const struct sg_unified_windows *windows = &unified->windows;

    for (uint32_t i = 0; i < windows->window_count; i++) {
        const struct sg_window_definition *window = &windows->windows[i];

        sg_archive_check(archive, OTF2_GlobalDefWriter_WriteRmaWin(
                                      writer, i, window->name, window->comm,
                                      window->has_life ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS
                                                       : OTF2_RMA_WIN_FLAG_NONE));
    }
}

/* ---- topologies ----------------------------------------------------------------------------- */

static uint32_t dimension_name(struct sg_unified *unified, uint32_t dimension)
{
    return sg_strings_addf(&unified->strings, "dimension %u", dimension);
}

/* Ranks are in row-major order: the last coordinate varies fastest (MPI-4.1, section 8.2). */
static void define_coordinates(struct sg_archive *archive, OTF2_GlobalDefWriter *writer,
                               uint32_t topology, const struct sg_comm_definition *comm)
{
    uint32_t coordinates[UINT8_MAX];

    for (uint32_t rank = 0; rank < comm->size; rank++) {
        uint32_t rest = rank;

        for (uint32_t i = comm->dimensions; i-- > 0;) {
            coordinates[i] = rest % comm->grid[i];
            rest /= comm->grid[i];
        }
        sg_archive_check(archive,
                         OTF2_GlobalDefWriter_WriteCartCoordinate(
                             writer, topology, rank, (uint8_t)comm->dimensions, coordinates));
    }
}

/* Dimensions are numbered consecutively over all topologies. */
static void define_topologies(struct sg_archive *archive, struct sg_unified *unified,
                              OTF2_GlobalDefWriter *writer)
{
    OTF2_CartDimensionRef dimensions[UINT8_MAX];
    uint32_t topology = 0, dimension = 0;

    for (uint32_t c = 0; c < unified->comms.count; c++) {
        const struct sg_comm_definition *comm = &unified->comms.definitions[c];

        if (comm->dimensions == 0)
            continue;
        for (uint32_t i = 0; i < comm->dimensions; i++) {
            dimensions[i] = dimension++;
            sg_archive_check(archive,
                             OTF2_GlobalDefWriter_WriteCartDimension(
                                 writer, dimensions[i], dimension_name(unified, i), comm->grid[i],
                                 comm->grid[comm->dimensions + i] != 0 ? OTF2_CART_PERIODIC_TRUE
                                                                       : OTF2_CART_PERIODIC_FALSE));
        }
        sg_archive_check(archive, OTF2_GlobalDefWriter_WriteCartTopology(
                                      writer, topology, comm->name, SG_COMM_SELF_REF + 1 + c,
                                      (uint8_t)comm->dimensions, dimensions));
        define_coordinates(archive, writer, topology++, comm);
    }
}

static void collect_names(struct sg_unified *unified)
{
    for (uint32_t c = 0; c < unified->comms.count; c++) {
        for (uint32_t i = 0; i < unified->comms.definitions[c].dimensions; i++)
            dimension_name(unified, i);
    }
}

/* Defines windows and Cartesian topologies. writer: NULL to collect strings only. */
static void define_on_comms(struct sg_archive *archive, struct sg_unified *unified,
                            OTF2_GlobalDefWriter *writer)
{
    if (writer == NULL) {
        collect_names(unified);
        return;
    }
    define_windows(archive, unified, writer);
    define_topologies(archive, unified, writer);
}

/* ---- metrics, call sites, attributes -------------------------------------------------------- */

static void define_metric(struct definer *definer, uint32_t ref,
                          const struct sg_metric_definition *metric)
{
    uint32_t name = text_of(definer, metric->name);
    uint32_t description = text_of(definer, metric->description);
    uint32_t unit = text_of(definer, metric->unit);

    if (!definer->collecting)
        check(definer,
              OTF2_GlobalDefWriter_WriteMetricMember(
                  definer->writer, ref, name, description, OTF2_METRIC_TYPE_OTHER,
                  OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit));
}

/* Defines a class of `count` metrics with consecutive numbers from `first`. */
static void define_class(struct definer *definer, uint32_t ref, uint32_t first, uint8_t count)
{
    OTF2_MetricMemberRef members[SG_METRIC_ALL];

    for (uint8_t i = 0; i < count; i++)
        members[i] = first + i;
    if (!definer->collecting)
        check(definer, OTF2_GlobalDefWriter_WriteMetricClass(definer->writer, ref, count, members,
                                                             OTF2_METRIC_SYNCHRONOUS,
                                                             OTF2_RECORDER_KIND_CPU));
}

static bool has_slices(const struct sg_unified *unified)
{
    for (int i = 0; i < unified->summary_count; i++)
        if (unified->summaries[i].slices > 0)
            return true;
    return false;
}

static void define_slices(struct definer *definer)
{
    for (uint32_t ref = 0; ref < SG_SLICE_METRICS; ref++) {
        const struct sg_metric_definition metric = {sg_slice_metrics[ref].name,
                                                    sg_slice_metrics[ref].meaning,
                                                    sg_slice_metrics[ref].is_time ? "ns" : "#"};

        define_metric(definer, SG_METRIC_SLICES + ref, &metric);
    }
    define_class(definer, SG_CLASS_SLICE, SG_METRIC_SLICES + SG_SLICE_LETTS,
                 SG_SLICE_METRICS - SG_SLICE_LETTS);
    define_class(definer, SG_CLASS_SLICE_GLOBAL, SG_METRIC_SLICES, SG_SLICE_LETTS);
}

static void define_metrics(struct definer *definer)
{
    static const struct sg_metric_definition interval = {
        SG_METRIC_NAME_INTERVAL, "sampled time between two MPI calls", "ns"};

    for (uint32_t ref = 0; ref < SG_METRIC_COUNT; ref++)
        define_metric(definer, ref, &sg_metrics[ref]);
    define_metric(definer, SG_METRIC_INTERVAL, &interval);
    for (uint32_t figure = 0; figure < SG_FIGURE_COUNT; figure++) {
        const struct sg_metric_definition metric = {sg_figure_table[figure].name,
                                                    sg_figure_table[figure].description,
                                                    sg_figure_table[figure].unit};

        define_metric(definer, SG_METRIC_FIGURES + figure, &metric);
    }
    define_class(definer, SG_CLASS_COLLECTIVES, 0, SG_METRIC_COUNT);
    define_class(definer, SG_CLASS_INTERVAL, SG_METRIC_INTERVAL, 1);
    for (uint32_t source = 0; source < SG_SOURCE_COUNT; source++)
        define_class(definer, SG_CLASS_OF_SOURCE(source),
                     SG_METRIC_FIGURES + sg_source_table[source].first,
                     sg_source_table[source].count);
    if (has_slices(definer->unified))
        define_slices(definer);
}

static void define_source_locations(struct definer *definer)
{
    uint32_t ref = 0;

    for (uint32_t i = 0; i < definer->unified->site_count; i++) {
        const struct sg_site_definition *site = &definer->unified->sites[i];

        if (site->file != 0 && site->line != 0)
            check(definer, OTF2_GlobalDefWriter_WriteSourceCodeLocation(definer->writer, ref++,
                                                                        site->file, site->line));
    }
}

static void define_attributes(struct definer *definer)
{
    for (uint32_t ref = 0; ref < SG_ATTRIBUTE_COUNT; ref++) {
        uint32_t name = text_of(definer, sg_attributes[ref].name);
        uint32_t description = text_of(definer, sg_attributes[ref].description);

        if (!definer->collecting)
            check(definer, OTF2_GlobalDefWriter_WriteAttribute(
                               definer->writer, ref, name, description, sg_attributes[ref].type));
    }
}

static void define_parameters(struct definer *definer)
{
    for (uint32_t ref = 0; ref < SG_PARAMETER_COUNT; ref++) {
        uint32_t name = text_of(definer, sg_parameters[ref]);

        if (!definer->collecting)
            check(definer, OTF2_GlobalDefWriter_WriteParameter(definer->writer, ref, name,
                                                               OTF2_PARAMETER_TYPE_UINT64));
    }
}

static void define_tables(struct definer *definer)
{
    define_paradigm(definer);
    sg_system_tree_write(&definer->tree, definer->archive, definer->unified,
                         definer->collecting ? NULL : definer->writer);
    define_location_groups(definer);
    define_locations(definer);
    define_regions(definer);
    define_comms(definer);
    define_on_comms(definer->archive, definer->unified,
                    definer->collecting ? NULL : definer->writer);
    define_metrics(definer);
    if (!definer->collecting)
        define_source_locations(definer);
    define_attributes(definer);
    define_parameters(definer);
}

/* Finds the times of the first and the last event. */
static void find_span(const struct sg_location *locations, size_t count, uint64_t *begin_ns,
                      uint64_t *end_ns)
{
    *begin_ns = UINT64_MAX;
    *end_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (locations[i].events == 0)
            continue;
        *begin_ns = locations[i].first_ns < *begin_ns ? locations[i].first_ns : *begin_ns;
        *end_ns = locations[i].last_ns > *end_ns ? locations[i].last_ns : *end_ns;
    }
    if (*begin_ns > *end_ns)
        *begin_ns = *end_ns;
}

void sg_definitions_write_global(struct sg_archive *archive, struct sg_unified *unified,
                                 const struct sg_location *locations, size_t count)
{
    struct definer definer = {
        .archive = archive,
        .unified = unified,
        .collecting = true,
        .locations = locations,
        .location_count = count,
    };
    uint64_t begin_ns, end_ns;

    definer.writer = OTF2_Archive_GetGlobalDefWriter(archive->handle);
    if (!sg_system_tree_make(&definer.tree, unified) || definer.writer == NULL) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        goto done;
    }
    define_tables(&definer);
    if (unified->strings.failed) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        goto done;
    }
    definer.collecting = false;
    find_span(locations, count, &begin_ns, &end_ns);
    define_clock(&definer, begin_ns, end_ns);
    define_strings(&definer);
    define_tables(&definer);
    check(&definer, OTF2_Archive_CloseGlobalDefWriter(archive->handle, definer.writer));
    sg_properties_set(archive, unified, definer.tree.machine, begin_ns);
    sg_markers_write(archive, unified, begin_ns, end_ns);
done:
    sg_system_tree_clear(&definer.tree);
}

/* ---- local definitions ----------------------------------------------------------------------- */

/* Writes the offsets of a location's clock from rank 0's. The field that OTF2 calls the standard
 * deviation of an offset contains the bound of its error: there is no field for a bound, and
 * readers show it as the possible error of the offset. */
void sg_definitions_write_local(struct sg_archive *archive, const struct sg_summary *summary,
                                const struct sg_location *location)
{
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->handle, location->id);
    struct sg_clock_point whole = {.local_ns = location->first_ns};
    const struct sg_clock_point *points = summary != NULL ? summary->clock : NULL;
    uint32_t count = summary != NULL ? summary->clock_count : 0;
    uint64_t last_ns = location->last_ns;

    if (writer == NULL) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        return;
    }
    if (count > 1) {
        for (uint32_t i = 0; i < count; i++)
            sg_archive_check(archive, OTF2_DefWriter_WriteClockOffset(writer, points[i].local_ns,
                                                                      points[i].offset_ns,
                                                                      (double)points[i].error_ns));
    } else {
        /* A single offset, or zero if there is none, holds from the first event to the last. */
        if (count == 1) {
            whole.offset_ns = points[0].offset_ns;
            whole.error_ns = points[0].error_ns;
        }
        if (whole.local_ns == 0 && summary != NULL) {
            whole.local_ns = summary->monotonic_ns;
            last_ns = summary->last_ns;
        }
        if (last_ns <= whole.local_ns)
            last_ns = whole.local_ns + 1;
        sg_archive_check(archive,
                         OTF2_DefWriter_WriteClockOffset(writer, whole.local_ns, whole.offset_ns,
                                                         (double)whole.error_ns));
        sg_archive_check(archive, OTF2_DefWriter_WriteClockOffset(writer, last_ns, whole.offset_ns,
                                                                  (double)whole.error_ns));
    }
    sg_archive_check(archive, OTF2_Archive_CloseDefWriter(archive->handle, writer));
}
