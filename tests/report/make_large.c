/* make_large RANKS ROUNDS SITES DIRECTORY: writes a large archive. Each round is one collective
 * of all ranks at one of the call sites in turn: 4 events a rank. Operations take turns by site.
 *
 * Round r lies at r times 100 us. A rank arrives 1 to 10 us into it, at random; at every seventh
 * site rank (site mod RANKS) comes another 40 us later. All leave 2 us after the last has
 * arrived; in a reduce the ranks other than the root (0) leave 1 us after they came.
 */
#include "core/hash.h"
#include "core/text.h"
#include "report/otf2_parts.h"

#include <inttypes.h>
#include <sys/resource.h>

#define EPOCH_TICKS UINT64_C(1000000000)
#define ROUND_NS UINT64_C(100000)
#define LEAVE_NS UINT64_C(2000)
#define ALONE_NS UINT64_C(1000)
#define LATE_NS UINT64_C(40000)
#define LATE_SITES 7

enum { STRING_EMPTY, STRING_WORLD, STRING_NODE, STRING_LOCATION, STRING_ATTRIBUTES };
enum { STRING_REGIONS = STRING_ATTRIBUTES + 4, STRING_ALGORITHM = STRING_REGIONS + 5 };
enum { STRING_SITES = STRING_ALGORITHM + 1, REGION_INIT = 3, REGION_FINALIZE = 4 };

static uint32_t ranks, sites;
static uint64_t rounds;

static uint32_t site_of(uint64_t round)
{
    return (uint32_t)(round % sites);
}

static uint64_t arrival_ns(uint64_t round, uint32_t rank)
{
    uint32_t site = site_of(round);
    uint64_t at_ns = ROUND_NS * (round + 1) + 1000 + sg_hash_mix(round * ranks + rank) % 9000;

    return at_ns + (site % LATE_SITES == 0 && rank == site % ranks ? LATE_NS : 0);
}

static void put_call(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                     uint64_t round, uint64_t last_ns)
{
    static const OTF2_CollectiveOp ops[] = {OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_OP_REDUCE,
                                            OTF2_COLLECTIVE_OP_ALLREDUCE};
    uint32_t operation = site_of(round) % (sizeof ops / sizeof *ops);
    bool reduce = operation == SG_OPERATION_REDUCE;
    uint64_t begin_ns = arrival_ns(round, rank);
    uint64_t end_ns = reduce && rank != 0 ? begin_ns + ALONE_NS : last_ns + LEAVE_NS;
    uint64_t bytes = operation == SG_OPERATION_BARRIER ? 0 : UINT64_C(8) << site_of(round) % 16;

    CHECKED(OTF2_AttributeList_AddStringRef(list, 0, STRING_SITES + site_of(round)));
    CHECKED(OTF2_AttributeList_AddStringRef(list, 1, STRING_ALGORITHM));
    CHECKED(OTF2_AttributeList_AddUint64(list, 2, round));
    CHECKED(OTF2_AttributeList_AddUint64(list, 3, bytes));
    CHECKED(OTF2_EvtWriter_Enter(writer, list, EPOCH_TICKS + begin_ns, operation));
    CHECKED(OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, EPOCH_TICKS + begin_ns));
    CHECKED(OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, EPOCH_TICKS + end_ns, ops[operation], 0,
                                            reduce ? 0 : OTF2_COLLECTIVE_ROOT_NONE, bytes, bytes));
    CHECKED(OTF2_EvtWriter_Leave(writer, NULL, EPOCH_TICKS + end_ns, operation));
}

static void put_location(OTF2_Archive *archive, uint32_t rank, const uint64_t *last_ns)
{
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, rank);
    OTF2_AttributeList *list = OTF2_AttributeList_New();
    uint64_t end = EPOCH_TICKS + ROUND_NS * (rounds + 2);

    CHECKED(OTF2_EvtWriter_Enter(writer, NULL, EPOCH_TICKS, REGION_INIT));
    CHECKED(OTF2_EvtWriter_Leave(writer, NULL, EPOCH_TICKS, REGION_INIT));
    for (uint64_t round = 0; round < rounds; round++)
        put_call(writer, list, rank, round, last_ns[round]);
    CHECKED(OTF2_EvtWriter_Enter(writer, NULL, end, REGION_FINALIZE));
    CHECKED(OTF2_EvtWriter_Leave(writer, NULL, end, REGION_FINALIZE));
    OTF2_AttributeList_Delete(list);
    CHECKED(OTF2_Archive_CloseEvtWriter(archive, writer));
}

