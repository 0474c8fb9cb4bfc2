/* Tests the table and the JSON, from known figures. */
#include "bench/bench_output.h"
#include "lib/unit.h"

#include <jansson.h>
#include <math.h>

static struct sg_bench_options options;

static const struct sg_bench_plan plan = {.calls = {500, 100}, .pairs = 201};
static const struct sg_bench_comparison compared = {
    {2000, 1900, 2100}, {10000, 9000, 11000}, {0.2, 0.19, 0.21}};
static const struct sg_bench_comparison compared_late = {
    {500, 400, 600}, {1000000, 900000, 1100000}, {0.0005, 0.0004, 0.0006}};

static const struct sg_bench_called delayed = {
    .operation = SG_OPERATION_BARRIER,
    .algorithm = "tree",
    .ranks = 4,
    .skew_ns = 1000000,
    .calls = 9,
    .rounds = 12,
};
static const struct sg_bench_summary delay = {20000, 10000, 30000};

static const struct sg_bench_called reduced = {
    .operation = SG_OPERATION_REDUCE,
    .algorithm = "bypass",
    .progress = "thread",
    .ranks = 4,
    .skew_ns = 500000,
    .elements = 4,
    .calls = 24,
};
static const struct sg_bench_summary mpich = {100000, 90000, 110000};

/* The test's own: a tree that is not known, a time that is 0. */
static struct sg_bench_summary cpu, tree;

/* As sg_bench_record_sampling does. */
static struct sg_record *achieved(struct sg_record *record, double skew_ns)
{
    sg_record_us(record, "achieved_skew", skew_ns);
    return record;
}

static struct sg_record *row_of_command(void)
{
    switch (options.command) {
    case SG_BENCH_CPU:
        return achieved(sg_bench_cpu_row(&reduced, &cpu, &mpich, &tree), 510000);
    case SG_BENCH_DELAY:
        return achieved(sg_bench_delay_row(&delayed, &delay), 1001000);
    default:
        return options.late
                   ? sg_bench_late_row(SG_OPERATION_REDUCE, 8, &compared_late, SG_BENCH_NON_ROOT,
                                       40)
                   : sg_bench_latency_row(SG_OPERATION_ALLREDUCE, 65536, "max", &compared, &plan);
    }
}

/* Rows that are put out without being shown have columns all the same. */
static enum sg_status put_row(struct sg_bench_output *output)
{
    static const struct sg_line_column any[] = {{"op", "operation", .width = -10}, {0}};
    const struct sg_line_column *columns = sg_bench_row_columns(&options);

    return sg_bench_output_record(output, row_of_command(), columns != NULL ? columns : any);
}

/* Prints the rows into a string; the caller frees it. */
static char *printed(double line_ns, bool complete)
{
    struct sg_bench_head head = {.options = &options,
                                 .ranks = 4,
                                 .limits = {.line_ns = line_ns, .copy_gbs = 10},
                                 .progress = "thread",
                                 .intercepted = true,
                                 .ours = "libours.so",
                                 .stock = "libmpi.so",
                                 .mpi_name = "An MPI 1.0"};
    struct sg_bench_output *output;
    size_t size_bytes;
    char *text;
    FILE *stream = open_memstream(&text, &size_bytes);

    ASSERT(stream != NULL, sg_bench_output_open(&head, stream, &output) == SG_OK);
    enum sg_status status = put_row(output);
    EXPECT(status == SG_OK, sg_bench_output_close(output, complete) == SG_OK);
    fclose(stream);
    return text;
}

static json_t *parsed(double line_ns)
{
    char *text = printed(line_ns, true);
    json_t *root = json_loads(text, 0, NULL);

    ASSERT(root != NULL);
    free(text);
    return root;
}

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

