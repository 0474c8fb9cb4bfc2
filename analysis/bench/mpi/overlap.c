/* The command overlap: applies bench/overlapping.h to MPI's nonblocking collectives, for each
 * interval of tests. The row without tests shows asynchronous progress, which alone can hide
 * anything there.
 */
#include "bench/mpi/target.h"
#include "bench/overlapping.h"

static const struct sg_line_column columns[] = {
    {"op", "operation", .width = -14},
    {"bytes", "bytes", .width = 9},
    {"algorithm", "algorithm", .width = -13},
    {"test_bytes", "test B", .width = 8},
    {"tests", "tests", .width = 6},
    {"alone_us", "alone us", .width = 10},
    {"overhead_us", "overhead us", .width = 11},
    {"wait_us", "wait us", .width = 10},
    {"overlap", "paper time", .width = 10},
    {SG_LINE_INTERVAL("overlap", ""), .title = "95 % interval", .width = -16},
    {"overlap_work", "paper work", .width = 10},
    {"overlap_osu", "OSU", .width = 7},
    {"overlap_imb", "IMB", .width = 7},
    {"rounds", "rounds", .width = 6},
    {0}};

static enum sg_status report(const struct sg_bench_calls *calls, int variant, uint64_t test_bytes,
                             uint64_t tests, const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples,
                             const struct sg_bench_overlap *found)
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[calls->bench_case->operation].name);
    sg_record_count(record, "bytes", calls->bench_case->bytes);
    sg_record_text(record, "algorithm",
                   sg_bench_algorithm_name(calls->variants->of[variant].algorithm));
    sg_record_count(record, "test_bytes", test_bytes);
    sg_record_count(record, "tests", tests);
    sg_record_text(record, "reduction", sg_bench_reduction_names[sampling->reduction]);
    sg_record_us(record, "skew", sampling->pattern.skew_ns);
    sg_record_count(record, "rounds", found->rounds);
    sg_bench_record_sampling(record, sampling, samples, 0);
    if (found->rounds > 0) {
        sg_bench_record_summary(record, "alone", &found->alone);
        sg_bench_record_summary(record, "timed", &found->timed);
        sg_bench_record_summary(record, "worked", &found->worked);
        sg_bench_record_summary(record, "computed", &found->computed);
        sg_bench_record_summary(record, "overhead", &found->overhead);
        sg_bench_record_summary(record, "wait", &found->waited);
        sg_bench_record_ratio(record, "overlap", &found->paper_time);
        sg_bench_record_ratio(record, "overlap_work", &found->paper_work);
        sg_bench_record_ratio(record, "overlap_osu", &found->osu);
        sg_bench_record_ratio(record, "overlap_imb", &found->imb);
        if (tests == 0)
            sg_bench_record_ratio(record, "asynchronous_progress", &found->paper_time);
    }
    return sg_bench_output_record(calls->job->output, record, columns);
}

static enum sg_status measure(struct sg_bench_calls *calls, int variant, double skew_us,
                              uint64_t test_bytes)
{
    const struct sg_bench_job *job = calls->job;
    struct sg_bench_sampling sampling = sg_bench_sampling_of(job, calls->bench_case, 1, skew_us);
    uint64_t tests = sg_bench_overlap_tests(calls->bench_case->bytes, test_bytes);
    struct sg_bench_samples samples = {0};
    struct sg_bench_overlap found;
    struct sg_bench_target target;
    enum sg_status status;

    sg_bench_target_open(calls, &target);
    status = sg_bench_overlap_measure(&job->machine, &target, variant, job->clocks, &sampling,
                                      tests, &found, &samples);
    if (status == SG_ERR_FORMAT && job->rank == 0)
        sg_log("bench: the nonblocking form of %s of %llu bytes by %s gives a wrong result",
               sg_bench_collectives[calls->bench_case->operation].name,
               (unsigned long long)calls->bench_case->bytes,
               sg_bench_algorithm_name(calls->variants->of[variant].algorithm));
    if (status == SG_OK && job->output != NULL)
        status = report(calls, variant, test_bytes, tests, &sampling, &samples, &found);
    sg_bench_samples_clear(&samples);
    return status;
}

enum sg_status sg_bench_overlap(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us)
{
    const struct sg_bench_options *options = job->options;
    struct sg_bench_variants variants;
    struct sg_bench_calls calls = {.job = job, .bench_case = bench_case, .variants = &variants};
    enum sg_status status = SG_OK;

    sg_bench_variants_open(bench_case->comm, job->algorithms, job->algorithm_count,
                           bench_case->operation, &variants);
    for (int i = 0; i < variants.count && status == SG_OK; i++) {
        for (int j = 0; j < options->test_bytes.count && status == SG_OK; j++)
            status = measure(&calls, i, skew_us, options->test_bytes.list[j]);
    }
    sg_bench_variants_close(&variants);
    return status;
}
