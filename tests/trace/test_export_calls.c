/* Tests the events of all calls, on logs made by hand: messages, requests, collectives,
 * communicators, and the calls that are left out. */
#include "core/text.h"
#include "trace/export/logread_all.h"
#include "trace/export/summary.h"
#include "trace/export_setup.h"

enum { SEND = 3, RECV, ISEND, IRECV, WAIT, BCAST, IBCAST, MPROBE, MRECV, START, DUP };
enum { WORLD = 1, SELF, PAIR };

#define WORLD_IDENTITY 77

/* A log of one of several ranks, with its functions and MPI_COMM_WORLD. */
static void start(struct fabricated *log, int rank, int ranks)
{
    static const char *const names[] = {"MPI_Send",  "MPI_Recv",  "MPI_Isend",   "MPI_Irecv",
                                        "MPI_Wait",  "MPI_Bcast", "MPI_Ibcast",  "MPI_Mprobe",
                                        "MPI_Mrecv", "MPI_Start", "MPI_Comm_dup"};
    uint32_t members[8];

    for (uint32_t i = 0; i < 8; i++)
        members[i] = i;
    fabricate_start(log, rank, ranks);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        fabricate_function(log, SEND + i, names[i]);
    fabricate_profile_comm(log, WORLD, WORLD_IDENTITY, 0, (uint32_t)ranks, (uint32_t)rank,
                           "MPI_COMM_WORLD", rank == 0 ? members : NULL);
}

/* The events of a location as text: kind, region, communicator, peer, tag, bytes, request. */
static const char *list(const json_t *events, uint64_t location)
{
    static char text[20000];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(events); i++) {
        static const char *const fields[] = {"receiver", "sender",     "msg_tag", "msg_length",
                                             "root",     "request_id", "request"};
        const json_t *event = json_array_get(events, i);
        const char *region = json_string_value(json_object_get(event, "region"));
        const char *comm = json_string_value(json_object_get(event, "comm"));

        if ((uint64_t)json_integer_value(json_object_get(event, "location")) != location)
            continue;
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%lld %s%s%s%s%s", used > 0 ? "; " : "",
            (long long)json_integer_value(json_object_get(event, "time")),
            json_string_value(json_object_get(event, "kind")), region != NULL ? " " : "",
            region != NULL ? region : "", comm != NULL ? " " : "", comm != NULL ? comm : "");
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            const json_t *field = json_object_get(event, fields[f]);

            if (field != NULL)
                used += (size_t)snprintf(text + used, sizeof text - used, " %lld",
                                         (long long)json_integer_value(field));
        }
        if (used >= sizeof text)
            abort();
    }
    return text;
}

static void export(const char *directory, json_t **events)
{
    ASSERT(setup_export(directory) == SG_OK);
    setup_check(directory, events);
}

TEST("the program is a region around all events of the master thread")
{
    const char *directory = setup_directory("program");
    struct fabricated log;
    json_t *events;
    char path[300];

    fabricate_start(&log, 0, 1);
    log.header.finalize_begin_ns = 3000;
    fabricate_finish(&log, directory);
    export(directory, &events);
    snprintf(path, sizeof path, "%s/events.json", directory);
    events = setup_load(path);
    EXPECT(text_is(list(events, 0),
                   "900 Enter byhand; 900 Enter MPI_Init; 1100 Leave MPI_Init; "
                   "3000 Enter MPI_Finalize; 3000 Leave MPI_Finalize; 3000 Leave byhand"));
}

