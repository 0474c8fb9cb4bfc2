/* Tests the contents of an archive, and the omissions, on logs made by hand. */
#include "trace/export_setup.h"

enum { BARRIER, REDUCE, ALLREDUCE };

static void expect_result(uint64_t calls, uint64_t dropped, bool partial)
{
    EXPECT(exported.calls == calls, exported.dropped == dropped, exported.partial == partial,
           exported.archive_bytes > 0);
}

TEST("a complete run is exported completely")
{
    const char *directory = setup_directory("whole");
    json_t *events;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_call(&log, BARRIER, 0, 0, 2000, 2100);
        fabricate_call(&log, ALLREDUCE, 0, 1, 2200, 2300);
        fabricate_call(&log, REDUCE, 0, 2, 2400, 2500)->root = 1;
        fabricate_call(&log, BARRIER, 1, 0, 2600, 2610);
        log.header.finalize_begin_ns = 3000;
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    expect_result(8, 0, false);
    EXPECT(text_is(setup_told, "r0 r1 w0 w1 "));
    json_t *counts = setup_check(directory, &events);
    EXPECT(setup_count(counts, "MPI_Barrier", 0) == 2, setup_count(counts, "MPI_Reduce", 1) == 1,
           setup_instances(counts, "MPI_COMM_WORLD") == 3,
           text_is(setup_timeline(events, 1),
                   "900 >MPI_Init 1100 <MPI_Init 2000 >MPI_Barrier 2100 <MPI_Barrier "
                   "2200 >MPI_Allreduce 2300 <MPI_Allreduce 2400 >MPI_Reduce "
                   "2500 <MPI_Reduce 2600 >MPI_Barrier 2610 <MPI_Barrier "
                   "3000 >MPI_Finalize 3000 <MPI_Finalize"));
}

