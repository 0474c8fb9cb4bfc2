#include "bench/bench_options.h"

#include "bench/limits.h"
#include "core/text.h"
#include "rule/rule.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- readers of option values
 *
 * These types of values are not in options/options.h. The readers parse into a struct
 * sg_bench_options, and return an empty text if they have logged the error themselves. Lists are
 * separated by commas; an empty word is an error.
 */

sg_option_reader sg_bench_read_operations, sg_bench_read_algorithms;

sg_option_reader sg_bench_read_bytes, sg_bench_read_elements, sg_bench_read_tests;

sg_option_reader sg_bench_read_rank; /* into an int */

sg_option_reader sg_bench_read_processes;

sg_option_reader sg_bench_read_arrival, sg_bench_read_vs, sg_bench_read_plot;

#define WORD_PMPI "pmpi"
#define ELEMENT_BYTES sizeof(double)
#define ELEMENTS_MAX 134217728 /* 1 GiB */
#define DIGITS_OF(number) #number
#define DIGITS(number) DIGITS_OF(number)

/* ---- lists */

static const char *twice(char *fault, const char *word, size_t length)
{
    char excerpt[SG_EXCERPT_BYTES];

    return sg_option_fault(fault, "names '%s' twice",
                           sg_text_excerpt(word, length, excerpt, sizeof excerpt));
}

static const char *take_operation(const struct sg_option *option, const char *word, size_t length,
                                  void *into, char *fault)
{
    struct sg_bench_options *options = into;
    int operation = sg_bench_collective_find(word, length);

    if (operation < 0)
        return sg_option_wants(fault, "some of " SG_BENCH_COLLECTIVES_LIST, word, length);
    for (int i = 0; i < options->operation_count; i++) {
        if (options->operations[i] == operation)
            return twice(fault, word, length);
    }
    options->operations[options->operation_count++] = operation;
    return NULL;
}

const char *sg_bench_read_operations(const struct sg_option *option, const char *text, void *into,
                                     char *fault)
{
    ((struct sg_bench_options *)into)->operation_count = 0;
    return sg_option_each(option, text, take_operation, into, fault);
}

static const char *take_algorithm(const struct sg_option *option, const char *word, size_t length,
                                  void *into, char *fault)
{
    struct sg_bench_options *options = into;
    int algorithm = sg_bench_algorithm_find(word, length);
    char wants[256];

    if (algorithm == SG_BENCH_NO_ALGORITHM) {
        snprintf(wants, sizeof wants, "some of %s", sg_bench_algorithm_list());
        return sg_option_wants(fault, wants, word, length);
    }
    for (int i = 0; i < options->algorithm_count; i++) {
        if (options->algorithms[i] == algorithm)
            return twice(fault, word, length);
    }
    options->algorithms[options->algorithm_count++] = algorithm;
    return NULL;
}

const char *sg_bench_read_algorithms(const struct sg_option *option, const char *text, void *into,
                                     char *fault)
{
    ((struct sg_bench_options *)into)->algorithm_count = 0;
    return sg_option_each(option, text, take_algorithm, into, fault);
}

/* A list of multiples of a unit. */
struct sizes {
    struct sg_bench_sizes *sizes;
    uint64_t unit_bytes, of_bytes, least, most; /* all sizes must be multiples of of_bytes */
    const char *wants;
};

static const char *take_size(const struct sg_option *option, const char *word, size_t length,
                             void *into, char *fault)
{
    const struct sizes *own = into;
    uint64_t number;

    if (length == 0 || sg_text_number(word, word + length, true, &number) != word + length ||
        number < own->least || number > own->most || number * own->unit_bytes % own->of_bytes != 0)
        return sg_option_wants(fault, own->wants, word, length);
    if (own->sizes->count == SG_OPTION_LIST_MAX)
        return sg_option_fault(fault, "takes %d numbers at most", SG_OPTION_LIST_MAX);
    own->sizes->list[own->sizes->count++] = number * own->unit_bytes;
    return NULL;
}

