/* Tests the events of windows, on logs made by hand: events that not all members recorded,
 * unknown data, several threads, and damage. */
#include "trace/export_setup.h"

enum { MAKE = 3, FENCE, PUT, RPUT, GET, WAIT, FLUSH, FLUSH_LOCAL, FREE, LOCK, UNLOCK, POST };
enum { WORLD = 1, STRANGE };

#define RANKS 2

static void start(struct fabricated *log, int rank)
{
    static const char *const names[] = {
        "MPI_Win_create", "MPI_Win_fence", "MPI_Put",        "MPI_Rput",
        "MPI_Get",        "MPI_Wait",      "MPI_Win_flush",  "MPI_Win_flush_local",
        "MPI_Win_free",   "MPI_Win_lock",  "MPI_Win_unlock", "MPI_Win_post"};
    const uint32_t members[RANKS] = {0, 1};

    fabricate_start(log, rank, RANKS);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        fabricate_function(log, MAKE + i, names[i]);
    fabricate_profile_comm(log, WORLD, 77, 0, RANKS, (uint32_t)rank, "MPI_COMM_WORLD",
                           rank == 0 ? members : NULL);
    /* A communicator with members outside MPI_COMM_WORLD. */
    fabricate_profile_comm(log, STRANGE, 0, 0, 3, (uint32_t)rank, "strange", NULL);
}

/* A call on a window, from begin_ns for 10. */
static struct sg_record_event *call(struct fabricated *log, int function, int window,
                                    uint64_t begin_ns)
{
    struct sg_record_event *event =
        fabricate_event(log, (uint32_t)function, WORLD, begin_ns, begin_ns + 10);

    event->from = window;
    return event;
}

static void collective(struct fabricated *log, int function, int window, uint64_t begin_ns,
                       int number)
{
    struct sg_record_event *event = call(log, function, window, begin_ns);

    event->flags = SG_EVENT_ORDERED;
    event->from_tag = number;
}

static uint64_t operation(struct fabricated *log, int function, int window, uint64_t begin_ns,
                          int target)
{
    struct sg_record_event *event = call(log, function, window, begin_ns);

    event->flags = SG_EVENT_TARGETS;
    event->to = target;
    event->sent_bytes = event->received_bytes = 8;
    return fabricate_last(log);
}

/* Kinds of events of windows on a location, with their time and number, less the first one. */
static const char *list(const json_t *events, uint64_t location)
{
    static char text[4000];
    size_t used = 0;
    long long first = -1;

    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *kind = json_string_value(json_object_get(event, "kind"));
        const json_t *number = json_object_get(event, "matching_id");

        if ((uint64_t)json_integer_value(json_object_get(event, "location")) != location ||
            strncmp(kind, "Rma", 3) != 0)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld %s", used > 0 ? "; " : "",
                                 (long long)json_integer_value(json_object_get(event, "time")),
                                 kind + 3);
        if (number != NULL && first < 0)
            first = json_integer_value(number);
        if (number != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, " %lld",
                                     json_integer_value(number) - first);
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

/* Rank 1 did not record the making, and has one fence less. */
TEST("a window's collective needs all members; a window some did not record is left out")
{
    const char *directory = setup_directory("differ");
    json_t *events;

    for (int rank = 0; rank < RANKS; rank++) {
        struct fabricated log;

        start(&log, rank);
        fabricate_window(&log, 0, WORLD, 0, "");
        if (rank == 0)
            collective(&log, MAKE, 0, 2000, 0);
        collective(&log, FENCE, 0, 2100, 1);
        if (rank == 0)
            collective(&log, FENCE, 0, 2200, 2);
        collective(&log, FREE, 0, 2300, 3);
        fabricate_finish(&log, directory);
    }
    export(directory, &events);
    EXPECT(exported.dropped == 2,
           text_is(list(events, 0), "2100 CollectiveBegin; 2110 CollectiveEnd; "
                                    "2300 CollectiveBegin; 2310 CollectiveEnd"),
           text_is(list(events, 1), "2100 CollectiveBegin; 2110 CollectiveEnd; "
                                    "2300 CollectiveBegin; 2310 CollectiveEnd"));
}

