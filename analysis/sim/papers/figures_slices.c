/* Paper 001's figures: slices of section 5.3, run times of section 6. */
#include "sim/papers/figures.h"
#include "sim/papers/programs.h"

#include <string.h>

#define FIRST_SLICE 7500
#define SAGE_CALLS 977 /* a tenth of the paper's */

/* ---- slices */

struct wanted {
    uint64_t number, before_ns;
    struct sg_slice_seen slice;
    double since_us; /* the strobe before */
};

static void keep(void *context, const struct sg_slice_seen *slice)
{
    struct wanted *wanted = context;

    if (slice->number == wanted->number) {
        wanted->slice = *slice;
        wanted->since_us = (double)(slice->begin_ns - wanted->before_ns) * 1e-3;
    }
    wanted->before_ns = slice->begin_ns;
}

/* A series' `elements` says what of the slice: */
enum { GETTS, PROCESSED, SCHEDULED };

static enum sg_status slice_point(const struct sg_figure *figure,
                                  const struct sg_figure_series *series,
                                  const struct sg_sim_options *options, double x, double *y)
{
    struct wanted wanted = {.number = (uint64_t)x};
    /* Up to a barrier behind it. */
    struct sg_pattern pattern = sg_paper_barriers((uint32_t)x / 9 + 4);
    struct sg_slices_setup setup = sg_paper_slices(&options->network, true);
    struct sg_program_result result;
    enum sg_status status;

    setup.seen = keep;
    setup.context = &wanted;
    sg_pattern_make(&pattern);
    status = sg_slices_run(&setup, &pattern.program, &result);
    *y = series->elements == GETTS       ? wanted.since_us
         : series->elements == PROCESSED ? wanted.slice.collectives_posted
                                         : wanted.slice.collectives_scheduled;
    return status;
}

/* ---- run times */

/* A series' `elements`: */
enum { USUAL, PHASE, SLICE };

static enum sg_status time_point(const struct sg_figure *figure,
                                 const struct sg_figure_series *series,
                                 const struct sg_sim_options *options, double x, double *y)
{
    bool sage = strcmp(figure->name, "001-6.1") == 0;
    struct sg_pattern pattern =
        sage ? sg_paper_sage((int32_t)x, SAGE_CALLS)
             : sg_paper_exchange((int32_t)x, strcmp(figure->name, "001-6.3") == 0);
    struct sg_paper_times times = {0};
    enum sg_status status =
        sg_paper_run(&options->network, &pattern, series->elements == SLICE, &times);

    *y = (series->elements == USUAL ? times.usual_ns : times.bcs_ns) * 1e-9;
    return status;
}

#define SLICES                                                                                     \
    {                                                                                              \
        FIRST_SLICE, FIRST_SLICE + 1, FIRST_SLICE + 2, FIRST_SLICE + 3, FIRST_SLICE + 4,           \
            FIRST_SLICE + 5, FIRST_SLICE + 6, FIRST_SLICE + 7, FIRST_SLICE + 8, FIRST_SLICE + 9,   \
            FIRST_SLICE + 10, FIRST_SLICE + 11, FIRST_SLICE + 12, FIRST_SLICE + 13,                \
            FIRST_SLICE + 14, FIRST_SLICE + 15, FIRST_SLICE + 16, FIRST_SLICE + 17,                \
            FIRST_SLICE + 18, FIRST_SLICE + 19                                                     \
    }
#define SLICE_FIGURE(label, what)                                                                  \
    .network = "qsnet", .x = SLICES, .points = 20, .series = {{label, NULL, what}},                \
    .point = slice_point, .x_label = "slice"
#define TIME_FIGURE                                                                                \
    .network = "qsnet", .x = {4, 8, 16, 32, 64}, .points = 5, .point = time_point,                 \
    .x_label = "processes", .y_label = "run time (s)", .x_log = true

const struct sg_figure sg_figures_slices[] = {
    {.name = "001-5.3",
     .title = "From one strobe to the next",
     SLICE_FIGURE("GETTS", GETTS),
     .y_label = "us",
     .published = {{FIRST_SLICE, 250}, {FIRST_SLICE, 270}},
     .published_count = 2},
    {.name = "001-5.4",
     .title = "Collectives processed in the descriptor exchange",
     SLICE_FIGURE("one node", PROCESSED),
     .y_label = "collectives"},
    {.name = "001-5.5",
     .title = "Collectives scheduled",
     SLICE_FIGURE("endpoint 0", SCHEDULED),
     .y_label = "collectives"},
    {.name = "001-6.1",
     .title = "SAGE, a tenth of its calls",
     TIME_FIGURE,
     .series = {{"as usual", NULL, USUAL}, {"coscheduled", NULL, PHASE}}},
    {.name = "001-6.2",
     .title = "Blocking exchange, 400 steps",
     TIME_FIGURE,
     .series = {{"as usual", NULL, USUAL},
                {"coscheduled", NULL, PHASE},
                {"calls return with the next slice", NULL, SLICE}}},
    {.name = "001-6.3",
     .title = "Nonblocking exchange, 400 steps",
     TIME_FIGURE,
     .series = {{"as usual", NULL, USUAL}, {"coscheduled", NULL, PHASE}}},
};
const int sg_figures_slices_count = sizeof sg_figures_slices / sizeof *sg_figures_slices;
