/* Tests which ranks a call in progress waits for, from made-up records. */
#include "lib/unit.h"
#include "trace/export/summary.h"
#include "watch/watch_arrivals.h"

#define RANKS 3
#define HALF 2 /* of ranks 1 and 2, as their logs number it */

static struct sg_live_arrivals *arrivals;

static void begin(void)
{
    if (sg_live_arrivals_create(RANKS, &arrivals) != SG_OK)
        abort();
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        const struct sg_record_comm half = {
            .index = HALF, .root_world_rank = 1, .root_counter = 5, .size = 2, .rank = rank - 1};

        EXPECT(sg_live_arrivals_take(arrivals, rank, SG_RECORD_COMM, &half) == SG_OK);
    }
}

static void end(void)
{
    sg_live_arrivals_destroy(arrivals);
}

static struct sg_record_call call_of(uint32_t comm, uint32_t seq, enum sg_operation operation,
                                     int32_t root)
{
    return (struct sg_record_call){.kind = SG_RECORD_CALL,
                                   .operation = (uint8_t)operation,
                                   .comm = comm,
                                   .seq = seq,
                                   .root = root,
                                   .begin_ns = 1000};
}

static void made(uint32_t rank, uint32_t comm, uint32_t seq, uint8_t flags)
{
    struct sg_record_call call = call_of(comm, seq, SG_OPERATION_BARRIER, -1);

    call.end_ns = 2000;
    call.flags = flags;
    EXPECT(sg_live_arrivals_take(arrivals, rank, SG_RECORD_CALL, &call) == SG_OK);
}

static bool awaits(uint32_t rank, struct sg_record_call call, uint32_t other)
{
    return sg_live_arrivals_awaits(arrivals, rank, &call, other);
}

TEST("a call waits for a rank that has not arrived at its instance")
{
    const struct sg_record_call first = call_of(SG_COMM_WORLD_INDEX, 0, SG_OPERATION_BARRIER, -1);
    const struct sg_record_call second = call_of(SG_COMM_WORLD_INDEX, 1, SG_OPERATION_BARRIER, -1);

    begin();
    EXPECT(awaits(0, first, 1));
    made(1, SG_COMM_WORLD_INDEX, 0, 0);
    EXPECT(!awaits(0, first, 1), awaits(0, first, 2), awaits(0, second, 1));
    /* One that failed has been there, too. */
    made(1, SG_COMM_WORLD_INDEX, 1, SG_CALL_FAILED);
    EXPECT(!awaits(0, second, 1));
    end();
}

TEST("a call waits only for members of its communicator")
{
    const struct sg_record_call of_half = call_of(HALF, 0, SG_OPERATION_ALLREDUCE, -1);

    begin();
    EXPECT(awaits(1, of_half, 2), !awaits(1, of_half, 0), !awaits(1, of_half, 1));
    made(2, SG_COMM_WORLD_INDEX, 0, 0);
    EXPECT(awaits(1, of_half, 2));
    made(2, HALF, 0, 0);
    EXPECT(!awaits(1, of_half, 2));
    /* Its own log does not have it. */
    EXPECT(!awaits(0, of_half, 2),
           !awaits(1, call_of(SG_COMM_SELF_INDEX, 0, SG_OPERATION_BARRIER, -1), 2));
    end();
}

TEST("a broadcast waits for its root, and the root of a reduction for all members")
{
    const struct sg_record_call bcast = call_of(SG_COMM_WORLD_INDEX, 0, SG_OPERATION_BCAST, 1);
    const struct sg_record_call reduce = call_of(SG_COMM_WORLD_INDEX, 0, SG_OPERATION_REDUCE, 1);

    begin();
    EXPECT(awaits(0, bcast, 1), !awaits(0, bcast, 2), awaits(1, reduce, 0), !awaits(0, reduce, 1),
           !awaits(0, reduce, 2));
    end();
}
