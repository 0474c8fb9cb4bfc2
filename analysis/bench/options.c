#include "bench/options.h"

#include "core/status.h"
#include "core/text.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BYTES 8
#define DEFAULT_ROW_S 2
#define ROW_S_MAX 3600
#define SKEW_US_MAX 1e6
#define BYTES_MAX (UINT64_C(1) << 30)
#define ITERATIONS_MAX UINT64_C(1000000000)

enum { KEY_LATE = 256, KEY_SKEW };

struct reading {
    struct sg_bench_options options;
    enum sg_bench_verdict verdict;
    int ranks;
    bool command_seen, late_seen;
};

static const char documentation[] =
    "Times MPI_Barrier, MPI_Allreduce and MPI_Reduce against PMPI_Barrier and so on, in "
    "alternating "
    "blocks of one run. With libstagger.so preloaded the former are stagger's and the latter "
    "MPICH's; without, both are MPICH's.\v"
    "Exit status: 0; 1 where a result is wrong or the run fails; 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"ops", 'o', "LIST", 0, "of barrier, allreduce, reduce (default: all; with --skew-us: reduce)",
     0},
    {"bytes", 'b', "LIST", 0, "sizes of the operand, multiples of 8; k, m, g (default: 8)", 0},
    {"iterations", 'i', "N", 0, "calls in a block (default: as many as the time allows)", 0},
    {"time", 't', "SECONDS", 0, "measure each row for about so long (default: 2)", 0},
    {"root", 'r', "RANK", 0, "root of the reductions (default: 0)", 0},
    {"skew-us", KEY_SKEW, "US", 0, "processor time in the call while one rank is late by so long",
     0},
    {"late", KEY_LATE, "RANK", 0, "the rank that is late (default: the last)", 0},
    {"json", 'j', NULL, 0, "print JSON (docs/bench-json.md)", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {"version", 'V', NULL, 0, "print the version", -1},
    {0},
};

/* argp would leave the process, with the other ranks still in it: so it is kept from that, and the
 * parser stops by itself. */
static error_t bad(struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static error_t bad(struct reading *reading, const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("bench: %s", text);
    reading->verdict = SG_BENCH_BAD;
    return EINVAL;
}

static const char *shown(const char *text, char excerpt[SG_EXCERPT_BYTES])
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

static error_t set_operations(struct reading *reading, const char *list)
{
    struct sg_bench_options *options = &reading->options;
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
            return bad(reading, "--ops wants some of barrier, allreduce, reduce, not '%s'",
                       excerpt);
        if (has_operation(options, operation))
            return bad(reading, "--ops names '%s' twice", excerpt);
        options->operations[options->operation_count++] = (enum sg_operation)operation;
    }
    return 0;
}

static error_t set_bytes(struct reading *reading, const char *list)
{
    struct sg_bench_options *options = &reading->options;
    char excerpt[SG_EXCERPT_BYTES];
    const char *word;
    size_t length;

    options->bytes_count = 0;
    while (next_word(&list, &word, &length)) {
        uint64_t bytes;

        if (sg_text_number(word, word + length, true, &bytes) != word + length || bytes < 8 ||
            bytes % 8 != 0 || bytes > BYTES_MAX)
            return bad(reading, "--bytes wants multiples of 8 from 8 to 1g, not '%s'",
                       sg_text_excerpt(word, length, excerpt, sizeof excerpt));
        if (options->bytes_count == SG_BENCH_SIZES_MAX)
            return bad(reading, "--bytes takes %d sizes at most", SG_BENCH_SIZES_MAX);
        options->bytes[options->bytes_count++] = bytes;
    }
    return 0;
}

static error_t set_count(struct reading *reading, const char *text)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < 1 || value > ITERATIONS_MAX)
        return bad(reading, "--iterations wants a number from 1 up to %llu, not '%s'",
                   (unsigned long long)ITERATIONS_MAX, shown(text, excerpt));
    reading->options.iterations = value;
    return 0;
}

static error_t set_rank(struct reading *reading, const char *option, const char *text, int *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value >= (uint64_t)reading->ranks)
        return bad(reading, "%s wants a rank, of 0 to %d, not '%s'", option, reading->ranks - 1,
                   shown(text, excerpt));
    *out = (int)value;
    return 0;
}

/* A number above 0. */
static error_t set_amount(struct reading *reading, const char *option, const char *unit,
                          const char *text, double most, double *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    char *end;
    double value = strtod(text, &end);

    /* Written so that a NaN fails, too. */
    if (end == text || *end != '\0' || !(value > 0 && value <= most))
        return bad(reading, "%s wants %s above 0 and up to %.0f, not '%s'", option, unit, most,
                   shown(text, excerpt));
    *out = value;
    return 0;
}

static error_t set_word(struct reading *reading, const char *word)
{
    char excerpt[SG_EXCERPT_BYTES];

    if (reading->command_seen)
        return bad(reading, "one command at a time: '%s' is one too many", shown(word, excerpt));
    if (strcmp(word, "latency") != 0)
        return bad(reading, "'%s' is not a command; there is: latency", shown(word, excerpt));
    reading->command_seen = true;
    return 0;
}

/* At the end of the line: what is missing, and defaults. */
static error_t complete(struct reading *reading)
{
    struct sg_bench_options *options = &reading->options;

    if (!reading->command_seen)
        return bad(reading, "a command is missing; there is: latency");
    if (reading->late_seen && !options->late)
        return bad(reading, "--late needs --skew-us");
    if (!reading->late_seen)
        options->late_rank = reading->ranks - 1;
    if (options->operation_count == 0 && options->late) {
        options->operations[options->operation_count++] = SG_OPERATION_REDUCE;
    } else if (options->operation_count == 0) {
        options->operations[options->operation_count++] = SG_OPERATION_BARRIER;
        options->operations[options->operation_count++] = SG_OPERATION_ALLREDUCE;
        options->operations[options->operation_count++] = SG_OPERATION_REDUCE;
    }
    if (options->bytes_count == 0)
        options->bytes[options->bytes_count++] = DEFAULT_BYTES;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct reading *reading = state->input;
    struct sg_bench_options *options = &reading->options;

    switch (key) {
    case 'o':
        return set_operations(reading, argument);
    case 'b':
        return set_bytes(reading, argument);
    case 'i':
        return set_count(reading, argument);
    case 't':
        return set_amount(reading, "--time", "seconds", argument, ROW_S_MAX, &options->row_s);
    case 'r':
        return set_rank(reading, "--root", argument, &options->root);
    case 'j':
        options->json = true;
        return 0;
    case KEY_SKEW:
        options->late = true;
        return set_amount(reading, "--skew-us", "microseconds", argument, SKEW_US_MAX,
                          &options->skew_us);
    case KEY_LATE:
        reading->late_seen = true;
        return set_rank(reading, "--late", argument, &options->late_rank);
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        reading->verdict = SG_BENCH_DONE;
        return ECANCELED;
    case 'V':
        puts("stagger-bench " SG_VERSION);
        reading->verdict = SG_BENCH_DONE;
        return ECANCELED;
    case ARGP_KEY_ARG:
        return set_word(reading, argument);
    case ARGP_KEY_END:
        return complete(reading);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out)
{
    static const struct argp argp = {option_table, parse_option, "latency", documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger-bench";
    struct reading reading = {
        .options = {.row_s = DEFAULT_ROW_S}, .verdict = SG_BENCH_RUN, .ranks = ranks};

    argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &reading) != 0)
        return reading.verdict == SG_BENCH_DONE ? SG_BENCH_DONE : SG_BENCH_BAD;
    *out = reading.options;
    return SG_BENCH_RUN;
}
