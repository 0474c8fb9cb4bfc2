#include "bench/option_values.h"

#include "bench/given.h"
#include "core/status.h"
#include "rule/algorithm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_PMPI "pmpi"
#define ROW_S_MAX 3600
#define SKEW_US_MAX 1000000
#define ELEMENT_BYTES sizeof(double)
#define ELEMENTS_MAX 134217728 /* 1 GiB */
#define ITERATIONS_MAX UINT64_C(1000000000)
#define NUMBER_BYTES 64
#define DIGITS_OF(number) #number
#define DIGITS(number) DIGITS_OF(number)

error_t sg_bench_fault(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("bench: %s", text);
    return EINVAL;
}

const char *sg_bench_shown(const char *text, char excerpt[SG_EXCERPT_BYTES])
{
    return sg_text_excerpt(text, strlen(text), excerpt, SG_EXCERPT_BYTES);
}

/* A number that takes up the whole text. */
static bool read_number(const char *text, double most, double *out)
{
    char *end;
    double value = strtod(text, &end);

    /* Written so that a NaN fails, too. */
    if (end == text || *end != '\0' || !(value >= 0 && value <= most))
        return false;
    *out = value;
    return true;
}

/* ---- lists */

/* What came of one word of a list. */
enum taken { TAKEN, NONE_SUCH, TWICE, TOO_MANY };

typedef enum taken (*take_word)(const char *word, size_t length, struct sg_bench_options *options);

/* Hands the words of the option's list to `take`; `wants` says what they have to be. */
static error_t take_list(const char *option, const char *wants, const char *list, take_word take,
                         struct sg_bench_options *options)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        enum taken taken = take(list, length, options);
        char excerpt[SG_EXCERPT_BYTES];

        sg_text_excerpt(list, length, excerpt, sizeof excerpt);
        if (taken == NONE_SUCH)
            return sg_bench_fault("%s wants %s, not '%s'", option, wants, excerpt);
        if (taken == TWICE)
            return sg_bench_fault("%s names '%s' twice", option, excerpt);
        if (taken == TOO_MANY)
            return sg_bench_fault("%s takes %d numbers at most", option, SG_BENCH_SIZES_MAX);
        if (list[length] == '\0')
            return 0;
        list += length + 1;
    }
}

static enum taken take_operation(const char *word, size_t length, struct sg_bench_options *options)
{
    int operation = 0;

    while (operation < SG_OPERATION_COUNT &&
           (strlen(sg_operation_names[operation]) != length ||
            strncmp(sg_operation_names[operation], word, length) != 0))
        operation++;
    if (operation == SG_OPERATION_COUNT)
        return NONE_SUCH;
    for (int i = 0; i < options->operation_count; i++) {
        if ((int)options->operations[i] == operation)
            return TWICE;
    }
    options->operations[options->operation_count++] = (enum sg_operation)operation;
    return TAKEN;
}

error_t sg_bench_set_operations(const char *list, int ranks, struct sg_bench_options *options)
{
    options->operation_count = 0;
    return take_list("--ops", "some of barrier, allreduce, reduce", list, take_operation, options);
}

/* A number of that unit, of no more bytes than ELEMENTS_MAX elements and whole elements at that. */
static enum taken take_size(const char *word, size_t length, size_t unit_bytes,
                            struct sg_bench_options *options)
{
    uint64_t number;

    if (sg_text_number(word, word + length, true, &number) != word + length || number < 1 ||
        number > ELEMENTS_MAX * ELEMENT_BYTES / unit_bytes ||
        number * unit_bytes % ELEMENT_BYTES != 0)
        return NONE_SUCH;
    if (options->bytes_count == SG_BENCH_SIZES_MAX)
        return TOO_MANY;
    options->bytes[options->bytes_count++] = number * unit_bytes;
    return TAKEN;
}

static enum taken take_bytes(const char *word, size_t length, struct sg_bench_options *options)
{
    return take_size(word, length, 1, options);
}

static enum taken take_elements(const char *word, size_t length, struct sg_bench_options *options)
{
    return take_size(word, length, ELEMENT_BYTES, options);
}

error_t sg_bench_set_bytes(const char *list, int ranks, struct sg_bench_options *options)
{
    options->bytes_count = 0;
    return take_list("--bytes", "multiples of 8 from 8 to 1g", list, take_bytes, options);
}

error_t sg_bench_set_elements(const char *list, int ranks, struct sg_bench_options *options)
{
    options->bytes_count = 0;
    return take_list("--elements", "numbers from 1 to " DIGITS(ELEMENTS_MAX), list, take_elements,
                     options);
}