static const char *read_sizes(const char *text, struct sizes own, char *fault)
{
    own.sizes->count = 0;
    return sg_option_each(NULL, text, take_size, &own, fault);
}

const char *sg_bench_read_bytes(const struct sg_option *option, const char *text, void *into,
                                char *fault)
{
    struct sg_bench_options *options = into;

    return read_sizes(text,
                      (struct sizes){&options->bytes, 1, ELEMENT_BYTES, 1,
                                     ELEMENTS_MAX * ELEMENT_BYTES, "multiples of 8 from 8 to 1g"},
                      fault);
}

const char *sg_bench_read_elements(const struct sg_option *option, const char *text, void *into,
                                   char *fault)
{
    struct sg_bench_options *options = into;

    return read_sizes(text,
                      (struct sizes){&options->bytes, ELEMENT_BYTES, ELEMENT_BYTES, 1, ELEMENTS_MAX,
                                     "numbers from 1 to " DIGITS(ELEMENTS_MAX)},
                      fault);
}

const char *sg_bench_read_tests(const struct sg_option *option, const char *text, void *into,
                                char *fault)
{
    struct sg_bench_options *options = into;

    return read_sizes(
        text, (struct sizes){&options->test_bytes, 1, 1, 0, UINT64_MAX, "numbers of bytes"}, fault);
}

/* ---- numbers of processes */

#define WORD_POWERS "powers"

static const char *add_processes(struct sg_bench_options *options, uint64_t number, char *fault)
{
    struct sg_bench_sizes *processes = &options->processes;

    for (int i = 0; i < processes->count; i++) {
        if (processes->list[i] == number)
            return NULL;
    }
    if (processes->count == SG_OPTION_LIST_MAX)
        return sg_option_fault(fault, "takes %d numbers at most", SG_OPTION_LIST_MAX);
    processes->list[processes->count++] = number;
    return NULL;
}

/* Adds first to last: each is factor times the one before, or with factor 0 one more. */
static const char *add_range(struct sg_bench_options *options, uint64_t first, uint64_t last,
                             uint64_t factor, char *fault)
{
    const char *wrong = NULL;

    for (uint64_t number = first; number <= last && wrong == NULL;
         number = factor > 0 ? number * factor : number + 1)
        wrong = add_processes(options, number, fault);
    return wrong;
}

/* Reads N, A-B, A-B*F, or "powers". */
static const char *take_processes(const struct sg_option *option, const char *word, size_t length,
                                  void *into, char *fault)
{
    struct sg_bench_options *options = into;
    uint64_t ranks = (uint64_t)options->ranks, first, last, factor = 0;
    const char *end = word + length, *at;
    char wants[160];
    const char *wrong;

    if (length == strlen(WORD_POWERS) && memcmp(word, WORD_POWERS, length) == 0) {
        wrong = add_range(options, 2, ranks, 2, fault);
        return wrong != NULL ? wrong : add_processes(options, ranks, fault);
    }
    at = sg_text_number(word, end, false, &first);
    last = first;
    if (at != NULL && at < end && *at == '-')
        at = sg_text_number(at + 1, end, false, &last);
    if (at != NULL && at < end && *at == '*' && last > first) {
        at = sg_text_number(at + 1, end, false, &factor);
        at = factor > 1 ? at : NULL;
    }
    if (at == end && length > 0 && first >= 1 && first <= last && last <= ranks)
        return add_range(options, first, last, factor, fault);
    snprintf(wants, sizeof wants,
             "numbers of ranks from 1 to %d, ranges such as 2-8 or 2-8*2, or " WORD_POWERS,
             options->ranks);
    return sg_option_wants(fault, wants, word, length);
}

const char *sg_bench_read_processes(const struct sg_option *option, const char *text, void *into,
                                    char *fault)
{
    ((struct sg_bench_options *)into)->processes.count = 0;
    return sg_option_each(option, text, take_processes, into, fault);
}

