/* Writes archives of messages with known wait states:
 *
 *   make_messages known DIRECTORY          four ranks, a step a line of `known` below
 *   make_messages clocks DIRECTORY         likewise, a step a line of `clocks` below
 *   make_messages ring RANKS ROUNDS DIR    each rank sends to the next, 9 events a rank and round
 *   make_messages late RANKS ROUNDS DIR    rank 1 comes late to barriers, mostly because of another
 *   make_messages uncertain RANKS ROUNDS DIR   likewise; rank 1's clock may be off by 1000
 *   make_messages ahead RANKS ROUNDS DIR   likewise; it is ahead by 1000, which is not recorded
 *   make_messages exchange 2 ROUNDS DIR    blocking exchanges after each 1 ms of computation
 *   make_messages sends 2 ROUNDS DIR       likewise, in which both ranks send first
 *
 * A call site is its line in f of a.c. Times are ns.
 */
#include "report/otf2_parts.h"
#include "trace/export/vocabulary.h"

#include <string.h>

#define EPOCH_TICKS UINT64_C(1000000000)
#define KNOWN_RANKS 4
#define LINES 64
#define WORLD 0u
#define HALF 1u  /* ranks 2 and 0, in this order */
#define INTER 2u /* between these, and ranks 1 and 3 */

enum step_kind {
    ENTER,
    LEAVE,
    SEND,
    ISEND,
    SENT,
    POST,
    RECEIVE,
    RECEIVED,
    CANCELLED,
    COLLECTIVE,
    BEGIN_COLLECTIVE,
    END_COLLECTIVE,
    INTERVAL, /* between calls: ended now, took `request`, of which cpu `of`, runnable `line` */
};

/* Region names, by their references. */
static const char *const regions[] = {
    "MPI_Send",  "MPI_Recv",  "MPI_Isend",     "MPI_Irecv",  "MPI_Wait",
    "MPI_Ssend", "MPI_Bcast", "MPI_Ialltoall", "MPI_Gather", "MPI_Barrier",
};
enum region { Send, Recv, Isend, Irecv, Wait, Ssend, Bcast, Ialltoall, Gather, Barrier };
#define REGIONS (sizeof regions / sizeof *regions)

struct step {
    uint32_t rank;
    uint64_t time_ns;
    enum step_kind kind;
    uint32_t of;   /* region; peer in the communicator; OTF2_CollectiveOp */
    uint32_t line; /* of ENTER; else tag, or root */
    uint32_t comm;
    uint64_t request;
};

enum {
    EMPTY,
    WORLD_NAME,
    HALF_NAME,
    INTER_NAME,
    PLACE,
    SITE,
    INTERVAL_NAME,
    CPU_NAME,
    RUNNABLE_NAME,
    REGION_NAMES,
    SITES = REGION_NAMES + REGIONS
};

