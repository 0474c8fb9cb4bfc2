/* The papers' figures from simulations: the tables of papers 000 to 002, the computation of points,
 * and `stagger sim plot`, which draws figures with gnuplot.
 */
#include "papers/claims.h"

#include "output/output_file.h"
#include "sim/lists.h"
#include "sim/sim_commands.h"
#include "sim/sim_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the table */

#define NODES_32 {2, 4, 8, 16, 32}, 5
#define SKEWS {0, 200, 400, 600, 800, 1000}, 6
#define ELEMENTS_128 {1, 2, 4, 8, 16, 32, 64, 128}, 8
#define NODES_16 {2, 4, 8, 16}, 4
#define NODES_1024 {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, 10
#define LATENESS {0, 5, 10, 15, 20, 25, 30, 40, 50, 60}, 10

#define BLOCKING "tree(degree=1)"
#define AB_NAB                                                                                     \
    {                                                                                              \
        {"blocking, 4", BLOCKING, 4}, {"blocking, 32", BLOCKING, 32},                              \
            {"blocking, 128", BLOCKING, 128}, {"bypass, 4", "bypass", 4},                          \
            {"bypass, 32", "bypass", 32}, {"bypass, 128", "bypass", 128},                          \
    }
#define FACTORS                                                                                    \
    {                                                                                              \
        {"4 elements", "bypass", 4}, {"32 elements", "bypass", 32},                                \
            {"128 elements", "bypass", 128},                                                       \
    }
#define BARRIERS                                                                                   \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0},                                   \
            {"dissemination", "dissemination", 0},                                                 \
    }
#define ALLREDUCES                                                                                 \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0}, {"pair-wise", "pairwise", 0},     \
    }
#define LATENCIES                                                                                  \
    {                                                                                              \
        {"blocking", BLOCKING, 0}, {"application-bypass", "bypass", 0},                            \
    }
#define TOKENS                                                                                     \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0},                                   \
            {"adaptive, two tokens", "adaptive(tokens=2)", 0},                                     \
    }
#define MYRINET "myrinet2000", SG_OPERATION_REDUCE
#define BARRIER "infiniband-sdr", SG_OPERATION_BARRIER
#define ALLREDUCE "infiniband-sdr", SG_OPERATION_ALLREDUCE

const struct sg_figure sg_figures_skew[] = {
    {"000-6a", "Processor use, 32 nodes", SG_METRIC_CPU, SG_AXIS_SKEW, MYRINET, 32, 0, 0, NULL,
     SKEWS, .series = AB_NAB},
    {"000-6b", "Factor of improvement, 32 nodes", SG_METRIC_FACTOR, SG_AXIS_SKEW, MYRINET, 32, 0, 0,
     NULL, SKEWS, .series = FACTORS, .published = {{1000, 5.1}}, .published_count = 1},
    {"000-7a", "Processor use, skew 1000 us", SG_METRIC_CPU, SG_AXIS_NODES, MYRINET, 0, 1000, 0,
     NULL, NODES_32, .series = AB_NAB},
    {"000-7b", "Factor of improvement, skew 1000 us", SG_METRIC_FACTOR, SG_AXIS_NODES, MYRINET, 0,
     1000, 0, NULL, NODES_32, .series = FACTORS, .published = {{32, 5.1}}, .published_count = 1},
    {"000-8a", "Processor use, no skew", SG_METRIC_CPU, SG_AXIS_NODES, MYRINET, 0, 0, 0, NULL,
     NODES_32, .series = AB_NAB},
    {"000-8b", "Factor of improvement, no skew", SG_METRIC_FACTOR, SG_AXIS_NODES, MYRINET, 0, 0, 0,
     NULL, NODES_32, .series = FACTORS, .published = {{32, 1.5}}, .published_count = 1},
    {"000-9", "Latency, no skew, 1 element, nodes", SG_METRIC_REDUCE_LATENCY, SG_AXIS_NODES,
     MYRINET, 0, 0, 1, NULL, NODES_32, .series = LATENCIES},
    {"000-10", "Latency, no skew, 32 nodes, elements", SG_METRIC_REDUCE_LATENCY, SG_AXIS_ELEMENTS,
     MYRINET, 32, 0, 0, NULL, ELEMENTS_128, .series = LATENCIES},
    {"002-4", "Average latency of barrier", SG_METRIC_LATENCY, SG_AXIS_NODES, BARRIER, 0, 0, 0,
     NULL, NODES_16, .series = BARRIERS},
    {"002-5", "Average latency of allreduce", SG_METRIC_LATENCY, SG_AXIS_NODES, ALLREDUCE, 0, 0,
     128, NULL, NODES_16, .series = ALLREDUCES},
    {"002-6", "Synchronization delay, barrier", SG_METRIC_DELAY, SG_AXIS_NODES, BARRIER, 0, 0, 0,
     "deepest:2x", NODES_1024, .series = BARRIERS, .published = {{2, 12}, {16, 12}},
     .published_count = 2},
    {"002-7", "Synchronization delay, allreduce", SG_METRIC_DELAY, SG_AXIS_NODES, ALLREDUCE, 0, 0,
     128, "deepest:2x", NODES_1024, .series = ALLREDUCES},
    {"002-8", "One node late, barrier", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER, 16, 0, 0,
     "deepest:%g", LATENESS, .series = BARRIERS, .published = {{60, 12}}, .published_count = 1},
    {"002-9", "One node late, allreduce", SG_METRIC_DELAY, SG_AXIS_LATENESS, ALLREDUCE, 16, 0, 128,
     "deepest:%g", LATENESS, .series = ALLREDUCES},
    {"002-10", "Two nodes late, barrier, lateness (us)", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER,
     16, 0, 0, "2:%1$g,14:%1$g", LATENESS, .series = TOKENS},
    {"002-11", "One inner node late, barrier", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER, 16, 0, 0,
     "1:%g", LATENESS, .series = BARRIERS},
    {"002-12", "Two nodes late, allreduce, lateness (us)", SG_METRIC_DELAY, SG_AXIS_LATENESS,
     ALLREDUCE, 16, 0, 128, "4:%1$g,15:%1$g", LATENESS, .series = TOKENS},
};

