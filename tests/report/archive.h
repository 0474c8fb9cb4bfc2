/* Writes OTF2 archives by hand, call by call, as docs/trace.md describes them or as another tool
 * would (no attributes). Functions are in the header because a unit test is one object file.
 *
 * Times are ns of the common clock; each rank's own clock shows less by its offset.
 */
#ifndef SG_TESTS_REPORT_ARCHIVE_H
#define SG_TESTS_REPORT_ARCHIVE_H

#include "core/text.h"
#include "report/otf2_parts.h"

#include <string.h>

#define ARCHIVE_RANKS_MAX 64
#define ARCHIVE_CALLS_MAX 128
#define ARCHIVE_EPOCH_TICKS UINT64_C(1000000000)
#define ARCHIVE_THREAD (UINT64_C(1) << 32)

enum archive_comm { ARCHIVE_WORLD, ARCHIVE_SELF, ARCHIVE_HALF, ARCHIVE_COMM_COUNT };

struct archive_call {
    int rank;
    bool thread; /* on the rank's second location */
    enum sg_operation operation;
    enum archive_comm comm;
    uint64_t seq;
    uint64_t begin_ns, end_ns;
    uint64_t bytes;
    uint32_t root;
    const char *site;
    const char *algorithm;
    uint64_t early, late, signals; /* written as a metric when one is not zero */
    bool nested;                   /* a late contribution is handled inside the call */
};

struct archive {
    int ranks;
    uint64_t ticks_per_ns;
    int64_t offset_ns[ARCHIVE_RANKS_MAX]; /* common clock minus own clock */
    double offset_error_ticks[ARCHIVE_RANKS_MAX];
    uint64_t init_ns[ARCHIVE_RANKS_MAX], finalize_ns[ARCHIVE_RANKS_MAX];
    bool machines; /* each rank is on one of its own */
    bool no_init, no_attributes, no_events;
    const char *partial, *dropped; /* properties; NULL: not written */
    const char *program;           /* the description */
    const char *calibration;       /* a property; NULL: not written */
    const char *more[4][2];        /* names and values of more properties */
    int half[ARCHIVE_RANKS_MAX];   /* world ranks of ARCHIVE_HALF, in its order */
    int half_size;
    int copies; /* further communicators of all ranks, ARCHIVE_COMM_COUNT and so on */
    struct archive_call calls[ARCHIVE_CALLS_MAX]; /* per location in order of time */
    int call_count;
    /* Repeats the calls, each time later and with higher numbers; 0: once. */
    uint64_t repeat, repeat_ns, repeat_seq;
};

enum { /* string references that never change; sites follow */
       STRING_EMPTY,
       STRING_WORLD,
       STRING_SELF,
       STRING_HALF,
       STRING_NODE,
       STRING_LOCATION,
       STRING_SITE,
       STRING_ALGORITHM,
       STRING_SEQ,
       STRING_BYTES,
       STRING_SKEW,
       STRING_LATE,
       STRING_EARLY,
       STRING_SIGNALS,
       STRING_REGIONS,
       STRING_SITES = STRING_REGIONS + 16,
       STRING_COPIES = STRING_SITES + 2 * ARCHIVE_CALLS_MAX,
};

enum { /* region references */
       REGION_BARRIER,
       REGION_REDUCE,
       REGION_ALLREDUCE,
       REGION_BCAST,
       REGION_INIT,
       REGION_FINALIZE,
       REGION_LATE,
       REGION_GATHER,
       REGION_COUNT,
};

static inline uint64_t archive_ticks(const struct archive *archive, int rank, uint64_t time_ns)
{
    return ARCHIVE_EPOCH_TICKS +
           (uint64_t)((int64_t)time_ns - archive->offset_ns[rank]) * archive->ticks_per_ns;
}

static inline uint32_t archive_string_of(const struct archive *archive, const char *text)
{
    for (int i = 0; i < archive->call_count; i++) {
        if (strcmp(archive->calls[i].site, text) == 0)
            return STRING_SITES + 2 * (uint32_t)i;
        if (strcmp(archive->calls[i].algorithm, text) == 0)
            return STRING_SITES + 2 * (uint32_t)i + 1;
    }
    return STRING_EMPTY;
}

