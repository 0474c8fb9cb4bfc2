/* Tests how ranks spent the time before calls, by hand: sums of intervals of three ranks, between
 * two call sites. */
#include "lib/unit.h"
#include "report/aggregate.h"
#include "report/between_calls.h"
#include "report/filter.h"

#include <math.h>

#define RANKS 3
#define INTERVALS 10

static struct sg_aggregate *aggregate;
static struct sg_before_sums *sums;
static struct sg_before *before;
static uint32_t here, there;

static void need(enum sg_status status)
{
    if (status != SG_OK)
        abort();
}

static uint32_t site_of(uint32_t line)
{
    const struct sg_site_text text = {
        .id = line, .function = "f", .file = "a.c", .line = line, .module = "a"};
    uint32_t site;

    need(sg_aggregate_site(aggregate, &text, &site));
    return site;
}

static void begin(void)
{
    need(sg_aggregate_create(RANKS, &aggregate));
    need(sg_before_sums_create(&sums));
    here = site_of(10);
    there = site_of(20);
}

static const char *function_of(const void *context, uint32_t site)
{
    return site == there ? "MPI_Barrier" : "MPI_Send";
}

static void finish(const struct sg_filter *filter)
{
    need(sg_before_sums_finish(sums, aggregate, filter, function_of, NULL, &before));
}

static void end(void)
{
    sg_before_free(before);
    sg_before_sums_destroy(sums);
    sg_aggregate_destroy(aggregate);
}

#define BIT(figure) (1u << SG_FIGURE_##figure)
#define MASK                                                                                       \
    (BIT(CPU) | BIT(RUNNABLE) | BIT(USER) | BIT(SYSTEM) | BIT(MINOR_FAULTS) | BIT(MAJOR_FAULTS) |  \
     BIT(BLOCKS_IN) | BIT(BLOCKS_OUT))

/* Ten intervals: each of 1 ms on the processor, in the program, and of what is added. */
static void usual(uint32_t rank, struct sg_before_figures more)
{
    uint64_t user = INTERVALS * UINT64_C(1000000);

    more.intervals = INTERVALS;
    more.mask |= MASK;
    more.time_ns += user;
    more.of[SG_FIGURE_CPU] += user;
    more.of[SG_FIGURE_USER] += user;
    need(sg_before_sums_add(sums, rank, here, there, &more));
}

#define THREADS (BIT(THREADS_HERE) | BIT(THREADS_ELSEWHERE))

#define TIME(us) .time_ns = INTERVALS * (us)*1000u
#define OF(figure, value) .of[SG_FIGURE_##figure] = INTERVALS * (value)
#define OF_US(figure, us) OF(figure, (us)*1000u)

/* The first row, rank 1's, and its cause; others do the usual. */
static void expect(struct sg_before_figures more, enum sg_cause cause, double longer_us)
{
    begin();
    usual(0, (struct sg_before_figures){.mask = more.mask, OF(INSTRUCTIONS, 500)});
    usual(1, more);
    usual(2, (struct sg_before_figures){.mask = more.mask, OF(INSTRUCTIONS, 500)});
    finish(NULL);
    ASSERT(before->row_count == RANKS);
    EXPECT(before->rows[0].rank == 1, is_near(before->rows[0].longer_ns, longer_us * 1000, 0.001),
           is_near(before->rows[0].others_ns, 1e6, 0.001), before->rows[0].has_cause,
           before->rows[0].cause == cause, !before->rows[1].has_cause);
    end();
}

TEST("the figure in which a rank exceeds the others is its cause")
{
    expect((struct sg_before_figures){TIME(300), OF_US(CPU, 300), OF_US(USER, 300)},
           SG_CAUSE_COMPUTING, 3000);
    expect((struct sg_before_figures){TIME(300), OF_US(CPU, 300), OF_US(SYSTEM, 300)},
           SG_CAUSE_KERNEL, 3000);
    expect((struct sg_before_figures){TIME(9000), OF_US(CPU, 9000), OF_US(SYSTEM, 9000),
                                      OF(MINOR_FAULTS, 5000)},
           SG_CAUSE_FAULTS, 90000);
    expect((struct sg_before_figures){TIME(700), OF_US(RUNNABLE, 600)}, SG_CAUSE_PREEMPTED, 7000);
    expect((struct sg_before_figures){TIME(700), OF_US(RUNNABLE, 600), .mask = THREADS,
                                      OF_US(THREADS_HERE, 10), OF_US(THREADS_ELSEWHERE, 20)},
           SG_CAUSE_PREEMPTED_OTHERS, 7000);
    expect((struct sg_before_figures){TIME(700), OF_US(RUNNABLE, 600), .mask = THREADS,
                                      OF_US(THREADS_HERE, 500)},
           SG_CAUSE_PREEMPTED_THREADS, 7000);
    expect((struct sg_before_figures){TIME(700), OF_US(RUNNABLE, 600), .mask = THREADS,
                                      OF_US(THREADS_ELSEWHERE, 900)},
           SG_CAUSE_PREEMPTED, 7000);
    expect((struct sg_before_figures){TIME(700), OF_US(RUNNABLE, 600), OF_US(THROTTLED, 500)},
           SG_CAUSE_THROTTLED, 7000);
    expect((struct sg_before_figures){TIME(700)}, SG_CAUSE_ASLEEP, 7000);
    expect((struct sg_before_figures){TIME(700), OF(BLOCKS_IN, 8)}, SG_CAUSE_IO, 7000);
}