const int sg_figures_skew_count = sizeof sg_figures_skew / sizeof *sg_figures_skew;

/* Index over all papers; NULL past the last. */
static const struct sg_figure *sg_figure_at(int index)
{
    const struct {
        const struct sg_figure *list;
        int count;
    } papers[] = {{sg_figures_skew, sg_figures_skew_count},
                  {sg_figures_slices, sg_figures_slices_count},
                  {sg_figures_srm, sg_figures_srm_count},
                  {sg_figures_measuring, sg_figures_measuring_count}};

    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++) {
        if (index < papers[i].count)
            return &papers[i].list[index];
        index -= papers[i].count;
    }
    return NULL;
}

/* ---- a point */

static enum sg_status cpu_point(const struct sg_figure *figure,
                                const struct sg_sim_options *options, const struct sg_sim_case *one,
                                double *y)
{
    struct sg_world_result result, other;
    enum sg_status status = sg_measure_cpu(options, one, &result);

    if (status != SG_OK)
        return status;
    if (figure->metric == SG_METRIC_REDUCE_LATENCY) {
        *y = result.latency_ns * 1e-3;
        return SG_OK;
    }
    *y = result.cpu_ns * 1e-3;
    if (figure->metric == SG_METRIC_CPU)
        return SG_OK;
    status = sg_measure_blocking(options, one, &other);
    if (status == SG_OK)
        *y = other.cpu_ns / result.cpu_ns;
    return status;
}

static enum sg_status delay_point(const struct sg_figure *figure,
                                  const struct sg_sim_options *options, struct sg_sim_case one,
                                  double x, double *y)
{
    struct sg_sim_options few = *options;
    struct sg_sim_late late[SG_LATE_MAX];
    struct sg_world_result result;
    char text[80], fault[SG_OPTION_FAULT_BYTES];
    const char *wrong;
    enum sg_status status;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, figure->late, x);
#pragma GCC diagnostic pop
    wrong = sg_sim_parse_late(text, late, &one.late_count, fault);
    if (wrong != NULL) {
        sg_log("sim: figure %s%s", figure->name, wrong);
        return SG_ERR_ARGUMENT;
    }
    one.late = late;
    /* Without noise all iterations are the same. */
    if (options->network.noise_us <= 0)
        few.iterations = 1;
    status = sg_measure_delay(&few, &one, &result);
    if (status == SG_OK)
        *y = result.delay_ns * 1e-3;
    return status;
}