TEST("blocking messages are sent after Enter and received before Leave")
{
    const char *directory = setup_directory("blocking");
    json_t *events;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        start(&log, rank, 2);
        log.header.init_begin_ns = log.header.init_end_ns = 0;
        if (rank == 0)
            fabricate_sent(fabricate_event(&log, SEND, WORLD, 2000, 2100), 1, 5, 80);
        else
            fabricate_received(fabricate_event(&log, RECV, WORLD, 1900, 2200), 0, 5, 80);
        fabricate_finish(&log, directory);
    }
    export(directory, &events);
    EXPECT(!exported.partial,
           text_is(list(events, 0), "2000 Enter MPI_Send; "
                                    "2000 MpiSend MPI_COMM_WORLD 1 5 80; "
                                    "2100 Leave MPI_Send"),
           text_is(list(events, 1), "1900 Enter MPI_Recv; "
                                    "2200 MpiRecv MPI_COMM_WORLD 0 5 80; "
                                    "2200 Leave MPI_Recv"));
}

static void post_send(struct fabricated *log, uint64_t begin_ns, int tag, uint64_t bytes)
{
    struct sg_record_event *event = fabricate_event(log, ISEND, WORLD, begin_ns, begin_ns + 10);

    fabricate_sent(event, 1, tag, bytes);
    event->flags |= SG_EVENT_POSTS;
}

/* Calls of the two ranks of the run below: 0 sends three times, 1 receives what comes. */
static void log_sender(struct fabricated *log)
{
    post_send(log, 2000, 5, 80);
    uint64_t request = fabricate_last(log);
    fabricate_event(log, WAIT, WORLD, 2050, 2060);
    fabricate_request(log, SG_REQUEST_SENT, WORLD, 2060, request);
    fabricate_event(log, START, 0, 2100, 2110);
    request = fabricate_last(log) + 1;
    fabricate_request(log, SG_REQUEST_SEND, WORLD, 2110, request)->peer = 1;
    fabricate_event(log, WAIT, WORLD, 2120, 2130);
    fabricate_request(log, SG_REQUEST_SENT, WORLD, 2125, request);
    post_send(log, 2200, 9, 8);
    request = fabricate_last(log);
    fabricate_event(log, WAIT, WORLD, 2300, 2310);
    fabricate_request(log, SG_REQUEST_CANCELLED, WORLD, 2310, request);
}

static void post_receive(struct fabricated *log, int function, uint64_t begin_ns)
{
    struct sg_record_event *event =
        fabricate_event(log, (uint32_t)function, WORLD, begin_ns, begin_ns + 5);

    fabricate_received(event, -2, -1, 100);
    event->flags |= SG_EVENT_POSTS;
}

static void complete_receive(struct fabricated *log, uint64_t time_ns, uint64_t request, int tag,
                             uint64_t bytes)
{
    struct sg_record_request *record =
        fabricate_request(log, SG_REQUEST_RECEIVED, WORLD, time_ns, request);

    record->peer = 0;
    record->tag = tag;
    record->bytes = bytes;
}

static void log_receiver(struct fabricated *log)
{
    post_receive(log, IRECV, 1500);
    uint64_t request = fabricate_last(log);
    fabricate_event(log, WAIT, 0, 1600, 2070);
    complete_receive(log, 2070, request, 5, 80);
    post_receive(log, MPROBE, 2105);
    request = fabricate_last(log);
    fabricate_event(log, MRECV, WORLD, 2120, 2140);
    complete_receive(log, 2140, request, -1, 0);
    post_receive(log, IRECV, 2300); /* never completes */
}

