#include "trace/export/vocabulary.h"

#include <ctype.h>
#include <fnmatch.h>
#include <otf2/otf2.h>
#include <stddef.h>
#include <string.h>

const struct sg_attribute_definition sg_attributes[SG_ATTRIBUTE_COUNT] = {
    [SG_ATTRIBUTE_SITE] = {"call site", "location of the call, and its id", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_ALGORITHM] = {"algorithm", "algorithm that ran the call", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_SEQ] = {"seq", "number of the instance on its communicator", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_BYTES] = {"bytes", "count times type size", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_TRIAL] = {"trial", "left side of the call's trial", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_ARM] = {"arm", "candidate of the trial that the block used", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_COMM] = {"communicator",
                           "of the nonblocking call, the call that the message was late for, the "
                           "sampled interval, the neighborhood collective, the call on a file or "
                           "that makes communicators, or the slice",
                           OTF2_TYPE_COMM},
    [SG_ATTRIBUTE_OPERATION] = {"operation", "call that the message was late for",
                                OTF2_TYPE_REGION},
    [SG_ATTRIBUTE_CHILD] = {"child", "sender's rank in the communicator", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_AVOIDED] =
        {"wait avoided",
         "ns between the return of the call, or of the latest call, and the message",
         OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_BY_SIGNAL] = {"by signal", "1: handled in a signal handler", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_EXPOSED] = {"exposed wait", "ns in waits and tests for the request",
                              OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_HIDDEN] = {"hidden time", "ns outside the starting call, waits and tests",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_TESTS] = {"tests", "waits and tests for the request", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_LEFT] = {"left", "call site of the call before the interval", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_ENTERED] = {"entered", "call site of the call after the interval",
                              OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_STRETCH] =
        {"stretch", "number, on the communicator, of the collective that the interval follows",
         OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_BOUNDS] = {"bounds", "1: first interval after its collective, 2: last, 3: both",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_GAP] = {"gap",
                          "unrecorded messages of the same communicator, ranks and tag between "
                          "this message and the preceding recorded one",
                          OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_EAGER] = {"eager", "1: the send was complete when its call returned",
                            OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_POLLED] = {"polled", "ns before the call for which the thread had tested in vain",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_NUMBER] = {"number",
                             "number of the collective on its communicator, equal on all members",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_SOURCES] = {"sources", "ranks whose data the collective receives",
                              OTF2_TYPE_GROUP},
    [SG_ATTRIBUTE_SLICE] = {"slice", "number of the slice, from MPI_Init", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_NODE] = {"node", "node of the slice, as numbered in the job", OTF2_TYPE_UINT64},
};

const char *const sg_parameters[SG_PARAMETER_COUNT] = {
    [SG_PARAMETER_BEGUN] = "collective begun",
    [SG_PARAMETER_COMPLETE] = "collective complete",
};

const struct sg_metric_definition sg_metrics[SG_METRIC_COUNT] = {
    [SG_METRIC_SKEW] = {"skew", "own arrival minus the first arrival", "ns"},
    [SG_METRIC_LATE] = {"late messages", "messages handled after the call had returned", "#"},
    [SG_METRIC_EARLY] = {"early messages", "messages that arrived before the call", "#"},
    [SG_METRIC_SIGNALS] = {"signals", "signals that made progress", "#"},
    [SG_METRIC_OUTSTANDING] = {"bypass outstanding", "instances outstanding when the call returned",
                               "#"},
    [SG_METRIC_STALLS] = {"slot stalls", "times the call waited for a slot or a credit", "#"},
    [SG_METRIC_COPIES] = {"copies", "times an operand or a result was copied", "#"},
    [SG_METRIC_IGNORED] = {"signals ignored", "signals that arrived during progress", "#"},
    [SG_METRIC_MOVES] = {"token moves", "times a token went down a level", "#"},
    [SG_METRIC_REPEATS] = {"releases repeated", "releases that arrived again", "#"},
};