/* ---- other values */

/* Reads a rank, or a number of ranks. */
static const char *read_ranks(const char *text, int least, int most, const char *wants, int *out,
                              char *fault)
{
    const char *end = text + strlen(text);
    char range[80];
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < (uint64_t)least ||
        value > (uint64_t)most) {
        snprintf(range, sizeof range, "%s from %d to %d", wants, least, most);
        return sg_option_wants(fault, range, text, strlen(text));
    }
    *out = (int)value;
    return NULL;
}

const char *sg_bench_read_rank(const struct sg_option *option, const char *text, void *into,
                               char *fault)
{
    const struct sg_bench_options *options = into;

    return read_ranks(text, 0, options->ranks - 1, "a rank", sg_option_place(option, into), fault);
}

const char *sg_bench_read_arrival(const struct sg_option *option, const char *text, void *into,
                                  char *fault)
{
    struct sg_bench_options *options = into;
    size_t length = strcspn(text, ":");
    int found = sg_option_find_word(sg_bench_arrival_names, text, length);
    const char *argument = text + length + 1;

    if (found < 0 ||
        (found == SG_BENCH_SOME_LATE || found == SG_BENCH_REPLAY) != (text[length] == ':'))
        return sg_option_wants(fault,
                               "none, one, some:K, uniform, exponential, linear or trace:FILE",
                               text, strlen(text));
    options->arrival = (enum sg_bench_arrival)found;
    if (found == SG_BENCH_SOME_LATE)
        return read_ranks(argument, 1, options->ranks,
                          "a number of ranks after some:", &options->late_count, fault);
    if (found != SG_BENCH_REPLAY)
        return NULL;
    if (*argument == '\0' || strlen(argument) >= sizeof options->arrivals)
        return "wants a file after trace:, as `stagger arrivals` writes it";
    strcpy(options->arrivals, argument);
    return NULL;
}

const char *sg_bench_read_vs(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    struct sg_bench_options *options = into;
    char wants[256];

    if (strchr(text, '=') != NULL) {
        options->vs = SG_BENCH_GIVEN;
        return sg_bench_given_check("bench: --vs", text) ? NULL : "";
    }
    options->vs = strcmp(text, WORD_PMPI) == 0 ? SG_ALGORITHM_MPICH
                                               : sg_bench_algorithm_find(text, strlen(text));
    if (options->vs != SG_BENCH_NO_ALGORITHM)
        return NULL;
    snprintf(wants, sizeof wants, WORD_PMPI ", one of %s, or rules as text",
             sg_bench_algorithm_list());
    return sg_option_wants(fault, wants, text, strlen(text));
}

const char *sg_bench_read_plot(const struct sg_option *option, const char *text, void *into,
                               char *fault)
{
    struct sg_bench_options *options = into;
    size_t length = strlen(text);

    if (length < 5 || length >= sizeof options->plot || strcmp(text + length - 4, ".svg") != 0)
        return "wants a file whose name ends in .svg";
    strcpy(options->plot, text);
    return NULL;
}

/* ---- the table of options */

#define DEFAULT_ROW_S 2
#define DEFAULT_SKEW_US 1000
#define DEFAULT_QUANTUM_US 1000
#define ROW_S_MAX 3600
#define SKEW_US_MAX 1000000
#define ITERATIONS_MAX UINT64_C(1000000000)
#define TEST_BYTES "0,64k,4k"

#define COMMANDS "latency, cpu, delay, overlap, clock, noise, account"

const char *const sg_bench_command_names[SG_BENCH_COMMANDS + 1] = {
    [SG_BENCH_LATENCY] = "latency", [SG_BENCH_CPU] = "cpu",     [SG_BENCH_DELAY] = "delay",
    [SG_BENCH_OVERLAP] = "overlap", [SG_BENCH_CLOCK] = "clock", [SG_BENCH_NOISE] = "noise",
    [SG_BENCH_ACCOUNT] = "account"};

