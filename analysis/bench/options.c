#include "bench/options.h"

#include "bench/option_values.h"
#include "core/text.h"
#include "rule/algorithm.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_ROW_S 2
#define DEFAULT_SKEW_US 1000

#define DEFAULT_QUANTUM_US 1000

enum {
    KEY_LATE = 256,
    KEY_SKEW,
    KEY_ELEMENTS,
    KEY_ALGORITHMS,
    KEY_LATE_US,
    KEY_SCHEME,
    KEY_REDUCE,
    KEY_ARRIVAL,
    KEY_BUSY,
    KEY_VS,
    KEY_SEED,
    KEY_TESTS,
    KEY_EACH,
    KEY_QUANTUM,
    KEY_CSV,
    KEY_SAMPLES,
    KEY_PLOT
};

#define COMMANDS "latency, cpu, delay, overlap, clock, noise"

static const char *const command_names[SG_BENCH_COMMANDS] = {
    [SG_BENCH_LATENCY] = "latency", [SG_BENCH_CPU] = "cpu",     [SG_BENCH_DELAY] = "delay",
    [SG_BENCH_OVERLAP] = "overlap", [SG_BENCH_CLOCK] = "clock", [SG_BENCH_NOISE] = "noise"};

struct reading {
    struct sg_bench_options options;
    enum sg_bench_verdict verdict;
    int ranks;
    bool command_seen;
    bool seen[64]; /* by place in the table below */
};

static const char documentation[] =
    "Measures MPI_Barrier, MPI_Allreduce and MPI_Reduce against PMPI_Barrier and so on, in turns "
    "in "
    "one run. With libstagger.so preloaded the former are stagger's and the latter MPICH's; "
    "without, both are MPICH's.\n\n"
    "latency: the time of a call. cpu: its processor time when ranks come to it at random times. "
    "delay: the time from the last rank's entry to the last exit. overlap: how much of a "
    "nonblocking "
    "one is hidden behind computation. clock: how well the ranks' clocks are known. noise: what "
    "the "
    "machine itself does.\v"
    "Exit status: 0; 1 where a result is wrong or the run fails; 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"ops", 'o', "LIST", 0,
     "of barrier, allreduce, reduce (default: all; cpu, latency with --skew-us: reduce; delay: "
     "barrier, allreduce)",
     0},
    {"scheme", KEY_SCHEME, "NAME", 0,
     "latency, delay, overlap: window, barrier, dissemination; latency: loop (default: window)", 0},
    {"reduce", KEY_REDUCE, "WAY", 0,
     "latency, overlap: ranks' times to one: root, max, span, mean, min (default: max)", 0},
    {"arrival", KEY_ARRIVAL, "PATTERN", 0,
     "none, one, some:K, uniform, exponential, linear, trace:FILE (default: none; cpu: uniform; "
     "delay: one)",
     0},
    {"busy", KEY_BUSY, NULL, 0, "cpu: late ranks work instead of sleeping", 0},
    {"vs", KEY_VS, "WHAT", 0,
     "latency: what to compare with: pmpi, rules (those in force), an algorithm, or rules as text "
     "(default: pmpi)",
     0},
    {"seed", KEY_SEED, "N", 0, "of arrivals and of the order of calls (default: 1)", 0},
    {"test-bytes", KEY_TESTS, "LIST", 0,
     "overlap: test once for so many bytes; 0: never (default: 0,64k,4k)", 0},
    {"each", KEY_EACH, NULL, 0, "clock: every rank as if it had a machine of its own", 0},
    {"quantum-us", KEY_QUANTUM, "US", 0, "noise: of work (default: 1000)", 0},
    {"bytes", 'b', "LIST", 0,
     "latency, overlap: sizes of the operand, multiples of 8; k, m, g (default: 8)", 0},
    {"elements", KEY_ELEMENTS, "LIST", 0,
     "cpu, delay: doubles of the operand (default: 4,32,128; delay: 128)", 0},
    {"algorithms", KEY_ALGORITHMS, "LIST", 0,
     "rules (those in force), or algorithms between nodes (default: rules; delay: "
     "rules,tree and those that know no late rank)",
     0},
    {"iterations", 'i', "N", 0,
     "calls in a block; cpu, delay: rounds (default: as many as the time allows)", 0},
    {"time", 't', "SECONDS", 0, "measure each row for about so long (default: 2)", 0},
    {"root", 'r', "RANK", 0, "latency, cpu: root of the reductions (default: 0)", 0},
    {"skew-us", KEY_SKEW, "US", 0,
     "a list: how late ranks are, by the pattern (default: 1000); latency without --arrival: "
     "processor time in the call while one rank is late by so long",
     0},
    {"late", KEY_LATE, "RANK", 0, "latency, delay: the rank that is late (default: the last)", 0},
    {"late-us", KEY_LATE_US, "LIST", 0, "delay: how late it is (default: 1000)", 0},
    {"json", 'j', NULL, 0, "print JSON (docs/bench-json.md)", 0},
    {"csv", KEY_CSV, NULL, 0, "print CSV", 0},
    {"samples", KEY_SAMPLES, NULL, 0, "keep every sample, in JSON", 0},
    {"plot", KEY_PLOT, "FILE.svg", 0, "draw a figure (gnuplot)", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {"version", 'V', NULL, 0, "print the version", -1},
    {0},
};

