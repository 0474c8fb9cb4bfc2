/* Draws a figure of the rows with gnuplot. Each series consists of the rows that differ only in one
 * number, shown with what these rows were compared with. */
#include "bench/bench_output.h"

#include "output/output_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX 64
#define LABEL_BYTES 160
#define X_MAX 4

/* The fields of a command's rows that the figure shows. */
struct figure {
    const char *command;
    const char *y, *y_title;
    const char *x[X_MAX]; /* x axis: the first field that varies */
    bool log_y;
    const char *others[2]; /* further fields drawn next to y */
};

static const struct figure figures[] = {
    {"latency",
     "time",
     "time of a call (us)",
     {"processes", "bytes", "skew_us", "row"},
     true,
     {"vs"}},
    {"cpu",
     "cpu",
     "processor time of a call (us)",
     {"processes", "skew_us", "elements", "row"},
     false,
     {"mpich_cpu", "tree_cpu"}},
    {"delay",
     "delay",
     "synchronization delay (us)",
     {"processes", "late_us", "elements", "row"},
     false,
     {NULL}},
    {"overlap",
     "overlap",
     "part hidden",
     {"processes", "bytes", "test_bytes", "row"},
     false,
     {NULL}},
    {"clock",
     "wrong",
     "distance from the first line (us)",
     {"at_s", "rank", "row", "row"},
     false,
     {NULL}},
    {"noise", "quantum", "time of a quantum (us)", {"rank", "row", "row", "row"}, false, {NULL}}};

static const char *const labels[] = {"op",       "algorithm", "class",   "kind",       "bytes",
                                     "elements", "skew_us",   "late_us", "test_bytes", "caches"};

struct series {
    const char *y; /* figure.y, or one of figure.others */
    char label[LABEL_BYTES];
    char title[2 * LABEL_BYTES];
};

static bool varies(const json_t *rows, const char *name)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), name);
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *own = json_object_get(row, name);

        /* json_equal never calls two missing values equal. */
        if (own != first && !json_equal(own, first))
            return true;
    }
    return false;
}

/* Names the fields that distinguish the row's series from the others. */
static void label_of(const json_t *rows, const json_t *row, const char *x, char label[LABEL_BYTES])
{
    size_t used = 0;

    label[0] = '\0';
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        const json_t *value = json_object_get(row, labels[i]);
        const char *space = used > 0 ? " " : "";

        if (strcmp(labels[i], x) == 0 || !varies(rows, labels[i]) || used >= LABEL_BYTES - 40)
            continue;
        if (json_is_string(value))
            used += (size_t)snprintf(label + used, LABEL_BYTES - used, "%s%.30s", space,
                                     json_string_value(value));
        else if (json_is_number(value))
            used += (size_t)snprintf(label + used, LABEL_BYTES - used, "%s%.30s %g", space,
                                     labels[i], json_number_value(value));
    }
}

/* Returns FIELD_us, or FIELD without a unit; NAN: neither. A hidden share may be below 0. */
static double field_of(const json_t *row, const char *name, const char *which)
{
    char whole[96];
    const json_t *value;

    snprintf(whole, sizeof whole, "%s%s_us", name, which);
    value = json_object_get(row, whole);
    if (value == NULL) {
        snprintf(whole, sizeof whole, "%s%s", name, which);
        value = json_object_get(row, whole);
    }
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void print_series(const json_t *rows, const char *x, const struct series *series, int number,
                         FILE *out)
{
    const json_t *row;
    size_t i;

    fprintf(out, "$series%d << END\n", number);
    json_array_foreach(rows, i, row)
    {
        const json_t *at = json_object_get(row, x);
        char own[LABEL_BYTES];
        double y = field_of(row, series->y, "");
        double low = field_of(row, series->y, "_low"), high = field_of(row, series->y, "_high");

        label_of(rows, row, x, own);
        if (strcmp(own, series->label) == 0 && !isnan(y))
            fprintf(out, "%.9g %.9g %.9g %.9g\n",
                    json_is_number(at) ? json_number_value(at) : (double)i, y, isnan(low) ? y : low,
                    isnan(high) ? y : high);
    }
    fputs("END\n", out);
}

static bool is_known(const struct series *series, int count, const char *y, const char *label)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(series[i].y, y) == 0 && strcmp(series[i].label, label) == 0)
            return true;
    }
    return false;
}

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));

    return text != NULL ? text : "";
}