static enum sg_status run_point(const struct sg_figure *figure,
                                const struct sg_figure_series *series,
                                const struct sg_sim_options *options, double x, double *y)
{
    struct sg_sim_algo algo = sg_sim_algo_of(series->algo);
    double skew_us = figure->axis == SG_AXIS_SKEW ? x : figure->skew_us;
    uint32_t elements = series->elements > 0 ? series->elements : figure->elements;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = figure->operation,
        .nodes = figure->axis == SG_AXIS_NODES ? (int32_t)x : figure->nodes,
        .bytes = (figure->axis == SG_AXIS_ELEMENTS ? (uint32_t)x : elements) * SG_SIM_ELEMENT_BYTES,
        .skew_ns = sg_network_ns(skew_us),
        .mpich_copies = strcmp(series->algo, BLOCKING) == 0,
    };
    double latency_ns;
    enum sg_status status;

    switch (figure->metric) {
    case SG_METRIC_DELAY:
        return delay_point(figure, options, one, x, y);
    case SG_METRIC_LATENCY:
        status = sg_measure_latency(options, &one, &latency_ns);
        if (status == SG_OK)
            *y = latency_ns * 1e-3;
        return status;
    default:
        return cpu_point(figure, options, &one, y);
    }
}

/* Computes one point. options: seed and iterations; the caller has read the network. */
static enum sg_status sg_figure_point(const struct sg_figure *figure,
                                      const struct sg_figure_series *series,
                                      const struct sg_sim_options *options, double x, double *y)
{
    return (figure->point != NULL ? figure->point : run_point)(figure, series, options, x, y);
}

/* Paper 001's figures: slices of section 5.3, run times of section 6. */

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
    /* Runs a few barriers beyond the slice. */
    status = sg_paper_protocol(&options->network, (uint32_t)x / 9 + 4, keep, &wanted);
    *y = sg_slice_metrics[wanted.metric].is_time ? wanted.value * 1e-3 : wanted.value;
    return status;
}

/* ---- run times */

/* Values of a series' `elements`. */
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

/* stagger sim plot: draws the papers' figures from fresh runs, as SVG, with gnuplot. */

static const char documentation[] =
    "Draws one or all of the papers' figures from new simulations, as DIR/FIGURE.svg. FIGURE is "
    "the number of the paper and of the figure: 000-6a; 6a alone means 000-6a.\v"
    "Needs gnuplot. Exit status: 0; 1 if it cannot draw; 2 on bad usage.";

struct options {
    const char *directory, *figure;
    bool list;
    struct sg_sim_common common;
};

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"output", 'o', "DIR", "directory of the figures (default: .)", sg_option_text,
     .at = AT(directory)},
    {"seed", 's', "SEED", "the seed of all random numbers (default: 1)", sg_option_u64,
     AT(common.options.seed), .most = UINT64_MAX},
    {"iterations", 'i', "N", "calls to measure for each point (default: 400)", sg_option_u32,
     AT(common.options.iterations), .least = 1, .most = 1000000},
    {"list", 'l', NULL, "list the figures", sg_option_flag, .at = AT(list)},
    {0}};

/* ---- one figure */

static int series_count(const struct sg_figure *figure)
{
    int count = 0;

    while (count < SG_FIGURE_SERIES && figure->series[count].label != NULL)
        count++;
    return count;
}

static enum sg_status print_points(const struct sg_figure *figure,
                                   const struct sg_sim_options *options, FILE *out)
{
    int series = series_count(figure);
    struct sg_progress_line progress;

    sg_progress_line_start(&progress, true);
    fputs("$points << END\n", out);
    for (int point = 0; point < figure->points; point++) {
        fprintf(out, "%g", figure->x[point]);
        for (int i = 0; i < series; i++) {
            double y;
            enum sg_status status =
                sg_figure_point(figure, &figure->series[i], options, figure->x[point], &y);

            if (status != SG_OK) {
                sg_progress_line_end(&progress);
                return status;
            }
            fprintf(out, " %.6g", y);
            sg_sim_show(&progress, figure->name, point * series + i, figure->points * series);
        }
        fputc('\n', out);
    }
    fputs("END\n", out);
    if (figure->published_count > 0) {
        fputs("$published << END\n", out);
        for (int i = 0; i < figure->published_count; i++)
            fprintf(out, "%g %g\n", figure->published[i].x, figure->published[i].y);
        fputs("END\n", out);
    }
    sg_progress_line_end(&progress);
    return SG_OK;
}