static inline void archive_put_metric(OTF2_EvtWriter *writer, uint64_t ticks,
                                      const struct archive_call *call)
{
    const OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
                               OTF2_TYPE_UINT64};
    OTF2_MetricValue values[4] = {{.unsigned_int = 0}};

    values[1].unsigned_int = call->late;
    values[2].unsigned_int = call->early;
    values[3].unsigned_int = call->signals;
    CHECKED(OTF2_EvtWriter_Metric(writer, NULL, ticks, 0, 4, types, values));
}

static inline void archive_put_end(const struct archive *archive, OTF2_EvtWriter *writer,
                                   uint64_t ticks, const struct archive_call *call)
{
    static const OTF2_CollectiveOp ops[] = {OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_OP_REDUCE,
                                            OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_COLLECTIVE_OP_BCAST};
    uint64_t size = call->comm == ARCHIVE_SELF   ? 1
                    : call->comm == ARCHIVE_HALF ? (uint64_t)archive->half_size
                                                 : (uint64_t)archive->ranks;
    uint64_t sent = call->operation == SG_OPERATION_BARRIER     ? 0
                    : call->operation == SG_OPERATION_ALLREDUCE ? size * call->bytes
                    : call->operation == SG_OPERATION_BCAST
                        ? ((uint32_t)call->rank == call->root ? size * call->bytes : 0)
                        : call->bytes;
    uint32_t root = sg_operation_has_root(call->operation) ? call->root : OTF2_COLLECTIVE_ROOT_NONE;

    CHECKED(OTF2_EvtWriter_MpiCollectiveEnd(
        writer, NULL, ticks, ops[call->operation], (OTF2_CommRef)call->comm, root, sent,
        call->operation == SG_OPERATION_BCAST ? call->bytes : sent));
}

static inline uint64_t archive_put_call(const struct archive *archive, OTF2_EvtWriter *writer,
                                        OTF2_AttributeList *list, const struct archive_call *call)
{
    uint64_t begin = archive_ticks(archive, call->rank, call->begin_ns);
    uint64_t end = archive_ticks(archive, call->rank, call->end_ns);
    uint64_t count = 4;

    if (!archive->no_attributes) {
        CHECKED(OTF2_AttributeList_AddStringRef(list, 0, archive_string_of(archive, call->site)));
        CHECKED(
            OTF2_AttributeList_AddStringRef(list, 1, archive_string_of(archive, call->algorithm)));
        CHECKED(OTF2_AttributeList_AddUint64(list, 2, call->seq));
        CHECKED(OTF2_AttributeList_AddUint64(list, 3, call->bytes));
    }
    CHECKED(OTF2_EvtWriter_Enter(writer, list, begin, call->operation));
    CHECKED(OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, begin));
    if (call->nested) {
        CHECKED(OTF2_EvtWriter_Enter(writer, NULL, begin, REGION_LATE));
        CHECKED(OTF2_EvtWriter_Leave(writer, NULL, end, REGION_LATE));
        count += 2;
    }
    archive_put_end(archive, writer, end, call);
    if (call->early + call->late + call->signals > 0) {
        archive_put_metric(writer, end, call);
        count++;
    }
    CHECKED(OTF2_EvtWriter_Leave(writer, NULL, end, call->operation));
    return count;
}

/* Writes a collective that is none of stagger's, in a region of a role that reductions have too. */
static inline uint64_t archive_put_gather(const struct archive *archive, OTF2_EvtWriter *writer,
                                          int rank, uint64_t time_ns)
{
    uint64_t ticks = archive_ticks(archive, rank, time_ns);

    CHECKED(OTF2_EvtWriter_Enter(writer, NULL, ticks, REGION_GATHER));
    CHECKED(OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, ticks));
    CHECKED(OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, ticks, OTF2_COLLECTIVE_OP_GATHER,
                                            ARCHIVE_WORLD, 0, 8, 8));
    CHECKED(OTF2_EvtWriter_Leave(writer, NULL, ticks, REGION_GATHER));
    return 4;
}