/* A window on a communicator of unknown members; one that was not seen to be made; one without a
 * record; one of an old log, which knows no windows. */
TEST("unknown windows are left out and counted")
{
    const char *directory = setup_directory("unknown");
    json_t *events;

    for (int rank = 0; rank < RANKS; rank++) {
        struct fabricated log;

        start(&log, rank);
        fabricate_window(&log, 0, STRANGE, 0, "");
        collective(&log, FENCE, 0, 2000, 1);
        operation(&log, PUT, 0, 2100, 1);
        operation(&log, PUT, -1, 2200, 1);
        ((struct sg_record_event *)(log.slots + fabricate_last(&log) * SG_SLOT_BYTES))->comm = 0;
        operation(&log, PUT, 5, 2300, 1);
        operation(&log, PUT, -1, 2400, 1);
        fabricate_finish(&log, directory);
    }
    export(directory, &events);
    EXPECT(exported.dropped == 2 * 4, text_is(list(events, 0), ""));
}

/* One thread completes what another began; a flush of one target completes that one alone; a get
 * is complete at both ends. */
TEST("operations complete by MPI's rules, whichever thread completes them")
{
    const char *directory = setup_directory("completions");
    struct fabricated log;
    json_t *events;

    start(&log, 0);
    log.header.thread_count = 2;
    fabricate_window(&log, 0, WORLD, 0, "named");
    operation(&log, PUT, 0, 2000, 1);
    operation(&log, PUT, 0, 2020, 0);
    call(&log, FLUSH, 0, 2100)->to = 1;
    ((struct sg_record_event *)(log.slots + fabricate_last(&log) * SG_SLOT_BYTES))->thread = 1;
    operation(&log, GET, 0, 2200, 0);
    call(&log, FLUSH_LOCAL, 0, 2300)->to = 0;
    uint64_t request = operation(&log, RPUT, 0, 2400, 1);
    fabricate_event(&log, WAIT, 0, 2500, 2510);
    fabricate_request(&log, SG_REQUEST_COMPLETE, WORLD, 2510, request);
    call(&log, FLUSH, 0, 2600)->to = 1;
    call(&log, FLUSH, 0, 2700)->to = 0;
    fabricate_finish(&log, directory);
    start(&log, 1);
    fabricate_finish(&log, directory);
    export(directory, &events);
    EXPECT(
        exported.dropped == 0,
        text_is(list(events, 0),
                "2000 Put 0; 2020 Put 1; 2200 Get 3; 2310 OpCompleteNonBlocking 1; "
                "2310 OpCompleteNonBlocking 3; 2310 OpCompleteRemote 3; 2400 Put 5; "
                "2510 OpCompleteNonBlocking 5; 2610 OpCompleteRemote 5; 2710 OpCompleteRemote 1"),
        text_is(list(events, UINT64_C(1) << 32),
                "2110 OpCompleteNonBlocking 0; 2110 OpCompleteRemote 0"));
}

/* A target, a group and a lock that cannot be, an open lock, and an unlock of none. */
TEST("impossible events leave only the region")
{
    const char *directory = setup_directory("damage");
    struct fabricated log;
    json_t *events;

    start(&log, 0);
    fabricate_window(&log, 0, WORLD, 0, "");
    operation(&log, PUT, 0, 2000, 7);
    call(&log, LOCK, 0, 2100)->to = 9;
    call(&log, UNLOCK, 0, 2200)->to = 9;
    call(&log, UNLOCK, 0, 2300)->to = 1;
    call(&log, POST, 0, 2400)->to = 12;
    struct sg_record_event *lock = call(&log, LOCK, 0, 2500);
    lock->to = 1;
    lock->end_ns = 0;
    fabricate_finish(&log, directory);
    start(&log, 1);
    fabricate_finish(&log, directory);
    export(directory, &events);
    EXPECT(text_is(list(events, 0), ""));
}
