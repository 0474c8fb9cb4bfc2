/* Tests rows of nonblocking collectives: from the records in logs by way of the archive, and from
 * statistics. */
#include "report/report_json.h"
#include "trace/export_setup.h"

enum { BARRIER, REDUCE, ALLREDUCE, BCAST };

static struct sg_record_nonblocking *put_nonblocking(struct fabricated *log, int operation,
                                                     uint32_t site, uint32_t seq, uint64_t begin_ns,
                                                     uint32_t start_ns, uint64_t exposed_ns,
                                                     uint64_t end_ns)
{
    struct sg_record_nonblocking *post =
        fabricate_nonblocking(log, operation, 0, seq, begin_ns, start_ns, exposed_ns, end_ns);

    post->site = site;
    post->executed = 1;
    post->bytes = operation == BARRIER ? 0 : 8 * (uint64_t)operation;
    post->root = operation == REDUCE ? 1 : -1;
    return post;
}

static void put_allreduce(struct fabricated *log, uint32_t seq, uint64_t begin_ns, uint64_t end_ns)
{
    struct sg_record_call *call = fabricate_call(log, ALLREDUCE, 0, seq, begin_ns, end_ns);

    call->site = 1;
    call->bytes = 16;
}

/* Two ranks. Site a: an iallreduce that rank 1 posts 1000 late, and an allreduce; site b: an
 * ireduce to rank 1, which something is late for on rank 0; site c: an ibarrier that rank 0 never
 * completes, and one that is whole.
 *
 * Of rank 0 and rank 1, and what follows from the arrivals:
 *
 *        begin      post   exposed  end        hidden
 *   a 0  2000 3000  50 60  300 20   3500 3400  1150 320  wait 1000 and 0, avoided 650
 *
 *   b 1  4000 3600  10 20  5 500    4100 4200  85 80     the root's wait 400
 *
 *   c 4  7000 7000  1 2    0 98     7100 7100  99 0
 *
 *   a 2  5000 5050 until 5100: wait 50, blocked 150
 */
static void write_logs(const char *directory)
{
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        fabricate_site(&log, 2, 0xb, "/opt/bin/cg", "", 0x20);
        fabricate_site(&log, 3, 0xc, "/opt/bin/cg", "", 0x30);
        if (rank == 0) {
            put_nonblocking(&log, ALLREDUCE, 1, 0, 2000, 50, 300, 3500);
            put_nonblocking(&log, REDUCE, 2, 1, 4000, 10, 5, 4100);
            struct sg_record_late *late = fabricate_late(&log, 4050, 4080);
            late->site = 2;
            late->seq = 1;
            late->avoided_ns = 77;
            put_allreduce(&log, 2, 5000, 5100);
            put_nonblocking(&log, BARRIER, 3, 3, 6000, 10, 20, 0);
            put_nonblocking(&log, BARRIER, 3, 4, 7000, 1, 0, 7100);
        } else {
            put_nonblocking(&log, ALLREDUCE, 1, 0, 3000, 60, 20, 3400);
            put_nonblocking(&log, REDUCE, 2, 1, 3600, 20, 500, 4200);
            put_allreduce(&log, 2, 5050, 5100);
            put_nonblocking(&log, BARRIER, 3, 3, 6000, 10, 20, 6100);
            put_nonblocking(&log, BARRIER, 3, 4, 7000, 2, 98, 7100);
        }
        log.header.finalize_begin_ns = 8000;
        fabricate_finish(&log, directory);
    }
}

static const json_t *find_row(const json_t *report, const char *id, const char *op)
{
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(report, "sites"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "id")), id) == 0 &&
            strcmp(json_string_value(json_object_get(row, "op")), op) == 0)
            return row;
    }
    CU_FAIL_FATAL("no such row");
    return NULL;
}

static const char *const times[] = {
    "bytes",           "blocked_ns", "exposed_ns",    "hidden_ns",  "wait_ns",
    "wait_avoided_ns", "instances",  "completion_ns", "handler_ns", "calls"};

