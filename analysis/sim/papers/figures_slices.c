/* Paper 001's figures: slices of section 5.3, run times of section 6. */
#include "sim/papers/figures.h"
#include "sim/papers/programs.h"

#include <string.h>

#define FIRST_SLICE 7500
#define SAGE_CALLS 977 /* a tenth of the paper's */

/* ---- slices */

struct wanted {
    uint64_t number;
    enum sg_slice_metric metric;
    int32_t endpoint;
    double value;
};

static void keep(void *context, int32_t endpoint, const struct sg_slice *slice)
{
    struct wanted *wanted = context;

    if (slice->number == wanted->number && endpoint == wanted->endpoint &&
        sg_slice_knows(slice, wanted->metric))
        wanted->value = (double)sg_slice_value(slice, wanted->metric);
}

/* A series' `elements` is the metric. */
static enum sg_status slice_point(const struct sg_figure *figure,
                                  const struct sg_figure_series *series,
                                  const struct sg_sim_options *options, double x, double *y)
{
    struct wanted wanted = {.number = (uint64_t)x,
                            .metric = (enum sg_slice_metric)series->elements};
    bool is_global = sg_slice_metrics[wanted.metric].is_global;
    enum sg_status status;

    wanted.endpoint = is_global ? 0 : SG_PAPER_NODE;
    /* Up to a barrier behind it. */
    status = sg_paper_protocol(&options->network, (uint32_t)x / 9 + 4, keep, &wanted);
    *y = sg_slice_metrics[wanted.metric].is_time ? wanted.value * 1e-3 : wanted.value;
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
            FIRST_SLICE + 10, FIRST_SLICE + 11                                                     \
    }
#define SLICE_FIGURE(label, what)                                                                  \
    .network = "qsnet", .x = SLICES, .points = 12, .series = {{label, NULL, what}},                \
    .point = slice_point, .x_label = "slice"
#define TIME_FIGURE                                                                                \
    .network = "qsnet", .x = {4, 8, 16, 32, 64}, .points = 5, .point = time_point,                 \
    .x_label = "processes", .y_label = "run time (s)", .x_log = true

const struct sg_figure sg_figures_slices[] = {
    {.name = "001-5.3",
     .title = "From one strobe to the next",
     SLICE_FIGURE("GETTS", SG_SLICE_GETTS),
     .y_label = "us",
     .published = {{FIRST_SLICE, 250}, {FIRST_SLICE, 270}},
     .published_count = 2},
    {.name = "001-5.4",
     .title = "Collectives processed in the descriptor exchange",
     SLICE_FIGURE("one node", SG_SLICE_NCOLLDEM),
     .y_label = "collectives"},
    {.name = "001-5.5",
     .title = "Collectives scheduled",
     SLICE_FIGURE("one node", SG_SLICE_NCOLLMSM),
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