#define OF_CALLS                                                                                   \
    (1u << SG_BENCH_LATENCY | 1u << SG_BENCH_CPU | 1u << SG_BENCH_DELAY | 1u << SG_BENCH_OVERLAP)

/* Options of some commands only, by bits 1u << enum sg_bench_command. */
static const struct {
    int key;
    unsigned commands;
} limited[] = {
    {'o', OF_CALLS},
    {'b', 1u << SG_BENCH_LATENCY | 1u << SG_BENCH_OVERLAP},
    {'r', 1u << SG_BENCH_LATENCY | 1u << SG_BENCH_CPU | 1u << SG_BENCH_OVERLAP},
    {'i', OF_CALLS},
    {KEY_ELEMENTS, 1u << SG_BENCH_CPU | 1u << SG_BENCH_DELAY},
    {KEY_ALGORITHMS, OF_CALLS},
    {KEY_SKEW, 1u << SG_BENCH_LATENCY | 1u << SG_BENCH_CPU | 1u << SG_BENCH_OVERLAP},
    {KEY_LATE, OF_CALLS},
    {KEY_LATE_US, 1u << SG_BENCH_DELAY},
    {KEY_SCHEME, 1u << SG_BENCH_LATENCY | 1u << SG_BENCH_DELAY | 1u << SG_BENCH_OVERLAP},
    {KEY_REDUCE, 1u << SG_BENCH_LATENCY | 1u << SG_BENCH_OVERLAP},
    {KEY_ARRIVAL, OF_CALLS},
    {KEY_BUSY, 1u << SG_BENCH_CPU},
    {KEY_VS, 1u << SG_BENCH_LATENCY},
    {KEY_SEED, OF_CALLS},
    {KEY_TESTS, 1u << SG_BENCH_OVERLAP},
    {KEY_EACH, 1u << SG_BENCH_CLOCK},
    {KEY_QUANTUM, 1u << SG_BENCH_NOISE},
};

const char *sg_bench_command_name(enum sg_bench_command command)
{
    return command_names[command];
}

static int place_of(int key)
{
    int place = 0;

    while (option_table[place].key != key)
        place++;
    return place;
}

static error_t set_word(struct reading *reading, const char *word)
{
    char excerpt[SG_EXCERPT_BYTES];
    int command = 0;

    if (reading->command_seen)
        return sg_bench_fault("one command at a time: '%s' is one too many",
                              sg_bench_shown(word, excerpt));
    while (command < SG_BENCH_COMMANDS && strcmp(word, command_names[command]) != 0)
        command++;
    if (command == SG_BENCH_COMMANDS)
        return sg_bench_fault("'%s' is not a command; there are: " COMMANDS,
                              sg_bench_shown(word, excerpt));
    reading->options.command = (enum sg_bench_command)command;
    reading->command_seen = true;
    return 0;
}

