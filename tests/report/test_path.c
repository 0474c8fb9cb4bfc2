/* Tests the critical path by hand: the intervals and calls that a run's end had to wait for.
 * Times are ns; location r is rank r, and its second thread RANKS + r. */
#include "lib/unit.h"
#include "report/aggregate.h"
#include "report/critical_path.h"
#include "report/path_history.h"

#define RANKS 3

static const char *const functions[] = {"MPI_Barrier", "MPI_Recv", "MPI_Send", "MPI_Finalize"};
enum { BARRIER, RECV, SEND, FINALIZE };

static struct sg_aggregate *aggregate;
static struct sg_places *places;
static struct sg_critical *critical;
static struct sg_path *path;

static void need(enum sg_status status)
{
    if (status != SG_OK)
        abort();
}

static void begin(void)
{
    need(sg_aggregate_create(RANKS, &aggregate));
    need(sg_places_create(aggregate, &places));
    need(sg_critical_create(places, 2 * RANKS, &critical));
}

static void finish_at(int64_t until_ns)
{
    need(sg_critical_finish(critical, until_ns, &path));
}

static void finish(void)
{
    finish_at(INT64_MAX);
}

static void end(void)
{
    sg_path_free(path);
    sg_critical_destroy(critical);
    sg_places_destroy(places);
    sg_aggregate_destroy(aggregate);
}

static void call(uint32_t location, uint32_t function, uint32_t line, int64_t begin_ns,
                 int64_t end_ns)
{
    const struct sg_site_text text = {
        .id = line, .function = "f", .file = "a.c", .line = line, .module = "a"};
    struct sg_waitstate_end who = {.rank = location % RANKS};

    need(sg_places_function(places, functions[function], &who.function));
    need(sg_aggregate_site(aggregate, &text, &who.site));
    need(sg_critical_call(critical, location, &who, begin_ns, end_ns));
}

/* Row of the call at `until`, where after is 0, else of the interval; NULL: it is not on the path.
 */
static const struct sg_path_row *find(bool is_call, uint32_t after, uint32_t until)
{
    for (uint32_t i = 0; i < path->row_count; i++) {
        const struct sg_path_row *row = &path->rows[i];

        if (row->is_call == is_call && row->after.site.line == after &&
            row->until.site.line == until)
            return row;
    }
    return NULL;
}

static void expect(const struct sg_path_row *row, uint64_t times, uint64_t ns, uint32_t rank)
{
    ASSERT(row != NULL);
    EXPECT(row->times == times, row->ns == ns, row->rank == rank);
}

/* The log of rank 1 is full at 60: its next recorded call is MPI_Finalize. */
TEST("a path that ends before the run has no interval over calls that are missing")
{
    begin();
    call(0, BARRIER, 1, 10, 30);
    call(1, BARRIER, 1, 20, 30);
    call(0, RECV, 2, 50, 100);
    call(1, SEND, 3, 40, 60);
    call(1, FINALIZE, 4, 900, 1000);
    call(0, FINALIZE, 4, 990, 1000);
    finish_at(60);
    expect(find(true, 0, 2), 1, 10, 0);
    expect(find(false, 1, 2), 1, 20, 0);
    EXPECT(find(true, 0, 4) == NULL, find(false, 3, 4) == NULL, path->ns == 60);
    end();
}

/* Rank 2 computes three times as long as the others before each barrier. */
TEST("a rank that is always late is on the critical path")
{
    int64_t now_ns = 0;

    begin();
    for (int round = 0; round < 10; round++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            call(rank, BARRIER, 10, now_ns + (rank == 2 ? 300 : 100), now_ns + 310);
            if (rank != 2)
                sg_critical_wait(critical, rank, now_ns + 100, now_ns + 300, 2);
        }
        now_ns += 310;
    }
    finish();
    EXPECT(path->ns == 3100, path->intervals_ns == 3000, path->calls_ns == 100, path->changes == 0,
           path->row_count == 3);
    expect(find(false, 10, 10), 9, 2700, 2);
    expect(find(false, 0, 10), 1, 300, 2);
    expect(find(true, 0, 10), 10, 100, 2);
    /* 27 intervals of (100 + 100 + 300) / 3 each. */
    EXPECT(find(false, 10, 10)->mean_ns == 167, find(false, 10, 10)->saving_ns == 1200,
           find(false, 10, 10)->ranks == 1);
    /* 1.96 * 9 * sqrt(variance / 27), variance = 27 / 26 * 80000 / 9 */
    EXPECT(find(false, 10, 10)->saving_error_ns == 326, find(true, 0, 10)->saving_ns == 0);
    end();
}

