/* Tests slices of several logs, joined by communicator and node, and the totals of their metrics.
 */
#include "bcs/recorded_slices.h"
#include "lib/unit.h"

static uint32_t comm_of(struct sg_slice_set *slices, uint32_t counter)
{
    struct sg_record_comm record = {.root_counter = counter, .size = 4};
    uint32_t comm = 99;

    EXPECT(sg_slices_comm(slices, &record, "c", &comm) == SG_OK);
    return comm;
}

static void add(struct sg_slice_set *slices, uint32_t comm, uint32_t node, uint64_t number,
                uint64_t since_ns)
{
    struct sg_record_slice record = {.node = node, .number = number, .since_ns = since_ns};

    record.known = 1u << SG_SLICE_LETTS | (node == 0 ? 1u << SG_SLICE_GETTS : 0);
    EXPECT(sg_slices_add(slices, comm, &record, number * 1000) == SG_OK);
}

static struct sg_slices_line *line_of(struct sg_slices_line *lines, uint32_t count, uint32_t node,
                                      enum sg_slice_metric metric)
{
    struct sg_slices_line *found = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (lines[i].node == node && lines[i].metric == metric)
            found = &lines[i];
    }
    return found;
}

/* As two logs have a node's slices, in turn; the greatest ones are in neither. */
static void fill(struct sg_slice_set *slices)
{
    struct sg_record_slice_sum sum = {.node = 1, .slices = 2};
    uint32_t comm;

    for (uint64_t log = 0; log < 2; log++) {
        comm_of(slices, 7);
        comm = comm_of(slices, 3);
        EXPECT(comm == 1);
        for (uint64_t number = log; number < 100; number += 2)
            add(slices, comm, 1, number, 1000 + number);
    }
    add(slices, comm, 0, 5, 77);
    sg_figure_write(sum.sums, SG_SLICE_LETTS * SG_SLICE_SUMS + SG_SLICE_COUNT, 2);
    sg_figure_write(sum.sums, SG_SLICE_LETTS * SG_SLICE_SUMS + SG_SLICE_SUM, 5000);
    sg_figure_write(sum.sums, SG_SLICE_LETTS * SG_SLICE_SUMS + SG_SLICE_MIN, 2000);
    sg_figure_write(sum.sums, SG_SLICE_LETTS * SG_SLICE_SUMS + SG_SLICE_MAX, 3000);
    EXPECT(sg_slices_add_sum(slices, comm, &sum) == SG_OK, sg_slices_finish(slices) == SG_OK);
}

TEST("a node's slices are joined, including those in sums only")
{
    struct sg_slice_set slices = {0};
    struct sg_slices_filter all = {0};
    struct sg_slices_line *lines, *line;
    uint32_t count;

    fill(&slices);
    EXPECT(slices.comm_count == 2, slices.place_count == 2, slices.row_count == 101);
    for (uint32_t i = 2; i < slices.row_count; i++)
        EXPECT(slices.rows[i].slice.number == slices.rows[i - 1].slice.number + 1);
    ASSERT(sg_slices_lines(&slices, &all, &lines, &count) == SG_OK);
    /* Global ones where endpoint 0 is, local ones at both. */
    EXPECT(count == 7 + 2 * 14, line_of(lines, count, 1, SG_SLICE_GETTS) == NULL);
    line = line_of(lines, count, 0, SG_SLICE_GETTS);
    ASSERT(line != NULL);
    EXPECT(line->figures.p95 == 77);
    line = line_of(lines, count, 1, SG_SLICE_LETTS);
    ASSERT(line != NULL);
    EXPECT(line->figures.count == 102, line->figures.min == 1000, line->figures.max == 3000,
           !line->figures.has_p95, line->figures.mean > 1077.9 && line->figures.mean < 1078.0);
    line = line_of(lines, count, 1, SG_SLICE_LTTS);
    ASSERT(line != NULL);
    EXPECT(line->figures.count == 0);
    free(lines);
    sg_slices_clear(&slices);
}

TEST("a window, nodes and metrics can be selected")
{
    struct sg_slice_set slices = {0};
    struct sg_slices_filter chosen = {.metrics = 1u << SG_SLICE_LETTS,
                                      .has_nodes = true,
                                      .has_window = true,
                                      .first = 10,
                                      .last = 29};
    struct sg_slices_line *lines;
    uint32_t count;

    fill(&slices);
    EXPECT(sg_rank_list_parse("1", &chosen.nodes));
    ASSERT(sg_slices_lines(&slices, &chosen, &lines, &count) == SG_OK, count == 1);
    EXPECT(lines[0].figures.count == 20, lines[0].figures.min == 1010, lines[0].figures.p95 == 1028,
           lines[0].figures.max == 1029, lines[0].figures.has_p95);
    free(lines);
    sg_slices_clear(&slices);
}

/* Another machine's clock, which is 5 s ahead, then 5 s and 1 us. */
TEST("slices begin on the common clock of all ranks")
{
    const struct sg_record_clock points[] = {
        {.local_ns = 8000000000, .offset_ns = -5000001000, .error_ns = 100},
        {.local_ns = 6000000000, .offset_ns = -5000000000, .error_ns = 100},
    };
    struct sg_slices_log own = {0};

    EXPECT(sg_slices_log_global_ns(&own, 77) == 77);
    for (int i = 0; i < 2; i++)
        EXPECT(sg_slices_log_clock(&own, &points[i]) == SG_OK);
    EXPECT(sg_slices_log_global_ns(&own, 6000000000) == 1000000000,
           sg_slices_log_global_ns(&own, 7000000000) == 1999999500);
    sg_slices_log_clear(&own);
    EXPECT(sg_slices_log_global_ns(&own, 77) == 77);
}