/* tests/report/messages.sh has the report that is expected. */
static const struct step known[] = {
    /* Late sender, 50: rank 1 in line 10 for rank 0 in line 20. */
    {1, 100, ENTER, Recv, 10},
    {0, 150, ENTER, Send, 20},
    {0, 150, SEND, 1, 7, WORLD},
    {0, 155, LEAVE, Send},
    {1, 160, RECEIVE, 0, 7, WORLD},
    {1, 160, LEAVE, Recv},
    /* Late receiver, 80: rank 0 in line 21 for rank 1 in line 11, and all within HALF's ranks: 2 is
     * its rank 0. */
    {2, 200, ENTER, Ssend, 21},
    {2, 200, SEND, 1, 7, HALF},
    {0, 280, ENTER, Recv, 11},
    {0, 290, RECEIVE, 0, 7, HALF},
    {0, 290, LEAVE, Recv},
    {2, 295, LEAVE, Ssend},
    /* Requests: rank 3 waits 40 in line 13, in wrong order, as rank 1's message was there. */
    {1, 300, ENTER, Isend, 22},
    {1, 300, ISEND, 3, 9, WORLD, 5},
    {1, 301, LEAVE, Isend},
    {1, 302, ENTER, Wait, 23},
    {1, 303, SENT, .request = 5},
    {1, 303, LEAVE, Wait},
    {3, 310, ENTER, Irecv, 12},
    {3, 310, POST, .request = 5},
    {3, 311, LEAVE, Irecv},
    {3, 312, ENTER, Irecv, 12},
    {3, 312, POST, .request = 6},
    {3, 313, LEAVE, Irecv},
    {3, 320, ENTER, Wait, 13},
    {0, 360, ENTER, Send, 20},
    {0, 360, SEND, 3, 8, WORLD},
    {0, 361, LEAVE, Send},
    {3, 370, RECEIVED, 0, 8, WORLD, 6},
    {3, 370, LEAVE, Wait},
    {3, 380, ENTER, Wait, 14},
    {3, 381, RECEIVED, 1, 9, WORLD, 5},
    {3, 381, LEAVE, Wait},
    /* Cancelled: in no message. */
    {2, 400, ENTER, Irecv, 12},
    {2, 400, POST, .request = 9},
    {2, 401, LEAVE, Irecv},
    {2, 402, ENTER, Wait, 13},
    {2, 403, CANCELLED, .request = 9},
    {2, 403, LEAVE, Wait},
    /* Late broadcast: ranks 0, 1, 2 wait 30, 20, 10 in line 15 for rank 3 in line 16. */
    {0, 500, ENTER, Bcast, 15},
    {1, 510, ENTER, Bcast, 15},
    {2, 520, ENTER, Bcast, 15},
    {3, 530, ENTER, Bcast, 16},
    {3, 540, COLLECTIVE, OTF2_COLLECTIVE_OP_BCAST, 3, WORLD},
    {3, 540, LEAVE, Bcast},
    {0, 550, COLLECTIVE, OTF2_COLLECTIVE_OP_BCAST, 3, WORLD},
    {0, 550, LEAVE, Bcast},
    {1, 550, COLLECTIVE, OTF2_COLLECTIVE_OP_BCAST, 3, WORLD},
    {1, 550, LEAVE, Bcast},
    {2, 550, COLLECTIVE, OTF2_COLLECTIVE_OP_BCAST, 3, WORLD},
    {2, 550, LEAVE, Bcast},
    /* Early reduce on HALF: its root 1 is rank 0, which waits 60 in line 17 for rank 2. */
    {0, 600, ENTER, Gather, 17},
    {2, 660, ENTER, Gather, 18},
    {2, 665, COLLECTIVE, OTF2_COLLECTIVE_OP_GATHER, 1, HALF},
    {2, 665, LEAVE, Gather},
    {0, 670, COLLECTIVE, OTF2_COLLECTIVE_OP_GATHER, 1, HALF},
    {0, 670, LEAVE, Gather},
    /* Nonblocking: rank 2 waits 25 in line 19 for rank 0, which begins in line 24. */
    {2, 700, ENTER, Ialltoall, 24},
    {2, 700, BEGIN_COLLECTIVE, .request = 11},
    {2, 701, LEAVE, Ialltoall},
    {2, 705, ENTER, Wait, 19},
    {0, 730, ENTER, Ialltoall, 24},
    {0, 730, BEGIN_COLLECTIVE, .request = 11},
    {0, 731, LEAVE, Ialltoall},
    {2, 740, END_COLLECTIVE, OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_COLLECTIVE_ROOT_NONE, HALF, 11},
    {2, 740, LEAVE, Wait},
    {0, 750, ENTER, Wait, 19},
    {0, 751, END_COLLECTIVE, OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_COLLECTIVE_ROOT_NONE, HALF, 11},
    {0, 751, LEAVE, Wait},
    /* A barrier that MPICH carried out: rank 0 waits 15 for rank 2. */
    {0, 800, ENTER, Barrier, 25},
    {2, 815, ENTER, Barrier, 25},
    {2, 820, COLLECTIVE, OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE, HALF},
    {2, 820, LEAVE, Barrier},
    {0, 820, COLLECTIVE, OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE, HALF},
    {0, 820, LEAVE, Barrier},
    /* Between groups: rank 3 waits 35 in line 27 for rank 2, which is the other's first. */
    {3, 850, ENTER, Recv, 27},
    {2, 885, ENTER, Send, 28},
    {2, 885, SEND, 1, 7, INTER},
    {2, 886, LEAVE, Send},
    {3, 890, RECEIVE, 0, 7, INTER},
    {3, 890, LEAVE, Recv},
    /* A message that is never received. */
    {0, 900, ENTER, Send, 26},
    {0, 900, SEND, 1, 7, WORLD},
    {0, 901, LEAVE, Send},
};