TEST("an instance that one rank did not record is left out on all ranks")
{
    const char *directory = setup_directory("incomplete");

    for (int rank = 0; rank < 3; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 3);
        for (uint32_t seq = 0; seq < 10; seq++) {
            uint64_t begin_ns = 2000 + 100 * seq;

            if (rank != 1 || seq < 5 || seq > 7)
                fabricate_call(&log, BARRIER, 0, seq, begin_ns, begin_ns + 50);
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    expect_result(21, 6, true);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(setup_instances(counts, "MPI_COMM_WORLD") == 7);
    for (int rank = 0; rank < 3; rank++)
        EXPECT(setup_count(counts, "MPI_Barrier", rank) == 7);
}

TEST("failed calls belong to no instance")
{
    const char *directory = setup_directory("failed");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_call(&log, BARRIER, 0, 0, 2000, 2010);
        fabricate_call(&log, REDUCE, 0, 1, 2020, 2030)->flags = SG_CALL_FAILED;
        fabricate_call(&log, BARRIER, 0, 1, 2040, 2050);
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    expect_result(4, 0, false);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(setup_count(counts, "MPI_Reduce", 0) == 0, setup_count(counts, "MPI_Barrier", 1) == 2);
}

/* Four ranks; {3, 1} and {0, 2} are communicators, {3, 1} without a name. */
TEST("communicators are the same on all ranks, with Score-P's byte counts")
{
    static const uint32_t odd[] = {3, 1}, even[] = {0, 2};
    const char *directory = setup_directory("parts");
    json_t *events;
    size_t reduces = 0;

    for (int rank = 0; rank < 4; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 4);
        if (rank % 2 == 0)
            fabricate_comm(&log, 2, 0, 2, 2, rank == 0 ? 0 : 1, "even", rank == 0 ? even : NULL);
        else
            fabricate_comm(&log, 2, 3, 2, 2, rank == 3 ? 0 : 1, "", rank == 3 ? odd : NULL);
        for (uint32_t seq = 0; seq < 5; seq++) {
            struct sg_record_call *call =
                fabricate_call(&log, REDUCE, 2, seq, 2000 + 100 * seq, 2050 + 100 * seq);

            call->root = 0;
            call->bytes = 8;
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    expect_result(20, 0, false);
    json_t *counts = setup_check(directory, &events);
    EXPECT(setup_instances(counts, "even") == 5, setup_instances(counts, "comm 3.2") == 5,
           setup_instances(counts, "MPI_COMM_WORLD") == 0);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        json_int_t rank = json_integer_value(json_object_get(event, "location"));

        if (strcmp(json_string_value(json_object_get(event, "kind")), "MpiCollectiveEnd") != 0)
            continue;
        reduces++;
        EXPECT(json_integer_value(json_object_get(event, "sent")) == 8,
               json_integer_value(json_object_get(event, "received")) ==
                   (rank == 0 || rank == 3 ? 16 : 0));
    }
    EXPECT(reduces == 20);
}

TEST("a hundred communicators with the same members are distinguished")
{
    static const uint32_t members[] = {0, 1};
    const char *directory = setup_directory("hundred");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;
        uint64_t time_ns = 2000;

        fabricate_start(&log, rank, 2);
        for (uint32_t comm = 2; comm < 102; comm++) {
            char name[20];

            /* Each was made from the one before it. */
            snprintf(name, sizeof name, "dup %u", comm);
            fabricate_comm(&log, comm, 0, comm, 2, (uint32_t)rank, name,
                           rank == 0 ? members : NULL);
            for (uint32_t seq = 0; seq < 50; seq++, time_ns += 10)
                fabricate_call(&log, BARRIER, comm, seq, time_ns, time_ns + 5);
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    expect_result(10000, 0, false);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(setup_instances(counts, "dup 2") == 50, setup_instances(counts, "dup 101") == 50,
           setup_count(counts, "MPI_Barrier", 1) == 5000);
}

/* The parent is told by index and may have the greater identity. */
TEST("a communicator follows its parent in the archive")
{
    static const uint32_t all[] = {1, 0}, one[] = {0};
    const char *directory = setup_directory("parents");
    json_t *comms;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_comm(&log, 2, 1, 2, 2, rank == 1 ? 0 : 1, "parent", rank == 1 ? all : NULL);
        struct sg_record_comm *comm = (void *)log.slots;
        comm->parent = 0;
        if (rank == 0) {
            size_t at = log.count;

            fabricate_comm(&log, 3, 0, 5, 1, 0, "child", one);
            comm = (void *)(log.slots + at * SG_SLOT_BYTES);
            comm->parent = 2;
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    json_t *counts = setup_check(directory, NULL);
    comms = json_object_get(counts, "comms");
    ASSERT(json_array_size(comms) == 4);
    EXPECT(
        text_is(json_string_value(json_object_get(json_array_get(comms, 2), "parent")),
                "MPI_COMM_WORLD"),
        text_is(json_string_value(json_object_get(json_array_get(comms, 3), "parent")), "parent"));
}

TEST("a call carries its site, algorithm, seq, bytes and metrics")
{
    const char *directory = setup_directory("attributes");
    struct fabricated log;
    const json_t *attributes;
    json_t *events;
    static const int metrics[] = {700, 2, 1, 3, 4, 5, 6, 7, 8, 9};

    fabricate_start(&log, 0, 1);
    fabricate_site(&log, 1, 0x3f2a9c1b, "/opt/bin/cg", "", 0x11c4);
    fabricate_site_name(&log, 0x3f2a9c1b, "solve", "solver.c", 88);
    struct sg_record_call *call = fabricate_call(&log, ALLREDUCE, 0, 7, 2000, 2100);
    call->site = 1;
    call->executed = 1;
    call->bytes = 24;
    call->flags = SG_CALL_SKEW | SG_CALL_IN_PLACE;
    call->skew_ns = 700;
    call->late = 2;
    call->early = 1;
    call->signals = 3;
    call->outstanding = 4;
    call->stalls = 5;
    call->copies = 6;
    call->ignored = 7;
    call->moves = 8;
    call->repeats = 9;
    fabricate_finish(&log, directory);
    ASSERT(setup_export(directory) == SG_OK);
    setup_check(directory, &events);
    ASSERT(json_array_size(events) == 7);
    const json_t *event = json_array_get(events, 2);
    attributes = json_object_get(event, "attributes");
    EXPECT(text_is(json_string_value(json_object_get(attributes, "call site")),
                   "solve (solver.c:88) [cg+0x11c4] #3f2a9c1b"),
           text_is(json_string_value(json_object_get(attributes, "algorithm")), "bypass"),
           json_integer_value(json_object_get(attributes, "seq")) == 7,
           json_integer_value(json_object_get(attributes, "bytes")) == 24);
    event = json_array_get(events, 5);
    EXPECT(text_is(json_string_value(json_object_get(event, "kind")), "Metric"));
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        EXPECT(json_integer_value(json_array_get(json_object_get(event, "values"), i)) ==
               metrics[i]);
}

/* The greatest value of a wide field stands for more, and leaves the field's neighbours as they
 * are. */
TEST("a call's wide fields do not overlap the counts beside them")
{
    struct sg_record_call call = {0};

    call.bytes = SG_CALL_WIDE_MAX;
    call.skew_ns = SG_CALL_WIDE_MAX;
    EXPECT(call.moves == 0, call.repeats == 0);
    call.moves = call.repeats = UINT16_MAX;
    EXPECT(call.bytes == SG_CALL_WIDE_MAX, call.skew_ns == SG_CALL_WIDE_MAX);
}

TEST("a late contribution carries its origin and the wait it avoided")
{
    static const uint32_t members[] = {0};
    const char *directory = setup_directory("lateness");
    struct fabricated log;
    const json_t *attributes;
    json_t *events;

    fabricate_start(&log, 0, 1);
    log.header.progress_thread = 2;
    fabricate_site(&log, 1, 0x3f2a9c1b, "/opt/bin/cg", "", 0x11c4);
    fabricate_comm(&log, 2, 0, 2, 1, 0, "row", members);
    struct sg_record_late *late = fabricate_late(&log, 2000, 2100);
    late->site = 1;
    late->comm = 2;
    late->thread = 1;
    late->seq = 7;
    late->bytes = 24;
    late->child = 3;
    late->avoided_ns = 900;
    late->by_signal = 1;
    fabricate_late(&log, 2200, 2300)->comm = 9; /* of which there is no record */
    fabricate_late(&log, 2400, 2500)->operation = 200;
    fabricate_finish(&log, directory);
    ASSERT(setup_export(directory) == SG_OK);
    json_t *counts = setup_check(directory, &events);
    EXPECT(text_is(json_string_value(
                       json_object_get(json_object_get(counts, "locations"), "4294967296")),
                   "Progress thread"),
           text_is(setup_timeline(events, UINT64_C(1) << 32),
                   "2000 >late contribution 2100 <late contribution"),
           text_is(setup_timeline(events, 0),
                   "900 >MPI_Init 1100 <MPI_Init 2200 >late contribution 2300 <late contribution"));
    attributes = json_object_get(json_array_get(events, 2), "attributes");
    EXPECT(text_is(json_string_value(json_object_get(attributes, "call site")),
                   "[cg+0x11c4] #3f2a9c1b"),
           text_is(json_string_value(json_object_get(attributes, "communicator")), "row"),
           text_is(json_string_value(json_object_get(attributes, "operation")), "MPI_Reduce"),
           json_integer_value(json_object_get(attributes, "seq")) == 7,
           json_integer_value(json_object_get(attributes, "bytes")) == 24,
           json_integer_value(json_object_get(attributes, "child")) == 3,
           json_integer_value(json_object_get(attributes, "wait avoided")) == 900,
           json_integer_value(json_object_get(attributes, "by signal")) == 1);
    attributes = json_object_get(json_array_get(events, 4), "attributes");
    EXPECT(json_object_get(attributes, "operation") != NULL,
           json_object_get(attributes, "communicator") == NULL,
           json_object_get(attributes, "by signal") == NULL);
}

TEST("logs of many records are exported completely")
{
    enum { CALLS = 20000 };
    const char *directory = setup_directory("large");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        for (uint32_t seq = 0; seq < CALLS; seq++)
            fabricate_call(&log, seq % 2 ? BARRIER : ALLREDUCE, 0, seq, 2000 + 10 * seq,
                           2005 + 10 * seq);
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    expect_result(2 * CALLS, 0, false);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(setup_instances(counts, "MPI_COMM_WORLD") == CALLS,
           setup_count(counts, "MPI_Barrier", 1) == CALLS / 2);
}

TEST("otf2-print and ViTE read all archives of this test")
{
    char command[300];

    snprintf(command, sizeof command,
             "tests/lib/check_tools.sh %s/*/traces.otf2 >%s/tools; status=$?; "
             "grep -v '^ok' %s/tools; exit $status",
             unit_directory(), unit_directory(), unit_directory());
    EXPECT(system(command) == 0);
}

TEST("an archive is never overwritten, remains of an unfinished export are")
{
    const char *directory = setup_directory("twice");
    struct fabricated log;
    char path[300];

    fabricate_start(&log, 0, 1);
    fabricate_call(&log, BARRIER, 0, 0, 2000, 2100);
    fabricate_finish(&log, directory);
    /* Remains of an export that was cut off are no archive. */
    snprintf(path, sizeof path, "%s/traces", directory);
    EXPECT(mkdir(path, 0777) == 0);
    snprintf(path, sizeof path, "%s/traces/0.evt", directory);
    fabricate_file(path, "half", 4);
    EXPECT(setup_export(directory) == SG_OK, setup_export(directory) == SG_ERR_SYSTEM);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(setup_count(counts, "MPI_Barrier", 0) == 1);
}
