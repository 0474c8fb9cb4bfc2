/* Tests collectives that two ranks complete, or start, in opposite orders: from the records in
 * their logs, by way of the archive, to the waits in the report. In another order these were
 * longer. */
#include "report/report.h"
#include "report/wait_sums.h"
#include "report/watched.h"
#include "trace/export_setup.h"

enum { IBCAST, ALLTOALL_INIT, START, WAIT };
enum { WORLD = 1 };

static void start(struct fabricated *log, int rank)
{
    const char *const names[] = {"MPI_Ibcast", "MPI_Alltoall_init", "MPI_Start", "MPI_Wait"};
    const uint32_t both[] = {0, 1};

    fabricate_start(log, rank, 2);
    for (uint32_t i = 0; i < 4; i++)
        fabricate_function(log, i, names[i]);
    fabricate_profile_comm(log, WORLD, 0x1234, 0, 2, (uint32_t)rank, "MPI_COMM_WORLD",
                           rank == 0 ? both : NULL);
}

/* Its request. The root is rank 1. */
static uint64_t ibcast(struct fabricated *log, int number, uint64_t begin_ns)
{
    struct sg_record_event *event = fabricate_event(log, IBCAST, WORLD, begin_ns, begin_ns + 10);

    event->flags = SG_EVENT_ORDERED | SG_EVENT_ROOTED | SG_EVENT_POSTS;
    event->to = 1;
    event->from_tag = number;
    event->sent_bytes = 8;
    return fabricate_last(log);
}

/* maker: the place of what made it. */
static uint64_t begin(struct fabricated *log, int maker, uint32_t starts, uint64_t begin_ns)
{
    fabricate_event(log, START, 0, begin_ns, begin_ns + 10);
    struct sg_record_request *request =
        fabricate_request(log, SG_REQUEST_PREPARED, WORLD, begin_ns, fabricate_last(log) + 1);
    request->function = ALLTOALL_INIT;
    request->tag = maker;
    request->start = starts;
    request->bytes = request->received_bytes = 8;
    return fabricate_last(log);
}

static void complete(struct fabricated *log, uint64_t request, uint64_t begin_ns, uint64_t end_ns)
{
    fabricate_event(log, WAIT, 0, begin_ns, end_ns);
    fabricate_request(log, SG_REQUEST_COMPLETE, WORLD, end_ns, request);
}

static void read_report(const char *directory, struct sg_report *report)
{
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(!exported.partial);
    ASSERT(sg_report_read(directory, false, &(struct sg_watch){.waitstates = true}, report) ==
               SG_OK,
           report->waitstates != NULL);
}

static void expect_wait(const struct sg_report *report, enum sg_waitstate_kind kind,
                        uint64_t wait_ns)
{
    const struct sg_waitstates *states = report->waitstates;

    ASSERT(states->row_count == 1);
    EXPECT(states->rows[0].kind == kind, text_is(states->rows[0].at.function, "MPI_Wait"),
           states->rows[0].of.waits == 1, states->rows[0].of.wait_ns == wait_ns);
}

/* Rank 1, the root, begins the first at 2300: rank 0 waits for it from 2200. The second, at 2350,
 * is there when rank 0 asks for it. */
TEST("collectives completed in opposite orders match by the order of their starts")
{
    const char *directory = setup_directory("completions");
    struct sg_report report;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        start(&log, rank);
        uint64_t first = ibcast(&log, 0, rank == 0 ? 2000 : 2300);
        uint64_t second = ibcast(&log, 1, rank == 0 ? 2100 : 2350);
        complete(&log, rank == 0 ? first : second, rank == 0 ? 2200 : 2700, 2800);
        complete(&log, rank == 0 ? second : first, 2900, 2950);
        fabricate_finish(&log, directory);
    }
    read_report(directory, &report);
    expect_wait(&report, SG_WAITSTATE_LATE_BROADCAST, 100);
    sg_report_clear(&report);
}

/* The collective made first is started at 3000 and 3300: rank 0 waits for it from 3200. The one
 * made second, started at 3100 and 3250, is there when rank 0 asks for it; so is the first,
 * started again. */
TEST("persistent collectives started in opposite orders match by their creation")
{
    const char *directory = setup_directory("starts");
    struct sg_report report;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;
        uint64_t first, second;

        start(&log, rank);
        if (rank == 0) {
            first = begin(&log, 4, 1, 3000);
            second = begin(&log, 6, 1, 3100);
        } else {
            second = begin(&log, 6, 1, 3250);
            first = begin(&log, 4, 1, 3300);
        }
        complete(&log, first, rank == 0 ? 3200 : 3400, 3500);
        complete(&log, second, 3600, 3700);
        first = begin(&log, 4, 2, 3800);
        complete(&log, first, 3900, 3950);
        fabricate_finish(&log, directory);
    }
    read_report(directory, &report);
    expect_wait(&report, SG_WAITSTATE_NXN, 100);
    sg_report_clear(&report);
}