static const char documentation[] =
    "Measures MPI_Barrier, MPI_Allreduce and MPI_Reduce against PMPI_Barrier and so on, "
    "alternately in one run. With libstagger.so preloaded, the former are stagger's and the latter "
    "MPICH's; without it, both are MPICH's.\n\n"
    "latency: the time of a call. cpu: its processor time if ranks arrive at random times. "
    "delay: the time from the last rank's entry to the last exit. overlap: how much of a "
    "nonblocking call is hidden behind computation. clock: the precision of the ranks' clocks. "
    "noise: the interference of the machine itself. account: the parts of a small call's time.\v"
    "Exit status: 0; 1 if a result is wrong or the run fails; 2 on bad usage.";

/* Masks of the commands that take an option. */
#define LATENCY (1u << SG_BENCH_LATENCY)
#define CPU (1u << SG_BENCH_CPU)
#define DELAY (1u << SG_BENCH_DELAY)
#define OVERLAP (1u << SG_BENCH_OVERLAP)
#define CLOCK (1u << SG_BENCH_CLOCK)
#define NOISE (1u << SG_BENCH_NOISE)
#define ACCOUNT (1u << SG_BENCH_ACCOUNT)
#define OF_CALLS (LATENCY | CPU | DELAY | OVERLAP)
#define SAMPLED (OF_CALLS | CLOCK | NOISE)
#define ALL (SAMPLED | ACCOUNT)

/* Shorthands for rows of the table. */
#define AT(member) offsetof(struct sg_bench_options, member)
#define SAYS(text, mask) .says = text, .commands = mask