/* A series that nothing distinguishes is named after what it measures. */
static void name_series(const json_t *row, const struct figure *figure, struct series *series)
{
    char named[LABEL_BYTES];
    const char *of = series->label;

    if (*of == '\0') {
        snprintf(named, sizeof named, "%s %s", text_of(row, "op"), text_of(row, "algorithm"));
        of = named;
    }
    if (strcmp(series->y, figure->y) == 0)
        snprintf(series->title, sizeof series->title, "%s", of);
    else if (strcmp(series->y, "vs") == 0)
        snprintf(series->title, sizeof series->title, "%s, compared with %s", text_of(row, "vs"),
                 of);
    else /* the part of NAME_FIELD before '_' */
        snprintf(series->title, sizeof series->title, "%.*s, compared with %s",
                 (int)strcspn(series->y, "_"), series->y, of);
}

static int find_series(const json_t *rows, const struct figure *figure, const char *x,
                       struct series series[SERIES_MAX])
{
    const char *const ys[] = {figure->y, figure->others[0], figure->others[1]};
    const json_t *row;
    int count = 0;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        char label[LABEL_BYTES];

        label_of(rows, row, x, label);
        for (size_t j = 0; j < sizeof ys / sizeof *ys; j++) {
            if (ys[j] == NULL || count == SERIES_MAX || isnan(field_of(row, ys[j], "")) ||
                is_known(series, count, ys[j], label))
                continue;
            series[count].y = ys[j];
            strcpy(series[count].label, label);
            name_series(row, figure, &series[count++]);
        }
    }
    return count;
}

static size_t count_changed(const json_t *rows)
{
    const json_t *row;
    size_t count = 0, i;

    json_array_foreach(rows, i, row)
    {
        count += json_is_true(json_object_get(row, "speed_changed"));
    }
    return count;
}

static void print_script(const json_t *root, const struct figure *figure, FILE *out)
{
    const json_t *rows = json_object_get(root, "results");
    struct series series[SERIES_MAX];
    const char *x = figure->x[0];
    int count;

    for (int i = 0; i < X_MAX && !varies(rows, x); i++)
        x = figure->x[i];
    count = find_series(rows, figure, x, series);
    for (int i = 0; i < count; i++)
        print_series(rows, x, &series[i], i, out);
    fputs("set terminal svg size 800,500 noenhanced\n", out);
    fprintf(out, "set title 'stagger-bench %s, %lld ranks", figure->command,
            (long long)json_integer_value(json_object_get(root, "ranks")));
    if (count_changed(rows) > 0)
        fprintf(out, "; processors changed their speed in %zu of %zu rows", count_changed(rows),
                json_array_size(rows));
    fputs("'\n", out);
    fprintf(out, "set xlabel '%s'\nset ylabel '%s'\nset key outside\n", x, figure->y_title);
    fputs(figure->log_y ? "set logscale y\n" : "set yrange [*<0:*]\n", out);
    if (strcmp(x, "bytes") == 0 || strcmp(x, "processes") == 0)
        fputs("set logscale x 2\n", out);
    fputs("plot", out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s $series%d using 1:2:3:4 with yerrorlines title ", i > 0 ? "," : "", i);
        sg_gnuplot_quote(series[i].title, out);
    }
    fputs("\n", out);
}

enum sg_status sg_bench_plot(const json_t *root, const char *path)
{
    const char *command = json_string_value(json_object_get(root, "command"));
    const struct figure *figure = figures;
    FILE *script;

    while (strcmp(figure->command, command) != 0)
        figure++;
    if (json_array_size(json_object_get(root, "results")) == 0) {
        sg_log("bench: --plot: no rows to draw");
        return SG_ERR_MISSING;
    }
    script = sg_gnuplot_script("bench: --plot");
    if (script == NULL)
        return SG_ERR_SYSTEM;
    print_script(root, figure, script);
    return sg_gnuplot_run(script, path, "bench: --plot");
}