TEST("the JSON has the fields of version 1")
{
    json_t *limits;

    options = (struct sg_bench_options){.format = SG_BENCH_JSON};
    json_t *root = parsed(50);
    EXPECT(json_integer_value(json_object_get(root, "version")) == 1,
           json_integer_value(json_object_get(root, "ranks")) == 4);
    limits = json_object_get(root, "limits");
    EXPECT(number(limits, "line_ns") == 50, number(limits, "copy_gbs") == 10);
    ASSERT(json_array_size(json_object_get(root, "results")) == 1);
    json_t *result = json_array_get(json_object_get(root, "results"), 0);
    EXPECT(text_is(json_string_value(json_object_get(result, "op")), "allreduce"),
           number(result, "bytes") == 65536, number(result, "ours_us") == 2,
           number(result, "mpich_us") == 10, number(result, "ratio") == 0.2,
           number(result, "ratio_low") == 0.19, number(result, "ratio_high") == 0.21,
           number(result, "mpich_calls") == 100);
    json_decref(root);
}

TEST("processor times have columns separate from latencies")
{
    json_t *late;

    options = (struct sg_bench_options){
        .format = SG_BENCH_JSON, .late = true, .skews_us = {{1000}, 1}, .late_rank = 3};
    json_t *root = parsed(50);
    EXPECT(json_array_size(json_object_get(root, "results")) == 0);
    late = json_object_get(root, "late");
    EXPECT(number(late, "skew_us") == 1000, number(late, "rank") == 3);
    ASSERT(json_array_size(json_object_get(late, "results")) == 1);
    json_t *result = json_array_get(json_object_get(late, "results"), 0);
    EXPECT(text_is(json_string_value(json_object_get(result, "class")), "non-root"),
           number(result, "ours_us") == 0.5, number(result, "ratio") == 0.0005);
    json_decref(root);
}

TEST("an unknown limit is null")
{
    options = (struct sg_bench_options){.format = SG_BENCH_JSON};
    json_t *root = parsed(NAN);
    EXPECT(json_is_null(json_object_get(json_object_get(root, "limits"), "line_ns")));
    json_decref(root);
}

TEST("a run that fails prints no JSON")
{
    options = (struct sg_bench_options){.format = SG_BENCH_JSON};
    char *text = printed(50, false);
    EXPECT(text_is(text, ""));
    free(text);
}

TEST("the table is aligned")
{
    static const char expected[] =
        "4 ranks; ours: MPI_* from libours.so; stock: PMPI_* from libmpi.so (An MPI 1.0)\n"
        "limits: cache line one way 50 ns, memory copy 10.0 GB/s\n"
        "\n"
        "operation           bytes      ours us     stock us     ratio  95 % interval       pairs  "
        "ours x stock   model us\n"
        "allreduce           65536        2.000       10.000     0.200  0.190   to 0.210      201  "
        "500 x 100             -\n";

    options = (struct sg_bench_options){.scheme = SG_BENCH_LOOP};
    char *text = printed(50, true);
    EXPECT(text_is(text, expected));
    free(text);
}

TEST("the table of processor times names the late rank")
{
    options = (struct sg_bench_options){.late = true, .skews_us = {{1000}, 1}, .late_rank = 3};
    char *text = printed(NAN, true);
    EXPECT(contains(text, "cache line one way not known"),
           contains(text, "rank 3 enters 1000 us late\n"),
           contains(text, "\nreduce                  8 non-root"));
    free(text);
}

static void know_cpu(void)
{
    cpu = (struct sg_bench_summary){20000, 10000, 30000};
    tree = (struct sg_bench_summary){50000, 40000, 60000};
}