static enum sg_status print_script(const struct sg_figure *figure,
                                   const struct sg_sim_options *options, FILE *out)
{
    static const char *const axes[] = {"nodes", "maximal skew (us)", "elements", "lateness (us)"};
    static const char *const metrics[] = {"processor use (us)", "factor of improvement",
                                          "latency (us)", "latency (us)",
                                          "synchronization delay (us)"};
    enum sg_status status = print_points(figure, options, out);
    char title[500];

    if (status != SG_OK)
        return status;
    fputs("set terminal svg size 640,440 noenhanced\n", out);
    snprintf(title, sizeof title, "%s (%s, seed %llu, %u iterations, %s)", figure->title,
             options->network.name, (unsigned long long)options->seed,
             (unsigned)options->iterations, sg_commit);
    fputs("set title ", out);
    sg_gnuplot_quote(title, out);
    fprintf(out, "\nset xlabel '%s'\nset ylabel '%s'\nset key left top\n",
            figure->x_label != NULL ? figure->x_label : axes[figure->axis],
            figure->y_label != NULL ? figure->y_label : metrics[figure->metric]);
    fputs(figure->y_log ? "set logscale y 10\n" : "set yrange [0:*]\n", out);
    if (figure->point == NULL ? figure->axis == SG_AXIS_NODES || figure->axis == SG_AXIS_ELEMENTS
                              : figure->x_log)
        fputs("set logscale x 2\n", out);
    fputs("plot", out);
    for (int i = 0; i < series_count(figure); i++)
        fprintf(out, "%s $points using 1:%d with linespoints title '%s'", i > 0 ? "," : "", i + 2,
                figure->series[i].label);
    if (figure->published_count > 0)
        fprintf(out, ", $published with points pointtype 7 pointsize 1.5 title 'paper %.3s'",
                figure->name);
    fputs("\n", out);
    return SG_OK;
}

static enum sg_status draw(const struct sg_figure *figure, const struct sg_sim_options *options,
                           const char *path)
{
    FILE *script = sg_gnuplot_script("sim");
    enum sg_status status;

    if (script == NULL)
        return SG_ERR_SYSTEM;
    status = print_script(figure, options, script);
    if (status == SG_OK)
        return sg_gnuplot_run(script, path, "sim");
    fclose(script);
    return status;
}

static enum sg_status plot(struct options *options, const struct sg_figure *figure)
{
    char path[PATH_MAX];
    enum sg_status status =
        sg_network_read("sim", figure->network, &options->common.options.network);

    if (status != SG_OK)
        return status;
    if (snprintf(path, sizeof path, "%s/%s.svg", options->directory, figure->name) >=
        (int)sizeof path) {
        sg_log("sim: the directory's name is too long");
        return SG_ERR_ARGUMENT;
    }
    status = draw(figure, &options->common.options, path);
    if (status == SG_OK)
        puts(path);
    return status;
}

static bool chosen(const struct sg_figure *figure, const char *name)
{
    return strcmp(name, "all") == 0 || strcmp(name, figure->name) == 0 ||
           (strncmp(figure->name, "000-", 4) == 0 && strcmp(name, figure->name + 4) == 0);
}

static enum sg_status plot_chosen(struct options *options)
{
    int drawn = 0;

    if (mkdir(options->directory, 0777) != 0 && errno != EEXIST) {
        sg_log("sim: %s: %m", options->directory);
        return SG_ERR_SYSTEM;
    }
    for (int i = 0; sg_figure_at(i) != NULL; i++) {
        enum sg_status status;

        if (!chosen(sg_figure_at(i), options->figure))
            continue;
        status = plot(options, sg_figure_at(i));
        if (status != SG_OK)
            return status;
        drawn++;
    }
    if (drawn > 0)
        return SG_OK;
    sg_log("sim: no figure '%s'; --list lists them", options->figure);
    return SG_ERR_MISSING;
}

int sg_sim_plot_command(int argc, char **argv)
{
    struct options options = {.directory = ".", .common = sg_sim_common_of("", 400)};
    struct sg_command_line line = {.name = "stagger sim plot",
                                   .arguments = "FIGURE|all",
                                   .most = 1,
                                   .documentation = documentation,
                                   .tables = {{option_table, &options}}};

    options.common.options.warmup = 4;
    sg_options_read(&line, argc, argv);
    options.figure = sg_options_argument(&line);
    if (options.figure == NULL && !options.list)
        sg_options_fault(&line, "FIGURE is missing; --list lists the figures");
    if (!options.list)
        return plot_chosen(&options) == SG_OK ? 0 : 1;
    for (int i = 0; sg_figure_at(i) != NULL; i++)
        printf("%-7s  %s\n", sg_figure_at(i)->name, sg_figure_at(i)->title);
    return 0;
}
