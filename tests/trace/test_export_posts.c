/* Tests nonblocking collectives in an archive, on logs made by hand: the post, its request, and
 * its completion, wherever that falls. */
#include "trace/export_setup.h"

enum { BARRIER, REDUCE, ALLREDUCE };

#define THREAD_1 (UINT64_C(1) << 32)

static json_int_t number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    ASSERT(json_is_integer(value));
    return json_integer_value(value);
}

/* The events of a location: ">MPI_Ibarrier", "+1" where it gets request 1, "=1" where that is
 * complete, "<MPI_Ibarrier", each after its time. */
static const char *timeline(const json_t *events, uint64_t location)
{
    static char text[4000];
    const json_t *event;
    size_t used = 0, i;

    text[0] = '\0';
    json_array_foreach(events, i, event)
    {
        const char *kind = json_string_value(json_object_get(event, "kind"));
        const char *region = json_string_value(json_object_get(event, "region"));
        bool request = strcmp(kind, "NonBlockingCollectiveRequest") == 0;

        if ((uint64_t)number(event, "location") != location)
            continue;
        if (region != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld %c%s",
                                     used > 0 ? " " : "", (long long)number(event, "time"),
                                     strcmp(kind, "Enter") == 0 ? '>' : '<', region);
        else if (request || strcmp(kind, "NonBlockingCollectiveComplete") == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " %lld %c%lld",
                                     (long long)number(event, "time"), request ? '+' : '=',
                                     (long long)number(event, "request"));
        if (used >= sizeof text)
            abort();
    }
    return text;
}

/* The nth event (from 0) of a kind on a location. */
static const json_t *find(const json_t *events, const char *kind, uint64_t location, int nth)
{
    const json_t *event;
    size_t i;

    json_array_foreach(events, i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "kind")), kind) == 0 &&
            (uint64_t)number(event, "location") == location && nth-- == 0)
            return event;
    }
    CU_FAIL_FATAL("no such event");
    return NULL;
}

/* Rank 1 of {1, 0} is the root of the second, in place; of the first rank 0, that is world rank 1.
 */
TEST("a post and its completion carry a call's attributes, and exposed and hidden time")
{
    static const uint32_t members[] = {1, 0};
    static const int sent[][2] = {{24, 24}, {0, 24}}, received[][2] = {{0, 48}, {24, 0}};
    const char *directory = setup_directory("whole");
    json_t *events;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0x3f2a9c1b, "/opt/bin/cg", "", 0x11c4);
        fabricate_comm(&log, 2, 1, 2, 2, (uint32_t)(1 - rank), "turned", rank ? members : NULL);
        for (uint32_t seq = 0; seq < 2; seq++) {
            struct sg_record_nonblocking *nonblocking = fabricate_nonblocking(
                &log, REDUCE, 2, seq, 2000 + 1000 * seq, 30, 200, 2900 + 1000 * seq);

            nonblocking->site = 1;
            nonblocking->executed = 1;
            nonblocking->bytes = 24;
            nonblocking->tests = 5;
            nonblocking->root = (int32_t)seq;
            nonblocking->flags = seq == 1 && rank == 0 ? SG_CALL_IN_PLACE : 0;
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(exported.calls == 4, exported.dropped == 0);
    json_t *counts = setup_check(directory, &events);
    EXPECT(setup_count(counts, "MPI_Ireduce", 0) == 2, setup_count(counts, "MPI_Reduce", 0) == 0,
           setup_instances(counts, "turned") == 2);
    for (uint64_t rank = 0; rank < 2; rank++) {
        for (int seq = 0; seq < 2; seq++) {
            const json_t *attributes;

            /* The first is MPI_Init's. */
            const json_t *event = find(events, "Enter", rank, 1 + seq);
            attributes = json_object_get(event, "attributes");
            EXPECT(
                text_is(json_string_value(json_object_get(event, "region")), "MPI_Ireduce"),
                text_is(json_string_value(json_object_get(attributes, "call site")),
                        "[cg+0x11c4] #3f2a9c1b"),
                text_is(json_string_value(json_object_get(attributes, "algorithm")), "bypass"),
                text_is(json_string_value(json_object_get(attributes, "communicator")), "turned"),
                number(attributes, "seq") == seq, number(attributes, "bytes") == 24);
            event = find(events, "NonBlockingCollectiveComplete", rank, seq);
            attributes = json_object_get(event, "attributes");
            EXPECT(text_is(json_string_value(json_object_get(event, "operation")), "REDUCE"),
                   text_is(json_string_value(json_object_get(event, "comm")), "turned"),
                   number(event, "root") == seq, number(event, "sent") == sent[seq][rank],
                   number(event, "received") == received[seq][rank],
                   number(attributes, "exposed wait") == 200,
                   number(attributes, "hidden time") == 900 - 30 - 200,
                   number(attributes, "tests") == 5);
        }
    }
}

