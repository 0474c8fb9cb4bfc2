#include "bench/output.h"

#include "bench/cold.h"
#include "bench/command_line.h"
#include "bench/plot.h"
#include "bench/rows.h"
#include "output/csv.h"
#include "output/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JSON_VERSION 1
#define DIGITS 9
#define COLUMNS_MAX 32

struct sg_bench_output {
    const struct sg_bench_head *head;
    FILE *stream;
    json_t *root, *rows;                  /* rows: in root */
    bool text;                            /* rows are printed as they are measured */
    const struct sg_line_column *columns; /* of the present table */
    bool holds; /* so many rows at the end are kept back; all have these columns */
    size_t held;
    const struct sg_line_column *held_columns;
    size_t marked; /* rows at another speed */
    double low, high;
};

/* ---- text ----------------------------------------------------------------------------------- */

/* Of several numbers of processes each has its own last rank. */
static bool has_late_rank(const struct sg_bench_options *options)
{
    return !options->late_is_last || options->processes.count < 2;
}

static void print_latency_head(const struct sg_bench_head *head, FILE *stream)
{
    const struct sg_bench_limits *limits = &head->limits;

    fputs("limits: cache line one way ", stream);
    if (isnan(limits->line_ns))
        fputs("not known", stream);
    else
        fprintf(stream, "%.0f ns", limits->line_ns);
    fputs(", memory copy ", stream);
    if (isnan(limits->copy_gbs))
        fputs("not known\n", stream);
    else
        fprintf(stream, "%.1f GB/s\n", limits->copy_gbs);
    if (!head->options->late && head->options->scheme != SG_BENCH_LOOP)
        return;
    fputs("\n", stream);
    if (head->options->late)
        fprintf(stream, "processor time in a call that %s %d enters %.0f us late\n",
                has_late_rank(head->options) ? "rank" : "the last rank, up to",
                head->options->late_rank, head->options->skews_us.list[0]);
}

static void print_late(const struct sg_bench_head *head, FILE *stream)
{
    fputs("from the last entry to the last exit, when ", stream);
    if (has_late_rank(head->options))
        fprintf(stream, "rank %d", head->options->late_rank);
    else
        fputs("the last rank", stream);
    fputs(" is late\n\n", stream);
}

static void print_head(const struct sg_bench_head *head, FILE *stream)
{
    const struct sg_bench_options *options = head->options;

    fprintf(stream, "%d rank%s; ours: MPI_* from %s; stock: PMPI_* from %s (%s)\n", head->ranks,
            head->ranks == 1 ? "" : "s", head->ours, head->stock, head->mpi_name);
    if (options->cold)
        fprintf(stream,
                "cold caches: before each call a sweep of %zu MiB on each rank; operands flushed\n",
                sg_bench_sweep_bytes(sg_bench_largest_cache()) >> 20);
    if (options->command == SG_BENCH_LATENCY)
        print_latency_head(head, stream);
    else if (options->command == SG_BENCH_CPU)
        fprintf(stream,
                "processor time of a call, average over the ranks, on the process's clock; "
                "progress: %s\n\n",
                head->progress != NULL ? head->progress : "none of ours");
    else if (options->command == SG_BENCH_DELAY && options->arrival == SG_BENCH_ONE_LATE)
        print_late(head, stream);
    else if (options->command == SG_BENCH_DELAY)
        fprintf(stream, "from the last entry to the last exit, arrival pattern %s\n\n",
                sg_bench_arrival_names[options->arrival]);
}

/* With the number of ranks in front, where rows differ in it, and the mark behind. */
static const struct sg_line_column *full(const struct sg_bench_output *output,
                                         const struct sg_line_column *columns, bool marked)
{
    static const struct sg_line_column ranks = {"processes", "ranks", .width = 5};
    static const struct sg_line_column mark = {"mark", "", .width = -1};
    static struct sg_line_column all[COLUMNS_MAX + 3];
    size_t count = 0;

    if (output->head->options->processes.count > 0)
        all[count++] = ranks;
    for (size_t i = 0; columns[i].field != NULL && i < COLUMNS_MAX; i++)
        all[count++] = columns[i];
    if (marked)
        all[count++] = mark;
    all[count] = (struct sg_line_column){0};
    return all;
}

