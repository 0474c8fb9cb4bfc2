/* Reports events to a tracker of wait states by hand, and checks its results. Times are ns; rank
 * r is location r, its second thread location RANKS + r. */
#ifndef SG_TESTS_REPORT_TRACKED_H
#define SG_TESTS_REPORT_TRACKED_H

#include "lib/unit.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/wait_tracker.h"

#define RANKS 4
#define WORLD 0
#define HALF 1    /* ranks 0 and 1 */
#define QUARTER 2 /* ranks 2 and 3 */

static struct sg_aggregate *aggregate;
static struct sg_places *places;
static struct sg_waitstate_sums *sums;
static struct sg_waitstate_skews *skews;
static struct sg_waitstate_tracker *tracker;
static struct sg_waitstates *states;
static struct sg_waitstate_counts counts;

static inline void need(enum sg_status status)
{
    if (status != SG_OK)
        abort();
}

static inline void begin_filtered(const struct sg_filter *filter)
{
    uint32_t comm;

    need(sg_aggregate_create(RANKS, &aggregate));
    need(sg_aggregate_comm(aggregate, "MPI_COMM_WORLD", RANKS, 0, &comm));
    need(sg_aggregate_comm(aggregate, "half", 2, 0, &comm));
    need(sg_aggregate_comm(aggregate, "quarter", 2, 2, &comm));
    need(sg_places_create(aggregate, &places));
    need(sg_waitstate_sums_create(aggregate, filter, places, &sums));
    need(sg_waitstate_skews_create(aggregate, filter, places, &skews));
    need(sg_waitstate_tracker_create(sums, skews, RANKS, 2 * RANKS, &tracker));
}

static inline void begin(void)
{
    begin_filtered(NULL);
}

static inline void finish(void)
{
    need(sg_waitstate_tracker_finish(tracker, &counts));
    need(sg_waitstate_sums_finish(sums, &states));
    need(sg_waitstate_skews_finish(skews, states));
    EXPECT(counts.live == 0);
}

static inline void end(void)
{
    sg_waitstate_tracker_destroy(tracker);
    sg_waitstate_skews_destroy(skews);
    sg_waitstate_sums_destroy(sums);
    sg_waitstates_free(states);
    sg_places_destroy(places);
    sg_aggregate_destroy(aggregate);
}

/* A call site by its line. */
static inline uint32_t site_of(uint32_t line)
{
    const struct sg_site_text text = {
        .id = line, .function = "f", .file = "a.c", .line = line, .module = "a"};
    uint32_t site;

    need(sg_aggregate_site(aggregate, &text, &site));
    return site;
}

static inline void enter_polling(uint32_t location, const char *function, uint32_t line,
                                 int64_t time_ns, uint64_t polled_ns)
{
    struct sg_waitstate_enter call = sg_waitstate_enter_of(function);

    call.time_ns = time_ns;
    call.polled_ns = polled_ns;
    need(sg_places_function(places, function, &call.who.function));
    call.who.site = site_of(line);
    call.who.rank = location % RANKS;
    need(sg_waitstate_enter(tracker, location, &call));
}

static inline void enter(uint32_t location, const char *function, uint32_t line, int64_t time_ns)
{
    enter_polling(location, function, line, time_ns, 0);
}

static inline void leave(uint32_t location, int64_t time_ns)
{
    need(sg_waitstate_leave(tracker, location, time_ns));
}

static inline bool is_at(const struct sg_waitstate_place *place, const char *function,
                         uint32_t line)
{
    return strcmp(place->function, function) == 0 && place->site.line == line;
}

static inline struct sg_waitstate_row row_of(const char *function, uint32_t line,
                                             enum sg_waitstate_kind kind)
{
    for (uint32_t i = 0; i < states->row_count; i++) {
        if (is_at(&states->rows[i].at, function, line) && states->rows[i].kind == kind)
            return states->rows[i];
    }
    return (struct sg_waitstate_row){0};
}

static inline struct sg_waitstate_pair pair_of(const char *function, uint32_t line,
                                               const char *other, uint32_t other_line)
{
    for (uint32_t i = 0; i < states->pair_count; i++) {
        if (is_at(&states->pairs[i].at, function, line) &&
            is_at(&states->pairs[i].other, other, other_line))
            return states->pairs[i];
    }
    return (struct sg_waitstate_pair){0};
}

#define EXPECT_ROW(function, line, kind_, waits_, sum_ns)                                          \
    do {                                                                                           \
        const struct sg_waitstate_row row = row_of(function, line, kind_);                         \
                                                                                                   \
        EXPECT(row.of.waits == waits_);                                                            \
        EXPECT(row.of.wait_ns == sum_ns);                                                          \
    } while (0)

#define EXPECT_PAIR(function, line, other, other_line, waits_, sum_ns, rank_)                      \
    do {                                                                                           \
        const struct sg_waitstate_pair pair = pair_of(function, line, other, other_line);          \
                                                                                                   \
        EXPECT(pair.of.waits == waits_);                                                           \
        EXPECT(pair.of.wait_ns == sum_ns);                                                         \
        EXPECT(pair.rank == rank_);                                                                \
    } while (0)

#endif