static const struct sg_option options_known[] = {
    {"ops", 'o', "LIST", .read = sg_bench_read_operations,
     SAYS("some of " SG_BENCH_COLLECTIVES_LIST " (default: the first four; reduce for cpu, and for "
          "latency with --skew-us; barrier, allreduce for delay and overlap)",
          OF_CALLS)},
    {"scheme", 0, "NAME", .read = sg_option_word, .at = AT(scheme), .words = sg_bench_scheme_names,
     SAYS("latency, delay, overlap: window, barrier, dissemination; latency: loop (default: "
          "window)",
          LATENCY | DELAY | OVERLAP)},
    {"reduce", 0, "WAY", .read = sg_option_word, .at = AT(reduction),
     .words = sg_bench_reduction_names,
     SAYS("latency, overlap: how to combine the ranks' times: root, max, span, mean, min, median "
          "(default: max)",
          LATENCY | OVERLAP)},
    {"arrival", 0, "PATTERN", .read = sg_bench_read_arrival,
     SAYS("none, one, some:K, uniform, exponential, linear, trace:FILE (default: none; cpu: "
          "uniform; delay: one)",
          OF_CALLS)},
    {"busy", .read = sg_option_flag, .at = AT(busy),
     SAYS("cpu: late ranks work instead of sleeping", CPU)},
    {"vs", 0, "WHAT", .read = sg_bench_read_vs,
     SAYS("latency: the other side of the comparison: pmpi, rules (those in force), an algorithm, "
          "or rules as text (default: pmpi)",
          LATENCY)},
    {"seed", 0, "N", .read = sg_option_u64, .at = AT(seed), .most = UINT64_MAX,
     SAYS("seed of arrivals and of the order of calls (default: 1)", OF_CALLS)},
    {"test-bytes", 0, "LIST", .read = sg_bench_read_tests, .at = AT(test_bytes),
     SAYS("overlap: bytes per test; 0: no tests (default: " TEST_BYTES ")", OVERLAP)},
    {"each", .read = sg_option_flag, .at = AT(each),
     SAYS("clock: treat each rank as a machine of its own", CLOCK)},
    {"quantum-us", 0, "US", .read = sg_option_real, .at = AT(quantum_us), .least = 1,
     .most = SKEW_US_MAX, SAYS("noise: length of a quantum of work (default: 1000)", NOISE)},
    {"bytes", 'b', "LIST", .read = sg_bench_read_bytes, .at = AT(bytes),
     SAYS("latency, overlap: sizes of the operand, multiples of 8; k, m, g (default: 8; overlap: "
          "64k)",
          LATENCY | OVERLAP)},
    {"elements", 0, "LIST", .read = sg_bench_read_elements, .at = AT(bytes),
     SAYS("cpu, delay: doubles in the operand (default: 4,32,128; delay: 128)", CPU | DELAY)},
    {"algorithms", 0, "LIST", .read = sg_bench_read_algorithms,
     SAYS("rules (those in force), or algorithms between nodes (default: rules; delay: rules,tree "
          "and the algorithms that do not know the late rank)",
          OF_CALLS)},
    {"processes", 'p', "LIST", .read = sg_bench_read_processes,
     SAYS("number of ranks that measure while the others sleep: numbers, ranges (2-8, 2-16*2), or "
          "powers (default: all)",
          OF_CALLS)},
    {"cold", .read = sg_option_flag, .at = AT(cold),
     SAYS("evict operands and libraries from the caches before each call (not with --scheme loop)",
          OF_CALLS)},
    {"iterations", 'i', "N", .read = sg_option_u64, .at = AT(iterations), .least = 1,
     .most = ITERATIONS_MAX,
     SAYS("calls in a block; cpu, delay: rounds (default: as many as the time allows)", OF_CALLS)},
    {"time", 't', "SECONDS", .read = sg_option_real, .at = AT(row_s), .most = ROW_S_MAX,
     SAYS("approximate time per row (default: 2)", ALL)},
    {"root", 'r', "RANK", .read = sg_bench_read_rank, .at = AT(root),
     SAYS("latency, cpu: root of the reductions (default: 0)", LATENCY | CPU | OVERLAP)},
    {"skew-us", 0, "US", .read = sg_option_reals, .at = AT(skews_us), .most = SKEW_US_MAX,
     SAYS("a list: lateness of the ranks in the pattern (default: 1000); latency without "
          "--arrival: measure processor time in the call while one rank is this late",
          LATENCY | CPU | OVERLAP)},
    {"late", 0, "RANK", .read = sg_bench_read_rank, .at = AT(late_rank),
     SAYS("latency, delay: the late rank (default: the last)", OF_CALLS)},
    {"late-us", 0, "LIST", .read = sg_option_reals, .at = AT(skews_us), .most = SKEW_US_MAX,
     SAYS("delay: lateness of the late rank (default: 1000)", DELAY)},
    {"json", 'j', .read = sg_option_least, .at = AT(format), .least = SG_BENCH_JSON,
     SAYS("print JSON (share/doc/stagger/bench-json.md)", ALL)},
    {"csv", .read = sg_option_least, .at = AT(format), .least = SG_BENCH_CSV,
     SAYS("print CSV", ALL)},
    {"samples", .read = sg_option_flag, .at = AT(samples),
     SAYS("keep every sample, in JSON", SAMPLED)},
    {"plot", 0, "FILE.svg", .read = sg_bench_read_plot, SAYS("draw a figure (gnuplot)", SAMPLED)},
    {"version", 'V', .read = sg_option_flag, .at = AT(version), SAYS("print the version", ALL),
     .group = -1},
    {0}};

/* The command line, as far as the checks need it. */
struct reading {
    struct sg_bench_options options;
    struct sg_command_line line;
};