TEST("requests begin in their call, and complete or are cancelled in a wait")
{
    const char *directory = setup_directory("requests");
    json_t *events;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        start(&log, rank, 2);
        log.header.init_begin_ns = log.header.init_end_ns = 0;
        if (rank == 0)
            log_sender(&log);
        else
            log_receiver(&log);
        fabricate_finish(&log, directory);
    }
    export(directory, &events);
    EXPECT(
        text_is(
            list(events, 0),
            "2000 Enter MPI_Isend; 2000 MpiIsend MPI_COMM_WORLD 1 5 80 25; 2010 Leave MPI_Isend; "
            "2050 Enter MPI_Wait; 2060 MpiIsendComplete 25; 2060 Leave MPI_Wait; "
            "2100 Enter MPI_Start; 2110 MpiIsend MPI_COMM_WORLD 1 4294967295 0 29; "
            "2110 Leave MPI_Start; "
            "2120 Enter MPI_Wait; 2125 MpiIsendComplete 29; 2130 Leave MPI_Wait; "
            "2200 Enter MPI_Isend; 2200 MpiIsend MPI_COMM_WORLD 1 9 8 32; 2210 Leave MPI_Isend; "
            "2300 Enter MPI_Wait; 2310 MpiRequestCancelled 32; 2310 Leave MPI_Wait"),
        text_is(list(events, 1),
                "1500 Enter MPI_Irecv; 1500 MpiIrecvRequest 25; 1505 Leave MPI_Irecv; "
                "1600 Enter MPI_Wait; 2070 MpiIrecv MPI_COMM_WORLD 0 5 80 25; 2070 Leave MPI_Wait; "
                "2105 Enter MPI_Mprobe; 2105 MpiIrecvRequest 28; 2110 Leave MPI_Mprobe; "
                "2120 Enter MPI_Mrecv; 2140 MpiIrecv MPI_COMM_WORLD 0 4294967295 0 28; "
                "2140 Leave MPI_Mrecv; "
                "2300 Enter MPI_Irecv; 2300 MpiIrecvRequest 31; 2305 Leave MPI_Irecv"));
}

static void bcast(struct fabricated *log, int function, uint64_t begin_ns, int number, int root)
{
    struct sg_record_event *event =
        fabricate_event(log, (uint32_t)function, WORLD, begin_ns, begin_ns + 50);

    event->flags = SG_EVENT_ORDERED | SG_EVENT_ROOTED;
    event->to = root;
    event->from_tag = number;
    if (function == IBCAST)
        event->flags |= SG_EVENT_POSTS;
}

/* The library's barriers have every other number. */
TEST("the library's collectives and others share one sequence of numbers")
{
    const char *directory = setup_directory("numbers");
    struct sg_refusal refusal;
    struct sg_summary summary;
    struct sg_logread *log;
    struct fabricated made;
    char path[300];

    start(&made, 0, 1);
    for (int i = 0; i < 100; i++) {
        uint64_t time_ns = 2000 + 100 * (uint64_t)i;

        if (i % 2 == 0)
            fabricate_call(&made, SG_OPERATION_BARRIER, 0, (uint32_t)i / 2, time_ns, time_ns + 10);
        else
            bcast(&made, BCAST, time_ns, i, 0);
    }
    bcast(&made, BCAST, 13000, 102, 0); /* two numbers are missing, and no barrier was between */
    fabricate_finish(&made, directory);
    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, 0);
    ASSERT(sg_logread_try(path, &log, &refusal) == SG_OK,
           sg_summary_make(log, false, &summary) == SG_OK);
    EXPECT(summary.calls.events == 51);
    ASSERT(summary.calls.comm_count == 1);
    EXPECT(summary.calls.comms[0].comm.recorded.count == 2,
           sg_intervals_size(&summary.calls.comms[0].comm.recorded) == 101);
    sg_summary_clear(&summary);
    sg_logread_close(log);
}

