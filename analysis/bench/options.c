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

#define COMMANDS "latency, cpu, delay, overlap, clock, noise"

static const char *const command_names[SG_BENCH_COMMANDS] = {
    [SG_BENCH_LATENCY] = "latency", [SG_BENCH_CPU] = "cpu",     [SG_BENCH_DELAY] = "delay",
    [SG_BENCH_OVERLAP] = "overlap", [SG_BENCH_CLOCK] = "clock", [SG_BENCH_NOISE] = "noise"};

struct reading {
    struct sg_bench_options options;
    enum sg_bench_verdict verdict;
    int ranks;
    bool command_seen;
    bool seen[64]; /* by place in the table of options */
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

/* Commands that know an option, as a mask. */
#define LATENCY (1u << SG_BENCH_LATENCY)
#define CPU (1u << SG_BENCH_CPU)
#define DELAY (1u << SG_BENCH_DELAY)
#define OVERLAP (1u << SG_BENCH_OVERLAP)
#define CLOCK (1u << SG_BENCH_CLOCK)
#define NOISE (1u << SG_BENCH_NOISE)
#define OF_CALLS (LATENCY | CPU | DELAY | OVERLAP)
#define ALL (OF_CALLS | CLOCK | NOISE)

static const struct known_option {
    const char *name;
    int letter;           /* 0: none */
    const char *argument; /* NULL: takes none */
    unsigned commands;
    sg_bench_set set;
    const char *says;
} options_known[] = {
    {"ops", 'o', "LIST", OF_CALLS, sg_bench_set_operations,
     "of barrier, allreduce, reduce (default: all; cpu, latency with --skew-us: reduce; delay, "
     "overlap: barrier, allreduce)"},
    {"scheme", 0, "NAME", LATENCY | DELAY | OVERLAP, sg_bench_set_scheme,
     "latency, delay, overlap: window, barrier, dissemination; latency: loop (default: window)"},
    {"reduce", 0, "WAY", LATENCY | OVERLAP, sg_bench_set_reduction,
     "latency, overlap: ranks' times to one: root, max, span, mean, min (default: max)"},
    {"arrival", 0, "PATTERN", OF_CALLS, sg_bench_set_arrival,
     "none, one, some:K, uniform, exponential, linear, trace:FILE (default: none; cpu: uniform; "
     "delay: one)"},
    {"busy", 0, NULL, CPU, sg_bench_set_busy, "cpu: late ranks work instead of sleeping"},
    {"vs", 0, "WHAT", LATENCY, sg_bench_set_vs,
     "latency: what to compare with: pmpi, rules (those in force), an algorithm, or rules as text "
     "(default: pmpi)"},
    {"seed", 0, "N", OF_CALLS, sg_bench_set_seed,
     "of arrivals and of the order of calls (default: 1)"},
    {"test-bytes", 0, "LIST", OVERLAP, sg_bench_set_tests,
     "overlap: test once for so many bytes; 0: never (default: 0,64k,4k)"},
    {"each", 0, NULL, CLOCK, sg_bench_set_each,
     "clock: every rank as if it had a machine of its own"},
    {"quantum-us", 0, "US", NOISE, sg_bench_set_quantum, "noise: of work (default: 1000)"},
    {"bytes", 'b', "LIST", LATENCY | OVERLAP, sg_bench_set_bytes,
     "latency, overlap: sizes of the operand, multiples of 8; k, m, g (default: 8; overlap: 64k)"},
    {"elements", 0, "LIST", CPU | DELAY, sg_bench_set_elements,
     "cpu, delay: doubles of the operand (default: 4,32,128; delay: 128)"},
    {"algorithms", 0, "LIST", OF_CALLS, sg_bench_set_algorithms,
     "rules (those in force), or algorithms between nodes (default: rules; delay: "
     "rules,tree and those that know no late rank)"},
    {"iterations", 'i', "N", OF_CALLS, sg_bench_set_iterations,
     "calls in a block; cpu, delay: rounds (default: as many as the time allows)"},
    {"time", 't', "SECONDS", ALL, sg_bench_set_seconds,
     "measure each row for about so long (default: 2)"},
    {"root", 'r', "RANK", LATENCY | CPU | OVERLAP, sg_bench_set_root,
     "latency, cpu: root of the reductions (default: 0)"},
    {"skew-us", 0, "US", LATENCY | CPU | OVERLAP, sg_bench_set_skews,
     "a list: how late ranks are, by the pattern (default: 1000); latency without --arrival: "
     "processor time in the call while one rank is late by so long"},
    {"late", 0, "RANK", OF_CALLS, sg_bench_set_late_rank,
     "latency, delay: the rank that is late (default: the last)"},
    {"late-us", 0, "LIST", DELAY, sg_bench_set_late_times, "delay: how late it is (default: 1000)"},
    {"json", 'j', NULL, ALL, sg_bench_set_json, "print JSON (docs/bench-json.md)"},
    {"csv", 0, NULL, ALL, sg_bench_set_csv, "print CSV"},
    {"samples", 0, NULL, ALL, sg_bench_set_samples, "keep every sample, in JSON"},
    {"plot", 0, "FILE.svg", ALL, sg_bench_set_plot, "draw a figure (gnuplot)"},
};
enum { OPTIONS_KNOWN = sizeof options_known / sizeof *options_known, KEY_FIRST = 256 };

/* For argp: the letter, or a number of its own. */
static int key_of(int place)
{
    return options_known[place].letter != 0 ? options_known[place].letter : KEY_FIRST + place;
}

const char *sg_bench_command_name(enum sg_bench_command command)
{
    return command_names[command];
}

static bool was_given(const struct reading *reading, const char *name)
{
    int place = 0;

    while (strcmp(options_known[place].name, name) != 0)
        place++;
    return reading->seen[place];
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
        sg_bench_set_elements(elements[options->command], 0, options);
    if (options->skew_count == 0)
        options->skews_us[options->skew_count++] =
            options->arrival == SG_BENCH_TOGETHER ? 0 : DEFAULT_SKEW_US;
    if (options->test_count == 0)
        sg_bench_set_tests("0,64k,4k", 0, options);
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
        (options->arrival != SG_BENCH_TOGETHER || was_given(reading, "algorithms") ||
         was_given(reading, "vs") || was_given(reading, "reduce")))
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
    for (int place = 0; place < OPTIONS_KNOWN; place++) {
        if (reading->seen[place] && (options_known[place].commands & 1u << options->command) == 0)
            return sg_bench_fault("--%s is no option of %s", options_known[place].name,
                                  command_names[options->command]);
    }
    if (options->arrival == SG_BENCH_ARRIVALS)
        options->arrival = options->command == SG_BENCH_CPU     ? SG_BENCH_UNIFORM
                           : options->command == SG_BENCH_DELAY ? SG_BENCH_ONE_LATE
                                                                : SG_BENCH_TOGETHER;
    options->late = options->command == SG_BENCH_LATENCY && was_given(reading, "skew-us") &&
                    !was_given(reading, "arrival");
    if (was_given(reading, "late") && !options->late && options->arrival != SG_BENCH_ONE_LATE)
        return sg_bench_fault("--late needs --skew-us, or --arrival one");
    if (was_given(reading, "samples") && options->format != SG_BENCH_JSON)
        return sg_bench_fault("--samples needs --json");
    if (!was_given(reading, "late"))
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

static error_t set_option(struct reading *reading, int key, const char *argument)
{
    int place = 0;

    while (place < OPTIONS_KNOWN && key_of(place) != key)
        place++;
    if (place == OPTIONS_KNOWN)
        return ARGP_ERR_UNKNOWN;
    reading->seen[place] = true;
    return options_known[place].set(argument, reading->ranks, &reading->options);
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
        return set_option(reading, key, argument);
    }
}

enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out)
{
    struct argp_option table[OPTIONS_KNOWN + 3] = {
        [OPTIONS_KNOWN] = {"help", 'h', NULL, 0, "print this help", -1},
        {"version", 'V', NULL, 0, "print the version", -1},
    };
    const struct argp argp = {table,         parse_option, "latency|cpu|delay|overlap|clock|noise",
                              documentation, NULL,         NULL,
                              NULL};
    static char name[] = "stagger-bench";
    struct reading reading = {.options = {.row_s = DEFAULT_ROW_S,
                                          .reduction = SG_BENCH_REDUCE_MAX,
                                          .arrival = SG_BENCH_ARRIVALS,
                                          .vs = SG_ALGORITHM_MPICH,
                                          .seed = 1,
                                          .quantum_us = DEFAULT_QUANTUM_US},
                              .verdict = SG_BENCH_RUN,
                              .ranks = ranks};

    for (int i = 0; i < OPTIONS_KNOWN; i++)
        table[i] = (struct argp_option){.name = options_known[i].name,
                                        .key = key_of(i),
                                        .arg = options_known[i].argument,
                                        .doc = options_known[i].says};
    /* argp would leave the process, with the other ranks still in it: so it is kept from that, and
     * the parser stops by itself. */
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &reading) != 0)
        return reading.verdict == SG_BENCH_DONE ? SG_BENCH_DONE : SG_BENCH_BAD;
    *out = reading.options;
    return SG_BENCH_RUN;
}
