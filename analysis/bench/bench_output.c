#include "bench/bench_output.h"

#include "bench/limits.h"
#include "bench/sampling.h"
#include "core/cpu/cpu.h"
#include "output/column.h"
#include "output/json_output.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 96

/* ---- fields of rows ------------------------------------------------------------------------ */

static const char *join(char whole[NAME_BYTES], const char *name, const char *which)
{
    snprintf(whole, NAME_BYTES, "%s%s", name, which);
    return whole;
}

void sg_bench_record_summary(struct sg_record *record, const char *name,
                             const struct sg_bench_summary *summary)
{
    char whole[NAME_BYTES];

    sg_record_us(record, name, summary->median);
    sg_record_us(record, join(whole, name, "_low"), summary->low);
    sg_record_us(record, join(whole, name, "_high"), summary->high);
}

void sg_bench_record_ratio(struct sg_record *record, const char *name,
                           const struct sg_bench_summary *summary)
{
    char whole[NAME_BYTES];

    sg_record_number(record, name, summary->median);
    sg_record_number(record, join(whole, name, "_low"), summary->low);
    sg_record_number(record, join(whole, name, "_high"), summary->high);
}

void sg_bench_record_distribution(struct sg_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution)
{
    char whole[NAME_BYTES];

    sg_bench_record_summary(record, name, &distribution->median);
    sg_record_us(record, join(whole, name, "_min"), distribution->least);
    sg_record_us(record, join(whole, name, "_mean"), distribution->mean);
    sg_record_us(record, join(whole, name, "_p95"), distribution->p95);
    sg_record_us(record, join(whole, name, "_p99"), distribution->p99);
    sg_record_us(record, join(whole, name, "_max"), distribution->most);
    sg_record_count(record, join(whole, name, "_outliers"), distribution->outliers);
    sg_record_count(record, join(whole, name, "_count"), distribution->count);
}

/* ---- latency --------------------------------------------------------------------------------- */

#define COMPARED                                                                                   \
    {"ours_us", "ours us", .width = 12, .near = true},                                             \
        {"mpich_us", "stock us", .width = 12, .near = true},                                       \
        {"ratio", "ratio", .width = 9, .near = true},                                              \
    {                                                                                              \
        SG_LINE_INTERVAL("ratio", ""), .title = "95 % interval", .width = -19, .like = "ratio"     \
    }

static const struct sg_line_column latency_columns[] = {
    {"op", "operation", .width = -14},
    {"bytes", "bytes", .width = 10, .near = true},
    COMPARED,
    {"pairs", "pairs", .width = 5, .near = true},
    {"ours_calls", "ours x stock", .width = -12, .second = "mpich_calls", .between = " x "},
    {"model_us", "model us", .width = 10, .near = true},
    {0}};

static const struct sg_line_column late_columns[] = {{"op", "operation", .width = -14},
                                                     {"bytes", "bytes", .width = 10, .near = true},
                                                     {"class", "ranks", .width = -8, .near = true},
                                                     COMPARED,
                                                     {"calls", "calls", .width = 5, .near = true},
                                                     {0}};

static struct sg_record *compared_row(int operation, uint64_t bytes,
                                      const struct sg_bench_comparison *comparison)
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[operation].name);
    sg_record_count(record, "bytes", bytes);
    sg_record_us(record, "ours", comparison->ours.median);
    sg_record_us(record, "mpich", comparison->stock.median);
    sg_bench_record_ratio(record, "ratio", &comparison->ratio);
    sg_record_us(record, "ours_low", comparison->ours.low);
    sg_record_us(record, "ours_high", comparison->ours.high);
    sg_record_us(record, "mpich_low", comparison->stock.low);
    sg_record_us(record, "mpich_high", comparison->stock.high);
    return record;
}

struct sg_record *sg_bench_latency_row(int operation, uint64_t bytes, const char *reduction,
                                       const struct sg_bench_comparison *comparison,
                                       const struct sg_bench_plan *plan)
{
    struct sg_record *record = compared_row(operation, bytes, comparison);

    sg_record_text(record, "reduction", reduction);
    sg_record_count(record, "pairs", plan->pairs);
    sg_record_count(record, "ours_calls", isnan(comparison->ours.median) ? 0 : plan->calls[0]);
    sg_record_count(record, "mpich_calls", plan->calls[1]);
    return record;
}