/* By the ranks' clocks the message is received before it is sent. */
static const struct step clocks[] = {
    {1, 100, ENTER, Recv, 10}, {1, 150, RECEIVE, 0, 7, WORLD}, {1, 150, LEAVE, Recv},
    {0, 200, ENTER, Send, 20}, {0, 200, SEND, 1, 7, WORLD},    {0, 205, LEAVE, Send},
};

struct steps {
    const struct step *items;
    size_t count;
};

#define FIGURES 3

static void put_interval(OTF2_EvtWriter *writer, uint64_t at, const struct step *step)
{
    const OTF2_Type types[FIGURES] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
    const OTF2_MetricValue values[FIGURES] = {
        {.unsigned_int = step->request}, {.unsigned_int = step->of}, {.unsigned_int = step->line}};

    CHECKED(OTF2_EvtWriter_Metric(writer, NULL, at, 0, FIGURES, types, values));
}

/* Offset and error of rank 1's clock. */
static uint64_t clock_ahead_ns;
static double clock_error_ns;

static void put_step(OTF2_EvtWriter *writer, OTF2_AttributeList *list, const struct step *step)
{
    uint64_t at = EPOCH_TICKS + step->time_ns + (step->rank == 1 ? clock_ahead_ns : 0);

    switch (step->kind) {
    case ENTER:
        CHECKED(OTF2_AttributeList_AddStringRef(list, 0, SITES + step->line));
        CHECKED(OTF2_EvtWriter_Enter(writer, list, at, step->of));
        break;
    case LEAVE:
        CHECKED(OTF2_EvtWriter_Leave(writer, NULL, at, step->of));
        break;
    case SEND:
        CHECKED(OTF2_EvtWriter_MpiSend(writer, NULL, at, step->of, step->comm, step->line, 8));
        break;
    case ISEND:
        CHECKED(OTF2_EvtWriter_MpiIsend(writer, NULL, at, step->of, step->comm, step->line, 8,
                                        step->request));
        break;
    case SENT:
        CHECKED(OTF2_EvtWriter_MpiIsendComplete(writer, NULL, at, step->request));
        break;
    case POST:
        CHECKED(OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, at, step->request));
        break;
    case RECEIVE:
        CHECKED(OTF2_EvtWriter_MpiRecv(writer, NULL, at, step->of, step->comm, step->line, 8));
        break;
    case RECEIVED:
        CHECKED(OTF2_EvtWriter_MpiIrecv(writer, NULL, at, step->of, step->comm, step->line, 8,
                                        step->request));
        break;
    case CANCELLED:
        CHECKED(OTF2_EvtWriter_MpiRequestCancelled(writer, NULL, at, step->request));
        break;
    case COLLECTIVE:
        CHECKED(OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, at, (OTF2_CollectiveOp)step->of,
                                                step->comm, step->line, 8, 8));
        break;
    case BEGIN_COLLECTIVE:
        CHECKED(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, NULL, at, step->request));
        break;
    case END_COLLECTIVE:
        CHECKED(OTF2_EvtWriter_NonBlockingCollectiveComplete(
            writer, NULL, at, (OTF2_CollectiveOp)step->of, step->comm, step->line, 8, 8,
            step->request));
        break;
    case INTERVAL:
        put_interval(writer, at, step);
        break;
    }
}

static uint64_t put_steps(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                          struct steps steps)
{
    uint64_t count = 0;

    for (size_t i = 0; i < steps.count; i++) {
        if (steps.items[i].rank != rank)
            continue;
        put_step(writer, list, &steps.items[i]);
        count++;
    }
    return count;
}

