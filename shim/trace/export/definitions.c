#include "trace/export/definer.h"

#include <stdio.h>
#include <sys/utsname.h>

/* ---- clock, strings, paradigm --------------------------------------------------------------- */

static void define_clock(struct sg_definer *definer, uint64_t begin_ns, uint64_t end_ns)
{
    /* Any rank's pair of clock readings serves; ranks are in order, rank 0's is exact. */
    const struct sg_summary *summary = &definer->unified->summaries[0];
    uint64_t created_ns = sg_summary_global_ns(summary, summary->monotonic_ns);
    uint64_t realtime_ns = summary->realtime_ns + (begin_ns - created_ns);

    sg_definer_check(definer, OTF2_GlobalDefWriter_WriteClockProperties(
                                  definer->writer, UINT64_C(1000000000), begin_ns,
                                  end_ns - begin_ns + 1, realtime_ns));
}

static void define_strings(struct sg_definer *definer)
{
    const struct sg_strings *strings = &definer->unified->strings;

    for (uint32_t number = 0; number < strings->count; number++)
        sg_definer_check(definer, OTF2_GlobalDefWriter_WriteString(definer->writer, number,
                                                                   strings->texts[number]));
}

static void define_paradigm(struct sg_definer *definer)
{
    uint32_t name = sg_definer_text(definer, "MPI");
    OTF2_AttributeValue comm_template = {.stringRef =
                                             sg_definer_text(definer, "MPI Communicator ${id}")};
    OTF2_AttributeValue window_template = {.stringRef =
                                               sg_definer_text(definer, "MPI Window ${id}")};

    if (definer->collecting)
        return;
    sg_definer_check(definer,
                     OTF2_GlobalDefWriter_WriteParadigm(definer->writer, OTF2_PARADIGM_MPI, name,
                                                        OTF2_PARADIGM_CLASS_PROCESS));
    sg_definer_check(definer, OTF2_GlobalDefWriter_WriteParadigmProperty(
                                  definer->writer, OTF2_PARADIGM_MPI,
                                  OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE, OTF2_TYPE_STRING,
                                  comm_template));
    sg_definer_check(definer, OTF2_GlobalDefWriter_WriteParadigmProperty(
                                  definer->writer, OTF2_PARADIGM_MPI,
                                  OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE, OTF2_TYPE_STRING,
                                  window_template));
}

/* ---- system tree, locations ----------------------------------------------------------------- */

static const struct sg_summary *summary_of(const struct sg_definer *definer, int rank)
{
    int index = definer->unified->by_rank[rank];

    return index >= 0 ? &definer->unified->summaries[index] : NULL;
}

static bool same_node(const struct sg_summary *a, const struct sg_summary *b)
{
    return a->machine == b->machine && strcmp(a->host, b->host) == 0;
}

/* Numbers the hosts by their lowest rank; a rank without a log is put on the first. */
static bool number_nodes(struct sg_definer *definer)
{
    int world_size = definer->unified->world_size;
    int *leaders = malloc((size_t)world_size * sizeof *leaders);

    definer->nodes = calloc((size_t)world_size, sizeof *definer->nodes);
    if (leaders == NULL || definer->nodes == NULL) {
        free(leaders);
        return false;
    }
    for (int rank = 0; rank < world_size; rank++) {
        const struct sg_summary *summary = summary_of(definer, rank);
        uint32_t node = 0;

        if (summary == NULL)
            continue;
        while (node < definer->node_count &&
               !same_node(summary, summary_of(definer, leaders[node])))
            node++;
        if (node == definer->node_count)
            leaders[definer->node_count++] = rank;
        definer->nodes[rank] = node;
    }
    free(leaders);
    return true;
}

/* The host where there is one only, else the kind of system. */
static const char *machine_name(const struct sg_definer *definer, struct utsname *system)
{
    if (definer->node_count == 1)
        return definer->unified->summaries[0].host;
    return uname(system) == 0 ? system->sysname : "machine";
}

