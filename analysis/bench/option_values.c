#include "bench/option_values.h"

#include "bench/given.h"
#include "bench/options.h"
#include "core/text.h"
#include "rule/algorithm.h"

#include <stdio.h>
#include <string.h>

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

/* Multiples of a unit. */
struct sizes {
    struct sg_bench_sizes *sizes;
    uint64_t unit_bytes, of_bytes, least, most; /* of_bytes: all must be multiples of it */
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

/* From the first to the last, each so many times the one before, or one more. */
static const char *add_range(struct sg_bench_options *options, uint64_t first, uint64_t last,
                             uint64_t factor, char *fault)
{
    const char *wrong = NULL;

    for (uint64_t number = first; number <= last && wrong == NULL;
         number = factor > 0 ? number * factor : number + 1)
        wrong = add_processes(options, number, fault);
    return wrong;
}

/* N, A-B, A-B*F, or "powers". */
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

/* ---- others */

/* A rank, or a number of ranks. */
static const char *read_ranks(const char *text, int least, int most, const char *wants, int *out,
                              char *fault)
{
    const char *end = text + strlen(text);
    char range[80];
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < (uint64_t)least ||
        value > (uint64_t)most) {
        snprintf(range, sizeof range, "%s, of %d to %d", wants, least, most);
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
        return read_ranks(argument, 1, options->ranks, "behind some: a number of ranks",
                          &options->late_count, fault);
    if (found != SG_BENCH_REPLAY)
        return NULL;
    if (*argument == '\0' || strlen(argument) >= sizeof options->arrivals)
        return "wants a file behind trace:, as `stagger arrivals` writes it";
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

const char *sg_bench_read_json(const struct sg_option *option, const char *text, void *into,
                               char *fault)
{
    ((struct sg_bench_options *)into)->format = SG_BENCH_JSON;
    return NULL;
}

const char *sg_bench_read_csv(const struct sg_option *option, const char *text, void *into,
                              char *fault)
{
    ((struct sg_bench_options *)into)->format = SG_BENCH_CSV;
    return NULL;
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
