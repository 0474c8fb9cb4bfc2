/* Tests arrival patterns. */
#include "bench/pattern.h"
#include "lib/unit.h"

#include <math.h>

enum { RANKS = 8, ROUNDS = 4000 };

static struct sg_bench_pattern pattern_of(enum sg_bench_arrival arrival)
{
    return (struct sg_bench_pattern){.arrival = arrival,
                                     .skew_ns = 1000,
                                     .late_rank = 5,
                                     .late_count = 3,
                                     .ranks = RANKS,
                                     .seed = 11};
}

static double mean_of(const struct sg_bench_pattern *pattern, double *most)
{
    double sum = 0;

    *most = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (int rank = 0; rank < RANKS; rank++) {
            double late = sg_bench_lateness_ns(pattern, round, rank);

            EXPECT(late >= 0 && late <= sg_bench_lateness_most_ns(pattern));
            sum += late;
            *most = fmax(*most, late);
        }
    }
    return sum / ROUNDS / RANKS;
}

TEST("patterns have the means and bounds of their distributions")
{
    static const struct {
        enum sg_bench_arrival arrival;
        double mean, most_low, most_high;
    } known[] = {{SG_BENCH_TOGETHER, 0, 0, 0},
                 {SG_BENCH_ONE_LATE, 125, 1000, 1000},
                 {SG_BENCH_SOME_LATE, 375, 1000, 1000},
                 {SG_BENCH_UNIFORM, 500, 990, 1000},
                 {SG_BENCH_EXPONENTIAL, 1000, 5000, 10000},
                 {SG_BENCH_LINEAR, 500, 1000, 1000}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct sg_bench_pattern pattern = pattern_of(known[i].arrival);
        double most, mean = mean_of(&pattern, &most);

        EXPECT(is_near(mean, known[i].mean, 0.03 * known[i].mean),
               most >= known[i].most_low && most <= known[i].most_high);
    }
}

TEST("a pattern names its late ranks, one or some")
{
    struct sg_bench_pattern one = pattern_of(SG_BENCH_ONE_LATE);
    struct sg_bench_pattern some = pattern_of(SG_BENCH_SOME_LATE);
    bool differs = false;

    for (uint64_t round = 0; round < 100; round++) {
        int late = 0;

        for (int rank = 0; rank < RANKS; rank++) {
            EXPECT(sg_bench_is_to_be_late(&one, round, rank) == (rank == 5));
            late += sg_bench_is_to_be_late(&some, round, rank);
            differs = differs || sg_bench_is_to_be_late(&some, round, rank) !=
                                     sg_bench_is_to_be_late(&some, 0, rank);
        }
        EXPECT(late == 3);
    }
    EXPECT(differs);
}

static const char *file_of(const char *text)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/arrivals", unit_directory());
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

TEST("a file of arrivals is replayed, round by round")
{
    struct sg_bench_pattern pattern = pattern_of(SG_BENCH_REPLAY);
    double *lateness_ns;

    pattern.ranks = 3;
    ASSERT(sg_bench_pattern_read(file_of("# from a trace\n0 1.5 3\n\n7 5 5\n"), 3, &lateness_ns,
                                 &pattern.calls) == SG_OK);
    pattern.lateness_ns = lateness_ns;
    EXPECT(pattern.calls == 2, sg_bench_lateness_ns(&pattern, 0, 1) == 1500);
    /* The first of each call is in time, and from the end it begins anew. */
    EXPECT(sg_bench_lateness_ns(&pattern, 1, 0) == 2000, sg_bench_lateness_ns(&pattern, 1, 2) == 0,
           sg_bench_lateness_ns(&pattern, 2, 2) == 3000,
           sg_bench_lateness_most_ns(&pattern) == 3000);
    free(lateness_ns);
}

TEST("files without arrivals are refused")
{
    static const char *const bad[] = {
        "", "1 2\n", "1 2 3 4\n", "1 2 x\n", "1 2 inf\n", "1e305 -1e305 0\n", "# none\n"};
    double *lateness_ns;
    size_t calls;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT(sg_bench_pattern_read(file_of(bad[i]), 3, &lateness_ns, &calls) == SG_ERR_FORMAT);
    EXPECT(sg_bench_pattern_read("/nowhere/arrivals", 3, &lateness_ns, &calls) == SG_ERR_MISSING);
}