struct sg_record *sg_bench_late_row(int operation, uint64_t bytes,
                                    const struct sg_bench_comparison *comparison,
                                    enum sg_bench_class class, size_t calls)
{
    static const char *const names[] = {
        [SG_BENCH_ROOT] = "root", [SG_BENCH_NON_ROOT] = "non-root", [SG_BENCH_ALL_RANKS] = "all"};
    struct sg_record *record = compared_row(operation, bytes, comparison);

    sg_record_text(record, "class", names[class]);
    sg_record_count(record, "calls", calls);
    return record;
}

/* ---- cpu ------------------------------------------------------------------------------------- */

static const struct sg_line_column cpu_columns[] = {
    {"op", "operation", .width = -14},
    {"algorithm", "algorithm", .width = -13, .near = true},
    {"elements", "elements", .width = 8, .near = true},
    {"skew_us", "skew us", .width = 9, .near = true, .decimals = SG_LINE_WHOLE},
    {"achieved_skew_us", "achieved us", .width = 12, .near = true},
    {"cpu_us", "cpu us", .width = 12, .near = true},
    {"mpich_cpu_us", "MPICH us", .width = 12, .near = true},
    {"tree_cpu_us", "tree us", .width = 12, .near = true},
    {"factor", "factor", .width = 8, .near = true, .decimals = SG_LINE_HUNDREDTHS},
    {"factor_low", "95 % of factor", .width = -16, .second = "factor_high", .between = " to ",
     .decimals = SG_LINE_HUNDREDTHS},
    {"calls", "calls", .width = -5, .near = true},
    {0}};

static double quotient(double mpich_ns, double cpu_ns)
{
    return cpu_ns > 0 ? mpich_ns / cpu_ns : NAN;
}

struct sg_record *sg_bench_cpu_row(const struct sg_bench_called *called,
                                   const struct sg_bench_summary *cpu,
                                   const struct sg_bench_summary *mpich,
                                   const struct sg_bench_summary *tree)
{
    /* Each end divides one interval's end by the opposite end of the other's, because both sides
     * are noisy. NaN if the time is 0. */
    struct sg_bench_summary factor = {quotient(mpich->median, cpu->median),
                                      quotient(mpich->low, cpu->high),
                                      quotient(mpich->high, cpu->low)};
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[called->operation].name);
    sg_record_text(record, "algorithm", called->algorithm);
    sg_record_text(record, "progress", called->progress);
    sg_record_count(record, "ranks", (uint64_t)called->ranks);
    sg_record_us(record, "skew", called->skew_ns);
    sg_record_count(record, "elements", called->elements);
    sg_bench_record_ratio(record, "factor", &factor);
    sg_record_count(record, "calls", called->calls);
    sg_bench_record_summary(record, "cpu", cpu);
    sg_bench_record_summary(record, "mpich_cpu", mpich);
    sg_bench_record_summary(record, "tree_cpu", tree);
    return record;
}

/* ---- delay ----------------------------------------------------------------------------------- */

static const struct sg_line_column delay_columns[] = {
    {"op", "operation", .width = -14},
    {"algorithm", "algorithm", .width = -13, .near = true},
    {"elements", "elements", .width = 8, .near = true},
    {"late_us", "late us", .width = 9, .near = true, .decimals = SG_LINE_WHOLE},
    {"achieved_skew_us", "achieved us", .width = 12, .near = true},
    {"delay_us", "delay us", .width = 12, .near = true},
    {SG_LINE_INTERVAL("delay", "_us"), .title = "95 % interval", .width = -20,
     .decimals = SG_LINE_TENTHS},
    {"calls", "calls", .width = -5, .near = true, .second = "rounds", .between = " of "},
    {0}};

struct sg_record *sg_bench_delay_row(const struct sg_bench_called *called,
                                     const struct sg_bench_summary *delay)
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[called->operation].name);
    sg_record_text(record, "algorithm", called->algorithm);
    sg_record_count(record, "ranks", (uint64_t)called->ranks);
    sg_record_us(record, "late", called->skew_ns);
    sg_record_count(record, "elements", called->elements);
    sg_record_count(record, "calls", called->calls);
    sg_record_count(record, "rounds", called->rounds);
    sg_bench_record_summary(record, "delay", delay);
    return record;
}