static void define_system_tree(struct sg_definer *definer)
{
    struct utsname system;
    uint32_t machine = sg_definer_text(definer, machine_name(definer, &system));
    uint32_t machine_class = sg_definer_text(definer, "machine");
    uint32_t node_class = sg_definer_text(definer, "node");
    uint32_t defined = 0;

    if (!definer->collecting) {
        sg_definer_check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                                      definer->writer, 0, machine, machine_class,
                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        sg_definer_check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
                                      definer->writer, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    }
    for (int i = 0; i < definer->unified->summary_count; i++) {
        const struct sg_summary *summary = &definer->unified->summaries[i];
        uint32_t host = sg_definer_text(definer, summary->host);

        if (definer->collecting || definer->nodes[summary->rank] != defined)
            continue;
        defined++;
        sg_definer_check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNode(definer->writer, defined,
                                                                           host, node_class, 0));
        sg_definer_check(definer,
                         OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
                             definer->writer, defined, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
}

static void define_location_groups(struct sg_definer *definer)
{
    for (int rank = 0; rank < definer->unified->world_size; rank++) {
        uint32_t name = sg_strings_addf(&definer->unified->strings, "MPI Rank %d", rank);

        if (!definer->collecting)
            sg_definer_check(definer, OTF2_GlobalDefWriter_WriteLocationGroup(
                                          definer->writer, (OTF2_LocationGroupRef)rank, name,
                                          OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                          definer->nodes[rank] + 1, OTF2_UNDEFINED_LOCATION_GROUP));
    }
}

static void define_locations(struct sg_definer *definer)
{
    for (size_t i = 0; i < definer->location_count; i++) {
        const struct sg_location_record *location = &definer->locations[i];
        uint32_t rank = (uint32_t)location->id;
        uint32_t thread = (uint32_t)(location->id >> 32);
        const struct sg_summary *summary = summary_of(definer, (int)rank);
        uint32_t name;

        if (thread == 0)
            name = sg_definer_text(definer, "Master thread");
        else if (summary != NULL && summary->progress_thread == thread + 1)
            name = sg_definer_text(definer, "Progress thread");
        else
            name = sg_strings_addf(&definer->unified->strings, "Thread %u", thread);
        if (!definer->collecting)
            sg_definer_check(definer, OTF2_GlobalDefWriter_WriteLocation(
                                          definer->writer, location->id, name,
                                          OTF2_LOCATION_TYPE_CPU_THREAD, location->events, rank));
    }
}

/* ---- regions -------------------------------------------------------------------------------- */

static void define_region(struct sg_definer *definer, uint32_t ref, const char *name,
                          OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
    uint32_t text = sg_definer_text(definer, name);
    uint32_t none = sg_definer_text(definer, "");
    uint32_t file = sg_definer_text(definer, paradigm == OTF2_PARADIGM_MPI ? "MPI" : "stagger");

    if (!definer->collecting)
        sg_definer_check(
            definer, OTF2_GlobalDefWriter_WriteRegion(definer->writer, ref, text, text, none, role,
                                                      paradigm, OTF2_REGION_FLAG_NONE, file, 0, 0));
}

static void define_regions(struct sg_definer *definer)
{
    static const OTF2_RegionRole roles[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = OTF2_REGION_ROLE_BARRIER,
        [SG_OPERATION_REDUCE] = OTF2_REGION_ROLE_COLL_ALL2ONE,
        [SG_OPERATION_ALLREDUCE] = OTF2_REGION_ROLE_COLL_ALL2ALL,
    };

    /* By number: readers take other orders for damage. */
    for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++)
        define_region(definer, operation, sg_operation_regions[operation], roles[operation],
                      OTF2_PARADIGM_MPI);
    for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++)
        define_region(definer, SG_REGION_POSTS + operation, sg_operation_post_regions[operation],
                      roles[operation], OTF2_PARADIGM_MPI);
    define_region(definer, SG_REGION_INIT, "MPI_Init", OTF2_REGION_ROLE_FUNCTION,
                  OTF2_PARADIGM_MPI);
    define_region(definer, SG_REGION_FINALIZE, "MPI_Finalize", OTF2_REGION_ROLE_FUNCTION,
                  OTF2_PARADIGM_MPI);
    define_region(definer, SG_REGION_LATE, "late contribution", OTF2_REGION_ROLE_CODE,
                  OTF2_PARADIGM_USER);
}

/* ---- metrics, call sites, attributes -------------------------------------------------------- */