/* Requests are numbered by their record's place in the log: here from 1. */
TEST("completions occur inside any region and between regions, in any order")
{
    struct fabricated log;

    setup_alone(&log);
    fabricate_nonblocking(&log, BARRIER, 0, 0, 2000, 100, 0, 2550);
    fabricate_nonblocking(&log, ALLREDUCE, 0, 1, 2200, 50, 10,
                          2400);                     /* sooner than the one before */
    fabricate_call(&log, BARRIER, 0, 2, 2500, 2600); /* the first's falls in it */
    fabricate_nonblocking(&log, REDUCE, 0, 3, 2700, 0, 0, 2700)->root = 0; /* all at once */
    fabricate_nonblocking(&log, BARRIER, 0, 4, 2750, 10, 0, 2805);
    fabricate_late(&log, 2800, 2810); /* that one's falls in it */
    fabricate_nonblocking(&log, BARRIER, 0, 5, 2900, 10, 0, 3000);
    fabricate_call(&log, BARRIER, 0, 6, 3000, 3010); /* with the end of the one before */
    json_t *events = setup_events(&log, "anywhere");
    EXPECT(text_is(timeline(events, 0),
                   "2000 >MPI_Ibarrier 2000 +1 2100 <MPI_Ibarrier "
                   "2200 >MPI_Iallreduce 2200 +2 2250 <MPI_Iallreduce 2400 =2 "
                   "2500 >MPI_Barrier 2550 =1 2600 <MPI_Barrier "
                   "2700 >MPI_Ireduce 2700 +4 2700 <MPI_Ireduce 2700 =4 "
                   "2750 >MPI_Ibarrier 2750 +5 2760 <MPI_Ibarrier "
                   "2800 >late contribution 2805 =5 2810 <late contribution "
                   "2900 >MPI_Ibarrier 2900 +7 2910 <MPI_Ibarrier 3000 >MPI_Barrier 3000 "
                   "=7 3010 <MPI_Barrier"),
           exported.calls == 7, !exported.partial);
}

TEST("a request belongs to the thread that posted it")
{
    struct fabricated log;

    setup_alone(&log);
    log.header.thread_count = 2;
    fabricate_nonblocking(&log, BARRIER, 0, 0, 2000, 100, 0, 2300);
    fabricate_nonblocking(&log, BARRIER, 1, 0, 2010, 100, 0, 2200)->thread = 1;
    json_t *events = setup_events(&log, "threads");
    EXPECT(text_is(timeline(events, 0), "2000 >MPI_Ibarrier 2000 +1 2100 <MPI_Ibarrier 2300 =1"),
           text_is(timeline(events, THREAD_1),
                   "2010 >MPI_Ibarrier 2010 +2 2110 <MPI_Ibarrier 2200 =2"));
}

TEST("a post that is never completed has no completion")
{
    struct fabricated log;

    setup_alone(&log);
    log.header.state = SG_LOG_RUNNING;
    fabricate_nonblocking(&log, BARRIER, 0, 0, 2000, 100, 70, 0);
    fabricate_call(&log, BARRIER, 0, 1, 2200, 2300);
    fabricate_nonblocking(&log, BARRIER, 0, 2, 2400, 50, 0, 0);
    json_t *events = setup_events(&log, "open");
    EXPECT(text_is(timeline(events, 0), "2000 >MPI_Ibarrier 2000 +1 2100 <MPI_Ibarrier "
                                        "2200 >MPI_Barrier 2300 <MPI_Barrier "
                                        "2400 >MPI_Ibarrier 2400 +3 2450 <MPI_Ibarrier"),
           exported.calls == 3, exported.dropped == 0, exported.partial);
}

/* The second to sixth cannot have been so on rank 1: they are left out on rank 0 too. */
TEST("impossible posts are left out on all ranks")
{
    const char *directory = setup_directory("impossible");
    json_t *events;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.init_begin_ns = log.header.init_end_ns = 0;
        for (uint32_t seq = 0; seq < 8; seq++) {
            struct sg_record_nonblocking *nonblocking = fabricate_nonblocking(
                &log, REDUCE, 0, seq, 2000 + 1000 * seq, 100, 300, 2400 + 1000 * seq);

            nonblocking->root = 0;
            if (rank == 0)
                continue;
            if (seq == 1)
                nonblocking->exposed_ns = 401; /* more than there was */
            else if (seq == 2)
                nonblocking->end_ns = nonblocking->begin_ns - 1;
            else if (seq == 3)
                nonblocking->operation = UINT8_MAX;
            else if (seq == 4)
                nonblocking->root = 2;
            else if (seq == 5)
                nonblocking->end_ns = SG_TIME_LIMIT_NS;
        }
        fabricate_nonblocking(&log, REDUCE, 0, 8, 12000, 10, 0, 12100)->flags = SG_CALL_FAILED;
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(exported.calls == 6, exported.dropped == 10);
    json_t *counts = setup_check(directory, &events);
    EXPECT(setup_instances(counts, "MPI_COMM_WORLD") == 3,
           text_is(timeline(events, 0), "2000 >MPI_Ireduce 2000 +1 2100 <MPI_Ireduce 2400 =1 "
                                        "8000 >MPI_Ireduce 8000 +7 8100 <MPI_Ireduce 8400 =7 "
                                        "9000 >MPI_Ireduce 9000 +8 9100 <MPI_Ireduce 9400 =8"));
}

/* Times that two threads noted at once still add up. */
TEST("overlapping times of a post are cut so that they add up")
{
    static const uint64_t ends_ns[] = {2395, 2095}, exposed_ns[] = {300, 4};
    static const json_int_t left_ns[] = {2100, 2095}, kept_ns[] = {295, 0};

    for (size_t i = 0; i < 2; i++) {
        struct fabricated log;

        setup_alone(&log);
        fabricate_nonblocking(&log, BARRIER, 0, 0, 2000, 100, exposed_ns[i], ends_ns[i]);
        json_t *events = setup_events(&log, i == 0 ? "overlap" : "overlap-of-all");
        EXPECT(exported.dropped == 0);
        const json_t *event = find(events, "Leave", 0, 0);
        EXPECT(number(event, "time") == left_ns[i]);
        event = find(events, "NonBlockingCollectiveComplete", 0, 0);
        EXPECT(number(event, "time") == (json_int_t)ends_ns[i]);
        event = json_object_get(event, "attributes");
        EXPECT(number(event, "exposed wait") == kept_ns[i], number(event, "hidden time") == 0);
    }
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
