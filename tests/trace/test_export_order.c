/* Tests order and nesting of events, on logs made by hand: threads, late contributions, calls
 * that were open when a rank ended, and damage. */
#include "trace/export_setup.h"

enum { BARRIER, REDUCE, ALLREDUCE };

#define THREAD_1 (UINT64_C(1) << 32)

TEST("each recording thread has its own location")
{
    const char *directory = setup_directory("threads");
    struct fabricated log;
    json_t *events, *locations;

    setup_alone(&log);
    log.header.thread_count = 3;
    log.header.progress_thread = 3;
    fabricate_call(&log, BARRIER, 0, 0, 2000, 2500);
    fabricate_call(&log, BARRIER, 1, 0, 2100, 2200)->thread = 1;
    fabricate_late(&log, 2300, 2400)->thread = 2;
    fabricate_call(&log, BARRIER, 1, 1, 2450, 2700)->thread = 1;
    fabricate_call(&log, BARRIER, 0, 1, 2600, 2650);
    fabricate_finish(&log, directory);
    ASSERT(setup_export(directory) == SG_OK);
    json_t *counts = setup_check(directory, &events);
    EXPECT(text_is(setup_timeline(events, 0),
                   "2000 >MPI_Barrier 2500 <MPI_Barrier 2600 >MPI_Barrier 2650 <MPI_Barrier"),
           text_is(setup_timeline(events, THREAD_1),
                   "2100 >MPI_Barrier 2200 <MPI_Barrier 2450 >MPI_Barrier 2700 <MPI_Barrier"),
           text_is(setup_timeline(events, 2 * THREAD_1),
                   "2300 >late contribution 2400 <late contribution"));
    locations = json_object_get(counts, "locations");
    EXPECT(text_is(json_string_value(json_object_get(locations, "4294967296")), "Thread 1"),
           text_is(json_string_value(json_object_get(locations, "8589934592")), "Progress thread"));
}

TEST("late contributions nest, in calls and between them")
{
    struct fabricated log;

    setup_alone(&log);
    fabricate_call(&log, REDUCE, 0, 0, 2000, 2500)->root = 0;
    fabricate_late(&log, 2100, 2200); /* inside the call */
    fabricate_late(&log, 2500, 2550); /* right behind it */
    fabricate_late(&log, 2560, 2600); /* between calls */
    fabricate_late(&log, 2570, 2580); /* inside another */
    fabricate_call(&log, BARRIER, 0, 1, 3000, 3100);
    fabricate_late(&log, 3000, 3200); /* with it, and beyond its end: cut */
    json_t *events = setup_events(&log, "late");
    EXPECT(text_is(setup_timeline(events, 0),
                   "2000 >MPI_Reduce 2100 >late contribution 2200 <late contribution "
                   "2500 <MPI_Reduce 2500 >late contribution 2550 <late contribution "
                   "2560 >late contribution 2570 >late contribution "
                   "2580 <late contribution 2600 <late contribution "
                   "3000 >MPI_Barrier 3000 >late contribution 3100 <late contribution "
                   "3100 <MPI_Barrier"),
           !exported.partial);
}

TEST("records are sorted by time, not by slot")
{
    struct fabricated log;

    setup_alone(&log);
    fabricate_call(&log, BARRIER, 0, 1, 3000, 3100);
    fabricate_late(&log, 2050, 2060);
    fabricate_call(&log, BARRIER, 0, 0, 2000, 2100);
    json_t *events = setup_events(&log, "disorder");
    EXPECT(text_is(setup_timeline(events, 0),
                   "2000 >MPI_Barrier 2050 >late contribution 2060 <late contribution "
                   "2100 <MPI_Barrier 3000 >MPI_Barrier 3100 <MPI_Barrier"));
}

TEST("a region open when a rank ended is closed at the rank's last time")
{
    struct fabricated log;

    setup_alone(&log);
    log.header.state = SG_LOG_RUNNING;
    fabricate_call(&log, BARRIER, 0, 0, 2000, 0); /* left by a jump */
    fabricate_call(&log, BARRIER, 0, 1, 2100, 2200);
    fabricate_call(&log, BARRIER, 0, 2, 2300, 0);
    fabricate_late(&log, 2400, 0);
    fabricate_marker(&log, SG_MARKER_STALL, 2900, "waits since long");
    json_t *events = setup_events(&log, "open");
    EXPECT(text_is(setup_timeline(events, 0),
                   "2000 >MPI_Barrier 2100 <MPI_Barrier 2100 >MPI_Barrier "
                   "2200 <MPI_Barrier 2300 >MPI_Barrier 2400 >late contribution "
                   "2900 <late contribution 2900 <MPI_Barrier"),
           exported.partial, exported.calls == 3);
}