/* Number 1 is of rank 0 alone. */
TEST("a collective of all members has its events, one of some members only a region")
{
    const char *directory = setup_directory("collectives");
    json_t *events;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        start(&log, rank, 2);
        log.header.init_begin_ns = log.header.init_end_ns = 0;
        bcast(&log, BCAST, 2000, 0, 1);
        if (rank == 0)
            bcast(&log, BCAST, 2100, 1, 1);
        bcast(&log, IBCAST, 2200, 2, 0);
        uint64_t request = fabricate_last(&log);
        fabricate_event(&log, WAIT, 0, 2300, 2350);
        fabricate_request(&log, SG_REQUEST_COMPLETE, WORLD, 2340, request);
        fabricate_finish(&log, directory);
    }
    export(directory, &events);
    EXPECT(
        exported.partial, exported.dropped == 1,
        text_is(
            list(events, 0),
            "2000 Enter MPI_Bcast; 2000 MpiCollectiveBegin; 2050 MpiCollectiveEnd MPI_COMM_WORLD "
            "1; "
            "2050 Leave MPI_Bcast; 2100 Enter MPI_Bcast; 2150 Leave MPI_Bcast; "
            "2200 Enter MPI_Ibcast; 2200 NonBlockingCollectiveRequest 27; 2250 Leave MPI_Ibcast; "
            "2300 Enter MPI_Wait; 2340 NonBlockingCollectiveComplete MPI_COMM_WORLD 0 27; "
            "2350 Leave MPI_Wait"));
}

/* Ranks 3 and 1 of four are the pair, whose parent is the world. If linked, the library's
 * collectives know the pair as well. */