/* Rank r sends 10 r after rank 0. Rank 0 waits from 6 after its send until the last rank's. */
static uint64_t put_ring(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                         uint32_t ranks, uint64_t rounds)
{
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t begin_ns = round * 40 * ranks, send_ns = begin_ns + 20 + 10 * rank;
        uint64_t request = 2 * round;
        const struct step steps[] = {
            {rank, begin_ns + 10, ENTER, Irecv, 1},
            {rank, begin_ns + 10, POST, .request = request},
            {rank, begin_ns + 11, LEAVE, Irecv},
            {rank, send_ns, ENTER, Send, 2},
            {rank, send_ns, SEND, (rank + 1) % ranks, 7, WORLD},
            {rank, send_ns + 5, LEAVE, Send},
            {rank, send_ns + 6, ENTER, Wait, 3},
            {rank, begin_ns + 20 * ranks, RECEIVED, (rank + ranks - 1) % ranks, 7, WORLD, request},
            {rank, begin_ns + 20 * ranks, LEAVE, Wait},
        };

        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            put_step(writer, list, &steps[i]);
    }
    return 9 * rounds;
}

static void make_barrier(struct step *steps, uint32_t rank, uint64_t from_ns, uint64_t to_ns)
{
    steps[0] = (struct step){rank, from_ns, ENTER, Barrier, 4};
    steps[1] = (struct step){
        rank, to_ns, COLLECTIVE, OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE, WORLD};
    steps[2] = (struct step){rank, to_ns, LEAVE, Barrier};
}

#define LATE_ROUND_NS 370u

/* A round begins when all leave a barrier. One rank, in turn those behind rank 1, computes for 200,
 * sleeps for 100 and sends to rank 1 then (5), which has waited for it all the time. Rank 1 takes
 * 10 more to receive, is runnable for 50, and comes to the barrier 60 after the send, 55 after the
 * sender and 360 after the others. */
static uint64_t put_late(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                         uint32_t ranks, uint64_t rounds)
{
    uint64_t count = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t sender = 2 + (uint32_t)(round % (ranks - 2));
        uint64_t at = LATE_ROUND_NS * round, end_ns = at + LATE_ROUND_NS;
        struct step barrier[3];
        const struct step sends[] = {
            {rank, at + 300, INTERVAL, 200, 0, .request = 300},
            {rank, at + 300, ENTER, Send, 1},
            {rank, at + 300, SEND, 1, 7, WORLD},
            {rank, at + 305, LEAVE, Send},
        };
        const struct step receives[] = {
            {rank, at, ENTER, Recv, 2},
            {rank, at + 310, RECEIVE, sender, 7, WORLD},
            {rank, at + 310, LEAVE, Recv},
            {rank, at + 360, INTERVAL, 0, 50, .request = 50},
        };
        bool is_busy = rank == sender || rank == 1;
        const struct step *own = rank == sender ? sends : receives;

        for (size_t i = 0; is_busy && i < 4; i++, count++)
            put_step(writer, list, &own[i]);
        make_barrier(barrier, rank, rank == sender ? at + 305 : rank == 1 ? at + 360 : at, end_ns);
        for (size_t i = 0; i < 3; i++, count++)
            put_step(writer, list, &barrier[i]);
    }
    return count;
}

static void put_metrics(OTF2_GlobalDefWriter *global)
{
    static const OTF2_MetricMemberRef members[FIGURES] = {0, 1, 2};

    for (uint32_t i = 0; i < FIGURES; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteMetricMember(
            global, i, INTERVAL_NAME + i, EMPTY, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
            OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, EMPTY));
    CHECKED(OTF2_GlobalDefWriter_WriteMetricClass(
        global, 0, FIGURES, members, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_UNKNOWN));
}