#define FIELD(name) offsetof(struct sg_run_waiting, name)
const struct sg_wait_text sg_wait_texts[2] = {
    {"STAGGER::WAIT_HOOK", FIELD(hook), SG_WAIT_HOOK_BYTES},
    {"STAGGER::WAIT_HOST", FIELD(host), SG_WAIT_HOST_BYTES},
};
const struct sg_wait_number sg_wait_numbers[11] = {
    {"STAGGER::WAIT_TOLD", FIELD(told)},
    {"STAGGER::WAIT_RANKS", FIELD(ranks)},
    {"STAGGER::WAIT_PROCESSORS", FIELD(processors)},
    {"STAGGER::WAIT_QUOTA", FIELD(quota)},
    {"STAGGER::WAIT_SHORT_RANKS", FIELD(short_ranks)},
    {"STAGGER::WAIT_APART_RANKS", FIELD(apart_ranks)},
    {"STAGGER::WAIT_SPINNING_THREADS", FIELD(spinning_threads)},
    {"STAGGER::YIELDS", FIELD(yields)},
    {"STAGGER::YIELD_NS", FIELD(yield_ns)},
    {"STAGGER::SLEEPS", FIELD(sleeps)},
    {"STAGGER::SLEEP_NS", FIELD(sleep_ns)},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define NEIGHBORHOOD UINT8_MAX /* OTF2 has no such operation */

static const struct {
    const char *name; /* blocking form, without MPI_ */
    uint8_t role;
    uint8_t collective_op;
} collectives[] = {
    {"Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_COLLECTIVE_OP_BARRIER},
    {"Bcast", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_BCAST},
    {"Gather", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHER},
    {"Gatherv", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHERV},
    {"Scatter", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTER},
    {"Scatterv", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTERV},
    {"Allgather", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHER},
    {"Allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"Alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALL},
    {"Alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"Alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_REDUCE},
    {"Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"Reduce_scatter", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"Reduce_scatter_block", OTF2_REGION_ROLE_COLL_ALL2ALL,
     OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"Scan", OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_SCAN},
    {"Exscan", OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_EXSCAN},
    {"Neighbor_allgather", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_allgatherv", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_alltoall", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_alltoallv", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_alltoallw", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
};

/* Roles by prefix of the name, without MPI_; the first match holds. Functions that only handle
 * requests or communicators have the role FUNCTION. */
static const struct {
    const char *begin;
    uint8_t role;
} roles[] = {
    {"File_read", OTF2_REGION_ROLE_FILE_IO},
    {"File_write", OTF2_REGION_ROLE_FILE_IO},
    {"File_iread", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite", OTF2_REGION_ROLE_FILE_IO},
    {"File_sync", OTF2_REGION_ROLE_FILE_IO},
    {"File_", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"Win_", OTF2_REGION_ROLE_RMA},
    {"Get", OTF2_REGION_ROLE_RMA},
    {"Put", OTF2_REGION_ROLE_RMA},
    {"Rget", OTF2_REGION_ROLE_RMA},
    {"Rput", OTF2_REGION_ROLE_RMA},
    {"Accumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Raccumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Fetch_and_op", OTF2_REGION_ROLE_ATOMIC},
    {"Compare_and_swap", OTF2_REGION_ROLE_ATOMIC},
    {"Wait", OTF2_REGION_ROLE_FUNCTION},
    {"Test", OTF2_REGION_ROLE_FUNCTION},
    {"Request_", OTF2_REGION_ROLE_FUNCTION},
    {"Cancel", OTF2_REGION_ROLE_FUNCTION},
    {"Comm_", OTF2_REGION_ROLE_FUNCTION},
    {"Intercomm_", OTF2_REGION_ROLE_FUNCTION},
    {"Cart_", OTF2_REGION_ROLE_FUNCTION},
    {"Graph_", OTF2_REGION_ROLE_FUNCTION},
    {"Dist_graph_", OTF2_REGION_ROLE_FUNCTION},
};

static bool is_nonblocking_form(const char *name, const char *blocking)
{
    return name[0] == 'I' && name[1] == tolower((unsigned char)blocking[0]) &&
           strcmp(name + 2, blocking + 1) == 0;
}

static bool is_persistent_form(const char *name, const char *blocking)
{
    size_t length = strlen(blocking);

    return strncmp(name, blocking, length) == 0 && strcmp(name + length, "_init") == 0;
}

/* False: the function is not a form of a collective. */
static bool find_collective(const char *name, struct sg_mpi_region *out)
{
    for (size_t i = 0; i < COUNT_OF(collectives); i++) {
        bool is_blocking = strcmp(name, collectives[i].name) == 0;
        bool is_nonblocking = is_nonblocking_form(name, collectives[i].name);
        bool is_persistent = is_persistent_form(name, collectives[i].name);
        uint8_t role = collectives[i].role;

        if (is_blocking || is_nonblocking || is_persistent) {
            *out = (struct sg_mpi_region){
                .role = is_persistent ? OTF2_REGION_ROLE_COLL_OTHER : role,
                .is_collective = !is_persistent,
                .is_nonblocking = is_nonblocking,
                .is_persistent = is_persistent,
                .is_rooted =
                    role == OTF2_REGION_ROLE_COLL_ONE2ALL || role == OTF2_REGION_ROLE_COLL_ALL2ONE,
                .without = collectives[i].collective_op == NEIGHBORHOOD ? SG_WITHOUT_NEIGHBORHOOD
                                                                        : SG_WITHOUT_NONE,
                .collective_op = collectives[i].collective_op};
            return true;
        }
    }
    return false;
}

/* Patterns of calls that all members of a communicator make. */
static const struct {
    const char *pattern; /* without MPI_ */
    uint8_t without;
} members_calls[] = {
    {"File_*_all", SG_WITHOUT_FILE},         {"File_*_all_*", SG_WITHOUT_FILE},
    {"File_*_ordered*", SG_WITHOUT_FILE},    {"File_set_*", SG_WITHOUT_FILE},
    {"File_open", SG_WITHOUT_FILE},          {"File_close", SG_WITHOUT_FILE},
    {"File_preallocate", SG_WITHOUT_FILE},   {"File_seek_shared", SG_WITHOUT_FILE},
    {"File_sync", SG_WITHOUT_FILE},          {"Comm_create", SG_WITHOUT_COMM},
    {"Comm_create_group", SG_WITHOUT_COMM},  {"Comm_dup", SG_WITHOUT_COMM},
    {"Comm_dup_with_info", SG_WITHOUT_COMM}, {"Comm_idup*", SG_WITHOUT_COMM},
    {"Comm_split", SG_WITHOUT_COMM},         {"Comm_split_type", SG_WITHOUT_COMM},
    {"Intercomm_create", SG_WITHOUT_COMM},   {"Intercomm_merge", SG_WITHOUT_COMM},
    {"Comm_accept", SG_WITHOUT_COMM},        {"Comm_connect", SG_WITHOUT_COMM},
    {"Comm_spawn", SG_WITHOUT_COMM},         {"Comm_spawn_multiple", SG_WITHOUT_COMM},
    {"Cart_create", SG_WITHOUT_COMM},        {"Cart_sub", SG_WITHOUT_COMM},
    {"Dist_graph_create", SG_WITHOUT_COMM},  {"Dist_graph_create_adjacent", SG_WITHOUT_COMM},
    {"Graph_create", SG_WITHOUT_COMM},
};

static uint8_t without_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(members_calls); i++) {
        if (fnmatch(members_calls[i].pattern, name, 0) == 0)
            return members_calls[i].without;
    }
    return SG_WITHOUT_NONE;
}

struct sg_mpi_region sg_mpi_region_of(const char *name)
{
    struct sg_mpi_region region = {.role = OTF2_REGION_ROLE_FUNCTION};

    if (strncmp(name, "MPI_", 4) != 0)
        return region;
    name += 4;
    if (find_collective(name, &region))
        return region;
    region.role = OTF2_REGION_ROLE_POINT2POINT;
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if (strncmp(name, roles[i].begin, strlen(roles[i].begin)) == 0) {
            region.role = roles[i].role;
            break;
        }
    }
    region.without = without_of(name);
    region.is_collective = region.without != SG_WITHOUT_NONE;
    region.is_of_made =
        strcmp(name, "Comm_create_group") == 0 || strcmp(name, "Intercomm_create") == 0;
    region.is_nonblocking = region.is_collective &&
                            (strncmp(name, "File_i", 6) == 0 || strncmp(name, "Comm_i", 6) == 0);
    return region;
}

static const struct {
    const char *name; /* without MPI_ */
    enum sg_rma rma;
} functions[] = {
    {"Put", SG_RMA_PUT},
    {"Rput", SG_RMA_PUT},
    {"Get", SG_RMA_GET},
    {"Rget", SG_RMA_GET},
    {"Accumulate", SG_RMA_ACCUMULATE},
    {"Raccumulate", SG_RMA_ACCUMULATE},
    {"Get_accumulate", SG_RMA_FETCH},
    {"Rget_accumulate", SG_RMA_FETCH},
    {"Fetch_and_op", SG_RMA_FETCH},
    {"Compare_and_swap", SG_RMA_COMPARE},
    {"Win_create", SG_RMA_MAKE},
    {"Win_create_dynamic", SG_RMA_MAKE},
    {"Win_allocate", SG_RMA_MAKE},
    {"Win_allocate_shared", SG_RMA_MAKE},
    {"Win_free", SG_RMA_FREE},
    {"Win_fence", SG_RMA_FENCE},
    {"Win_post", SG_RMA_POST},
    {"Win_start", SG_RMA_START},
    {"Win_complete", SG_RMA_COMPLETE},
    {"Win_wait", SG_RMA_WAIT},
    {"Win_test", SG_RMA_WAIT},
    {"Win_lock", SG_RMA_LOCK},
    {"Win_lock_all", SG_RMA_LOCK_ALL},
    {"Win_unlock", SG_RMA_UNLOCK},
    {"Win_unlock_all", SG_RMA_UNLOCK_ALL},
    {"Win_flush", SG_RMA_FLUSH},
    {"Win_flush_all", SG_RMA_FLUSH_ALL},
    {"Win_flush_local", SG_RMA_FLUSH_LOCAL},
    {"Win_flush_local_all", SG_RMA_FLUSH_LOCAL_ALL},
};

enum sg_rma sg_rma_of(const char *name)
{
    if (strncmp(name, "MPI_", 4) != 0)
        return SG_RMA_NONE;
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        if (strcmp(name + 4, functions[i].name) == 0)
            return functions[i].rma;
    }
    return SG_RMA_NONE;
}