/* Logs one line. Returns false. */
static bool fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool fault(const char *format, ...)
{
    char text[SG_OPTION_FAULT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("bench: %s", text);
    return false;
}

static bool was_given(const struct reading *reading, const char *name)
{
    return sg_options_given(&reading->line, name);
}

static bool read_command(struct reading *reading)
{
    const char *word = sg_options_argument(&reading->line);
    char excerpt[SG_EXCERPT_BYTES];
    int command;

    if (word == NULL)
        return fault("a command is missing; there are: " COMMANDS);
    command = sg_option_find_word(sg_bench_command_names, word, strlen(word));
    if (command < 0)
        return fault("'%s' is not a command; there are: " COMMANDS,
                     sg_text_excerpt(word, strlen(word), excerpt, sizeof excerpt));
    reading->options.command = (enum sg_bench_command)command;
    for (int place = 0; options_known[place].name != NULL; place++) {
        if ((reading->line.given[0] >> place & 1) != 0 &&
            (options_known[place].commands & 1u << command) == 0)
            return fault("--%s is not an option of %s", options_known[place].name,
                         sg_bench_command_names[command]);
    }
    return true;
}

/* ---- after the last option: checks and defaults ---- */

static void add_operation(struct sg_bench_options *options, int operation)
{
    options->operations[options->operation_count++] = operation;
}

static void complete_operations(struct sg_bench_options *options)
{
    if (options->operation_count > 0)
        return;
    if (options->command == SG_BENCH_CPU || options->late) {
        add_operation(options, SG_OPERATION_REDUCE);
        return;
    }
    add_operation(options, SG_OPERATION_BARRIER);
    add_operation(options, SG_OPERATION_ALLREDUCE);
    if (options->command == SG_BENCH_LATENCY) {
        add_operation(options, SG_OPERATION_REDUCE);
        add_operation(options, SG_OPERATION_BCAST);
    }
}

static void complete_sizes(struct sg_bench_options *options)
{
    static const char *const elements[SG_BENCH_COMMANDS] = {
        [SG_BENCH_LATENCY] = "1",    [SG_BENCH_CPU] = "4,32,128", [SG_BENCH_DELAY] = "128",
        [SG_BENCH_OVERLAP] = "8192", [SG_BENCH_CLOCK] = "1",      [SG_BENCH_NOISE] = "1",
        [SG_BENCH_ACCOUNT] = "1"};
    char room[SG_OPTION_FAULT_BYTES];

    if (options->bytes.count == 0)
        sg_bench_read_elements(NULL, elements[options->command], options, room);
    if (options->skews_us.count == 0)
        options->skews_us.list[options->skews_us.count++] =
            options->arrival == SG_BENCH_TOGETHER ? 0 : DEFAULT_SKEW_US;
    if (options->test_bytes.count == 0)
        sg_bench_read_tests(NULL, TEST_BYTES, options, room);
}

/* Rejects an algorithm that suits none of the operations: it would be left out silently. */
static bool check_algorithms(const struct sg_bench_options *options)
{
    for (int i = 0; i < options->algorithm_count; i++) {
        bool taken = false;

        for (int j = 0; j < options->operation_count; j++)
            taken =
                taken || sg_bench_algorithm_takes(options->algorithms[i], options->operations[j]);
        if (!taken)
            return fault("--algorithms: %s runs none of these operations",
                         sg_bench_algorithm_name(options->algorithms[i]));
    }
    return true;
}

static bool check_latency(const struct reading *reading)
{
    const struct sg_bench_options *options = &reading->options;

    if (options->scheme == SG_BENCH_LOOP &&
        (options->arrival != SG_BENCH_TOGETHER || was_given(reading, "algorithms") ||
         was_given(reading, "vs") || options->reduction == SG_BENCH_REDUCE_SPAN))
        return fault(
            "--scheme loop cannot be combined with --arrival, --algorithms, --vs or --reduce span");
    if (options->late && (options->skews_us.count != 1 || options->skews_us.list[0] == 0))
        return fault("--skew-us wants one number above 0");
    return true;
}

/* Ranks named in options must be among those that measure. */
static bool check_processes(const struct reading *reading)
{
    const struct sg_bench_options *options = &reading->options;
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < options->processes.count; i++)
        least = options->processes.list[i] < least ? options->processes.list[i] : least;
    if (least == UINT64_MAX)
        return true;
    if (options->arrival == SG_BENCH_REPLAY)
        return fault("--processes cannot be combined with --arrival trace: the file has arrivals "
                     "of all ranks");
    if ((uint64_t)options->root >= least)
        return fault("--root %d is not among the ranks of --processes %d", options->root,
                     (int)least);
    if (was_given(reading, "late") && (uint64_t)options->late_rank >= least)
        return fault("--late %d is not among the ranks of --processes %d", options->late_rank,
                     (int)least);
    if (options->arrival == SG_BENCH_SOME_LATE && (uint64_t)options->late_count > least)
        return fault("--arrival some:%d has more ranks than --processes %d", options->late_count,
                     (int)least);
    return true;
}