static void pairs(const char *name, bool linked, bool with_members, json_t **counts,
                  json_t **events)
{
    static const uint32_t pair[] = {3, 1};
    const char *directory = setup_directory(name);

    for (int rank = 0; rank < 4; rank++) {
        uint32_t own = rank == 3 ? 0 : 1;
        struct fabricated log;
        struct sg_record_comm *comm;

        start(&log, rank, 4);
        if (rank % 2 == 1) {
            const uint32_t *members = own == 0 && with_members ? pair : NULL;

            if (linked) {
                fabricate_comm(&log, 2, 3, 2, 2, own, "of the library", members);
                for (uint64_t slot = 0; slot < log.count; slot++) {
                    comm = (void *)(log.slots + slot * SG_SLOT_BYTES);
                    if (comm->kind == SG_RECORD_COMM)
                        comm->profile_comm = PAIR;
                }
            }
            fabricate_profile_comm(&log, PAIR, 99, 4, with_members ? 2 : 3, own, "", members)
                ->parent = WORLD;
            if (rank == 3)
                fabricate_sent(fabricate_event(&log, SEND, PAIR, 2000, 2100), 1, 5, 80);
            else
                fabricate_received(fabricate_event(&log, RECV, PAIR, 1900, 2200), 0, 5, 80);
        }
        fabricate_event(&log, DUP, WORLD, 3000, 3100);
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    *counts = setup_check(directory, events);
}

TEST("communicators are joined across ranks, and with the library's own")
{
    json_t *counts, *events;

    pairs("pair", false, true, &counts, &events);
    EXPECT(!exported.partial);
    json_t *comm = json_array_get(json_object_get(counts, "comms"), 2);
    EXPECT(text_is(json_string_value(json_object_get(comm, "name")), "comm 00000063.4"),
           strstr(list(events, 3), "MpiSend comm 00000063.4 1 5 80") != NULL);

    pairs("linked", true, true, &counts, &events);
    EXPECT(json_array_size(json_object_get(counts, "comms")) == 3,
           strstr(list(events, 1), "MpiRecv of the library 0 5 80") != NULL);
}

TEST("messages on a communicator of unknown members are left out and counted")
{
    json_t *counts, *events;

    pairs("unknown", false, false, &counts, &events);
    EXPECT(exported.partial, exported.dropped == 2,
           json_array_size(json_object_get(counts, "comms")) == 2,
           strstr(list(events, 3), "2000 Enter MPI_Send; 2100 Leave MPI_Send") != NULL);
}

TEST("failed and open calls are regions without messages")
{
    struct fabricated log;

    setup_alone(&log);
    log.header.state = SG_LOG_RUNNING;
    fabricate_function(&log, SEND, "MPI_Send");
    fabricate_function(&log, RECV, "MPI_Recv");
    fabricate_profile_comm(&log, WORLD, WORLD_IDENTITY, 0, 1, 0, "MPI_COMM_WORLD", NULL);
    struct sg_record_event *event = fabricate_event(&log, SEND, WORLD, 2000, 2100);
    fabricate_sent(event, 0, 5, 80);
    event->flags |= SG_EVENT_FAILED;
    fabricate_event(&log, RECV, WORLD, 2200, 0);
    fabricate_marker(&log, SG_MARKER_STALL, 2900, "waits since long");
    json_t *events = setup_events(&log, "open");
    EXPECT(exported.partial, text_is(list(events, 0), "2000 Enter MPI_Send; 2100 Leave MPI_Send; "
                                                      "2200 Enter MPI_Recv; 2900 Leave MPI_Recv"));
}

TEST("events dropped for lack of capacity are counted by function")
{
    const char *directory = setup_directory("left");
    char command[600];

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        start(&log, rank, 2);
        for (uint64_t slot = 0; slot < log.count; slot++) {
            struct sg_record_function *function = (void *)(log.slots + slot * SG_SLOT_BYTES);

            if (function->kind == SG_RECORD_FUNCTION && function->index <= RECV)
                function->left_out = function->index + (uint64_t)rank;
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(exported.partial);
    snprintf(command, sizeof command, "grep -qa 'MPI_Recv=9 MPI_Send=7' %s/traces.otf2", directory);
    EXPECT(system(command) == 0);
}

/* ---- the checker finds what is wrong -------------------------------------------------------- */

enum fault { UNSENT, TOO_EARLY, LENGTH, TWICE, ROOTS, ORDER, FAULTS };

static void log_fault(struct fabricated *log, int rank, enum fault fault)
{
    int first = fault == ORDER && rank == 1 ? 1 : 0;
    uint64_t request;

    if (rank == 0 && fault != UNSENT) {
        post_send(log, 2000, 5, 80);
        request = fabricate_last(log);
        fabricate_event(log, WAIT, WORLD, 2050, 2060);
        fabricate_request(log, SG_REQUEST_SENT, WORLD, 2060, request);
        if (fault == TWICE)
            fabricate_request(log, SG_REQUEST_SENT, WORLD, 2060, request);
    }
    if (rank == 1)
        fabricate_received(fabricate_event(log, RECV, WORLD, fault == TOO_EARLY ? 1500 : 2000,
                                           fault == TOO_EARLY ? 1600 : 2070),
                           0, 5, fault == LENGTH ? 79 : 80);
    bcast(log, BCAST, 2500, first, fault == ROOTS ? rank : first);
    bcast(log, BCAST, 2600, 1 - first, 1 - first);
    fabricate_event(log, DUP, WORLD, 3000, 3100);
}

TEST("the checker finds messages and collectives that contradict each other")
{
    static const char *const sentences[FAULTS] = {
        [UNSENT] = "no more messages are received than were sent",
        [TOO_EARLY] = "no message is received before it was sent",
        [LENGTH] = "messages have the same length at both ends",
        [TWICE] = "a request completes or is cancelled once, after its post",
        [ROOTS] = "all members have the same collective at each number",
        [ORDER] = "numbers of collectives rise in the order of their begins",
    };

    for (int fault = 0; fault < FAULTS; fault++) {
        char name[20], command[1500];

        snprintf(name, sizeof name, "fault%d", fault);
        const char *directory = setup_directory(name);
        for (int rank = 0; rank < 2; rank++) {
            struct fabricated log;

            start(&log, rank, 2);
            log_fault(&log, rank, (enum fault)fault);
            fabricate_finish(&log, directory);
        }
        ASSERT(setup_export(directory) == SG_OK);
        EXPECT(!exported.partial);
        snprintf(command, sizeof command,
                 "/usr/bin/python3 tests/lib/check_archive.py %s/traces.otf2 >%s/checks && exit 1; "
                 "grep -q '^not ok - %s' %s/checks && [ $(grep -c '^not ok' %s/checks) = 1 ]",
                 directory, directory, sentences[fault], directory, directory);
        EXPECT(system(command) == 0);
    }
}