static enum taken take_algorithm(const char *word, size_t length, struct sg_bench_options *options)
{
    int algorithm = sg_bench_algorithm_find(word, length);

    if (algorithm == SG_BENCH_NO_ALGORITHM)
        return NONE_SUCH;
    for (int i = 0; i < options->algorithm_count; i++) {
        if (options->algorithms[i] == algorithm)
            return TWICE;
    }
    options->algorithms[options->algorithm_count++] = algorithm;
    return TAKEN;
}

error_t sg_bench_set_algorithms(const char *list, int ranks, struct sg_bench_options *options)
{
    char wants[256];

    options->algorithm_count = 0;
    snprintf(wants, sizeof wants, "some of %s", sg_bench_algorithm_list());
    return take_list("--algorithms", wants, list, take_algorithm, options);
}

static enum taken take_skew(const char *word, size_t length, struct sg_bench_options *options)
{
    char text[NUMBER_BYTES];
    double skew_us;

    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text), word);
    if (length >= sizeof text || !read_number(text, SKEW_US_MAX, &skew_us))
        return NONE_SUCH;
    if (options->skew_count == SG_BENCH_SIZES_MAX)
        return TOO_MANY;
    options->skews_us[options->skew_count++] = skew_us;
    return TAKEN;
}

static error_t set_skews(const char *option, const char *list, struct sg_bench_options *options)
{
    options->skew_count = 0;
    return take_list(option, "microseconds up to " DIGITS(SKEW_US_MAX), list, take_skew, options);
}

error_t sg_bench_set_skews(const char *list, int ranks, struct sg_bench_options *options)
{
    return set_skews("--skew-us", list, options);
}

error_t sg_bench_set_late_times(const char *list, int ranks, struct sg_bench_options *options)
{
    return set_skews("--late-us", list, options);
}

static enum taken take_test(const char *word, size_t length, struct sg_bench_options *options)
{
    uint64_t number;

    if (length == 0 || sg_text_number(word, word + length, true, &number) != word + length)
        return NONE_SUCH;
    if (options->test_count == SG_BENCH_SIZES_MAX)
        return TOO_MANY;
    options->test_bytes[options->test_count++] = number;
    return TAKEN;
}

error_t sg_bench_set_tests(const char *list, int ranks, struct sg_bench_options *options)
{
    options->test_count = 0;
    return take_list("--test-bytes", "numbers of bytes", list, take_test, options);
}

/* ---- single values */

error_t sg_bench_set_iterations(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < 1 || value > ITERATIONS_MAX)
        return sg_bench_fault("--iterations wants a number from 1 up to %llu, not '%s'",
                              (unsigned long long)ITERATIONS_MAX, sg_bench_shown(text, excerpt));
    options->iterations = value;
    return 0;
}

static error_t set_rank(const char *option, const char *text, int ranks, int *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value >= (uint64_t)ranks)
        return sg_bench_fault("%s wants a rank, of 0 to %d, not '%s'", option, ranks - 1,
                              sg_bench_shown(text, excerpt));
    *out = (int)value;
    return 0;
}

error_t sg_bench_set_root(const char *text, int ranks, struct sg_bench_options *options)
{
    return set_rank("--root", text, ranks, &options->root);
}

error_t sg_bench_set_late_rank(const char *text, int ranks, struct sg_bench_options *options)
{
    return set_rank("--late", text, ranks, &options->late_rank);
}

error_t sg_bench_set_quantum(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    double value;

    if (!read_number(text, SKEW_US_MAX, &value) || value < 1)
        return sg_bench_fault("--quantum-us wants microseconds from 1 up to %d, not '%s'",
                              SKEW_US_MAX, sg_bench_shown(text, excerpt));
    options->quantum_us = value;
    return 0;
}

error_t sg_bench_set_seconds(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    double value;

    if (!read_number(text, ROW_S_MAX, &value) || value == 0)
        return sg_bench_fault("--time wants seconds above 0 and up to %d, not '%s'", ROW_S_MAX,
                              sg_bench_shown(text, excerpt));
    options->row_s = value;
    return 0;
}

/* ---- one of several words, and files */

/* The place of a word among names, or -1. */
static int find_word(const char *word, size_t length, const char *(*name_of)(int), int count)
{
    for (int i = 0; i < count; i++) {
        if (strlen(name_of(i)) == length && memcmp(name_of(i), word, length) == 0)
            return i;
    }
    return -1;
}

static const char *scheme_name(int scheme)
{
    return scheme == SG_BENCH_LOOP ? "loop" : sg_bench_scheme_name((enum sg_bench_scheme)scheme);
}

static const char *reduction_name(int reduction)
{
    return sg_bench_reduction_name((enum sg_bench_reduction)reduction);
}