static void define_metrics(struct sg_definer *definer)
{
    static const struct {
        const char *name, *description, *unit;
    } metrics[SG_METRIC_COUNT] = {
        {"skew", "own arrival less the first arrival", "ns"},
        {"late messages", "messages handled after the call had returned", "#"},
        {"early messages", "messages there before the call", "#"},
        {"signals", "signals that brought something", "#"},
        {"bypass outstanding", "instances outstanding when the call returned", "#"},
        {"slot stalls", "times the call waited for a slot or a credit", "#"},
        {"copies", "times an operand or a result was copied", "#"},
        {"signals ignored", "signals that found progress under way", "#"},
        {"token moves", "times a token went down a level", "#"},
        {"releases repeated", "releases that came again", "#"},
    };
    OTF2_MetricMemberRef members[SG_METRIC_COUNT];

    for (uint32_t ref = 0; ref < SG_METRIC_COUNT; ref++) {
        uint32_t name = sg_definer_text(definer, metrics[ref].name);
        uint32_t description = sg_definer_text(definer, metrics[ref].description);
        uint32_t unit = sg_definer_text(definer, metrics[ref].unit);

        members[ref] = ref;
        if (!definer->collecting)
            sg_definer_check(definer, OTF2_GlobalDefWriter_WriteMetricMember(
                                          definer->writer, ref, name, description,
                                          OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
                                          OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit));
    }
    if (!definer->collecting)
        sg_definer_check(definer, OTF2_GlobalDefWriter_WriteMetricClass(
                                      definer->writer, 0, SG_METRIC_COUNT, members,
                                      OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
}

static void define_source_locations(struct sg_definer *definer)
{
    uint32_t ref = 0;

    for (uint32_t i = 0; i < definer->unified->site_count; i++) {
        const struct sg_site_definition *site = &definer->unified->sites[i];

        if (site->file != 0 && site->line != 0)
            sg_definer_check(definer, OTF2_GlobalDefWriter_WriteSourceCodeLocation(
                                          definer->writer, ref++, site->file, site->line));
    }
}

static void define_attributes(struct sg_definer *definer)
{
    static const struct {
        const char *name, *description;
        OTF2_Type type;
    } attributes[SG_ATTRIBUTE_COUNT] = {
        [SG_ATTRIBUTE_SITE] = {"call site", "where the call stands, and its id", OTF2_TYPE_STRING},
        [SG_ATTRIBUTE_ALGORITHM] = {"algorithm", "what ran the call", OTF2_TYPE_STRING},
        [SG_ATTRIBUTE_SEQ] = {"seq", "number of the instance on its communicator",
                              OTF2_TYPE_UINT64},
        [SG_ATTRIBUTE_BYTES] = {"bytes", "count times type size", OTF2_TYPE_UINT64},
        [SG_ATTRIBUTE_TRIAL] = {"trial", "left side of the trial that the call was in",
                                OTF2_TYPE_STRING},
        [SG_ATTRIBUTE_ARM] = {"arm", "the algorithm whose turn it was in the trial",
                              OTF2_TYPE_STRING},
        [SG_ATTRIBUTE_COMM] = {"communicator", "of the post, or of the call that it was late for",
                               OTF2_TYPE_COMM},
        [SG_ATTRIBUTE_OPERATION] = {"operation", "the call that it was late for", OTF2_TYPE_REGION},
        [SG_ATTRIBUTE_CHILD] = {"child", "rank in the communicator that it came from",
                                OTF2_TYPE_UINT64},
        [SG_ATTRIBUTE_AVOIDED] = {"wait avoided",
                                  "ns since the call returned, or the last one before it came",
                                  OTF2_TYPE_UINT64},
        [SG_ATTRIBUTE_EXPOSED] = {"exposed wait", "ns in waits and tests for the request",
                                  OTF2_TYPE_UINT64},
        [SG_ATTRIBUTE_HIDDEN] = {"hidden time", "ns in neither the post nor waits and tests",
                                 OTF2_TYPE_UINT64},
        [SG_ATTRIBUTE_TESTS] = {"tests", "waits and tests for the request", OTF2_TYPE_UINT64},
    };

    for (uint32_t ref = 0; ref < SG_ATTRIBUTE_COUNT; ref++) {
        uint32_t name = sg_definer_text(definer, attributes[ref].name);
        uint32_t description = sg_definer_text(definer, attributes[ref].description);

        if (!definer->collecting)
            sg_definer_check(definer, OTF2_GlobalDefWriter_WriteAttribute(definer->writer, ref,
                                                                          name, description,
                                                                          attributes[ref].type));
    }
}

static void define_tables(struct sg_definer *definer)
{
    define_paradigm(definer);
    define_system_tree(definer);
    define_location_groups(definer);
    define_locations(definer);
    define_regions(definer);
    sg_define_comms(definer);
    define_metrics(definer);
    if (!definer->collecting)
        define_source_locations(definer);
    define_attributes(definer);
}

static void set_number(struct sg_definer *definer, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    sg_definer_check(definer, OTF2_Archive_SetProperty(definer->archive->handle, name, text, true));
}

/* What stagger itself took, where any call was timed. */
static void set_unmanaged(struct sg_definer *definer)
{
    const struct sg_unified *unified = definer->unified;
    uint64_t calls = 0, posts = 0;

    for (int i = 0; i < unified->summary_count; i++) {
        calls += unified->summaries[i].unmanaged_calls;
        posts += unified->summaries[i].unmanaged_posts;
    }
    if (calls == 0)
        return;
    set_number(definer, "STAGGER::UNMANAGED", calls);
    set_number(definer, "STAGGER::UNMANAGED_POSTS", posts);
}

static void set_overhead(struct sg_definer *definer)
{
    const struct sg_unified *unified = definer->unified;
    uint64_t calls = 0, ns = 0, long_calls = 0;

    for (int i = 0; i < unified->summary_count; i++) {
        calls += unified->summaries[i].overhead_calls;
        ns += unified->summaries[i].overhead_ns;
        long_calls += unified->summaries[i].overhead_long_calls;
    }
    if (calls == 0)
        return;
    set_number(definer, "STAGGER::OVERHEAD_CALLS", calls);
    set_number(definer, "STAGGER::OVERHEAD_NS", ns);
    set_number(definer, "STAGGER::OVERHEAD_LONG_CALLS", long_calls);
}

/* All ranks have the same; a log that is damaged or missing may lack it. */
static void set_calibration(struct sg_definer *definer)
{
    const struct sg_unified *unified = definer->unified;
    char text[SG_CALIBRATION_BYTES];

    for (int i = 0; i < unified->summary_count; i++) {
        if (sg_calibration_is_empty(&unified->summaries[i].calibration))
            continue;
        sg_calibration_print(&unified->summaries[i].calibration, text);
        sg_definer_check(definer, OTF2_Archive_SetProperty(definer->archive->handle,
                                                           "STAGGER::CALIBRATION", text, true));
        return;
    }
}

static void set_properties(struct sg_definer *definer)
{
    const struct sg_unified *unified = definer->unified;
    OTF2_Archive *handle = definer->archive->handle;
    struct utsname system;

    sg_definer_check(definer, OTF2_Archive_SetCreator(handle, "stagger " SG_VERSION));
    sg_definer_check(definer, OTF2_Archive_SetMachineName(handle, machine_name(definer, &system)));
    sg_definer_check(definer, OTF2_Archive_SetDescription(handle, unified->summaries[0].program));
    sg_definer_check(definer, OTF2_Archive_SetProperty(handle, "STAGGER::PARTIAL",
                                                       unified->partial ? "1" : "0", true));
    set_number(definer, "STAGGER::DROPPED", unified->dropped);
    if (unified->trial_block > 0)
        set_number(definer, "STAGGER::TRIAL_BLOCK", unified->trial_block);
    set_unmanaged(definer);
    set_overhead(definer);
    set_calibration(definer);
}

/* The span of all events. */
static void find_span(const struct sg_location_record *locations, size_t count, uint64_t *begin_ns,
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
                                 const struct sg_location_record *locations, size_t count)
{
    struct sg_definer definer = {
        .archive = archive,
        .unified = unified,
        .collecting = true,
        .locations = locations,
        .location_count = count,
    };
    uint64_t begin_ns, end_ns;

    definer.writer = OTF2_Archive_GetGlobalDefWriter(archive->handle);
    if (!number_nodes(&definer) || definer.writer == NULL) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        goto done;
    }
    define_tables(&definer);
    if (unified->strings.failed) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        goto done;
    }
    definer.collecting = false;
    find_span(locations, count, &begin_ns, &end_ns);
    define_clock(&definer, begin_ns, end_ns);
    define_strings(&definer);
    define_tables(&definer);
    sg_definer_check(&definer, OTF2_Archive_CloseGlobalDefWriter(archive->handle, definer.writer));
    set_properties(&definer);
    sg_markers_write(archive, unified, begin_ns, end_ns);
done:
    free(definer.nodes);
}