static bool check_delay(const struct sg_bench_options *options)
{
    for (int i = 0; i < options->operation_count; i++) {
        const struct sg_bench_collective *collective =
            &sg_bench_collectives[options->operations[i]];

        if (!collective->synchronises)
            return fault("delay measures only operations in which all ranks wait: not %s",
                         collective->name);
    }
    return true;
}

static int most_processes(const struct sg_bench_options *options)
{
    uint64_t most = 0;

    for (int i = 0; i < options->processes.count; i++)
        most = options->processes.list[i] > most ? options->processes.list[i] : most;
    return most > 0 ? (int)most : options->ranks;
}

static bool complete(struct reading *reading)
{
    struct sg_bench_options *options = &reading->options;

    if (!read_command(reading))
        return false;
    if (options->arrival == SG_BENCH_ARRIVALS)
        options->arrival = options->command == SG_BENCH_CPU     ? SG_BENCH_UNIFORM
                           : options->command == SG_BENCH_DELAY ? SG_BENCH_ONE_LATE
                                                                : SG_BENCH_TOGETHER;
    options->late = options->command == SG_BENCH_LATENCY && was_given(reading, "skew-us") &&
                    !was_given(reading, "arrival");
    if (was_given(reading, "late") && !options->late && options->arrival != SG_BENCH_ONE_LATE)
        return fault("--late needs --skew-us, or --arrival one");
    if (was_given(reading, "samples") && options->format != SG_BENCH_JSON)
        return fault("--samples needs --json");
    options->late_is_last = !was_given(reading, "late");
    if (options->late_is_last)
        options->late_rank = most_processes(options) - 1;
    if (options->cold && (options->late || options->scheme == SG_BENCH_LOOP))
        return fault("--cold measures single calls: it cannot be combined with --scheme loop, nor "
                     "with latency --skew-us without --arrival");
    if (!check_processes(reading))
        return false;
    complete_operations(options);
    complete_sizes(options);
    return (options->command != SG_BENCH_LATENCY || check_latency(reading)) &&
           (options->command != SG_BENCH_DELAY || check_delay(options)) &&
           check_algorithms(options);
}

enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out)
{
    struct reading reading = {.options = {.ranks = ranks,
                                          .row_s = DEFAULT_ROW_S,
                                          .reduction = SG_BENCH_REDUCE_MAX,
                                          .arrival = SG_BENCH_ARRIVALS,
                                          .vs = SG_ALGORITHM_MPICH,
                                          .seed = 1,
                                          .quantum_us = DEFAULT_QUANTUM_US},
                              .line = {.name = "stagger-bench",
                                       .arguments = "latency|cpu|delay|overlap|clock|noise|account",
                                       .documentation = documentation,
                                       .tables = {{options_known, &reading.options}},
                                       .most = 1}};

    switch (sg_options_parse(&reading.line, argc, argv)) {
    case SG_OPTIONS_HELP:
        return SG_BENCH_DONE;
    case SG_OPTIONS_BAD:
        return SG_BENCH_BAD;
    case SG_OPTIONS_READ:
        break;
    }
    if (reading.options.version) {
        puts("stagger-bench " SG_VERSION);
        return SG_BENCH_DONE;
    }
    if (!complete(&reading))
        return SG_BENCH_BAD;
    *out = reading.options;
    return SG_BENCH_RUN;
}
