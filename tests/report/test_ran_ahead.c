/* Tests reports of calls that returned before others came, of the ranks that then handled late
 * messages, and of the origin of communicators: from logs by way of the archive. */
#include "report/report_json.h"
#include "trace/export_setup.h"

/* Communicators of the library's collectives, and of all calls: there MPI_COMM_WORLD is first. */
enum { REDUCE = 1, ROW = 2, WORLD_PROFILE = 1, ROW_PROFILE = 3 };

static void put_reduce(struct fabricated *log, uint32_t seq, uint64_t begin_ns, uint64_t end_ns)
{
    struct sg_record_call *call = fabricate_call(log, REDUCE, ROW, seq, begin_ns, end_ns);

    call->site = 1;
    call->executed = 1;
    call->bytes = 8;
    call->root = 0;
}

static void put_late(struct fabricated *log, uint32_t seq, uint64_t begin_ns, bool by_signal)
{
    struct sg_record_late *late = fabricate_late(log, begin_ns, begin_ns + 10);

    late->site = 1;
    late->comm = ROW;
    late->seq = seq;
    late->child = 1;
    late->by_signal = by_signal;
}

/* Three reduces to rank 0, from which it returns before rank 1 has come to the first and the
 * second. A signal brings the first contribution, the next call the second. */
static void write_logs(const char *directory)
{
    static const uint32_t members[] = {0, 1};

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        fabricate_profile_comm(&log, WORLD_PROFILE, 50, 0, 2, (uint32_t)rank, "MPI_COMM_WORLD",
                               members);
        fabricate_profile_comm(&log, ROW_PROFILE, 60, 0, 2, (uint32_t)rank, "row", members)
            ->parent = WORLD_PROFILE;
        fabricate_comm(&log, ROW, 0, 2, 2, (uint32_t)rank, "row", members)->profile_comm =
            ROW_PROFILE;
        if (rank == 0) {
            put_reduce(&log, 0, 2000, 2100);
            put_late(&log, 0, 3050, true);
            put_reduce(&log, 1, 4000, 4100);
            put_late(&log, 1, 6000, false);
            put_reduce(&log, 2, 6000, 6300);
        } else {
            put_reduce(&log, 0, 3000, 3040);
            put_reduce(&log, 1, 5000, 5040);
            put_reduce(&log, 2, 6200, 6240);
        }
        log.header.finalize_begin_ns = 8000;
        fabricate_finish(&log, directory);
    }
}

TEST("calls that return before others arrive are counted, with later work in signals")
{
    const char *directory = setup_directory("events");

    write_logs(directory);
    ASSERT(setup_export(directory) == SG_OK);
    json_t *report = report_of(directory);
    const json_t *row = json_array_get(json_object_get(report, "sites"), 0);
    EXPECT(figure(row, "event_calls") == 6, figure(row, "ran_ahead") == 2,
           figure(row, "late_by_signal") == 1, figure(row, "handler_ns") == 20,
           text_is(json_string_value(json_object_get(row, "comm_parent")), "MPI_COMM_WORLD"));
    row = json_array_get(json_object_get(report, "by_site"), 0);
    EXPECT(figure(row, "ran_ahead") == 2, figure(row, "late_by_signal") == 1,
           text_is(json_string_value(json_object_get(row, "comm_parent")), "MPI_COMM_WORLD"));
}

static char *text_of(const char *directory, bool comms)
{
    struct sg_print_options options = {.comms = comms};
    struct sg_report report;

    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    char *text = PRINTED(EXPECT(sg_report_print_text(&report, &options, stream) == SG_OK));
    sg_report_clear(&report);
    return text;
}

TEST("the text lists calls that ran ahead if there are any, and parents by communicator")
{
    const char *directory = setup_directory("text");

    write_logs(directory);
    ASSERT(setup_export(directory) == SG_OK);
    char *text = text_of(directory, true);
    EXPECT(contains(text, "  id        op      comm    parent  where"),
           contains(text, "  row(2)  WORLD   "), contains(text, "ahead"),
           contains(text, "by_signal"));
    free(text);
    text = text_of(directory, false);
    EXPECT(!contains(text, "parent"));
    free(text);
}