/* Rank 0 is late for rank 1, which is late for rank 2 therefore. */
TEST("the critical path goes from rank to rank")
{
    begin();
    call(1, RECV, 20, 100, 520);
    call(0, SEND, 10, 500, 505);
    sg_critical_wait(critical, 1, 100, 500, 0);
    call(2, RECV, 30, 50, 720);
    call(1, SEND, 21, 700, 710);
    sg_critical_wait(critical, 2, 50, 700, 1);
    call(0, FINALIZE, 90, 600, 800);
    call(1, FINALIZE, 90, 711, 800);
    call(2, FINALIZE, 90, 760, 800);
    finish();
    EXPECT(path->ns == 800, path->changes == 2);
    expect(find(true, 0, 90), 1, 40, 2);
    expect(find(false, 30, 90), 1, 40, 2);
    expect(find(true, 0, 30), 1, 20, 2);
    expect(find(false, 20, 21), 1, 180, 1);
    expect(find(true, 0, 20), 1, 20, 1);
    expect(find(false, 0, 10), 1, 500, 0);
    EXPECT(path->row_count == 6);
    /* Its first call is what rank 0 came to late. */
    EXPECT(find(false, 0, 10)->after.function == NULL,
           text_is(find(false, 0, 10)->until.function, "MPI_Send"));
    end();
}

/* A wait is told before its call has returned, one for itself, and one that is nobody's call. */
TEST("waits may be reported before and after their calls")
{
    begin();
    sg_critical_wait(critical, 0, 100, 150, 1);
    sg_critical_wait(critical, 0, 100, 140, 2);
    call(1, SEND, 10, 150, 155);
    call(0, RECV, 20, 100, 160);
    sg_critical_wait(critical, 0, 120, 159, 0);
    sg_critical_wait(critical, 1, 10, 20, 0);
    sg_critical_wait(critical, 1, 152, 153, 7 * RANKS);
    finish();
    EXPECT(path->ns == 155);
    expect(find(true, 0, 10), 1, 5, 1);
    expect(find(false, 0, 10), 1, 150, 1);
    end();
    begin();
    sg_critical_wait(critical, 0, 100, 150, 1);
    call(1, SEND, 10, 150, 155);
    call(0, RECV, 20, 100, 160);
    call(0, FINALIZE, 90, 170, 180);
    finish();
    expect(find(true, 0, 20), 1, 10, 0);
    expect(find(false, 0, 10), 1, 150, 1);
    EXPECT(path->changes == 1);
    end();
}

/* The greatest rank of a row, and how many it has. */
TEST("a row names the rank with the most time")
{
    begin();
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t late = round == 2 ? 1 : 0;
        int64_t now_ns = 100 * round;

        for (uint32_t rank = 0; rank < 2; rank++) {
            call(rank, BARRIER, 10, now_ns + (rank == late ? 90 : 40), now_ns + 100);
            if (rank != late)
                sg_critical_wait(critical, rank, now_ns + 40, now_ns + 90, late);
        }
    }
    finish();
    expect(find(true, 0, 10), 3, 30, 1);
    EXPECT(find(true, 0, 10)->ranks == 2, find(true, 0, 10)->rank_ns == 20, path->changes == 1);
    end();
}

TEST("contradictory events are handled safely")
{
    begin();
    finish();
    EXPECT(path == NULL);
    end();
    /* Calls that overlap or end before they begin, and waits for one another at the same time. */
    begin();
    call(0, SEND, 10, 100, 200);
    call(0, SEND, 11, 150, 250);
    call(0, SEND, 12, 300, 290);
    call(0, SEND, 13, 400, 500);
    call(1, RECV, 20, 400, 500);
    sg_critical_wait(critical, 0, 400, 450, 1);
    sg_critical_wait(critical, 1, 400, 450, 0);
    finish();
    EXPECT(path->ns == 500, find(true, 0, 11) == NULL, find(true, 0, 12) == NULL);
    end();
}

/* As many as fill several blocks and steps of the file, told in turn. */
TEST("a history keeps calls beyond its mapped part")
{
    const uint64_t count = 100000;
    struct sg_history *history;

    need(sg_history_create(2, &history));
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t location = 0; location < 2; location++)
            need(sg_history_add(history, location, (int64_t)(10 * i), (int64_t)(10 * i + 5),
                                (uint32_t)i));
        if (i >= 50000)
            sg_history_wait(history, 1, (int64_t)(10 * (i - 50000) + 2),
                            (int64_t)(10 * (i - 50000) + 3), 0);
    }
    for (uint32_t location = 0; location < 2; location++) {
        uint64_t wrong = 0;

        EXPECT(sg_history_count(history, location) == count);
        for (uint64_t i = 0; i < count; i++) {
            const struct sg_history_call *call = sg_history_at(history, location, i);
            bool waited = location == 1 && i < 50000;

            wrong += call->begin_ns != (int64_t)(10 * i) || call->place != i ||
                     (call->other == 0) != waited ||
                     sg_history_before(history, location, call->begin_ns) != i ||
                     sg_history_before(history, location, call->begin_ns + 1) != i + 1;
        }
        EXPECT(wrong == 0);
    }
    EXPECT(!sg_history_is_lost(history));
    sg_history_destroy(history);
}