static void print_row(struct sg_bench_output *output, json_t *row,
                      const struct sg_line_column *columns)
{
    bool marked = json_is_true(json_object_get(row, "speed_changed"));

    if (output->columns != columns) {
        fputs("\n", output->stream);
        sg_line_print_titles(full(output, columns, false), output->stream);
    }
    output->columns = columns;
    if (marked)
        json_object_set_new(row, "mark", json_string("*"));
    sg_line_print(full(output, columns, marked), row, output->stream);
    json_object_del(row, "mark");
    fflush(output->stream);
}

/* Behind the table. */
static void print_marks(const struct sg_bench_output *output)
{
    if (output->marked > 0)
        fprintf(output->stream,
                "\n* processors changed their speed: %zu row%s at %.2f to %.2f times that of the "
                "start\n",
                output->marked, output->marked == 1 ? "" : "s", output->low, output->high);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *number_of(double value)
{
    return sg_json_real(isfinite(value), value);
}

/* null: the last of each number of processes. */
static json_t *late_rank_of(const struct sg_bench_options *options)
{
    return has_late_rank(options) ? json_integer(options->late_rank) : json_null();
}

static void set_of_command(json_t **root, const struct sg_bench_head *head)
{
    const struct sg_bench_options *options = head->options;

    if (options->command == SG_BENCH_CPU) {
        sg_json_set(root, "clock", json_string("process"));
        sg_json_set(root, "root", json_integer(options->root));
    }
    if (options->command == SG_BENCH_DELAY)
        sg_json_set(root, "late_rank", late_rank_of(options));
    if (options->command == SG_BENCH_LATENCY)
        sg_json_set(root, "limits",
                    json_pack("{s:o, s:o, s:o, s:o}", "line_ns", number_of(head->limits.line_ns),
                              "copy_gbs", number_of(head->limits.copy_gbs), "copy_ns_per_byte",
                              number_of(head->limits.copy_ns), "fold_ns_per_byte",
                              number_of(head->limits.fold_ns)));
    if (options->late)
        sg_json_set(root, "late",
                    json_pack("{s:f, s:o, s:i, s:[]}", "skew_us", options->skews_us.list[0], "rank",
                              late_rank_of(options), "root", options->root, "results"));
}

static json_t *root_of(const struct sg_bench_head *head)
{
    json_t *root = json_pack("{s:i, s:s, s:i, s:[], s:b, s:s, s:s, s:s}", "version", JSON_VERSION,
                             "command", sg_bench_command_names[head->options->command], "ranks",
                             head->ranks, "results", "intercepted", head->intercepted, "ours",
                             head->ours, "stock", head->stock, "mpi", head->mpi_name);

    set_of_command(&root, head);
    return root;
}

/* ---- CSV: the numbers and words of the JSON, with the same names ---------------------------- */

/* "# NAME: VALUE" for the fields of the head. */
static void print_csv_head(const json_t *object, const char *prefix, FILE *stream)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        if (json_is_object(value))
            print_csv_head(value, name, stream);
        if (json_is_object(value) || json_is_array(value))
            continue;
        fprintf(stream, "# %s%s%s: ", prefix, prefix[0] != '\0' ? "." : "", name);
        sg_csv_value(value, DIGITS, stream);
        fputc('\n', stream);
    }
}

static enum sg_status print_csv(const struct sg_bench_output *output)
{
    const json_t *results = json_object_get(output->root, "results");
    enum sg_status status;

    print_csv_head(output->root, "", output->stream);
    status = sg_csv_print_fields(results, "\n", DIGITS, "bench", output->stream);
    if (status == SG_OK && output->rows != results)
        status = sg_csv_print_fields(output->rows, "\n", DIGITS, "bench", output->stream);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

enum sg_status sg_bench_output_open(const struct sg_bench_head *head, FILE *stream,
                                    struct sg_bench_output **out)
{
    struct sg_bench_output *output = calloc(1, sizeof *output);