static void put_strings(OTF2_GlobalDefWriter *global)
{
    static const char *const fixed[REGION_NAMES] = {
        "",          "MPI_COMM_WORLD",        "half", "inter",   "place",
        "call site", SG_METRIC_NAME_INTERVAL, "cpu",  "runnable"};

    for (uint32_t i = 0; i < REGION_NAMES; i++)
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, i, fixed[i]));
    for (uint32_t i = 0; i < REGIONS; i++) {
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, REGION_NAMES + i, regions[i]));
        CHECKED(OTF2_GlobalDefWriter_WriteRegion(
            global, i, REGION_NAMES + i, REGION_NAMES + i, EMPTY, OTF2_REGION_ROLE_POINT2POINT,
            OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, EMPTY, 0, 0));
    }
    for (uint32_t line = 0; line < LINES; line++) {
        char text[40];

        snprintf(text, sizeof text, "f (a.c:%u) [a+0x%x] #%08x", line, line, line);
        CHECKED(OTF2_GlobalDefWriter_WriteString(global, SITES + line, text));
    }
}

static void put_definitions(OTF2_Archive *archive, uint32_t ranks, const uint64_t *counts)
{
    OTF2_GlobalDefWriter *global = OTF2_Archive_GetGlobalDefWriter(archive);
    const uint64_t half[] = {2, 0}, others[] = {1, 3};

    CHECKED(OTF2_GlobalDefWriter_WriteClockProperties(global, UINT64_C(1000000000), EPOCH_TICKS,
                                                      UINT64_C(1000000000), 0));
    put_strings(global);
    otf2_put_processes(global, PLACE, PLACE, ranks, counts);
    otf2_put_world(global, ranks);
    otf2_put_group(global, 2, OTF2_GROUP_TYPE_COMM_GROUP, 2, half);
    otf2_put_comm(global, WORLD, WORLD_NAME, 1, OTF2_UNDEFINED_COMM);
    otf2_put_comm(global, HALF, HALF_NAME, 2, OTF2_UNDEFINED_COMM);
    otf2_put_group(global, 3, OTF2_GROUP_TYPE_COMM_GROUP, 2, others);
    CHECKED(OTF2_GlobalDefWriter_WriteInterComm(global, INTER, INTER_NAME, 2, 3, WORLD,
                                                OTF2_COMM_FLAG_NONE));
    put_metrics(global);
    CHECKED(OTF2_GlobalDefWriter_WriteAttribute(global, 0, SITE, EMPTY, OTF2_TYPE_STRING));
    CHECKED(OTF2_Archive_CloseGlobalDefWriter(archive, global));
}

static void put_clocks(OTF2_Archive *archive, uint32_t ranks)
{
    CHECKED(OTF2_Archive_OpenDefFiles(archive));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive, rank);

        CHECKED(OTF2_DefWriter_WriteClockOffset(writer, EPOCH_TICKS, 0,
                                                rank == 1 ? clock_error_ns : 0));
        CHECKED(OTF2_Archive_CloseDefWriter(archive, writer));
    }
    CHECKED(OTF2_Archive_CloseDefFiles(archive));
}

/* Events of a rank; their number. */
#define EXCHANGE_COMPUTE_NS 1000000u
#define EXCHANGE_NS 12008u

/* As MPI's messages of L = o = 2 us and half a ns for a byte have it. Rank 0 sends, is through
 * after 2000, and receives; the message is at rank 1 after 2000 + 2000 + 4, and handled 2000 later;
 * its own takes as long. Rank 1 is through 4004 before rank 0, and computes as long as that. */
static uint64_t put_exchange(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                             uint32_t ranks, uint64_t rounds)
{
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t at = (EXCHANGE_COMPUTE_NS + EXCHANGE_NS) * round;
        uint64_t early_ns = round > 0 ? at - 4004 : at;
        const struct step steps[2][6] = {
            {
                {0, at, ENTER, Send, 1},
                {0, at, SEND, 1, 7, WORLD},
                {0, at + 2000, LEAVE, Send},
                {0, at + 2000, ENTER, Recv, 2},
                {0, at + EXCHANGE_NS, RECEIVE, 1, 7, WORLD},
                {0, at + EXCHANGE_NS, LEAVE, Recv},
            },
            {
                {1, early_ns, ENTER, Recv, 3},
                {1, at + 6004, RECEIVE, 0, 7, WORLD},
                {1, at + 6004, LEAVE, Recv},
                {1, at + 6004, ENTER, Send, 4},
                {1, at + 6004, SEND, 0, 7, WORLD},
                {1, at + 8004, LEAVE, Send},
            },
        };

        for (size_t i = 0; rank < 2 && i < 6; i++)
            put_step(writer, list, &steps[rank][i]);
    }
    return rank < 2 ? 6 * rounds : 0;
}