const struct sg_line_column *sg_bench_row_columns(const struct sg_bench_options *options)
{
    switch (options->command) {
    case SG_BENCH_LATENCY:
        return options->late                      ? late_columns
               : options->scheme == SG_BENCH_LOOP ? latency_columns
                                                  : NULL;
    case SG_BENCH_CPU:
        return cpu_columns;
    case SG_BENCH_DELAY:
        return delay_columns;
    default:
        return NULL;
    }
}

#define JSON_VERSION 1
#define DIGITS 9
#define COLUMNS_MAX 32

struct sg_bench_output {
    const struct sg_bench_head *head;
    FILE *stream;
    json_t *root, *rows;                  /* rows points into root */
    bool text;                            /* print rows as they are measured */
    const struct sg_line_column *columns; /* of the current table */
    bool holds; /* hold back the last `held` rows, all with held_columns */
    size_t held;
    const struct sg_line_column *held_columns;
    size_t marked; /* rows measured at another speed */
    double low, high;
};

/* ---- text ----------------------------------------------------------------------------------- */

/* With several numbers of processes each has its own last rank. */
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

/* Returns the columns, with the number of ranks in front if rows differ in it, and the mark. */
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

/* Prints the explanation of the marks below the table. */
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

/* null: each number of processes has its own last rank. */
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

/* ---- the output ----------------------------------------------------------------------------- */

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

/* ---- the speed of the processors */

#define TRIES 40
#define LOOP_NS 25000

#ifdef SG_CPU_HAS_COUNTER

static uint64_t read_counter(void)
{
    return sg_cpu_counter();
}
uint64_t (*const sg_bench_counter)(void) = read_counter;

#else

uint64_t (*const sg_bench_counter)(void) = NULL;

#endif

struct sg_bench_look sg_bench_look_take(const struct sg_bench_machine *machine,
                                        uint64_t (*counter)(void))
{
    struct sg_bench_look look = {.loop_ns = INFINITY};
    uint64_t quanta = (uint64_t)(LOOP_NS / fmax(machine->quantum_ns, 1)) + 1;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin_ns = machine->now_ns();

        machine->work(quanta);
        look.loop_ns = fmin(look.loop_ns, (double)(machine->now_ns() - begin_ns));
    }
    look.counter = counter != NULL ? counter() : 0;
    look.clock_ns = machine->now_ns();
    return look;
}

static double rate_between(const struct sg_bench_look *first, const struct sg_bench_look *second)
{
    if (first->counter == 0 || second->clock_ns <= first->clock_ns)
        return NAN;
    return (double)(second->counter - first->counter) /
           (double)(second->clock_ns - first->clock_ns);
}

struct sg_bench_reference sg_bench_reference_of(const struct sg_bench_look *first,
                                                const struct sg_bench_look *second)
{
    return (struct sg_bench_reference){fmin(first->loop_ns, second->loop_ns),
                                       rate_between(first, second)};
}

struct sg_bench_speed sg_bench_speed_between(const struct sg_bench_reference *reference,
                                             const struct sg_bench_look *before,
                                             const struct sg_bench_look *after)
{
    return (struct sg_bench_speed){
        .low = reference->loop_ns / fmax(before->loop_ns, after->loop_ns),
        .high = reference->loop_ns / fmin(before->loop_ns, after->loop_ns),
        .counter_rate = rate_between(before, after) / reference->counts_per_ns};
}

struct sg_bench_speed sg_bench_speed_of_all(const struct sg_bench_speed *ranks, int count)
{
    struct sg_bench_speed all = ranks[0];

    for (int rank = 1; rank < count; rank++) {
        all.low = fmin(all.low, ranks[rank].low);
        all.high = fmax(all.high, ranks[rank].high);
        if (isnan(all.counter_rate) ||
            fabs(ranks[rank].counter_rate - 1) > fabs(all.counter_rate - 1))
            all.counter_rate = ranks[rank].counter_rate;
    }
    return all;
}

bool sg_bench_speed_changed(const struct sg_bench_speed *speed)
{
    return speed->low < 1 - SG_BENCH_SPEED_TOLERANCE ||
           speed->high > 1 + SG_BENCH_SPEED_TOLERANCE ||
           fabs(speed->counter_rate - 1) > SG_BENCH_SPEED_TOLERANCE;
}
