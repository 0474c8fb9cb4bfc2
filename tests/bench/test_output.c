/* The table and the JSON, from figures that are known. */
#include "bench/output.h"
#include "lib/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct sg_bench_options options;

static const struct sg_bench_row row = {
    .operation = SG_OPERATION_ALLREDUCE,
    .bytes = 65536,
    .plan = {.calls = {500, 100}, .pairs = 201},
    .comparison = {{2000, 1900, 2100}, {10000, 9000, 11000}, {0.2, 0.19, 0.21}},
};

static const struct sg_bench_late_row late_row = {
    .operation = SG_OPERATION_REDUCE,
    .bytes = 8,
    .class = SG_BENCH_NON_ROOT,
    .calls = 40,
    .comparison = {{500, 400, 600}, {1000000, 900000, 1100000}, {0.0005, 0.0004, 0.0006}},
};

/* What is printed for the rows; the caller frees it. */
static char *printed(double line_ns, bool complete)
{
    struct sg_bench_head head = {.options = &options,
                                 .ranks = 4,
                                 .limits = {.line_ns = line_ns, .copy_gbs = 10},
                                 .intercepted = true,
                                 .ours = "libours.so",
                                 .stock = "libmpi.so",
                                 .mpi_name = "An MPI 1.0"};
    struct sg_bench_output *output;
    size_t size_bytes;
    char *text;
    FILE *stream = open_memstream(&text, &size_bytes);
    enum sg_status status;

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL_FATAL(sg_bench_output_open(&head, stream, &output), SG_OK);
    status = options.late ? sg_bench_output_late_row(output, &late_row)
                          : sg_bench_output_row(output, &row);
    CU_ASSERT_EQUAL(status, SG_OK);
    CU_ASSERT_EQUAL(sg_bench_output_close(output, complete), SG_OK);
    fclose(stream);
    return text;
}

static json_t *parsed(double line_ns)
{
    char *text = printed(line_ns, true);
    json_t *root = json_loads(text, 0, NULL);

    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    free(text);
    return root;
}

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void test_json(void)
{
    json_t *root, *limits, *result;

    options = (struct sg_bench_options){.json = true};
    root = parsed(50);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(root, "version")), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(root, "ranks")), 4);
    limits = json_object_get(root, "limits");
    CU_ASSERT_EQUAL(number(limits, "line_ns"), 50);
    CU_ASSERT_EQUAL(number(limits, "copy_gbs"), 10);
    CU_ASSERT_EQUAL_FATAL(json_array_size(json_object_get(root, "results")), 1);
    result = json_array_get(json_object_get(root, "results"), 0);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(result, "op")), "allreduce");
    CU_ASSERT_EQUAL(number(result, "bytes"), 65536);
    CU_ASSERT_EQUAL(number(result, "ours_us"), 2);
    CU_ASSERT_EQUAL(number(result, "mpich_us"), 10);
    CU_ASSERT_EQUAL(number(result, "ratio"), 0.2);
    CU_ASSERT_EQUAL(number(result, "ratio_low"), 0.19);
    CU_ASSERT_EQUAL(number(result, "ratio_high"), 0.21);
    CU_ASSERT_EQUAL(number(result, "mpich_calls"), 100);
    json_decref(root);
}

static void test_json_late(void)
{
    json_t *root, *late, *result;

    options =
        (struct sg_bench_options){.json = true, .late = true, .skew_us = 1000, .late_rank = 3};
    root = parsed(50);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "results")), 0);
    late = json_object_get(root, "late");
    CU_ASSERT_EQUAL(number(late, "skew_us"), 1000);
    CU_ASSERT_EQUAL(number(late, "rank"), 3);
    CU_ASSERT_EQUAL_FATAL(json_array_size(json_object_get(late, "results")), 1);
    result = json_array_get(json_object_get(late, "results"), 0);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(result, "class")), "non-root");
    CU_ASSERT_EQUAL(number(result, "ours_us"), 0.5);
    CU_ASSERT_EQUAL(number(result, "ratio"), 0.0005);
    json_decref(root);
}

static void test_unknown_limit(void)
{
    json_t *root;

    options = (struct sg_bench_options){.json = true};
    root = parsed(NAN);
    CU_ASSERT(json_is_null(json_object_get(json_object_get(root, "limits"), "line_ns")));
    json_decref(root);
}

static void test_incomplete(void)
{
    char *text;

    options = (struct sg_bench_options){.json = true};
    text = printed(50, false);
    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
}

static void test_text(void)
{
    static const char expected[] =
        "4 ranks; ours: MPI_* from libours.so; stock: PMPI_* from libmpi.so (An MPI 1.0)\n"
        "limits: cache line one way 50 ns, memory copy 10.0 GB/s\n"
        "\n"
        "operation       bytes      ours us     stock us     ratio  95 % interval       pairs  "
        "ours x stock\n"
        "allreduce       65536        2.000       10.000     0.200  0.190   to 0.210      201  "
        "500 x 100\n";
    char *text;

    options = (struct sg_bench_options){0};
    text = printed(50, true);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

static void test_text_late(void)
{
    char *text;

    options = (struct sg_bench_options){.late = true, .skew_us = 1000, .late_rank = 3};
    text = printed(NAN, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "cache line one way not known"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "rank 3 enters 1000 us late\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nreduce              8 non-root"));
    free(text);
}

/* A stream that takes nothing. */
static void test_full_disk(void)
{
    struct sg_bench_head head = {
        .options = &options, .ours = "a", .stock = "b", .mpi_name = "c", .ranks = 1};
    struct sg_bench_output *output;
    FILE *stream = fopen("/dev/full", "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    options = (struct sg_bench_options){.json = true};
    CU_ASSERT_EQUAL_FATAL(sg_bench_output_open(&head, stream, &output), SG_OK);
    CU_ASSERT_EQUAL(sg_bench_output_close(output, true), SG_ERR_SYSTEM);
    fclose(stream);
}

const struct unit_test unit_tests[] = {
    {"the JSON has the fields of version 1", test_json},
    {"processor times stand apart from latencies", test_json_late},
    {"a limit that is not known is null", test_unknown_limit},
    {"a run that fails prints no JSON", test_incomplete},
    {"the table is aligned", test_text},
    {"the table of processor times says who is late", test_text_late},
    {"output that is lost is an error", test_full_disk},
    {NULL, NULL},
};
