/* stagger sim papers: compares the papers' results, and further claims, with fresh runs. */
#include "sim/commands.h"
#include "sim/output.h"
#include "sim/papers/claims.h"

#define SCALE_MOST (1 << 20)

static const char documentation[] =
    "Prints, as Markdown, the goals of the papers' figures and those beyond them, what the "
    "simulator measures, and whether each is met; then delays at up to 1048576 nodes.\v"
    "Exit status: 0, 1 where a run fails, 2 on bad usage.";

struct options {
    uint64_t seed;
    bool no_scaling;
};

static const struct sg_option option_table[] = {
    {"seed", 's', "SEED", "the seed of all random numbers (default: 1)", sg_option_u64,
     offsetof(struct options, seed), .most = UINT64_MAX},
    {"no-scaling", 'x', NULL, "leave out the large sizes", sg_option_flag,
     .at = offsetof(struct options, no_scaling)},
    {0}};

static enum sg_status print_claims(struct sg_claim_context *context, const char *title,
                                   const struct sg_claim *claims, int count)
{
    struct sg_progress_line progress;

    sg_progress_line_start(&progress, true);
    printf("\n## %s\n\n| what | goal | measured | |\n| --- | --- | --- | --- |\n", title);
    for (int i = 0; i < count; i++) {
        char measured[SG_CLAIM_TEXT] = "";
        bool met;

        sg_sim_show(&progress, title, i, count);
        context->claim = &claims[i];
        context->status = sg_network_read("sim", claims[i].network, &context->options.network);
        if (context->status != SG_OK)
            return context->status;
        met = claims[i].measure(context, measured);
        sg_progress_line_end(&progress);
        if (context->status != SG_OK)
            return context->status;
        printf("| %s | %s | %s | %s |\n", claims[i].what, claims[i].goal, measured,
               met ? "met" : "**missed**");
        fflush(stdout);
    }
    return SG_OK;
}

static enum sg_status print_all_claims(struct sg_claim_context *context)
{
    const struct {
        const char *title;
        const struct sg_claim *claims;
        int count;
    } parts[] = {
        {"Against the papers: application bypass", sg_claims_bypass, sg_claims_bypass_count},
        {"Against the papers: adaptive", sg_claims_adaptive, sg_claims_adaptive_count},
        {"Against the papers: srm", sg_claims_srm, sg_claims_srm_count},
        {"Against the papers: measuring", sg_claims_measuring, sg_claims_measuring_count},
        {"Against the papers: buffered coscheduling", sg_claims_slices, sg_claims_slices_count},
        {"Against the papers: programs in slices", sg_claims_coscheduling,
         sg_claims_coscheduling_count},
        {"Beyond the papers", sg_claims_beyond, sg_claims_beyond_count},
    };
    enum sg_status status = SG_OK;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == SG_OK; i++)
        status = print_claims(context, parts[i].title, parts[i].claims, parts[i].count);
    return status;
}

/* ---- the large sizes */

static const struct scale {
    const char *algo;
    enum sg_operation operation;
    int32_t most;
} scales[] = {
    {"adaptive", SG_OPERATION_BARRIER, SCALE_MOST},   {"tree", SG_OPERATION_BARRIER, SCALE_MOST},
    {"dissemination", SG_OPERATION_BARRIER, 1 << 16}, {"adaptive", SG_OPERATION_ALLREDUCE, 1 << 16},
    {"tree", SG_OPERATION_ALLREDUCE, 1 << 16},
};

static enum sg_status print_scale(struct sg_claim_context *context, const struct scale *scale,
                                  int32_t nodes)
{
    struct sg_sim_algo algo = sg_sim_algo_of(scale->algo);
    struct sg_sim_late late = {.who = SG_LATE_DEEPEST, .amount = 500};
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = scale->operation,
        .nodes = nodes,
        .bytes = 1024,
        .late = &late,
        .late_count = 1,
    };
    struct sg_sim_options options = context->options;
    struct sg_world_result result;
    enum sg_status status;

    options.iterations = 1;
    options.warmup = 0;
    status = sg_measure_delay(&options, &one, &result);
    if (status == SG_OK)
        printf("| %s | %s | %d | %.2f | %.0f | %.2f | %.0f |\n", scale->algo,
               sg_operation_names[scale->operation], (int)nodes, result.delay_ns * 1e-3,
               (double)result.events, (double)result.events / result.seconds * 1e-6,
               result.bytes_a_process);
    fflush(stdout);
    return status;
}

static enum sg_status print_scaling(struct sg_claim_context *context)
{
    enum sg_status status = sg_network_read("sim", "infiniband-sdr", &context->options.network);

    puts("\n## Scaling\n\n"
         "One rank late by 500 us, InfiniBand 4x SDR, allreduce of 128 doubles.\n\n"
         "| algorithm | operation | nodes | delay, us | events | million events a second | bytes a "
         "process |\n| --- | --- | --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        for (int32_t nodes = 16; nodes <= scales[i].most && status == SG_OK; nodes *= 16)
            status = print_scale(context, &scales[i], nodes);
    }
    return status;
}

int sg_sim_papers_command(int argc, char **argv)
{
    static char name[] = "stagger sim papers";
    struct options options = {.seed = 1};
    const struct sg_command_line line = {
        name, NULL, documentation, {{option_table, &options}}, NULL};
    struct sg_claim_context context = {.options = sg_sim_common_of("", 1).options};
    enum sg_status status;

    if (!sg_options_read(&line, argc, argv))
        return SG_OPTIONS_USAGE;
    context.options.seed = options.seed;
    printf("Seed %llu, commit %s.\n", (unsigned long long)options.seed, sg_commit);
    status = print_all_claims(&context);
    if (status == SG_OK)
        status = sg_claims_print_contradiction(&context);
    if (status == SG_OK)
        status = sg_claims_print_inputs(&context);
    if (status == SG_OK && !options.no_scaling)
        status = print_scaling(&context);
    return status == SG_OK ? 0 : 1;
}
