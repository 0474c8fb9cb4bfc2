/* The values of options that choose one of several words, and files. */
#include "bench/option_values.h"

#include "bench/given.h"
#include "rule/algorithm.h"

#include <stdlib.h>
#include <string.h>

#define WORD_PMPI "pmpi"

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

error_t sg_bench_set_scheme(const char *text, int *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    int found = find_word(text, strlen(text), scheme_name, SG_BENCH_SCHEMES + 1);

    if (found < 0)
        return sg_bench_fault("--scheme wants window, barrier, dissemination or loop, not '%s'",
                              sg_bench_shown(text, excerpt));
    *out = found;
    return 0;
}

error_t sg_bench_set_reduction(const char *text, enum sg_bench_reduction *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    int found = find_word(text, strlen(text), reduction_name, SG_BENCH_REDUCTIONS);

    if (found < 0)
        return sg_bench_fault("--reduce wants root, max, span, mean or min, not '%s'",
                              sg_bench_shown(text, excerpt));
    *out = (enum sg_bench_reduction)found;
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

error_t sg_bench_set_vs(const char *text, int *out)
{
    char excerpt[SG_EXCERPT_BYTES];

    if (strchr(text, '=') != NULL) {
        *out = SG_BENCH_GIVEN;
        return sg_bench_given_check("bench: --vs", text) ? 0 : EINVAL;
    }
    *out = strcmp(text, WORD_PMPI) == 0 ? SG_ALGORITHM_MPICH
                                        : sg_bench_algorithm_find(text, strlen(text));
    if (*out == SG_BENCH_NO_ALGORITHM)
        return sg_bench_fault("--vs wants " WORD_PMPI ", one of %s, or rules, not '%s'",
                              sg_bench_algorithm_list(), sg_bench_shown(text, excerpt));
    return 0;
}

error_t sg_bench_set_seed(const char *text, uint64_t *out)
{
    char excerpt[SG_EXCERPT_BYTES];
    const char *end = text + strlen(text);

    if (sg_text_number(text, end, false, out) != end || *text == '\0')
        return sg_bench_fault("--seed wants a number, not '%s'", sg_bench_shown(text, excerpt));
    return 0;
}

error_t sg_bench_set_plot(const char *text, char out[SG_BENCH_PATH_BYTES])
{
    size_t length = strlen(text);

    if (length < 5 || length >= SG_BENCH_PATH_BYTES || strcmp(text + length - 4, ".svg") != 0)
        return sg_bench_fault("--plot wants a file whose name ends in .svg");
    strcpy(out, text);
    return 0;
}