static const char *arrival_name(int arrival)
{
    return sg_bench_arrival_name((enum sg_bench_arrival)arrival);
}

error_t sg_bench_set_scheme(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    int found = find_word(text, strlen(text), scheme_name, SG_BENCH_SCHEMES + 1);

    if (found < 0)
        return sg_bench_fault("--scheme wants window, barrier, dissemination or loop, not '%s'",
                              sg_bench_shown(text, excerpt));
    options->scheme = found;
    return 0;
}

error_t sg_bench_set_reduction(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    int found = find_word(text, strlen(text), reduction_name, SG_BENCH_REDUCTIONS);

    if (found < 0)
        return sg_bench_fault("--reduce wants root, max, span, mean or min, not '%s'",
                              sg_bench_shown(text, excerpt));
    options->reduction = (enum sg_bench_reduction)found;
    return 0;
}

/* The number of ranks behind "some:", the file behind "trace:". */
static error_t set_argument(const char *argument, int ranks, struct sg_bench_options *options)
{
    const char *end = argument + strlen(argument);
    char excerpt[SG_EXCERPT_BYTES];
    uint64_t count;

    if (options->arrival == SG_BENCH_REPLAY) {
        if (*argument == '\0' || strlen(argument) >= sizeof options->arrivals)
            return sg_bench_fault("--arrival trace: wants a file, as `stagger arrivals` writes it");
        strcpy(options->arrivals, argument);
        return 0;
    }
    if (sg_text_number(argument, end, false, &count) != end || count < 1 || count > (uint64_t)ranks)
        return sg_bench_fault("--arrival some: wants a number of ranks, of 1 to %d, not '%s'",
                              ranks, sg_bench_shown(argument, excerpt));
    options->late_count = (int)count;
    return 0;
}

error_t sg_bench_set_arrival(const char *text, int ranks, struct sg_bench_options *options)
{
    size_t length = strcspn(text, ":");
    int found = find_word(text, length, arrival_name, SG_BENCH_ARRIVALS);
    bool takes = found == SG_BENCH_SOME_LATE || found == SG_BENCH_REPLAY;
    char excerpt[SG_EXCERPT_BYTES];

    if (found < 0 || takes != (text[length] == ':'))
        return sg_bench_fault("--arrival wants none, one, some:K, uniform, exponential, linear or "
                              "trace:FILE, not '%s'",
                              sg_bench_shown(text, excerpt));
    options->arrival = (enum sg_bench_arrival)found;
    return takes ? set_argument(text + length + 1, ranks, options) : 0;
}

error_t sg_bench_set_vs(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];

    if (strchr(text, '=') != NULL) {
        options->vs = SG_BENCH_GIVEN;
        return sg_bench_given_check("bench: --vs", text) ? 0 : EINVAL;
    }
    options->vs = strcmp(text, WORD_PMPI) == 0 ? SG_ALGORITHM_MPICH
                                               : sg_bench_algorithm_find(text, strlen(text));
    if (options->vs == SG_BENCH_NO_ALGORITHM)
        return sg_bench_fault("--vs wants " WORD_PMPI ", one of %s, or rules, not '%s'",
                              sg_bench_algorithm_list(), sg_bench_shown(text, excerpt));
    return 0;
}

error_t sg_bench_set_seed(const char *text, int ranks, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);

    if (sg_text_number(text, end, false, &options->seed) != end || *text == '\0')
        return sg_bench_fault("--seed wants a number, not '%s'", sg_bench_shown(text, excerpt));
    return 0;
}

error_t sg_bench_set_plot(const char *text, int ranks, struct sg_bench_options *options)
{
    size_t length = strlen(text);

    if (length < 5 || length >= SG_BENCH_PATH_BYTES || strcmp(text + length - 4, ".svg") != 0)
        return sg_bench_fault("--plot wants a file whose name ends in .svg");
    strcpy(options->plot, text);
    return 0;
}

/* ---- flags */

error_t sg_bench_set_busy(const char *text, int ranks, struct sg_bench_options *options)
{
    options->busy = true;
    return 0;
}

error_t sg_bench_set_each(const char *text, int ranks, struct sg_bench_options *options)
{
    options->each = true;
    return 0;
}

error_t sg_bench_set_samples(const char *text, int ranks, struct sg_bench_options *options)
{
    options->samples = true;
    return 0;
}

error_t sg_bench_set_json(const char *text, int ranks, struct sg_bench_options *options)
{
    options->format = SG_BENCH_JSON;
    return 0;
}

error_t sg_bench_set_csv(const char *text, int ranks, struct sg_bench_options *options)
{
    options->format = SG_BENCH_CSV;
    return 0;
}