/* Both ranks send first: that takes buffers. */
static uint64_t put_sends(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                          uint32_t ranks, uint64_t rounds)
{
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t at = 1000000 * round;
        const struct step steps[] = {
            {rank, at, ENTER, Send, 1, WORLD, 0},
            {rank, at, SEND, 1 - rank, 7, WORLD, 0},
            {rank, at + 2000, LEAVE, Send, 0, WORLD, 0},
            {rank, at + 2000, ENTER, Recv, 2, WORLD, 0},
            {rank, at + 8000, RECEIVE, 1 - rank, 7, WORLD, 0},
            {rank, at + 8000, LEAVE, Recv, 0, WORLD, 0},
        };

        for (size_t i = 0; rank < 2 && i < sizeof steps / sizeof *steps; i++)
            put_step(writer, list, &steps[i]);
    }
    return rank < 2 ? 6 * rounds : 0;
}

typedef uint64_t (*put_rounds)(OTF2_EvtWriter *writer, OTF2_AttributeList *list, uint32_t rank,
                               uint32_t ranks, uint64_t rounds);

/* put NULL: the steps. */
static void write_archive(uint32_t ranks, put_rounds put, uint64_t rounds, struct steps steps,
                          const char *directory)
{
    OTF2_Archive *archive = otf2_open(directory, 256 * 1024, 4 * 1024 * 1024);
    uint64_t *counts = calloc(ranks, sizeof *counts);
    OTF2_AttributeList *list = OTF2_AttributeList_New();

    if (counts == NULL || list == NULL)
        exit(1);
    CHECKED(OTF2_Archive_OpenEvtFiles(archive));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, rank);

        counts[rank] = put == NULL ? put_steps(writer, list, rank, steps)
                                   : put(writer, list, rank, ranks, rounds);
        CHECKED(OTF2_Archive_CloseEvtWriter(archive, writer));
    }
    CHECKED(OTF2_Archive_CloseEvtFiles(archive));
    if (clock_error_ns > 0)
        put_clocks(archive, ranks);
    put_definitions(archive, ranks, counts);
    CHECKED(OTF2_Archive_Close(archive));
    OTF2_AttributeList_Delete(list);
    free(counts);
}

static const struct {
    const char *name;
    struct steps steps;
    put_rounds put; /* NULL: the steps */
    uint32_t least_ranks;
    double clock_error_ns;
    uint64_t clock_ahead_ns;
} kinds[] = {
    {"known", {known, sizeof known / sizeof *known}, NULL, 0},
    {"clocks", {clocks, sizeof clocks / sizeof *clocks}, NULL, 0},
    {"ring", {0}, put_ring, 2},
    {"late", {0}, put_late, 3},
    {"uncertain", {0}, put_late, 3, .clock_error_ns = 1000},
    {"ahead", {0}, put_late, 3, .clock_ahead_ns = 1000},
    {"exchange", {0}, put_exchange, 2},
    {"sends", {0}, put_sends, 2},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        clock_error_ns = kinds[i].clock_error_ns;
        clock_ahead_ns = kinds[i].clock_ahead_ns;
        if (kinds[i].put == NULL && argc == 3) {
            write_archive(KNOWN_RANKS, NULL, 0, kinds[i].steps, argv[2]);
            return 0;
        }
        if (kinds[i].put != NULL && argc == 5 && atol(argv[2]) >= kinds[i].least_ranks &&
            atol(argv[3]) > 0) {
            write_archive((uint32_t)atol(argv[2]), kinds[i].put, (uint64_t)atol(argv[3]),
                          kinds[i].steps, argv[4]);
            return 0;
        }
    }
    fputs("usage: make_messages known|clocks DIRECTORY | ring|late|uncertain|ahead|exchange|sends "
          "RANKS ROUNDS DIRECTORY\n",
          stderr);
    return 2;
}
