/* Tests intercommunicators in the archive, on logs made by hand: both groups agree on one, and
 * contradictory or unknown data is left out and counted. */
#include "core/text.h"
#include "trace/export_setup.h"

enum { SEND = 3, RECV, BCAST };
enum { WORLD = 1, SELF, BETWEEN };
#define RANKS 3

/* Ranks 2, 0 and rank 1. */
static const uint32_t groups[RANKS] = {2, 0, 1};

enum fault { NONE, OTHER_SIZE, OTHER_RANK, TWICE, BEYOND, UNTOLD, OUTSIDE, FAULTS };

static void add_between(struct fabricated *log, int rank, enum fault fault)
{
    uint32_t own_size = rank == 1 ? 1 : 2, members[RANKS + 1];

    for (uint32_t i = 0; i < RANKS; i++)
        members[i] = groups[rank == 1 ? (i + 2) % RANKS : i];
    if (fault == TWICE)
        members[1] = members[0];
    if (fault == BEYOND)
        members[2] = RANKS;
    members[RANKS] = 0;
    /* Its own size is there in two parts: the text's members are those of both groups. */
    struct sg_record_profile_comm *comm =
        fabricate_profile_comm(log, BETWEEN, fault == OUTSIDE ? 0 : 99, 0, RANKS, 0, "between",
                               rank == 0 || fault == UNTOLD ? NULL : members);
    comm->is_inter = 1;
    comm->size = own_size;
    comm->peers = RANKS - own_size;
    comm->rank = rank == 0 ? 1 : 0;
    if (rank == 0 && fault == OTHER_SIZE) {
        comm->size = 1;
        comm->peers = 2;
        comm->rank = 0;
    }
    if (rank == 0 && fault == OTHER_RANK)
        comm->rank = 0;
}

/* Rank 0 sends to rank 1; then rank 2 broadcasts to it. */
static void add_log(const char *directory, int rank, enum fault fault)
{
    static const int roots[RANKS] = {-1, 0, SG_EVENT_ROOT_HERE};
    struct fabricated log;
    uint32_t members[RANKS] = {0, 1, 2};

    fabricate_start(&log, rank, RANKS);
    fabricate_function(&log, SEND, "MPI_Send");
    fabricate_function(&log, RECV, "MPI_Recv");
    fabricate_function(&log, BCAST, "MPI_Bcast");
    fabricate_profile_comm(&log, WORLD, 77, 0, RANKS, (uint32_t)rank, "MPI_COMM_WORLD",
                           rank == 0 ? members : NULL);
    add_between(&log, rank, fault);
    if (rank == 0)
        fabricate_sent(fabricate_event(&log, SEND, BETWEEN, 2000, 2100), 0, 5, 8);
    if (rank == 1)
        fabricate_received(fabricate_event(&log, RECV, BETWEEN, 2000, 2100), 1, 5, 8);
    struct sg_record_event *event = fabricate_event(&log, BCAST, BETWEEN, 2200, 2300);
    event->flags = SG_EVENT_ORDERED | SG_EVENT_ROOTED;
    event->from_tag = 0;
    event->to = roots[rank];
    fabricate_finish(&log, directory);
}

static bool has(const char *directory, const char *pattern, int times)
{
    char command[700];

    snprintf(command, sizeof command,
             "[ \"$(otf2-print -G %s/traces.otf2 | grep -cE '%s')\" = %d ]", directory, pattern,
             times);
    return system(command) == 0;
}

static bool has_event(const char *directory, const char *pattern, int times)
{
    char command[700];

    snprintf(command, sizeof command, "[ \"$(otf2-print %s/traces.otf2 | grep -cE '%s')\" = %d ]",
             directory, pattern, times);
    return system(command) == 0;
}

static void export(const char *name, enum fault fault, int without, const char **directory)
{
    *directory = setup_directory(name);
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank != without)
            add_log(*directory, rank, fault);
    }
    ASSERT(setup_export(*directory) == SG_OK);
    setup_check(*directory, NULL);
}

TEST("both groups define one intercommunicator, with its messages and collectives")
{
    const char *directory;

    export("both", NONE, -1, &directory);
    EXPECT(exported.dropped == 0, has(directory, "^INTER_COMM .*between", 1));
    /* In the sender's numbers rank 1 is 0, in the receiver's rank 0 is 1. */
    EXPECT(has_event(directory, "^MPI_SEND .*Receiver: 0 ", 1),
           has_event(directory, "^MPI_RECV .*Sender: 1 ", 1),
           has_event(directory, "^MPI_COLLECTIVE_END .*Root: SELF", 1),
           has_event(directory, "^MPI_COLLECTIVE_END .*Root: THIS_GROUP", 1),
           has_event(directory, "^MPI_COLLECTIVE_END .*Root: 0 ", 1));
}

/* The list of one group's first rank is enough. */
TEST("the members listed by one group's first rank suffice")
{
    const char *directory;

    export("one", NONE, 2, &directory);
    EXPECT(has(directory, "^INTER_COMM .*between", 1), has_event(directory, "^MPI_SEND ", 1));
    /* Not all members have recorded it. */
    EXPECT(has_event(directory, "^MPI_COLLECTIVE_END ", 0), exported.dropped == 2);
}

TEST("a contradictory intercommunicator is left out and counted")
{
    for (int fault = NONE + 1; fault < FAULTS; fault++) {
        const char *directory;
        char name[20];

        snprintf(name, sizeof name, "fault%d", fault);
        export(name, (enum fault)fault, -1, &directory);
        EXPECT(has(directory, "^INTER_COMM ", 0), exported.dropped == 5);
    }
}