static void put_strings(OTF2_GlobalDefWriter *global)
{
    static const char *const fixed[STRING_SITES] = {"",
                                                    "MPI_COMM_WORLD",
                                                    "node",
                                                    "Master thread",
                                                    "call site",
                                                    "algorithm",
                                                    "seq",
                                                    "bytes",
                                                    "MPI_Barrier",
                                                    "MPI_Reduce",
                                                    "MPI_Allreduce",
                                                    "MPI_Init",
                                                    "MPI_Finalize",
                                                    "mpich"};

    for (uint32_t i = 0; i < STRING_SITES; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, i, fixed[i]));
    for (uint32_t i = 0; i < sites; i++) {
        char text[120];

        snprintf(text, sizeof text,
                 "step_%" PRIu32 " (/home/user/src/part_%" PRIu32 ".c:%" PRIu32
                 ") [large+0x%" PRIx32 "] #%08" PRIx32,
                 i, i / 10, 10 + i % 1000, 0x1000 + 16 * i, i + 1);
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, STRING_SITES + i, text));
    }
}

static void put_regions(OTF2_GlobalDefWriter *global)
{
    static const OTF2_RegionRole roles[] = {OTF2_REGION_ROLE_BARRIER, OTF2_REGION_ROLE_COLL_ALL2ONE,
                                            OTF2_REGION_ROLE_COLL_ALL2ALL,
                                            OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_ROLE_FUNCTION};

    for (uint32_t i = 0; i < sizeof roles / sizeof *roles; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteRegion(global, i, STRING_REGIONS + i, STRING_REGIONS + i,
                                                 STRING_EMPTY, roles[i], OTF2_PARADIGM_MPI,
                                                 OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0, 0));
}

static void put_definitions(OTF2_Archive *archive)
{
    static const OTF2_Type types[] = {OTF2_TYPE_STRING, OTF2_TYPE_STRING, OTF2_TYPE_UINT64,
                                      OTF2_TYPE_UINT64};
    OTF2_GlobalDefWriter *global = OTF2_Archive_GetGlobalDefWriter(archive);
    uint64_t *counts = calloc(ranks, sizeof *counts);

    CHECKED(OTF2_GlobalDefWriter_WriteClockProperties(global, UINT64_C(1000000000), EPOCH_TICKS,
                                                      ROUND_NS * (rounds + 3), 0));
    put_strings(global);
    for (uint32_t rank = 0; rank < ranks; rank++)
        counts[rank] = 4 * rounds + 4;
    otf2_put_processes(global, STRING_NODE, STRING_LOCATION, ranks, counts);
    put_regions(global);
    otf2_put_world(global, ranks);
    otf2_put_comm(global, 0, STRING_WORLD, 1, OTF2_UNDEFINED_COMM);
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteAttribute(global, i, STRING_ATTRIBUTES + i, STRING_EMPTY,
                                                    types[i]));
    CHECKED(OTF2_Archive_CloseGlobalDefWriter(archive, global));
    free(counts);
}

static void put_local_definitions(OTF2_Archive *archive, uint32_t rank)
{
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive, rank);

    CHECKED(OTF2_DefWriter_WriteClockOffset(writer, EPOCH_TICKS, 0, 100 + rank % 50));
    CHECKED(OTF2_DefWriter_WriteClockOffset(writer, EPOCH_TICKS + ROUND_NS * (rounds + 2), 0,
                                            100 + rank % 50));
    CHECKED(OTF2_Archive_CloseDefWriter(archive, writer));
}

static void write_archive(const char *directory)
{
    OTF2_Archive *archive = otf2_open(directory, 256 * 1024, 4 * 1024 * 1024);
    uint64_t *last_ns = calloc(rounds, sizeof *last_ns);

    if (last_ns == NULL)
        exit(1);
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint64_t at_ns = arrival_ns(round, rank);

            last_ns[round] = at_ns > last_ns[round] ? at_ns : last_ns[round];
        }
    }
    CHECKED(OTF2_Archive_OpenEvtFiles(archive));
    for (uint32_t rank = 0; rank < ranks; rank++)
        put_location(archive, rank, last_ns);
    CHECKED(OTF2_Archive_CloseEvtFiles(archive));
    CHECKED(OTF2_Archive_OpenDefFiles(archive));
    for (uint32_t rank = 0; rank < ranks; rank++)
        put_local_definitions(archive, rank);
    CHECKED(OTF2_Archive_CloseDefFiles(archive));
    put_definitions(archive);
    CHECKED(OTF2_Archive_SetDescription(archive, "large"));
    CHECKED(OTF2_Archive_SetCreator(archive, "stagger 1"));
    CHECKED(OTF2_Archive_Close(archive));
    free(last_ns);
}

int main(int argc, char **argv)
{
    struct rlimit limit;

    if (argc != 5 || (ranks = (uint32_t)atol(argv[1])) == 0 ||
        (rounds = (uint64_t)atol(argv[2])) == 0 || (sites = (uint32_t)atol(argv[3])) == 0) {
        fprintf(stderr, "usage: make_large RANKS ROUNDS SITES DIRECTORY\n");
        return 2;
    }
    /* Every location is an open file. */
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    write_archive(argv[4]);
    return 0;
}
