#include "bench/pattern.h"

#include "bench/distribution.h"
#include "core/hash.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPONENTIAL_MOST 10.0
#define NS_PER_US 1000.0

const char *const sg_bench_arrival_names[SG_BENCH_ARRIVALS + 1] = {
    "none", "one", "some", "uniform", "exponential", "linear", "trace"};

/* Returns a random number from 0 to below 1. */
static double chance(const struct sg_bench_pattern *pattern, uint64_t round, int rank)
{
    uint64_t bits = sg_hash_mix(SG_HASH_START + pattern->seed);

    bits = sg_hash_mix(bits + round);
    bits = sg_hash_mix(bits + (uint64_t)rank);
    return (double)(bits >> 11) * 0x1p-53;
}

/* The late ranks are the late_count ranks with the smallest random numbers. */
static bool is_among_late(const struct sg_bench_pattern *pattern, uint64_t round, int rank)
{
    double own = chance(pattern, round, rank);
    int before = 0;

    for (int other = 0; other < pattern->ranks; other++) {
        double theirs = chance(pattern, round, other);

        before += theirs < own || (theirs == own && other < rank);
    }
    return before < pattern->late_count;
}

double sg_bench_lateness_ns(const struct sg_bench_pattern *pattern, uint64_t round, int rank)
{
    switch (pattern->arrival) {
    case SG_BENCH_ONE_LATE:
    case SG_BENCH_SOME_LATE:
        return sg_bench_is_to_be_late(pattern, round, rank) ? pattern->skew_ns : 0;
    case SG_BENCH_UNIFORM:
        return chance(pattern, round, rank) * pattern->skew_ns;
    case SG_BENCH_EXPONENTIAL:
        return fmin(-log(1 - chance(pattern, round, rank)), EXPONENTIAL_MOST) * pattern->skew_ns;
    case SG_BENCH_LINEAR:
        return pattern->ranks > 1 ? pattern->skew_ns * rank / (pattern->ranks - 1) : 0;
    case SG_BENCH_REPLAY:
        return pattern->lateness_ns[round % pattern->calls * (size_t)pattern->ranks + (size_t)rank];
    case SG_BENCH_TOGETHER:
    case SG_BENCH_ARRIVALS:
        break;
    }
    return 0;
}

double sg_bench_lateness_most_ns(const struct sg_bench_pattern *pattern)
{
    double most_ns = 0;

    switch (pattern->arrival) {
    case SG_BENCH_EXPONENTIAL:
        return EXPONENTIAL_MOST * pattern->skew_ns;
    case SG_BENCH_REPLAY:
        for (size_t i = 0; i < pattern->calls * (size_t)pattern->ranks; i++)
            most_ns = fmax(most_ns, pattern->lateness_ns[i]);
        return most_ns;
    case SG_BENCH_TOGETHER:
        return 0;
    default:
        return pattern->skew_ns;
    }
}

bool sg_bench_is_to_be_late(const struct sg_bench_pattern *pattern, uint64_t round, int rank)
{
    if (pattern->arrival == SG_BENCH_ONE_LATE)
        return rank == pattern->late_rank;
    return pattern->arrival == SG_BENCH_SOME_LATE && is_among_late(pattern, round, rank);
}

/* ---- the file of a replay -------------------------------------------------------------------- */

struct reading {
    double *lateness_ns;
    size_t calls, room;
    int ranks;
};

/* Parses the line's numbers into row; false: not as many times as there are ranks. */
static bool read_row(const char *line, int ranks, double *row)
{
    double least = INFINITY;

    for (int rank = 0; rank < ranks; rank++) {
        char *end;

        errno = 0;
        row[rank] = strtod(line, &end) * NS_PER_US;
        if (end == line || !isfinite(row[rank]))
            return false;
        least = fmin(least, row[rank]);
        line = end;
    }
    for (int rank = 0; rank < ranks; rank++) {
        row[rank] -= least;
        if (!isfinite(row[rank]))
            return false;
    }
    return line[strspn(line, " \t\n")] == '\0';
}