    if (output == NULL)
        goto err_memory;
    output->head = head;
    output->stream = stream;
    output->text = head->options->format == SG_BENCH_TEXT;
    output->root = root_of(head);
    if (output->root == NULL)
        goto err_output;
    output->rows = json_object_get(
        head->options->late ? json_object_get(output->root, "late") : output->root, "results");
    output->columns = sg_bench_row_columns(head->options);
    if (output->text) {
        print_head(head, stream);
        if (output->columns != NULL)
            sg_line_print_titles(full(output, output->columns, false), stream);
        fflush(stream);
    }
    *out = output;
    return SG_OK;

err_output:
    free(output);
err_memory:
    sg_log("bench: out of memory");
    return SG_ERR_MEMORY;
}

const struct sg_bench_head *sg_bench_output_head(const struct sg_bench_output *output)
{
    return output->head;
}

enum sg_status sg_bench_output_record(struct sg_bench_output *output, struct sg_record *record,
                                      const struct sg_line_column *columns)
{
    json_t *row = sg_record_take(record);

    if (row == NULL || json_array_append_new(output->rows, row) != 0) {
        sg_log("bench: out of memory");
        return SG_ERR_MEMORY;
    }
    if (output->holds) {
        output->held_columns = columns;
        output->held++;
    } else if (output->text) {
        print_row(output, row, columns);
    }
    return SG_OK;
}

void sg_bench_output_hold(struct sg_bench_output *output)
{
    output->holds = true;
    output->held = 0;
}

enum sg_status sg_bench_output_release(struct sg_bench_output *output, int processes,
                                       const struct sg_bench_speed *speed)
{
    size_t first = json_array_size(output->rows) - output->held;
    bool changed = sg_bench_speed_changed(speed);
    int wrong = 0;

    output->holds = false;
    for (size_t i = 0; i < output->held; i++) {
        json_t *row = json_array_get(output->rows, first + i);

        wrong |= json_object_set_new(row, "processes", json_integer(processes));
        wrong |= json_object_set_new(row, "caches",
                                     json_string(output->head->options->cold ? "cold" : "warm"));
        wrong |= json_object_set_new(row, "speed_low", number_of(speed->low));
        wrong |= json_object_set_new(row, "speed_high", number_of(speed->high));
        wrong |= json_object_set_new(row, "counter_rate", number_of(speed->counter_rate));
        wrong |= json_object_set_new(row, "speed_changed", json_boolean(changed));
        if (output->text)
            print_row(output, row, output->held_columns);
    }
    if (changed && output->held > 0) {
        output->low = output->marked > 0 ? fmin(output->low, speed->low) : speed->low;
        output->high = output->marked > 0 ? fmax(output->high, speed->high) : speed->high;
        output->marked += output->held;
    }
    output->held = 0;
    if (wrong != 0)
        sg_log("bench: out of memory");
    return wrong != 0 ? SG_ERR_MEMORY : SG_OK;
}

void sg_bench_output_note(struct sg_bench_output *output, const char *text)
{
    if (output->text)
        fprintf(output->stream, "%s\n", text);
}

void sg_bench_output_describe(struct sg_bench_output *output, const char *name,
                              struct sg_record *record)
{
    json_object_set_new(output->root, name, sg_record_take(record));
}

enum sg_status sg_bench_output_close(struct sg_bench_output *output, bool complete)
{
    FILE *stream = output->stream;
    enum sg_bench_format format = output->head->options->format;
    enum sg_status status = SG_OK;

    if (output->text)
        print_marks(output);
    if (complete && format == SG_BENCH_JSON)
        status = sg_json_print(json_incref(output->root), DIGITS, "bench", stream);
    if (complete && format == SG_BENCH_CSV)
        status = print_csv(output);
    if (fflush(stream) != 0 || ferror(stream)) {
        status = SG_ERR_SYSTEM;
        sg_log("bench: the output cannot be written: %m");
    }
    if (status == SG_OK && complete && output->head->options->plot[0] != '\0')
        status = sg_bench_plot(output->root, output->head->options->plot);
    json_decref(output->root);
    free(output);
    return status;
}
