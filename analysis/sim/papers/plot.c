/* stagger sim plot: draws the papers' figures from fresh runs, as SVG, with gnuplot. */
#include "output/gnuplot.h"
#include "sim/commands.h"
#include "sim/output.h"
#include "sim/papers/figures.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char documentation[] =
    "Draws a figure of the papers, or all, from new simulations: DIR/FIGURE.svg. A figure is a "
    "paper's number and the figure's: 000-6a; 6a alone is paper 000's.\v"
    "Needs gnuplot. Exit status: 0, 1 where it cannot draw, 2 on bad usage.";

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
    static char name[] = "stagger sim plot";
    struct options options = {.directory = ".", .common = sg_sim_common_of("", 400)};
    const struct sg_command_line line = {
        name, "FIGURE|all", documentation, {{option_table, &options}}, &options.figure};

    options.common.options.warmup = 4;
    if (!sg_options_read(&line, argc, argv))
        return SG_OPTIONS_USAGE;
    if (options.figure == NULL && !options.list) {
        sg_log("sim: FIGURE is missing; --list lists the figures");
        return SG_OPTIONS_USAGE;
    }
    if (!options.list)
        return plot_chosen(&options) == SG_OK ? 0 : 1;
    for (int i = 0; sg_figure_at(i) != NULL; i++)
        printf("%-7s  %s\n", sg_figure_at(i)->name, sg_figure_at(i)->title);
    return 0;
}