static enum sg_status take_line(struct reading *reading, const char *line)
{
    size_t ranks = (size_t)reading->ranks;

    if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
        return SG_OK;
    if (reading->calls == reading->room) {
        size_t room = reading->room > 0 ? reading->room * 2 : 64;
        double *more = realloc(reading->lateness_ns, room * ranks * sizeof *more);

        if (more == NULL)
            return SG_ERR_MEMORY;
        reading->lateness_ns = more;
        reading->room = room;
    }
    if (!read_row(line, reading->ranks, reading->lateness_ns + reading->calls * ranks))
        return SG_ERR_FORMAT;
    reading->calls++;
    return SG_OK;
}

enum sg_status sg_bench_pattern_read(const char *path, int ranks, double **lateness_ns,
                                     size_t *calls)
{
    FILE *file = fopen(path, "re");
    struct reading reading = {.ranks = ranks};
    enum sg_status status = SG_OK;
    size_t size_bytes = 0, lines = 0;
    char *line = NULL;

    if (file == NULL) {
        sg_log("bench: %s: %m", path);
        return SG_ERR_MISSING;
    }
    while (status == SG_OK && getline(&line, &size_bytes, file) >= 0) {
        lines++;
        status = take_line(&reading, line);
    }
    if (status == SG_OK && (reading.calls == 0 || ferror(file)))
        status = SG_ERR_FORMAT;
    free(line);
    fclose(file);
    if (status == SG_OK) {
        *lateness_ns = reading.lateness_ns;
        *calls = reading.calls;
        return SG_OK;
    }
    if (status == SG_ERR_MEMORY)
        sg_log("bench: %s: out of memory", path);
    else if (reading.calls == 0 && lines == 0)
        sg_log("bench: %s contains no arrivals", path);
    else
        sg_log("bench: %s: line %zu does not have %d numbers, one per rank, in us", path, lines,
               ranks);
    free(reading.lateness_ns);
    return status;
}

/* ---- the plan of a row */

/* The number of pairs in a row of short calls. With more, blocks would be so short that their
 * beginning, when not all ranks have arrived yet, has an influence. */
#define PAIRS_WANTED 201
/* A trial is long enough if it takes 1 / TRIAL_PART of the wanted block. */
#define TRIAL_PART 4
/* A row ends early if it takes this many times longer than planned. */
#define PATIENCE 3
/* Limits the growth between trials: the first calls are slow, so an estimate may be far off. */
#define TRIAL_GROWTH 32

double sg_bench_plan_block_ns(double row_ns)
{
    return row_ns / (2 * PAIRS_WANTED);
}

static uint64_t calls_in(double block_ns, double call_ns)
{
    return call_ns < block_ns ? (uint64_t)llround(block_ns / fmax(call_ns, 1)) : 1;
}

struct sg_bench_plan sg_bench_plan_row(const double call_ns[2], double row_ns, uint64_t calls)
{
    double block_ns = fmax(sg_bench_plan_block_ns(row_ns), fmax(call_ns[0], call_ns[1]));
    double pair_ns, pairs;
    struct sg_bench_plan plan;

    for (int side = 0; side < 2; side++)
        plan.calls[side] = calls > 0 ? calls : calls_in(block_ns, call_ns[side]);
    pair_ns = (double)plan.calls[0] * call_ns[0] + (double)plan.calls[1] * call_ns[1];
    pairs = floor(row_ns / fmax(pair_ns, 1));
    plan.pairs = (size_t)fmin(fmax(pairs, SG_BENCH_COUNT_MIN), SG_BENCH_PAIRS_MAX);
    plan.limit_ns = PATIENCE * fmax(row_ns, (double)plan.pairs * pair_ns);
    return plan;
}

uint64_t sg_bench_plan_trial(uint64_t calls, double taken_ns, double block_ns)
{
    double enough_ns = block_ns / TRIAL_PART;
    double more = enough_ns / fmax(taken_ns, 1);

    if (taken_ns >= enough_ns)
        return 0;
    return (uint64_t)ceil((double)calls * fmin(fmax(more, 2), TRIAL_GROWTH));
}
