/* Tests where the level of a history changes, on series worked out by hand and on noise. */
#include "compare/run_history.h"
#include "lib/unit.h"
#include "sim/random.h"

#include <math.h>

#define RUNS_MAX 100

static struct sg_run_history_run runs[RUNS_MAX];

/* Judges a history of these run times, in ms; its waiting is unknown, its share of MPI a tenth. */
static struct sg_run_history history_of(const double *times, uint32_t count)
{
    struct sg_run_history history = {.runs = runs, .count = count};

    memset(runs, 0, sizeof runs);
    for (uint32_t i = 0; i < count; i++) {
        runs[i].of[SG_WHOLE_RUN].value = times[i] * 1e6;
        runs[i].of[SG_WHOLE_WAITING].value = NAN;
        runs[i].of[SG_WHOLE_MPI].value = 0.1;
    }
    sg_run_history_judge(&history);
    return history;
}

static uint32_t changes(const struct sg_run_history *history)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < history->count; i++)
        count += history->runs[i].of[SG_WHOLE_RUN].is_changed;
    return count;
}

/* Before the sixth run the median is 100, the median distance 1: 3 times 1.4826 on either side. */
TEST("the band is three deviations around the median of the runs before")
{
    const double times[] = {100, 101, 99, 102, 98, 100};
    struct sg_run_history history = history_of(times, 6);
    const struct sg_run_history_mark *mark = &history.runs[5].of[SG_WHOLE_RUN];

    EXPECT(is_near(mark->low, (100 - 3 * 1.4826) * 1e6, 1),
           is_near(mark->high, (100 + 3 * 1.4826) * 1e6, 1),
           isnan(history.runs[4].of[SG_WHOLE_RUN].low), changes(&history) == 0,
           history.level[SG_WHOLE_RUN] == 100e6, history.change[SG_WHOLE_RUN] == 6);
}

TEST("runs that do not vary have a band of 2 % of the run time, and half a percent of a share")
{
    const double times[] = {100, 100, 100, 100, 100, 100};
    struct sg_run_history history = history_of(times, 6);

    EXPECT(is_near(history.runs[5].of[SG_WHOLE_RUN].low, 98e6, 1),
           is_near(history.runs[5].of[SG_WHOLE_MPI].high, 0.105, 1e-9),
           isnan(history.runs[5].of[SG_WHOLE_WAITING].high),
           isnan(history.level[SG_WHOLE_WAITING]));
}

TEST("the level changes at the first of five runs beyond the band")
{
    const double times[] = {100, 101, 99, 100, 102, 98, 115, 116, 114, 115, 115, 116};
    struct sg_run_history history = history_of(times, 12);
    const struct sg_run_history_mark *mark = &history.runs[6].of[SG_WHOLE_RUN];

    EXPECT(changes(&history) == 1, mark->is_changed, mark->before == 100e6, mark->now == 115e6,
           history.first[SG_WHOLE_RUN] == 6, history.change[SG_WHOLE_RUN] == 6,
           history.level[SG_WHOLE_RUN] == 115e6, sg_run_history_has_changed(&history));
    EXPECT(!isnan(history.runs[11].of[SG_WHOLE_RUN].low),
           history.runs[11].of[SG_WHOLE_RUN].low > 110e6); /* of its own level */
}

TEST("a change is not news after as many runs as a band has")
{
    double times[40];

    for (int i = 0; i < 40; i++)
        times[i] = i < 8 ? 100 : 80;
    struct sg_run_history history = history_of(times, 8 + SG_RUN_HISTORY_BAND);
    EXPECT(sg_run_history_has_changed(&history), history.runs[8].of[SG_WHOLE_RUN].now == 80e6);
    history = history_of(times, 8 + SG_RUN_HISTORY_BAND + 1);
    EXPECT(!sg_run_history_has_changed(&history), history.change[SG_WHOLE_RUN] == 8);
}

TEST("four slow runs, and runs beyond the band on both sides, change nothing")
{
    const double slow[] = {100, 101, 99, 100, 102, 98, 150, 151, 150, 150, 100, 101, 100};
    const double both[] = {100, 101, 99, 100, 102, 98, 150, 151, 50, 150, 50, 150, 50};
    struct sg_run_history history = history_of(slow, 13);

    EXPECT(changes(&history) == 0);
    history = history_of(both, 13);
    EXPECT(changes(&history) == 0);
}

static double uniform(uint64_t round, uint64_t i)
{
    return (double)(sg_random(7, SG_RANDOM_NOISE, round, i) >> 11) * 0x1p-53;
}

/* Run times within 3 %, of which one in ten is up to half as long again: in 500 histories of 100
 * runs at most 25 changes. A step of 15 % is found at its run, or at an outlier right before it. */
TEST("noise rarely changes the level, and a step always does")
{
    uint32_t wrong = 0, found = 0, rounds = 500 / (uint32_t)unit_step();

    for (uint64_t round = 0; round < rounds; round++) {
        double times[RUNS_MAX];
        struct sg_run_history history;

        for (uint64_t i = 0; i < RUNS_MAX; i++)
            times[i] = 100 * (1 + 0.03 * uniform(round, 3 * i)) *
                       (uniform(round, 3 * i + 1) < 0.1 ? 1 + 0.5 * uniform(round, 3 * i + 2) : 1);
        history = history_of(times, RUNS_MAX);
        wrong += changes(&history);
        for (uint64_t i = 50; i < RUNS_MAX; i++)
            times[i] *= 1.15;
        history = history_of(times, RUNS_MAX);
        for (uint32_t i = 48; i <= 50; i++)
            found += history.runs[i].of[SG_WHOLE_RUN].is_changed;
    }
    printf("#   %u changes in %u histories of noise, %u steps found\n", wrong, rounds, found);
    EXPECT(wrong <= rounds / 20, found >= rounds / 50 * 49);
}
