/* Tests groups, absences and cycles of open calls, without logs. */
#include "lib/unit.h"
#include "report/open_calls.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

#define MAX 1100

static struct sg_open_comm world = {.key = 1, .is_world = true};
static uint32_t pair[] = {3, 1};
static struct sg_open_comm comms[2];

static struct sg_open_calls *make(uint32_t ranks)
{
    struct sg_open_calls *open = calloc(1, sizeof *open);

    ASSERT(open != NULL && ranks <= MAX);
    comms[0] = world;
    comms[1] = (struct sg_open_comm){.key = 9, .members = pair, .count = 2, .own_count = 2};
    open->rank_count = ranks;
    open->states = calloc(ranks, sizeof *open->states);
    open->calls = calloc(2 * ranks, sizeof *open->calls);
    open->comms = comms;
    open->comm_count = 2;
    ASSERT(open->states != NULL && open->calls != NULL);
    return open;
}

static void drop(struct sg_open_calls *open)
{
    open->comms = NULL;
    open->comm_count = 0;
    sg_open_calls_free(open);
}

static struct sg_rank_call *add(struct sg_open_calls *open, uint32_t rank, const char *function)
{
    struct sg_rank_call *call = &open->calls[open->call_count++];

    *call = (struct sg_rank_call){.rank = rank,
                                  .is_open = true,
                                  .function = function,
                                  .to = SG_OPEN_NOBODY,
                                  .from = SG_OPEN_NOBODY,
                                  .tag = -1};
    return call;
}

static void collective(struct sg_open_calls *open, uint32_t rank, uint32_t comm, uint32_t order)
{
    struct sg_rank_call *call = add(open, rank, "MPI_Barrier");

    call->comm = comm;
    call->order = order;
}

static void receive(struct sg_open_calls *open, uint32_t rank, int64_t from)
{
    add(open, rank, "MPI_Recv")->from = from;
}

TEST("a thousand ranks in one call are one group, and the two others are absent")
{
    struct sg_open_calls *open = make(1000);

    for (uint32_t rank = 0; rank < 998; rank++)
        collective(open, 999 - rank, 0, 5);
    collective(open, 1, 0, 4);
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->group_count == 2, open->groups[0].count == 998, open->absence_count == 2,
           open->absences[0].count == 2, open->absences[0].ranks[0] == 0,
           open->absences[0].ranks[1] == 1, open->absences[1].count == 1,
           open->absences[1].ranks[0] == 0, open->cycle_count == 0);
    drop(open);
}

TEST("a rank in a later collective has left the earlier one")
{
    struct sg_open_calls *open = make(2);

    collective(open, 0, 0, 5);
    collective(open, 1, 0, 6);
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->absence_count == 1, open->absences[0].ranks[0] == 0, open->cycle_count == 0);
    drop(open);
}

TEST("only members of the communicator are absent, and only the root from others' calls")
{
    struct sg_open_calls *open = make(4);

    collective(open, 1, 1, 1);
    collective(open, 0, 0, 7);
    open->calls[1].to = 2;
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->absence_count == 2, open->absences[0].count == 1, open->absences[1].count == 1);
    for (uint32_t i = 0; i < 2; i++) {
        bool is_pair = open->calls[open->groups[open->absences[i].group].first].comm == 1;

        EXPECT(open->absences[i].ranks[0] == (is_pair ? 3 : 2));
    }
    drop(open);
}

TEST("a cycle is found through messages and a collective")
{
    struct sg_open_calls *open = make(5);

    for (uint32_t rank = 0; rank < 3; rank++)
        collective(open, rank, 0, 1);
    receive(open, 3, 4);
    receive(open, 4, 1);
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->cycle_count == 3);
    for (uint32_t i = 0; i < open->cycle_count; i++)
        EXPECT(open->cycle[i] == 1 || open->cycle[i] == 3 || open->cycle[i] == 4);
    drop(open);
}

TEST("a rank that waits for itself is a cycle, a chain of ranks is none")
{
    struct sg_open_calls *open = make(MAX);

    for (uint32_t rank = 1; rank < MAX; rank++)
        receive(open, rank, rank - 1);
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->cycle_count == 0, open->group_count == 1, open->absence_count == 1,
           open->absences[0].count == 1, open->absences[0].ranks[0] == 0);
    drop(open);
    open = make(2);
    receive(open, 1, 1);
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->cycle_count == 1, open->cycle[0] == 1);
    drop(open);
}

TEST("calls that poll, that have ended or that are young make nobody absent")
{
    struct sg_open_calls *open = make(4);

    receive(open, 0, 3);
    open->calls[0].is_open = false;
    receive(open, 1, 3);
    open->calls[1].tests = true;
    open->calls[1].function = "MPI_Test";
    receive(open, 2, 3);
    open->calls[2].has_age = true;
    open->calls[2].age_ns = 1000;
    open->living = 4;
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    EXPECT(open->absence_count == 0, open->cycle_count == 0, open->group_count == 3);
    drop(open);
}

/* Ranks 0 to 2 died. Rank 1 waited in no call if `calls` is less than 4, nor did rank 2 if it is 2.
 */
static bool has_first(uint32_t calls, uint32_t run_end, enum sg_open_state other)
{
    struct sg_open_calls *open = make(4);
    bool has;

    for (uint32_t rank = 0; rank < 4; rank++)
        open->states[rank] = rank == 3 ? other : SG_OPEN_DIED;
    for (uint32_t rank = 0; rank < calls; rank++) {
        receive(open, rank, 3);
        open->calls[rank].is_open = rank != 1 || calls > 3;
    }
    open->run_end = run_end;
    ASSERT(sg_open_calls_judge(open) == SG_OK);
    has = sg_open_calls_has_first(open);
    ASSERT(!has || open->idle[0] == 1);
    drop(open);
    return has;
}

TEST("the rank that alone waited in no call ended first, unless the run was told to end")
{
    EXPECT(has_first(3, SG_RUN_ENDED | 11, SG_OPEN_FINISHED),
           has_first(3, SG_RUN_ENDED, SG_OPEN_FINALIZES),
           !has_first(2, SG_RUN_ENDED | 11, SG_OPEN_FINISHED),
           !has_first(4, SG_RUN_ENDED | 11, SG_OPEN_FINISHED));
    EXPECT(!has_first(3, 0, SG_OPEN_FINISHED), !has_first(3, SG_RUN_ENDED | 143, SG_OPEN_FINISHED),
           !has_first(3, SG_RUN_ENDED | SG_RUN_TOLD | 11, SG_OPEN_FINISHED),
           !has_first(3, SG_RUN_ENDED | 11, SG_OPEN_UNKNOWN),
           !has_first(3, SG_RUN_ENDED | 11, SG_OPEN_ABORTED));
}