TEST("MPI_Init and MPI_Finalize come from the header")
{
    struct fabricated log;

    fabricate_start(&log, 0, 1);
    log.header.init_end_ns = 0; /* ended inside MPI_Init, says the header */
    log.header.finalize_begin_ns = 2500;
    fabricate_call(&log, BARRIER, 0, 0, 2000, 2600);
    fabricate_late(&log, 2700, 2800);
    json_t *events = setup_events(&log, "header");
    EXPECT(text_is(setup_timeline(events, 0),
                   "900 >MPI_Init 2000 <MPI_Init 2000 >MPI_Barrier 2500 <MPI_Barrier "
                   "2500 >MPI_Finalize 2700 >late contribution 2800 <late contribution "
                   "2800 <MPI_Finalize"));
}

/* True if one of OTF2's tools prints the pattern for an archive. */
static bool prints(const char *tool, const char *directory, const char *pattern)
{
    char command[600];

    snprintf(command, sizeof command, "%s %s/traces.otf2 | grep -q -- '%s'", tool, directory,
             pattern);
    return system(command) == 0;
}

TEST("markers are kept, and name the missing events")
{
    const char *directory = setup_directory("markers");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 3);
        fabricate_marker(&log, SG_MARKER_STALL, 2000, "rank waits in MPI_Barrier");
        fabricate_marker(&log, 200, 2100, "of a kind to come");
        fabricate_marker(&log, SG_MARKER_PARTIAL, 2200, "");
        log.header.state = rank == 0 ? SG_LOG_FINALIZED : SG_LOG_ABORTED;
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(exported.partial,
           prints("otf2-marker", directory, "LOCATION:0, Text: \"rank waits in MPI_Barrier"),
           prints("otf2-marker", directory, "LOCATION:0, Text: \"of a kind to come"),
           prints("otf2-marker", directory,
                  "LOCATION:1, Text: \"this rank did not reach MPI_Finalize"),
           prints("otf2-marker", directory, "LOCATION:2, Text: \"this rank.s log is missing"),
           prints("otf2-print -I", directory, "STAGGER::PARTIAL"));
}

TEST("a missing rank removes the instances of its communicators")
{
    static const uint32_t with[] = {0, 2}, without[] = {0, 1};
    const char *directory = setup_directory("missing");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 3);
        fabricate_call(&log, BARRIER, 0, 0, 2000, 2100);
        fabricate_comm(&log, 2, 0, 2, 2, (uint32_t)rank, "whole", rank == 0 ? without : NULL);
        fabricate_call(&log, BARRIER, 2, 0, 2200, 2300);
        if (rank == 0) {
            fabricate_comm(&log, 3, 0, 3, 2, 0, "with the missing", with);
            fabricate_call(&log, BARRIER, 3, 0, 2400, 2500);
            fabricate_comm(&log, 4, 2, 2, 2, 1, "of the missing", NULL);
            fabricate_call(&log, BARRIER, 4, 0, 2600, 2700);
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    EXPECT(exported.calls == 2, exported.dropped == 4, exported.partial);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(json_integer_value(json_object_get(counts, "ranks")) == 3,
           setup_instances(counts, "whole") == 1, setup_instances(counts, "MPI_COMM_WORLD") == 0,
           setup_instances(counts, "with the missing") == 0,
           setup_instances(counts, "of the missing") == -1);
}

/* The members are known without their list when all of their logs are there. */
TEST("members are reconstructed if their list is lost")
{
    const char *directory = setup_directory("lost");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_comm(&log, 2, 1, 2, 2, (uint32_t)(1 - rank), "turned", NULL);
        fabricate_call(&log, REDUCE, 2, 0, 2000, 2100)->root = 1;
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    json_t *counts = setup_check(directory, NULL);
    EXPECT(setup_instances(counts, "turned") == 1);
}

/* Messages, requests and collectives of all calls, in the world and between the two ranks. */
static void add_events(struct fabricated *log, int rank)
{
    enum { SEND = 1, RECV, ISEND, IRECV, WAIT, IBCAST };
    static const char *const names[] = {"MPI_Send",  "MPI_Recv", "MPI_Isend",
                                        "MPI_Irecv", "MPI_Wait", "MPI_Ibcast"};
    const uint32_t world[] = {0, 1}, between[] = {(uint32_t)rank, (uint32_t)(1 - rank)};

    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        fabricate_function(log, SEND + i, names[i]);
    fabricate_profile_comm(log, 1, 77, 0, 2, (uint32_t)rank, "MPI_COMM_WORLD",
                           rank == 0 ? world : NULL);
    struct sg_record_profile_comm *comm =
        fabricate_profile_comm(log, 3, 99, 0, 2, 0, "between", between);
    comm->is_inter = 1;
    comm->size = comm->peers = 1;
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t of = round % 2 == 0 ? 1 : 3, peer = of == 1 ? (uint32_t)(1 - rank) : 0;
        uint64_t begin_ns = 6000 + 200 * round, post;
        struct sg_record_event *event = fabricate_event(log, ISEND, of, begin_ns, begin_ns + 10);

        fabricate_sent(event, (int)peer, 5, 8);
        event->flags |= SG_EVENT_POSTS;
        post = fabricate_last(log);
        fabricate_received(fabricate_event(log, RECV, of, begin_ns + 20, begin_ns + 40), (int)peer,
                           5, 8);
        fabricate_event(log, WAIT, of, begin_ns + 50, begin_ns + 60);
        fabricate_request(log, SG_REQUEST_SENT, of, begin_ns + 60, post);
        event = fabricate_event(log, IBCAST, of, begin_ns + 70, begin_ns + 80);
        event->flags = SG_EVENT_POSTS | SG_EVENT_ORDERED | SG_EVENT_ROOTED;
        event->from_tag = (int)round / 2;
        event->to = of == 1 || rank == 1 ? 0 : SG_EVENT_ROOT_HERE;
        post = fabricate_last(log);
        fabricate_event(log, WAIT, of, begin_ns + 90, begin_ns + 100);
        fabricate_request(log, SG_REQUEST_COMPLETE, of, begin_ns + 100, post);
    }
}