TEST("rows of processor time have the fields of version 1")
{
    json_t *root;

    options =
        (struct sg_bench_options){.format = SG_BENCH_JSON, .command = SG_BENCH_CPU, .root = 2};
    know_cpu();
    root = parsed(NAN);
    EXPECT(text_is(json_string_value(json_object_get(root, "command")), "cpu"),
           text_is(json_string_value(json_object_get(root, "clock")), "process"),
           number(root, "root") == 2, json_object_get(root, "limits") == NULL);
    json_t *result = json_array_get(json_object_get(root, "results"), 0);
    EXPECT(text_is(json_string_value(json_object_get(result, "op")), "reduce"),
           text_is(json_string_value(json_object_get(result, "algorithm")), "bypass"),
           text_is(json_string_value(json_object_get(result, "progress")), "thread"),
           number(result, "ranks") == 4, number(result, "skew_us") == 500,
           number(result, "elements") == 4, number(result, "cpu_us") == 20,
           number(result, "cpu_low_us") == 10, number(result, "mpich_cpu_us") == 100,
           number(result, "tree_cpu_us") == 50, number(result, "factor") == 5,
           number(result, "factor_low") == 3, number(result, "factor_high") == 11,
           number(result, "calls") == 24);
    json_decref(root);
}

TEST("an unknown factor or tree is null in JSON and a dash in the table")
{
    options = (struct sg_bench_options){.format = SG_BENCH_JSON, .command = SG_BENCH_CPU};
    cpu = (struct sg_bench_summary){0, 0, 0};
    tree = (struct sg_bench_summary){NAN, NAN, NAN};
    json_t *root = parsed(NAN);
    json_t *result = json_array_get(json_object_get(root, "results"), 0);
    EXPECT(number(result, "cpu_us") == 0, json_is_null(json_object_get(result, "factor")),
           json_is_null(json_object_get(result, "tree_cpu_us")));
    json_decref(root);
    options.format = SG_BENCH_TEXT;
    char *text = printed(NAN, true);
    EXPECT(contains(text, " 100.0            -        -  - to -"));
    free(text);
}

TEST("rows of delay have the fields of version 1")
{
    options = (struct sg_bench_options){.format = SG_BENCH_JSON,
                                        .command = SG_BENCH_DELAY,
                                        .arrival = SG_BENCH_ONE_LATE,
                                        .late_rank = 3};
    json_t *root = parsed(NAN);
    EXPECT(text_is(json_string_value(json_object_get(root, "command")), "delay"),
           number(root, "late_rank") == 3);
    json_t *result = json_array_get(json_object_get(root, "results"), 0);
    EXPECT(text_is(json_string_value(json_object_get(result, "op")), "barrier"),
           text_is(json_string_value(json_object_get(result, "algorithm")), "tree"),
           number(result, "ranks") == 4, number(result, "late_us") == 1000,
           number(result, "delay_us") == 20, number(result, "delay_high_us") == 30,
           number(result, "calls") == 9, number(result, "rounds") == 12);
    json_decref(root);
}

TEST("the tables of processor time and delay are aligned")
{
    static const char cpu_table[] =
        "processor time of a call, average over the ranks, on the process's clock; progress: "
        "thread\n"
        "\n"
        "operation      algorithm     elements   skew us  achieved us       cpu us     MPICH us    "
        "  "
        "tree us   "
        "factor  95 % of factor   calls\n"
        "reduce         bypass               4       500        510.0       20.000        100.0    "
        "   "
        "50.000     "
        "5.00  3.00 to 11.00    24\n";
    static const char delay_table[] =
        "from the last entry to the last exit, when rank 3 is late\n"
        "\n"
        "operation      algorithm     elements   late us  achieved us     "
        "delay us  95 % interval        calls\n"
        "barrier        tree                 0      1000       1001.0       "
        "20.000  10.0 to 30.0         9 of 12\n";

    options = (struct sg_bench_options){.command = SG_BENCH_CPU};
    know_cpu();
    char *text = printed(NAN, true);
    EXPECT(text_is(strchr(text, '\n') + 1, cpu_table));
    free(text);
    options = (struct sg_bench_options){
        .command = SG_BENCH_DELAY, .arrival = SG_BENCH_ONE_LATE, .late_rank = 3};
    text = printed(NAN, true);
    EXPECT(text_is(strchr(text, '\n') + 1, delay_table));
    free(text);
}