/* In which intervals the blocks were, sums do not tell. */
TEST("the cause is unknown if figures do not distinguish it")
{
    expect((struct sg_before_figures){TIME(700), .of[SG_FIGURE_BLOCKS_IN] = INTERVALS / 2},
           SG_CAUSE_UNKNOWN, 7000);
    expect((struct sg_before_figures){TIME(700), .of[SG_FIGURE_BLOCKS_IN] = 1}, SG_CAUSE_ASLEEP,
           7000);
    begin();
    need(sg_before_sums_add(sums, 0, here, there,
                            &(struct sg_before_figures){.intervals = 1, .time_ns = 10000}));
    need(sg_before_sums_add(sums, 1, here, there,
                            &(struct sg_before_figures){.intervals = 1, .time_ns = 100000}));
    finish(NULL);
    EXPECT(before->rows[0].rank == 1, before->rows[0].cause == SG_CAUSE_UNKNOWN);
    end();
}

TEST("instructions distinguish more work from slower work")
{
    expect((struct sg_before_figures){TIME(300), OF_US(CPU, 300), OF_US(USER, 300),
                                      .mask = BIT(INSTRUCTIONS), OF(INSTRUCTIONS, 650)},
           SG_CAUSE_WORK, 3000);
    expect((struct sg_before_figures){TIME(300), OF_US(CPU, 300), OF_US(USER, 300),
                                      .mask = BIT(INSTRUCTIONS), OF(INSTRUCTIONS, 500)},
           SG_CAUSE_SLOWER, 3000);
}

/* It is a tenth longer or more, and 5 us. */
TEST("an interval that is hardly longer has no cause")
{
    static const struct {
        uint64_t others_ns, own_ns;
        bool has_cause;
    } cases[] = {
        {1000, 5999, false}, {1000, 6000, true}, {100000, 109000, false}, {100000, 111000, true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        need(sg_before_sums_add(
            sums, 0, here, there,
            &(struct sg_before_figures){.intervals = 1, .time_ns = cases[i].others_ns}));
        need(sg_before_sums_add(
            sums, 1, here, there,
            &(struct sg_before_figures){.intervals = 1, .time_ns = cases[i].own_ns}));
        finish(NULL);
        EXPECT(before->rows[0].has_cause == cases[i].has_cause,
               before->rows[0].longer_ns == (double)(cases[i].own_ns - cases[i].others_ns));
        end();
    }
}

/* Pairs are told apart, threads are not; the rank that is longest beyond the others comes first. */
TEST("a row describes a rank between two call sites")
{
    begin();
    usual(0, (struct sg_before_figures){0});
    usual(1, (struct sg_before_figures){TIME(100)});
    usual(1, (struct sg_before_figures){TIME(300)});
    need(sg_before_sums_add(sums, 2, SG_BEFORE_NO_SITE, here,
                            &(struct sg_before_figures){.intervals = 3, .time_ns = 99999999}));
    finish(NULL);
    ASSERT(before->row_count == 3);
    EXPECT(before->intervals == 3 * INTERVALS + 3);
    const struct sg_before_row *row = &before->rows[0];
    EXPECT(row->rank == 1, row->own.intervals == 2 * INTERVALS,
           is_near(row->mean_ns, 1200000, 0.001),
           is_near(row->longer_ns, 200000.0 * 2 * INTERVALS, 0.001),
           sg_before_off_ns(&row->own) == 200000 * 2 * INTERVALS,
           text_is(row->until->function, "MPI_Barrier"), row->until->site.line == 20,
           row->after->site.line == 10);
    /* The other rows have no cause: one is shorter, one is alone. */
    row = &before->rows[1];
    EXPECT(row->rank == 2, isnan(row->others_ns) && !row->has_cause && row->longer_ns == 0,
           row->after->function == NULL, !before->rows[2].has_cause);
    end();
}

/* Figures that some thread lacks are in no sum. */
TEST("a figure that some intervals lack is unknown")
{
    begin();
    usual(0, (struct sg_before_figures){0});
    need(sg_before_sums_add(sums, 0, here, there,
                            &(struct sg_before_figures){.intervals = 1, .mask = BIT(CPU)}));
    finish(NULL);
    EXPECT(before->rows[0].own.mask == BIT(CPU));
    end();
}

TEST("a filter selects by the site after the interval; communicators are unknown")
{
    struct sg_filter of_site = {.site = "a.c:10"}, of_comm = {.comm = "half"};
    char message[200];

    ASSERT(sg_filter_parse(&of_site, message, sizeof message));
    begin();
    usual(0, (struct sg_before_figures){0});
    finish(&of_site);
    EXPECT(before->row_count == 0);
    end();
    sg_filter_clear(&of_site);
    begin();
    usual(0, (struct sg_before_figures){0});
    finish(&of_comm);
    EXPECT(before == NULL);
    end();
}