/* ---- at the end of the line: what is missing or does not go together, and defaults --------------
 */

static void add_operation(struct sg_bench_options *options, enum sg_operation operation)
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
    if (options->command == SG_BENCH_LATENCY)
        add_operation(options, SG_OPERATION_REDUCE);
}

static void complete_sizes(struct sg_bench_options *options)
{
    static const char *const elements[SG_BENCH_COMMANDS] = {
        [SG_BENCH_LATENCY] = "1",    [SG_BENCH_CPU] = "4,32,128", [SG_BENCH_DELAY] = "128",
        [SG_BENCH_OVERLAP] = "8192", [SG_BENCH_CLOCK] = "1",      [SG_BENCH_NOISE] = "1"};

    if (options->bytes_count == 0)
        sg_bench_set_elements(elements[options->command], options);
    if (options->skew_count == 0)
        options->skews_us[options->skew_count++] =
            options->arrival == SG_BENCH_TOGETHER ? 0 : DEFAULT_SKEW_US;
    if (options->test_count == 0)
        sg_bench_set_tests("0,64k,4k", options);
}

/* An algorithm asked for that no operation asked for has would be left out without a word. */
static error_t check_algorithms(const struct sg_bench_options *options)
{
    for (int i = 0; i < options->algorithm_count; i++) {
        bool taken = false;

        for (int j = 0; j < options->operation_count; j++)
            taken =
                taken || sg_bench_algorithm_takes(options->algorithms[i], options->operations[j]);
        if (!taken)
            return sg_bench_fault("--algorithms: %s is none of these operations",
                                  sg_bench_algorithm_name(options->algorithms[i]));
    }
    return 0;
}

static error_t check_latency(const struct reading *reading)
{
    const struct sg_bench_options *options = &reading->options;

    if (options->scheme == SG_BENCH_LOOP &&
        (options->arrival != SG_BENCH_TOGETHER || reading->seen[place_of(KEY_ALGORITHMS)] ||
         reading->seen[place_of(KEY_VS)] || reading->seen[place_of(KEY_REDUCE)]))
        return sg_bench_fault("--scheme loop knows no --arrival, --algorithms, --vs or --reduce");
    if (options->late && (options->skew_count != 1 || options->skews_us[0] == 0))
        return sg_bench_fault("--skew-us wants one number above 0");
    return 0;
}

static error_t check_delay(const struct sg_bench_options *options)
{
    for (int i = 0; i < options->operation_count; i++) {
        if (options->operations[i] == SG_OPERATION_REDUCE)
            return sg_bench_fault("delay is of barrier and allreduce: ranks need not wait in a "
                                  "reduce");
    }
    return 0;
}

static error_t complete(struct reading *reading)
{
    struct sg_bench_options *options = &reading->options;
    error_t error = 0;

    if (!reading->command_seen)
        return sg_bench_fault("a command is missing; there are: " COMMANDS);
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        int place = place_of(limited[i].key);

        if (reading->seen[place] && (limited[i].commands & 1u << options->command) == 0)
            return sg_bench_fault("--%s is no option of %s", option_table[place].name,
                                  command_names[options->command]);
    }
    if (options->arrival == SG_BENCH_ARRIVALS)
        options->arrival = options->command == SG_BENCH_CPU     ? SG_BENCH_UNIFORM
                           : options->command == SG_BENCH_DELAY ? SG_BENCH_ONE_LATE
                                                                : SG_BENCH_TOGETHER;
    options->late = options->command == SG_BENCH_LATENCY && reading->seen[place_of(KEY_SKEW)] &&
                    !reading->seen[place_of(KEY_ARRIVAL)];
    if (reading->seen[place_of(KEY_LATE)] && !options->late &&
        options->arrival != SG_BENCH_ONE_LATE)
        return sg_bench_fault("--late needs --skew-us, or --arrival one");
    if (reading->seen[place_of(KEY_SAMPLES)] && options->format != SG_BENCH_JSON)
        return sg_bench_fault("--samples needs --json");
    if (!reading->seen[place_of(KEY_LATE)])
        options->late_rank = reading->ranks - 1;
    complete_operations(options);
    complete_sizes(options);
    if (options->command == SG_BENCH_LATENCY)
        error = check_latency(reading);
    else if (options->command == SG_BENCH_DELAY)
        error = check_delay(options);
    return error != 0 ? error : check_algorithms(options);
}