static inline uint64_t archive_put_location(const struct archive *archive, OTF2_Archive *handle,
                                            int rank, bool thread)
{
    OTF2_EvtWriter *writer =
        OTF2_Archive_GetEvtWriter(handle, (uint64_t)rank + (thread ? ARCHIVE_THREAD : 0));
    OTF2_AttributeList *list = OTF2_AttributeList_New();
    uint64_t count = 0;

    if (!thread && !archive->no_init && !archive->no_events) {
        uint64_t ticks = archive_ticks(archive, rank, archive->init_ns[rank]);

        CHECKED(OTF2_EvtWriter_Enter(writer, NULL, ticks, REGION_INIT));
        CHECKED(OTF2_EvtWriter_Leave(writer, NULL, ticks, REGION_INIT));
        count += 2 + archive_put_gather(archive, writer, rank, archive->init_ns[rank]);
    }
    for (uint64_t round = 0; round == 0 || round < archive->repeat; round++) {
        for (int i = 0; i < archive->call_count && !archive->no_events; i++) {
            struct archive_call call = archive->calls[i];

            call.begin_ns += round * archive->repeat_ns;
            call.end_ns += round * archive->repeat_ns;
            call.seq += round * archive->repeat_seq;
            if (call.rank == rank && call.thread == thread)
                count += archive_put_call(archive, writer, list, &call);
        }
    }
    if (!thread && !archive->no_init && !archive->no_events) {
        uint64_t ticks = archive_ticks(archive, rank, archive->finalize_ns[rank]);

        CHECKED(OTF2_EvtWriter_Enter(writer, NULL, ticks, REGION_FINALIZE));
        CHECKED(OTF2_EvtWriter_Leave(writer, NULL, ticks, REGION_FINALIZE));
        count += 2;
    }
    OTF2_AttributeList_Delete(list);
    CHECKED(OTF2_Archive_CloseEvtWriter(handle, writer));
    return count;
}

static inline void archive_put_local_definitions(const struct archive *archive,
                                                 OTF2_Archive *handle, int rank, bool thread)
{
    OTF2_DefWriter *writer =
        OTF2_Archive_GetDefWriter(handle, (uint64_t)rank + (thread ? ARCHIVE_THREAD : 0));
    int64_t offset = archive->offset_ns[rank] * (int64_t)archive->ticks_per_ns;

    CHECKED(OTF2_DefWriter_WriteClockOffset(writer, ARCHIVE_EPOCH_TICKS / 2, offset,
                                            archive->offset_error_ticks[rank]));
    CHECKED(OTF2_DefWriter_WriteClockOffset(writer, ARCHIVE_EPOCH_TICKS * 2, offset,
                                            archive->offset_error_ticks[rank]));
    CHECKED(OTF2_Archive_CloseDefWriter(handle, writer));
}

