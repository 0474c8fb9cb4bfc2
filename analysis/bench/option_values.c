#include "bench/option_values.h"

#include "core/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_S_MAX 3600
#define SKEW_US_MAX 1e6
#define BYTES_MAX (UINT64_C(1) << 30)
#define ELEMENT_BYTES sizeof(double)
#define ITERATIONS_MAX UINT64_C(1000000000)
#define NUMBER_BYTES 64

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

/* Takes the next word off a list with commas; false at its end. */
static bool next_word(const char **list, const char **word, size_t *length)
{
    if (*list == NULL)
        return false;
    *word = *list;
    *length = strcspn(*word, ",");
    *list = (*word)[*length] == ',' ? *word + *length + 1 : NULL;
    return true;
}

static bool has_operation(const struct sg_bench_options *options, int operation)
{
    for (int i = 0; i < options->operation_count; i++) {
        if ((int)options->operations[i] == operation)
            return true;
    }
    return false;
}

error_t sg_bench_set_operations(const char *list, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *word;
    size_t length;

    options->operation_count = 0;
    while (next_word(&list, &word, &length)) {
        int operation = 0;

        while (operation < SG_OPERATION_COUNT &&
               (strlen(sg_operation_names[operation]) != length ||
                strncmp(sg_operation_names[operation], word, length) != 0))
            operation++;
        sg_text_excerpt(word, length, excerpt, sizeof excerpt);
        if (operation == SG_OPERATION_COUNT)
            return sg_bench_fault("--ops wants some of barrier, allreduce, reduce, not '%s'",
                                  excerpt);
        if (has_operation(options, operation))
            return sg_bench_fault("--ops names '%s' twice", excerpt);
        options->operations[options->operation_count++] = (enum sg_operation)operation;
    }
    return 0;
}

error_t sg_bench_set_bytes(const char *list, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *word;
    size_t length;

    options->bytes_count = 0;
    while (next_word(&list, &word, &length)) {
        uint64_t bytes;

        if (sg_text_number(word, word + length, true, &bytes) != word + length ||
            bytes < ELEMENT_BYTES || bytes % ELEMENT_BYTES != 0 || bytes > BYTES_MAX)
            return sg_bench_fault("--bytes wants multiples of 8 from 8 to 1g, not '%s'",
                                  sg_text_excerpt(word, length, excerpt, sizeof excerpt));
        if (options->bytes_count == SG_BENCH_SIZES_MAX)
            return sg_bench_fault("--bytes takes %d sizes at most", SG_BENCH_SIZES_MAX);
        options->bytes[options->bytes_count++] = bytes;
    }
    return 0;
}

error_t sg_bench_set_elements(const char *list, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *word;
    size_t length;

    options->bytes_count = 0;
    while (next_word(&list, &word, &length)) {
        uint64_t elements;

        if (sg_text_number(word, word + length, true, &elements) != word + length || elements < 1 ||
            elements > BYTES_MAX / ELEMENT_BYTES)
            return sg_bench_fault("--elements wants numbers from 1 to %llu, not '%s'",
                                  (unsigned long long)(BYTES_MAX / ELEMENT_BYTES),
                                  sg_text_excerpt(word, length, excerpt, sizeof excerpt));
        if (options->bytes_count == SG_BENCH_SIZES_MAX)
            return sg_bench_fault("--elements takes %d numbers at most", SG_BENCH_SIZES_MAX);
        options->bytes[options->bytes_count++] = elements * ELEMENT_BYTES;
    }
    return 0;
}

static bool has_algorithm(const struct sg_bench_options *options, int algorithm)
{
    for (int i = 0; i < options->algorithm_count; i++) {
        if (options->algorithms[i] == algorithm)
            return true;
    }
    return false;
}

error_t sg_bench_set_algorithms(const char *list, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *word;
    size_t length;

    options->algorithm_count = 0;
    while (next_word(&list, &word, &length)) {
        int algorithm = sg_bench_algorithm_find(word, length);

        sg_text_excerpt(word, length, excerpt, sizeof excerpt);
        if (algorithm == SG_BENCH_NO_ALGORITHM)
            return sg_bench_fault("--algorithms wants some of %s, not '%s'",
                                  sg_bench_algorithm_list(), excerpt);
        if (has_algorithm(options, algorithm))
            return sg_bench_fault("--algorithms names '%s' twice", excerpt);
        options->algorithms[options->algorithm_count++] = algorithm;
    }
    return 0;
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

error_t sg_bench_set_skews(const char *option, const char *list, struct sg_bench_options *options)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *word;
    size_t length;

    options->skew_count = 0;
    while (next_word(&list, &word, &length)) {
        char text[NUMBER_BYTES];
        double skew_us;

        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text),
                 word);
        if (length >= sizeof text || !read_number(text, SKEW_US_MAX, &skew_us))
            return sg_bench_fault("%s wants microseconds up to %.0f, not '%s'", option, SKEW_US_MAX,
                                  sg_text_excerpt(word, length, excerpt, sizeof excerpt));
        if (options->skew_count == SG_BENCH_SIZES_MAX)
            return sg_bench_fault("%s takes %d numbers at most", option, SG_BENCH_SIZES_MAX);
        options->skews_us[options->skew_count++] = skew_us;
    }
    return 0;
}

error_t sg_bench_set_count(const char *text, uint64_t *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < 1 || value > ITERATIONS_MAX)
        return sg_bench_fault("--iterations wants a number from 1 up to %llu, not '%s'",
                              (unsigned long long)ITERATIONS_MAX, sg_bench_shown(text, excerpt));
    *out = value;
    return 0;
}

error_t sg_bench_set_rank(const char *option, const char *text, int ranks, int *out)
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

error_t sg_bench_set_seconds(const char *text, double *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    double value;

    if (!read_number(text, ROW_S_MAX, &value) || value == 0)
        return sg_bench_fault("--time wants seconds above 0 and up to %d, not '%s'", ROW_S_MAX,
                              sg_bench_shown(text, excerpt));
    *out = value;
    return 0;
}
