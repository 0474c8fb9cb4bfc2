/* Runs of three ranks that come late for known causes. Times are ns; location r is rank r. Each
 * round ends with a barrier; the test decides what the ranks do before it. */
#ifndef SG_TESTS_REPORT_BLAMED_RUNS_H
#define SG_TESTS_REPORT_BLAMED_RUNS_H

#include "lib/unit.h"
#include "report/aggregate.h"
#include "report/cause_finder.h"
#include "report/critical_path.h"

#include <math.h>

#define RANKS 3
#define ROUNDS 40
#define WORLD 0

static const char *const functions[] = {"MPI_Barrier", "MPI_Recv", "MPI_Send"};
enum { BARRIER, RECV, SEND };

static const uint32_t ranks[RANKS] = {0, 1, 2};
static uint64_t clock_errors_ns[RANKS];
static bool is_contradicted;
static struct sg_aggregate *aggregate;
static struct sg_places *places;
static struct sg_critical *critical;
static struct sg_cause_finder *finder;
static struct sg_causes_found *found;
static int64_t now_ns[RANKS], came_ns[RANKS];

static inline void need(enum sg_status status)
{
    if (status != SG_OK)
        abort();
}

static inline void begin(void)
{
    need(sg_aggregate_create(RANKS, &aggregate));
    need(sg_places_create(aggregate, &places));
    need(sg_critical_create(places, RANKS, &critical));
    need(sg_cause_finder_create(sg_critical_history(critical), places, ranks, clock_errors_ns,
                                RANKS, &finder));
    memset(now_ns, 0, sizeof now_ns);
}

static inline void finish(void)
{
    need(sg_cause_finder_finish(finder, &found));
}

static inline void end(void)
{
    sg_causes_found_free(found);
    sg_cause_finder_destroy(finder);
    sg_critical_destroy(critical);
    sg_places_destroy(places);
    sg_aggregate_destroy(aggregate);
}

static inline struct sg_waitstate_end who(uint32_t rank, uint32_t function, uint32_t line)
{
    const struct sg_site_text text = {
        .id = line, .function = "f", .file = "a.c", .line = line, .module = "a"};
    struct sg_waitstate_end end = {.rank = rank, .location = rank};

    need(sg_places_function(places, functions[function], &end.function));
    need(sg_aggregate_site(aggregate, &text, &end.site));
    return end;
}

static inline void call(uint32_t rank, uint32_t function, uint32_t line, int64_t end_ns)
{
    const struct sg_waitstate_end end = who(rank, function, line);

    need(sg_critical_call(critical, rank, &end, now_ns[rank], end_ns));
    now_ns[rank] = end_ns;
}

/* Spends ns with these figures, and then makes a call that takes no time. */
static inline void spend_interval(uint32_t rank, int64_t ns, struct sg_sampled_interval interval)
{
    interval.begin_ns = now_ns[rank];
    interval.end_ns = now_ns[rank] + ns;
    interval.known |= SG_KNOWN_CPU | SG_KNOWN_RUNNABLE | SG_KNOWN_USAGE;
    need(sg_cause_finder_interval(finder, rank, &interval));
    now_ns[rank] += ns;
    call(rank, SEND, 40, now_ns[rank]);
}

static inline void compute(uint32_t rank, int64_t ns)
{
    spend_interval(rank, ns,
                   (struct sg_sampled_interval){.cpu_ns = (uint64_t)ns, .user_ns = (uint64_t)ns});
}

/* All ranks arrive, are reported to the finder, and leave 10 after the last, or later. */
static int64_t leaves_later_ns[RANKS];

static inline void barrier(void)
{
    struct sg_cause_member members[RANKS];
    uint32_t last = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        members[r] = (struct sg_cause_member){who(r, BARRIER, 10), now_ns[r]};
        came_ns[r] = now_ns[r];
        if (now_ns[r] > now_ns[last])
            last = r;
    }
    need(sg_cause_finder_instance(
        finder,
        &(struct sg_cause_instance){
            .comm = WORLD, .size = RANKS, .is_contradicted = is_contradicted, .members = members}));
    int64_t end_ns = now_ns[last] + 10;
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r != last)
            sg_critical_wait(critical, r, came_ns[r], came_ns[last], last);
        call(r, BARRIER, 10, end_ns + leaves_later_ns[r]);
    }
}

/* A message; the receiver waits for the sender's send, if that is later. */
static inline void message(uint32_t from, uint32_t to)
{
    int64_t sent_ns = now_ns[from], posted_ns = now_ns[to];
    int64_t end_ns = (sent_ns > posted_ns ? sent_ns : posted_ns) + 5;

    if (sent_ns > posted_ns)
        sg_critical_wait(critical, to, posted_ns, sent_ns, from);
    call(from, SEND, 20, sent_ns + 5);
    call(to, RECV, 30, end_ns);
}

/* A broadcast from rank 1, or a reduction to it: a rank that need not wait leaves 10 after it
 * came. */
static enum sg_cause_waiting waiting;
static uint32_t told_root = 1;

static inline void rooted(void)
{
    struct sg_cause_member members[RANKS];
    uint32_t last_other = now_ns[0] > now_ns[2] ? 0 : 2;

    for (uint32_t r = 0; r < RANKS; r++) {
        members[r] = (struct sg_cause_member){who(r, BARRIER, 10), now_ns[r]};
        came_ns[r] = now_ns[r];
    }
    need(sg_cause_finder_instance(finder, &(struct sg_cause_instance){.comm = WORLD,
                                                                      .waiting = waiting,
                                                                      .root = told_root,
                                                                      .size = RANKS,
                                                                      .members = members}));
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t awaited = waiting == SG_CAUSE_WAIT_FOR_ROOT ? 1 : r == 1 ? last_other : r;

        if (came_ns[awaited] > came_ns[r])
            sg_critical_wait(critical, r, came_ns[r], came_ns[awaited], awaited);
        call(r, BARRIER, 10, (came_ns[awaited] > came_ns[r] ? came_ns[awaited] : came_ns[r]) + 10);
    }
}

/* Returns ns at the only site; 0: the cause is not named on that rank. */
static inline uint64_t of(enum sg_cause cause, uint32_t rank)
{
    ASSERT(found->site_count == 1);
    for (uint32_t i = 0; i < found->sites[0].row_count; i++) {
        const struct sg_cause_row *row = &found->sites[0].rows[i];

        if (row->cause == cause && row->rank == rank)
            return row->ns;
    }
    return 0;
}

static inline void run(void (*round)(void))
{
    begin();
    barrier();
    for (int i = 0; i < ROUNDS; i++) {
        round();
        barrier();
    }
    finish();
}

static inline void run_rooted(enum sg_cause_waiting who_waits, void (*round)(void))
{
    waiting = who_waits;
    begin();
    rooted();
    for (int i = 0; i < ROUNDS; i++) {
        round();
        /* Ranks that come early, or late and alone, meet the others again. */
        rooted();
        for (uint32_t r = 0; r < RANKS; r++)
            compute(r, 20000 - now_ns[r] % 20000);
        rooted();
    }
    finish();
}

#endif