/* Two ranks with a bit of everything, as bytes. */
static unsigned char *busy_log(int rank, size_t *size_bytes)
{
    static const uint32_t members[] = {1, 0};
    struct fabricated log;

    fabricate_start(&log, rank, 2);
    fabricate_clock(&log, 1200, 0);
    fabricate_site(&log, 1, 0x77, "/bin/true", "", 0x10);
    fabricate_comm(&log, 2, 1, 2, 2, (uint32_t)(1 - rank), "turned", rank == 1 ? members : NULL);
    for (uint32_t seq = 0; seq < 30; seq++) {
        struct sg_record_call *call = fabricate_call(&log, (int)(seq % 3), seq % 2 ? 2 : 0, seq / 2,
                                                     2000 + 100 * seq, 2050 + 100 * seq);

        call->thread = seq % 4 == 1;
        call->root = 0;
        if (seq % 5 == 0)
            fabricate_late(&log, 2060 + 100 * seq, 2070 + 100 * seq);
        if (seq % 3 == 0)
            fabricate_nonblocking(&log, 2 * (int)(seq % 2), 0, 100 + seq, 2075 + 100 * seq, 5, 20,
                                  seq % 9 == 0 ? 0 : 2300 + 100 * seq);
    }
    add_events(&log, rank);
    fabricate_marker(&log, SG_MARKER_NOTE, 4000, "half way");
    fabricate_stat(&log, 0, 1, 0, 12);
    fabricate_clock(&log, 9000, 10);
    unsigned char *bytes = fabricate_bytes(&log, size_bytes);
    fabricate_free(&log);
    return bytes;
}

static void export_bytes(const char *directory, unsigned char *const bytes[2],
                         const size_t sizes[2], bool check)
{
    char path[300];

    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, rank);
        fabricate_file(path, bytes[rank], sizes[rank]);
    }
    if (setup_export(directory) != SG_OK)
        return;
    if (check)
        setup_check_with(directory, "--damaged");
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    unlink(path);
}

/* The full check damages more logs; it verifies more of the archives. */
TEST("logs cut anywhere or damaged at random give valid archives")
{
    const int sparse = unit_in_full() ? 1 : 4, step = sparse * unit_step();
    const char *directory = setup_directory("damaged");
    int kept = dup(STDERR_FILENO);
    unsigned char *bytes[2], *copy;
    size_t sizes[2];

    for (int rank = 0; rank < 2; rank++)
        bytes[rank] = busy_log(rank, &sizes[rank]);
    if (freopen("/dev/null", "w", stderr) == NULL)
        abort();
    for (size_t cut = SG_LOG_HEADER_BYTES; cut < sizes[1]; cut += 97 * (size_t)step) {
        size_t cut_sizes[2] = {sizes[0], cut};

        export_bytes(directory, bytes, cut_sizes, cut % (size_t)(7 * sparse) == 0);
    }
    srand48(7);
    copy = malloc(sizes[1]);
    ASSERT(copy != NULL);
    for (int round = 0; round < 400; round += step) {
        unsigned char *const damaged[2] = {bytes[0], copy};

        memcpy(copy, bytes[1], sizes[1]);
        for (int flips = 1 + (int)(lrand48() % 6); flips > 0; flips--) {
            size_t at = SG_LOG_HEADER_BYTES + (size_t)lrand48() % (sizes[1] - SG_LOG_HEADER_BYTES);

            copy[lrand48() % 4 == 0 ? lrand48() % 160 : (long)at] ^=
                (unsigned char)(1u << (lrand48() % 8));
        }
        export_bytes(directory, damaged, sizes, round % (8 * sparse) == 0);
    }
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    free(copy);
    free(bytes[0]);
    free(bytes[1]);
}