/* ---- the parser --------------------------------------------------------------------------------
 */

static void set_flag(struct sg_bench_options *options, int key)
{
    options->busy |= key == KEY_BUSY;
    options->each |= key == KEY_EACH;
    options->samples |= key == KEY_SAMPLES;
    if (key == 'j' || key == KEY_CSV)
        options->format = key == 'j' ? SG_BENCH_JSON : SG_BENCH_CSV;
}

static error_t set_value(struct reading *reading, int key, const char *argument)
{
    struct sg_bench_options *options = &reading->options;

    reading->seen[place_of(key)] = true;
    switch (key) {
    case 'o':
        return sg_bench_set_operations(argument, options);
    case 'b':
        return sg_bench_set_bytes(argument, options);
    case KEY_ELEMENTS:
        return sg_bench_set_elements(argument, options);
    case KEY_ALGORITHMS:
        return sg_bench_set_algorithms(argument, options);
    case 'i':
        return sg_bench_set_count(argument, &options->iterations);
    case 't':
        return sg_bench_set_seconds(argument, &options->row_s);
    case 'r':
        return sg_bench_set_rank("--root", argument, reading->ranks, &options->root);
    case KEY_SKEW:
        return sg_bench_set_skews("--skew-us", argument, options);
    case KEY_LATE_US:
        return sg_bench_set_skews("--late-us", argument, options);
    case KEY_LATE:
        return sg_bench_set_rank("--late", argument, reading->ranks, &options->late_rank);
    case KEY_SCHEME:
        return sg_bench_set_scheme(argument, &options->scheme);
    case KEY_REDUCE:
        return sg_bench_set_reduction(argument, &options->reduction);
    case KEY_ARRIVAL:
        return sg_bench_set_arrival(argument, reading->ranks, options);
    case KEY_VS:
        return sg_bench_set_vs(argument, &options->vs);
    case KEY_SEED:
        return sg_bench_set_seed(argument, &options->seed);
    case KEY_TESTS:
        return sg_bench_set_tests(argument, options);
    case KEY_QUANTUM:
        return sg_bench_set_quantum(argument, &options->quantum_us);
    case KEY_PLOT:
        return sg_bench_set_plot(argument, options->plot);
    default:
        set_flag(options, key);
        return 0;
    }
}

static bool is_option(int key)
{
    for (int place = 0; option_table[place].name != NULL; place++) {
        if (option_table[place].key == key)
            return true;
    }
    return false;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct reading *reading = state->input;

    switch (key) {
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
        return is_option(key) ? set_value(reading, key, argument) : ARGP_ERR_UNKNOWN;
    }
}

enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out)
{
    static const struct argp argp = {
        option_table, parse_option, "latency|cpu|delay|overlap|clock|noise", documentation, NULL,
        NULL,         NULL};
    static char name[] = "stagger-bench";
    struct reading reading = {.options = {.row_s = DEFAULT_ROW_S,
                                          .reduction = SG_BENCH_REDUCE_MAX,
                                          .arrival = SG_BENCH_ARRIVALS,
                                          .vs = SG_ALGORITHM_MPICH,
                                          .seed = 1,
                                          .quantum_us = DEFAULT_QUANTUM_US},
                              .verdict = SG_BENCH_RUN,
                              .ranks = ranks};

    /* argp would leave the process, with the other ranks still in it: so it is kept from that, and
     * the parser stops by itself. */
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &reading) != 0)
        return reading.verdict == SG_BENCH_DONE ? SG_BENCH_DONE : SG_BENCH_BAD;
    *out = reading.options;
    return SG_BENCH_RUN;
}
