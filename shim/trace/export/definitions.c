#include "trace/export/definitions.h"

#include "core/hash.h"
#include "trace/export/mpi_region.h"
#include "trace/export/properties.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The tables are traversed twice: once to collect the strings, which come first in the archive,
 * once to write them. */
struct definer {
    struct sg_archive *archive;
    struct sg_unified *unified;
    OTF2_GlobalDefWriter *writer;
    bool collecting;
    const struct sg_location *locations; /* by rank, then thread */
    size_t location_count;
    uint32_t *nodes; /* by rank: number of its host */
    uint32_t node_count;
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
    /* Any rank's pair of clock readings will do; ranks are in order, rank 0's is exact. */
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

/* ---- system tree, locations ----------------------------------------------------------------- */

static bool same_node(const struct sg_summary *a, const struct sg_summary *b)
{
    return a->machine == b->machine && strcmp(a->host, b->host) == 0;
}

/* Numbers the hosts by their lowest rank; a rank without a log is put on the first. */
static bool number_nodes(struct definer *definer)
{
    int world_size = definer->unified->world_size;
    const struct sg_summary **leaders = calloc((size_t)world_size, sizeof *leaders);

    definer->nodes = calloc((size_t)world_size, sizeof *definer->nodes);
    if (leaders == NULL || definer->nodes == NULL) {
        free(leaders);
        return false;
    }
    for (int rank = 0; rank < world_size; rank++) {
        const struct sg_summary *summary = sg_unified_summary(definer->unified, (uint32_t)rank);
        uint32_t node = 0;

        if (summary == NULL)
            continue;
        while (node < definer->node_count && !same_node(summary, leaders[node]))
            node++;
        if (node == definer->node_count)
            leaders[definer->node_count++] = summary;
        definer->nodes[rank] = node;
    }
    free(leaders);
    return true;
}

/* The host where there is one only, else the kind of system. */
static const char *machine_name(const struct definer *definer, struct utsname *system)
{
    if (definer->node_count == 1)
        return definer->unified->summaries[0].host;
    return uname(system) == 0 ? system->sysname : "machine";
}

static void define_system_tree(struct definer *definer)
{
    struct utsname system;
    uint32_t machine = text_of(definer, machine_name(definer, &system));
    uint32_t machine_class = text_of(definer, "machine");
    uint32_t node_class = text_of(definer, "node");
    uint32_t defined = 0;

    if (!definer->collecting) {
        check(definer,
              OTF2_GlobalDefWriter_WriteSystemTreeNode(definer->writer, 0, machine, machine_class,
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
                           definer->writer, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    }
    for (int i = 0; i < definer->unified->summary_count; i++) {
        const struct sg_summary *summary = &definer->unified->summaries[i];
        uint32_t host = text_of(definer, summary->host);

        if (definer->collecting || definer->nodes[summary->rank] != defined)
            continue;
        defined++;
        check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNode(definer->writer, defined, host,
                                                                node_class, 0));
        check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
                           definer->writer, defined, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
}

static void define_location_groups(struct definer *definer)
{
    for (int rank = 0; rank < definer->unified->world_size; rank++) {
        uint32_t name = sg_strings_addf(&definer->unified->strings, "MPI Rank %d", rank);

        if (!definer->collecting)
            check(definer, OTF2_GlobalDefWriter_WriteLocationGroup(
                               definer->writer, (OTF2_LocationGroupRef)rank, name,
                               OTF2_LOCATION_GROUP_TYPE_PROCESS, definer->nodes[rank] + 1,
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
    uint32_t file = text_of(definer, paradigm == OTF2_PARADIGM_MPI  ? "MPI"
                                     : ref == SG_REGION_REF_PROGRAM ? ""
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
    };

    /* In the order of numbers: readers take other orders for damage. */
    for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++)
        define_region(definer, operation, sg_operation_regions[operation], roles[operation],
                      OTF2_PARADIGM_MPI);
    for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++)
        define_region(definer, SG_REGION_REF_POSTS + operation,
                      sg_operation_nonblocking_regions[operation], roles[operation],
                      OTF2_PARADIGM_MPI);
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
}

/* ---- groups and communicators --------------------------------------------------------------- */

/* Exactly one COMM_LOCATIONS group, before any COMM_GROUP, whose members are indices into it; one
 * COMM_SELF without members. */
enum { GROUP_LOCATIONS, GROUP_WORLD, GROUP_SELF, GROUP_OTHERS };

/* Groups of members seen so far, so that duplicates of a communicator share one. */
struct group_table {
    struct group {
        uint64_t hash;
        const struct sg_comm_definition *comm;
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

/* The group of a communicator's members, written when it is new. */
static uint32_t find_group(struct definer *definer, struct group_table *table,
                           const struct sg_comm_definition *comm)
{
    size_t size_bytes = comm->size * sizeof *comm->members;
    uint64_t hash = sg_hash_bytes(SG_HASH_START, comm->members, size_bytes);

    for (uint32_t i = 0; i < table->count; i++) {
        const struct sg_comm_definition *known = table->groups[i].comm;

        if (table->groups[i].hash == hash && known->size == comm->size &&
            memcmp(known->members, comm->members, size_bytes) == 0)
            return GROUP_OTHERS + i;
    }
    table->groups[table->count] = (struct group){.hash = hash, .comm = comm};
    write_group(definer, GROUP_OTHERS + table->count, OTF2_GROUP_TYPE_COMM_GROUP, comm->members,
                comm->size);
    return GROUP_OTHERS + table->count++;
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
    table.groups = calloc(unified->comms.count + 1, sizeof *table.groups);
    if (table.groups == NULL) {
        sg_archive_note(definer->archive, SG_ERR_MEMORY);
        return;
    }
    /* Master threads' locations have their rank's number. */
    write_group(definer, GROUP_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, world_size);
    write_group(definer, GROUP_WORLD, OTF2_GROUP_TYPE_COMM_GROUP, NULL, world_size);
    write_group(definer, GROUP_SELF, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    check(definer,
          OTF2_GlobalDefWriter_WriteComm(definer->writer, SG_COMM_WORLD_REF, world, GROUP_WORLD,
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    check(definer,
          OTF2_GlobalDefWriter_WriteComm(definer->writer, SG_COMM_SELF_REF, self, GROUP_SELF,
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    for (uint32_t i = 0; i < unified->comms.count; i++) {
        const struct sg_comm_definition *comm = &unified->comms.definitions[i];
        uint32_t group = find_group(definer, &table, comm);

        check(definer, OTF2_GlobalDefWriter_WriteComm(
                           definer->writer, SG_COMM_SELF_REF + 1 + i, comm->name, group,
                           comm->parent == SG_NO_COMM ? OTF2_UNDEFINED_COMM : comm->parent,
                           OTF2_COMM_FLAG_NONE));
    }
    free(table.groups);
}

/* ---- metrics, call sites, attributes -------------------------------------------------------- */

static void define_metrics(struct definer *definer)
{
    OTF2_MetricMemberRef members[SG_METRIC_COUNT];

    for (uint32_t ref = 0; ref < SG_METRIC_COUNT; ref++) {
        uint32_t name = text_of(definer, sg_metrics[ref].name);
        uint32_t description = text_of(definer, sg_metrics[ref].description);
        uint32_t unit = text_of(definer, sg_metrics[ref].unit);

        members[ref] = ref;
        if (!definer->collecting)
            check(definer,
                  OTF2_GlobalDefWriter_WriteMetricMember(
                      definer->writer, ref, name, description, OTF2_METRIC_TYPE_OTHER,
                      OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit));
    }
    if (!definer->collecting)
        check(definer, OTF2_GlobalDefWriter_WriteMetricClass(definer->writer, 0, SG_METRIC_COUNT,
                                                             members, OTF2_METRIC_SYNCHRONOUS,
                                                             OTF2_RECORDER_KIND_CPU));
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

static void define_tables(struct definer *definer)
{
    define_paradigm(definer);
    define_system_tree(definer);
    define_location_groups(definer);
    define_locations(definer);
    define_regions(definer);
    define_comms(definer);
    define_metrics(definer);
    if (!definer->collecting)
        define_source_locations(definer);
    define_attributes(definer);
}

/* The time from the first event to the last. */
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
    struct utsname system;
    uint64_t begin_ns, end_ns;

    definer.writer = OTF2_Archive_GetGlobalDefWriter(archive->handle);
    if (!number_nodes(&definer) || definer.writer == NULL) {
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
    sg_properties_set(archive, unified, machine_name(&definer, &system));
    sg_markers_write(archive, unified, begin_ns, end_ns);
done:
    free(definer.nodes);
}