/* In the order of times[]; -1 is null. */
static void expect_row(const json_t *row, const json_int_t expected[])
{
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (figure(row, times[i]) != expected[i])
            printf("# %s is %lld\n", times[i], (long long)figure(row, times[i]));
        EXPECT(figure(row, times[i]) == expected[i]);
    }
}

TEST("posts have their own rows, and arrive at their begin")
{
    const char *directory = setup_directory("events");

    write_logs(directory);
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(exported.calls == 10);
    json_t *report = report_of(directory);
    expect_text(report, "source", "archive");
    EXPECT(figure(report, "site_count") == 4);
    const json_t *row = find_row(report, "0000000a", "iallreduce");
    expect_row(row, (json_int_t[]){32, 430, 320, 1470, 300, 650, 1, 0, 0, 2});
    expect_text(row, "algorithm", "bypass");
    EXPECT(figure(json_object_get(row, "skew_ns"), "max") == 1000, figure(row, "last_rank") == 1,
           figure(json_object_get(row, "worst"), "time_ns") == 1100);
    row = find_row(report, "0000000b", "ireduce");
    expect_row(row, (json_int_t[]){16, 535, 505, 165, 400, 0, 1, 0, 30, 2});
    EXPECT(figure(row, "last_rank") == 0);
    row = find_row(report, "0000000c", "ibarrier");
    expect_row(row, (json_int_t[]){0, 101, 98, 99, 0, 0, 1, 0, 0, 2});
    row = find_row(report, "0000000a", "allreduce");
    expect_row(row, (json_int_t[]){32, 150, -1, -1, 50, 0, 1, 0, 0, 2});
    /* Both calls of the one that is never complete are dropped. */
    EXPECT(figure(report, "dropped_calls") == 2,
           figure(json_object_get(report, "clock"), "violations") == 0);
    row = json_array_get(json_object_get(report, "per_rank"), 0);
    EXPECT(figure(row, "blocked_ns") == 350 + 15 + 1 + 100);
    row = json_array_get(json_object_get(report, "per_rank"), 1);
    EXPECT(figure(row, "blocked_ns") == 80 + 520 + 100 + 50);
}

/* Each rank of MPI_COMM_SELF is an instance of its own, also of nonblocking calls. */
TEST("a post on MPI_COMM_SELF is an instance of one member")
{
    const char *directory = setup_directory("alone");
    struct fabricated log;

    fabricate_start(&log, 0, 1);
    fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
    fabricate_nonblocking(&log, ALLREDUCE, 1, 0, 2000, 50, 300, 3500)->site = 1;
    fabricate_finish(&log, directory);
    ASSERT(setup_export(directory) == SG_OK);
    json_t *report = report_of(directory);
    EXPECT(figure(report, "site_count") == 1);
    expect_row(find_row(report, "0000000a", "iallreduce"),
               (json_int_t[]){0, 350, 300, 1150, 0, 0, 1, 0, 0, 1});
}

static void write_statistics(const char *directory, enum sg_trace_mode mode)
{
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.trace_mode = mode;
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        struct sg_record_stat *stat = fabricate_stat(&log, ALLREDUCE, 1, 0, 10);
        stat->nonblocking = 1;
        stat->bytes = 160;
        stat->blocked_ns = 1000;
        stat->hidden_ns = 4000;
        stat = fabricate_stat(&log, ALLREDUCE, 1, 0, 3);
        stat->bytes = 48;
        stat->blocked_ns = 700;
        log.header.finalize_begin_ns = 9000;
        fabricate_finish(&log, directory);
    }
}

TEST("statistics give blocked and hidden time of posts")
{
    const char *directory = setup_directory("statistics");

    write_statistics(directory, SG_TRACE_STATS);
    json_t *report = report_of(directory);
    expect_text(report, "source", "statistics");
    EXPECT(figure(report, "site_count") == 2);
    const json_t *row = find_row(report, "0000000a", "iallreduce");
    expect_row(row, (json_int_t[]){320, 2000, -1, 8000, -1, -1, 0, -1, 0, 20});
    row = find_row(report, "0000000a", "allreduce");
    expect_row(row, (json_int_t[]){96, 1400, -1, -1, -1, -1, 0, -1, 0, 6});
    row = json_array_get(json_object_get(report, "per_rank"), 1);
    EXPECT(figure(row, "blocked_ns") == 1700);
}