static inline void archive_put_regions(OTF2_GlobalDefWriter *global)
{
    static const struct {
        const char *name;
        OTF2_RegionRole role;
        OTF2_Paradigm paradigm;
    } regions[REGION_COUNT] = {
        [REGION_BARRIER] = {"MPI_Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_MPI},
        [REGION_REDUCE] = {"MPI_Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_PARADIGM_MPI},
        [REGION_ALLREDUCE] = {"MPI_Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_PARADIGM_MPI},
        [REGION_BCAST] = {"MPI_Bcast", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_PARADIGM_MPI},
        [REGION_INIT] = {"MPI_Init", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI},
        [REGION_FINALIZE] = {"MPI_Finalize", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI},
        [REGION_LATE] = {"late contribution", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER},
        [REGION_GATHER] = {"MPI_Gather", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_PARADIGM_MPI},
    };

    for (uint32_t i = 0; i < REGION_COUNT; i++) {
        uint32_t name = STRING_REGIONS + i;

        CHECKED(OTF2_GlobalDefWriter_WriteString(global, name, regions[i].name));
        CHECKED(OTF2_GlobalDefWriter_WriteRegion(global, i, name, name, STRING_EMPTY,
                                                 regions[i].role, regions[i].paradigm,
                                                 OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0, 0));
    }
}

static inline void archive_put_comms(const struct archive *archive, OTF2_GlobalDefWriter *global)
{
    uint64_t ranks[ARCHIVE_RANKS_MAX];

    otf2_put_world(global, (uint32_t)archive->ranks);
    otf2_put_group(global, 2, OTF2_GROUP_TYPE_COMM_SELF, 0, NULL);
    for (int i = 0; i < archive->half_size; i++)
        ranks[i] = (uint64_t)archive->half[i];
    otf2_put_group(global, 3, OTF2_GROUP_TYPE_COMM_GROUP, (uint32_t)archive->half_size, ranks);
    for (uint32_t comm = 0; comm < ARCHIVE_COMM_COUNT; comm++)
        CHECKED(OTF2_GlobalDefWriter_WriteComm(global, comm, STRING_WORLD + comm, comm + 1,
                                               comm == ARCHIVE_HALF ? (OTF2_CommRef)ARCHIVE_WORLD
                                                                    : OTF2_UNDEFINED_COMM,
                                               OTF2_COMM_FLAG_NONE));
    for (uint32_t i = 0; i < (uint32_t)archive->copies; i++) {
        char name[32];

        snprintf(name, sizeof name, "copy-%u", i);
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, STRING_COPIES + i, name));
        CHECKED(OTF2_GlobalDefWriter_WriteComm(global, ARCHIVE_COMM_COUNT + i, STRING_COPIES + i, 1,
                                               OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
}

static inline void archive_put_strings(const struct archive *archive, OTF2_GlobalDefWriter *global)
{
    static const char *const fixed[STRING_REGIONS] = {
        [STRING_EMPTY] = "",
        [STRING_WORLD] = "MPI_COMM_WORLD",
        [STRING_SELF] = "MPI_COMM_SELF",
        [STRING_HALF] = "half",
        [STRING_NODE] = "node",
        [STRING_LOCATION] = "location",
        [STRING_SITE] = "call site",
        [STRING_ALGORITHM] = "algorithm",
        [STRING_SEQ] = "seq",
        [STRING_BYTES] = "bytes",
        [STRING_SKEW] = "skew",
        [STRING_LATE] = "late messages",
        [STRING_EARLY] = "early messages",
        [STRING_SIGNALS] = "signals",
    };

    for (uint32_t i = 0; i < STRING_REGIONS; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, i, fixed[i]));
    for (int i = 0; i < archive->call_count; i++) {
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, STRING_SITES + 2 * (uint32_t)i,
                                                 archive->calls[i].site));
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, STRING_SITES + 2 * (uint32_t)i + 1,
                                                 archive->calls[i].algorithm));
    }
}

static inline void archive_put_attributes(OTF2_GlobalDefWriter *global)
{
    const OTF2_MetricMemberRef members[] = {0, 1, 2, 3};

    CHECKED(OTF2_GlobalDefWriter_WriteAttribute(global, 0, STRING_SITE, STRING_EMPTY,
                                                OTF2_TYPE_STRING));
    CHECKED(OTF2_GlobalDefWriter_WriteAttribute(global, 1, STRING_ALGORITHM, STRING_EMPTY,
                                                OTF2_TYPE_STRING));
    CHECKED(
        OTF2_GlobalDefWriter_WriteAttribute(global, 2, STRING_SEQ, STRING_EMPTY, OTF2_TYPE_UINT64));
    CHECKED(OTF2_GlobalDefWriter_WriteAttribute(global, 3, STRING_BYTES, STRING_EMPTY,
                                                OTF2_TYPE_UINT64));
    for (uint32_t i = 0; i < 4; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteMetricMember(
            global, i, STRING_SKEW + i, STRING_EMPTY, OTF2_METRIC_TYPE_OTHER,
            OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, STRING_EMPTY));
    CHECKED(OTF2_GlobalDefWriter_WriteMetricClass(global, 0, 4, members, OTF2_METRIC_ASYNCHRONOUS,
                                                  OTF2_RECORDER_KIND_CPU));
}