/* Prints two rows, of 2 and 4 ranks, with these speeds of their processors. */
static char *released(const struct sg_bench_speed speeds[2])
{
    struct sg_bench_head head = {
        .options = &options, .ours = "a", .stock = "b", .mpi_name = "c", .ranks = 4};
    struct sg_bench_output *output;
    size_t size_bytes, before, after;
    char *text;
    FILE *stream = open_memstream(&text, &size_bytes);

    ASSERT(stream != NULL, sg_bench_output_open(&head, stream, &output) == SG_OK);
    for (int i = 0; i < 2; i++) {
        sg_bench_output_hold(output);
        fflush(stream);
        before = size_bytes;
        EXPECT(put_row(output) == SG_OK);
        fflush(stream);
        after = size_bytes;
        EXPECT(before == after, sg_bench_output_release(output, 2 * i + 2, &speeds[i]) == SG_OK);
    }
    EXPECT(sg_bench_output_close(output, true) == SG_OK);
    fclose(stream);
    return text;
}

TEST("rows are held back, and flagged if processors changed their speed")
{
    static const struct sg_bench_speed speeds[2] = {{0.99, 1.01, 1}, {0.7, 1.02, NAN}};
    static const char table[] =
        "ranks  operation           bytes      ours us     stock us     ratio  95 % interval       "
        "pairs  ours x stock   model us\n"
        "    2  allreduce           65536        2.000       10.000     0.200  0.190   to 0.210  "
        "    201  500 x 100             -\n"
        "    4  allreduce           65536        2.000       10.000     0.200  0.190   to 0.210  "
        "    201  500 x 100             -  *\n"
        "\n"
        "* processors changed their speed: 1 row at 0.70 to 1.02 times that of the start\n";

    options = (struct sg_bench_options){.scheme = SG_BENCH_LOOP, .processes = {{2, 4}, 2}};
    char *text = released(speeds);
    ASSERT(contains(text, "ranks  "));
    EXPECT(text_is(strstr(text, "ranks  "), table));
    free(text);
    options.format = SG_BENCH_JSON;
    text = released(speeds);
    json_t *root = json_loads(text, 0, NULL);
    ASSERT(root != NULL);
    json_t *rows = json_object_get(root, "results");
    json_t *second = json_array_get(rows, 1);
    EXPECT(number(json_array_get(rows, 0), "processes") == 2,
           json_is_false(json_object_get(json_array_get(rows, 0), "speed_changed")),
           number(second, "processes") == 4, json_is_true(json_object_get(second, "speed_changed")),
           number(second, "speed_low") == 0.7,
           json_is_null(json_object_get(second, "counter_rate")),
           text_is(json_string_value(json_object_get(second, "caches")), "warm"),
           json_object_get(second, "mark") == NULL);
    json_decref(root);
    free(text);
}

/* The late rank depends on the number of ranks. */
TEST("each number of processes has its own last rank")
{
    options = (struct sg_bench_options){.format = SG_BENCH_JSON,
                                        .command = SG_BENCH_DELAY,
                                        .arrival = SG_BENCH_ONE_LATE,
                                        .late_rank = 3,
                                        .late_is_last = true,
                                        .processes = {{2, 4}, 2}};
    json_t *root = parsed(NAN);
    EXPECT(json_is_null(json_object_get(root, "late_rank")));
    json_decref(root);
    options.format = SG_BENCH_TEXT;
    char *text = printed(NAN, true);
    EXPECT(contains(text, "when the last rank is late\n"));
    free(text);
}

/* A stream that takes nothing. */
TEST("lost output is an error")
{
    struct sg_bench_head head = {
        .options = &options, .ours = "a", .stock = "b", .mpi_name = "c", .ranks = 1};
    struct sg_bench_output *output;
    FILE *stream = fopen("/dev/full", "w");

    ASSERT(stream != NULL);
    options = (struct sg_bench_options){.format = SG_BENCH_JSON};
    ASSERT(sg_bench_output_open(&head, stream, &output) == SG_OK);
    EXPECT(sg_bench_output_close(output, true) == SG_ERR_SYSTEM);
    fclose(stream);
}