/* Blocked and hidden time are of all calls, what was exposed is of those in the events. */
TEST("beside a partial archive statistics give the times of all posts")
{
    const char *directory = setup_directory("both");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.dropped_events = 2;
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        put_nonblocking(&log, ALLREDUCE, 1, 0, 2000 + 100 * (uint64_t)rank, 50, 300, 3500);
        struct sg_record_stat *stat = fabricate_stat(&log, ALLREDUCE, 1, 0, 3);
        stat->nonblocking = 1;
        stat->blocked_ns = 1000;
        stat->hidden_ns = 4000;
        log.header.finalize_begin_ns = 9000;
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    json_t *report = report_of(directory);
    expect_text(report, "source", "archive+statistics");
    EXPECT(figure(report, "site_count") == 1);
    const json_t *row = find_row(report, "0000000a", "iallreduce");
    expect_row(row, (json_int_t[]){0, 2000, 600, 8000, 100, 0, 1, 0, 0, 6});
}

static char *text_of(const char *directory, bool csv)
{
    struct sg_report report;

    char *text = PRINTED(ASSERT(
        sg_report_read(directory, false, NULL, &report) == SG_OK,
        sg_report_sort(&report, sg_column_find(sg_site_columns, "hidden")) == SG_OK,
        (csv ? sg_report_print_csv(&report, &(struct sg_print_options){0}, stream)
             : sg_report_print_text(&report, &(struct sg_print_options){0}, stream)) == SG_OK));
    sg_report_clear(&report);
    return text;
}

/* Without the blanks that align the columns. */
static char *squeezed(char *text)
{
    char *out = text;

    for (const char *in = text; *in != '\0'; in++) {
        if (*in != ' ' || in == text || in[-1] != ' ')
            *out++ = *in;
    }
    *out = '\0';
    return text;
}

TEST("exposed and hidden time are columns if there are posts")
{
    const char *directory = setup_directory("columns");

    write_logs(directory);
    ASSERT(setup_export(directory) == SG_OK);
    char *text = squeezed(text_of(directory, false));
    EXPECT(contains(text, " id op comm avoided exposed hidden handler\n"),
           contains(text, " 0000000a iallreduce WORLD(2) 650ns 320ns 1.47us 0ns\n"
                          " 0000000b ireduce WORLD(2) 0ns 505ns 165ns 30ns\n"
                          " 0000000c ibarrier WORLD(2) 0ns 98ns 99ns 0ns\n\n"));
    free(text);
    text = text_of(directory, true);
    EXPECT(contains(text, ",handler_ns,exposed_ns,hidden_ns,skew_mean_ns,"
                          "comm_parent,ran_ahead,late_by_signal\r\n"),
           contains(text, ",30,505,165,"), contains(text, ",0,,,"));
    free(text);
}

TEST("reports from statistics have only the column of hidden time")
{
    const char *directory = setup_directory("unexposed");

    write_statistics(directory, SG_TRACE_STATS);
    char *text = squeezed(text_of(directory, false));
    EXPECT(contains(text, " id op comm hidden\n 0000000a iallreduce WORLD(2) "
                          "8.00us\n\n"));
    free(text);
}

/* Rank 1 gets what rank 0 posts 1000 later: for 700 of these it waits. */
TEST("MPI_Ibcast has rows like other posts")
{
    const char *directory = setup_directory("broadcasts");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        struct sg_record_nonblocking *post =
            rank == 0 ? put_nonblocking(&log, BCAST, 1, 0, 3000, 50, 0, 3100)
                      : put_nonblocking(&log, BCAST, 1, 0, 2000, 50, 700, 3150);
        post->root = 0;
        log.header.finalize_begin_ns = 8000;
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    json_t *report = report_of(directory);
    const json_t *row = find_row(report, "0000000a", "ibcast");
    EXPECT(figure(row, "event_calls") == 2, figure(row, "instances") == 1,
           figure(row, "bytes") == 48, figure(row, "wait_ns") == 700,
           figure(row, "wait_avoided_ns") == 250);
}