static inline void archive_put_definitions(const struct archive *archive, OTF2_Archive *handle,
                                           const uint64_t *counts)
{
    OTF2_GlobalDefWriter *global = OTF2_Archive_GetGlobalDefWriter(handle);

    CHECKED(OTF2_GlobalDefWriter_WriteClockProperties(
        global, UINT64_C(1000000000) * archive->ticks_per_ns, ARCHIVE_EPOCH_TICKS,
        UINT64_C(10000000000), 0));
    archive_put_strings(archive, global);
    CHECKED(OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 0, STRING_NODE, STRING_NODE,
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t rank = 0; rank < (uint32_t)archive->ranks; rank++) {
        uint32_t node = archive->machines ? rank + 1 : 0;

        if (node > 0)
            CHECKED(OTF2_GlobalDefWriter_WriteSystemTreeNode(global, node, STRING_NODE, STRING_NODE,
                                                             0));
        CHECKED(OTF2_GlobalDefWriter_WriteLocationGroup(global, rank, STRING_LOCATION,
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
        for (int thread = 0; thread < 2; thread++)
            CHECKED(OTF2_GlobalDefWriter_WriteLocation(
                global, rank + (thread ? ARCHIVE_THREAD : 0), STRING_LOCATION,
                OTF2_LOCATION_TYPE_CPU_THREAD, counts[2 * rank + (uint32_t)thread], rank));
    }
    archive_put_regions(global);
    archive_put_comms(archive, global);
    archive_put_attributes(global);
    CHECKED(OTF2_Archive_CloseGlobalDefWriter(handle, global));
}

/* Writes DIRECTORY/traces.otf2 and the files that belong to it. */
static inline void archive_write(const struct archive *archive, const char *directory)
{
    OTF2_Archive *handle = otf2_open(directory, OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_MIN);
    uint64_t counts[2 * ARCHIVE_RANKS_MAX];

    CHECKED(OTF2_Archive_OpenEvtFiles(handle));
    for (int rank = 0; rank < archive->ranks; rank++) {
        for (int thread = 0; thread < 2; thread++)
            counts[2 * rank + thread] = archive_put_location(archive, handle, rank, thread != 0);
    }
    CHECKED(OTF2_Archive_CloseEvtFiles(handle));
    CHECKED(OTF2_Archive_OpenDefFiles(handle));
    for (int rank = 0; rank < archive->ranks; rank++) {
        for (int thread = 0; thread < 2; thread++)
            archive_put_local_definitions(archive, handle, rank, thread != 0);
    }
    CHECKED(OTF2_Archive_CloseDefFiles(handle));
    archive_put_definitions(archive, handle, counts);
    if (archive->partial != NULL)
        CHECKED(OTF2_Archive_SetProperty(handle, "STAGGER::PARTIAL", archive->partial, true));
    if (archive->dropped != NULL)
        CHECKED(OTF2_Archive_SetProperty(handle, "STAGGER::DROPPED", archive->dropped, true));
    if (archive->calibration != NULL)
        CHECKED(
            OTF2_Archive_SetProperty(handle, "STAGGER::CALIBRATION", archive->calibration, true));
    for (int i = 0; i < 4 && archive->more[i][0] != NULL; i++)
        CHECKED(OTF2_Archive_SetProperty(handle, archive->more[i][0], archive->more[i][1], true));
    if (archive->program != NULL)
        CHECKED(OTF2_Archive_SetDescription(handle, archive->program));
    CHECKED(OTF2_Archive_SetCreator(handle, archive->no_attributes ? "tool 1" : "stagger 1"));
    CHECKED(OTF2_Archive_Close(handle));
}

#endif
