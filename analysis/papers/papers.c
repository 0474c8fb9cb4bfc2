/* `stagger sim papers`: compares the papers' results, and further claims, with fresh runs. Also has
 * the figures and claims of paper 003, which are formulas and need no protocol run.
 */
#include "papers/claims.h"
#include "sim/clusters.h"
#include "sim/sim_commands.h"
#include "sim/sim_output.h"

#include <stdio.h>

#define SCALE_MOST (1 << 20)

static const char documentation[] =
    "Prints, as Markdown, the results of the papers and further goals, the simulator's "
    "measurements, and whether each goal is met; then delays at up to 1048576 nodes.\v"
    "Exit status: 0; 1 if a run fails; 2 on bad usage.";

struct options {
    uint64_t seed;
    bool no_scaling;
};

static const struct sg_option option_table[] = {
    {"seed", 's', "SEED", "the seed of all random numbers (default: 1)", sg_option_u64,
     offsetof(struct options, seed), .most = UINT64_MAX},
    {"no-scaling", 'x', NULL, "omit the large sizes", sg_option_flag,
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
    struct options options = {.seed = 1};
    struct sg_command_line line = {.name = "stagger sim papers",
                                   .documentation = documentation,
                                   .tables = {{option_table, &options}}};
    struct sg_claim_context context = {.options = sg_sim_common_of("", 1).options};
    enum sg_status status;

    sg_options_read(&line, argc, argv);
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

/* Paper 003: srm on an IBM SP of 16-way nodes, against message passing. Figures and claims, by the
 * formulas of sim/clusters.h. */

#define COLONY "colony"
#define WAY 16
#define PROCESSORS_MAX 256
#define BYTES_MAX (8 << 20)

static double time_us(const struct sg_network *network, enum sg_cluster_library library,
                      enum sg_operation operation, uint32_t processors, uint64_t bytes)
{
    struct sg_cluster cluster = {network, processors / WAY, WAY};

    return sg_cluster_ns(&cluster, library, operation, bytes) * 1e-3;
}

/* ---- claims */

struct range {
    double least, most;
};

/* Share of time that srm saves, in %, over all sizes and numbers of processors. */
static struct range savings(const struct sg_network *network, enum sg_cluster_library library,
                            enum sg_operation operation)
{
    struct range range = {100, -100};

    for (uint32_t processors = WAY; processors <= PROCESSORS_MAX; processors *= 2) {
        for (uint64_t bytes = 8; bytes <= BYTES_MAX; bytes *= 2) {
            double own_us = time_us(network, SG_CLUSTER_SRM, operation, processors, bytes);
            double saved =
                100 - 100 * own_us / time_us(network, library, operation, processors, bytes);

            range.least = saved < range.least ? saved : range.least;
            range.most = saved > range.most ? saved : range.most;
        }
    }
    return range;
}

/* The claim's numbers: the operation (nodes), and the paper's greatest (value) and least (elements)
 * savings. */
static bool saves(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_claim *claim = context->claim;
    struct range range =
        savings(&context->options.network, SG_CLUSTER_IBM, (enum sg_operation)claim->nodes);

    snprintf(measured, SG_CLAIM_TEXT, "%.0f to %.0f %%", range.least, range.most);
    return range.least > 0 && range.least >= claim->elements - 15.0 &&
           range.least <= claim->elements + 15.0 && range.most >= claim->value - 15 &&
           range.most <= claim->value + 15;
}

static bool saves_as_much(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_network *network = &context->options.network;
    bool better = true;
    int used = 0;

    for (enum sg_operation operation = SG_OPERATION_REDUCE; operation <= SG_OPERATION_BCAST;
         operation++) {
        struct range ibm = savings(network, SG_CLUSTER_IBM, operation);
        struct range mpich = savings(network, SG_CLUSTER_MPICH, operation);

        used +=
            snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%s %.0f to %.0f %%",
                     used > 0 ? ", " : "", sg_operation_names[operation], mpich.least, mpich.most);
        better &= mpich.least >= ibm.least && mpich.most >= ibm.most;
    }
    return better;
}

static bool barrier_saves(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_network *network = &context->options.network;
    double own_us = time_us(network, SG_CLUSTER_SRM, SG_OPERATION_BARRIER, PROCESSORS_MAX, 0);
    double ibm_us = time_us(network, SG_CLUSTER_IBM, SG_OPERATION_BARRIER, PROCESSORS_MAX, 0);
    double saved = 100 - 100 * own_us / ibm_us;

    snprintf(measured, SG_CLAIM_TEXT, "%.0f %% (%.0f us instead of %.0f us)", saved, own_us,
             ibm_us);
    return sg_claim_within(saved, context->claim->value);
}

/* The saving falls with processors: less of the work is inside nodes. */
static bool by_processors(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_network *network = &context->options.network;
    bool falls = true;
    double before = 100;
    int used = 0;

    for (uint32_t processors = WAY; processors <= PROCESSORS_MAX; processors *= 2) {
        double saved =
            100 - 100 * time_us(network, SG_CLUSTER_SRM, SG_OPERATION_BCAST, processors, 8) /
                      time_us(network, SG_CLUSTER_IBM, SG_OPERATION_BCAST, processors, 8);

        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.0f",
                         used > 0 ? ", " : "", saved);
        falls &= saved < before;
        before = saved;
    }
    snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), " %%");
    return falls;
}

#define SAVED(operation, low, high)                                                                \
    .measure = saves, .nodes = (operation), .elements = (low), .value = (high)

const struct sg_claim sg_claims_srm[] = {
    {"srm against IBM's, 8 bytes to 8 MiB, 16 to 256 processors, saves: bcast (fig. 9)",
     "27 to 84 %, each +- 15", COLONY, SAVED(SG_OPERATION_BCAST, 27, 84)},
    {"... reduce (fig. 10)", "24 to 79 %, each +- 15", COLONY, SAVED(SG_OPERATION_REDUCE, 24, 79)},
    {"... allreduce (fig. 11)", "30 to 73 %, each +- 15", COLONY,
     SAVED(SG_OPERATION_ALLREDUCE, 30, 73)},
    {"... against MPICH (figs. 9 to 11)", "as much, or more", COLONY, .measure = saves_as_much},
    {"... bcast of 8 bytes, 16, 32, 64, 128, 256 processors (section 3)", "falls with processors",
     COLONY, .measure = by_processors},
    {"... barrier, 256 processors (fig. 12)", "73 % +- 15 %", COLONY, .measure = barrier_saves,
     .value = 73},
};

const int sg_claims_srm_count = sizeof sg_claims_srm / sizeof *sg_claims_srm;

/* ---- figures. A series' elements are processors. */

static enum sg_cluster_library library_of(const struct sg_figure_series *series)
{
    return series->algo[0] == 's'   ? SG_CLUSTER_SRM
           : series->algo[0] == 'i' ? SG_CLUSTER_IBM
                                    : SG_CLUSTER_MPICH;
}

static enum sg_status time_point(const struct sg_figure *figure,
                                 const struct sg_figure_series *series,
                                 const struct sg_sim_options *options, double x, double *y)
{
    *y = time_us(&options->network, library_of(series), figure->operation, series->elements,
                 (uint64_t)x);
    return SG_OK;
}

static enum sg_status share_point(const struct sg_figure *figure,
                                  const struct sg_figure_series *series,
                                  const struct sg_sim_options *options, double x, double *y)
{
    const struct sg_network *network = &options->network;
    double own_us =
        time_us(network, SG_CLUSTER_SRM, figure->operation, series->elements, (uint64_t)x);

    *y = 100 * own_us /
         time_us(network, library_of(series), figure->operation, series->elements, (uint64_t)x);
    return SG_OK;
}

static enum sg_status barrier_point(const struct sg_figure *figure,
                                    const struct sg_figure_series *series,
                                    const struct sg_sim_options *options, double x, double *y)
{
    *y = time_us(&options->network, library_of(series), figure->operation, (uint32_t)x, 0);
    return SG_OK;
}

#define SIZES                                                                                      \
    {                                                                                              \
        8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, \
            524288, 1048576, 2097152, 4194304, 8388608                                             \
    }
#define PROCESSORS(library)                                                                        \
    {                                                                                              \
        {"16", library, 16}, {"32", library, 32}, {"64", library, 64}, {"128", library, 128},      \
            {"256", library, 256},                                                                 \
    }
#define LIBRARIES                                                                                  \
    {                                                                                              \
        {"srm", "srm", 256}, {"IBM", "ibm", 256}, {"MPICH", "mpich", 256},                         \
    }
#define BY_SIZE(function, count)                                                                   \
    .network = COLONY, .point = (function), .x = SIZES, .points = (count), .x_label = "bytes",     \
    .x_log = true
#define TIMES(op) BY_SIZE(time_point, 21), .operation = (op), .y_label = "us", .y_log = true
#define SMALL_TIMES(op) BY_SIZE(time_point, 14), .operation = (op), .y_label = "us"
#define SHARES(op, low, high)                                                                      \
    BY_SIZE(share_point, 21),                                                                      \
        .operation = (op), .y_label = "time of srm (%)",                                           \
        .published = {{8, low}, {BYTES_MAX, low}, {8, high}, {BYTES_MAX, high}},                   \
        .published_count = (high) > 0 ? 4 : 0

const struct sg_figure sg_figures_srm[] = {
    {"003-6a", "srm bcast, by processors", TIMES(SG_OPERATION_BCAST), .series = PROCESSORS("srm")},
    {"003-6b", "bcast, 256 processors", SMALL_TIMES(SG_OPERATION_BCAST), .series = LIBRARIES},
    {"003-7a", "srm reduce, by processors", TIMES(SG_OPERATION_REDUCE),
     .series = PROCESSORS("srm")},
    {"003-7b", "reduce, 256 processors", SMALL_TIMES(SG_OPERATION_REDUCE), .series = LIBRARIES},
    {"003-8a", "srm allreduce, by processors", TIMES(SG_OPERATION_ALLREDUCE),
     .series = PROCESSORS("srm")},
    {"003-8b", "allreduce, 256 processors", SMALL_TIMES(SG_OPERATION_ALLREDUCE),
     .series = LIBRARIES},
    {"003-9a", "bcast, srm over IBM; published: least and most", SHARES(SG_OPERATION_BCAST, 16, 73),
     .series = PROCESSORS("ibm")},
    {"003-9b", "bcast, srm over MPICH", SHARES(SG_OPERATION_BCAST, 0, 0),
     .series = PROCESSORS("mpich")},
    {"003-10a", "reduce, srm over IBM; published: least and most",
     SHARES(SG_OPERATION_REDUCE, 21, 76), .series = PROCESSORS("ibm")},
    {"003-10b", "reduce, srm over MPICH", SHARES(SG_OPERATION_REDUCE, 0, 0),
     .series = PROCESSORS("mpich")},
    {"003-11a", "allreduce, srm over IBM; published: least and most",
     SHARES(SG_OPERATION_ALLREDUCE, 27, 70), .series = PROCESSORS("ibm")},
    {"003-11b", "allreduce, srm over MPICH", SHARES(SG_OPERATION_ALLREDUCE, 0, 0),
     .series = PROCESSORS("mpich")},
    {"003-12", "Barrier", .network = COLONY, .point = barrier_point,
     .operation = SG_OPERATION_BARRIER, .x = {16, 32, 64, 128, 256}, .points = 5,
     .x_label = "processors", .x_log = true, .y_label = "us", .series = LIBRARIES},
};

const int sg_figures_srm_count = sizeof sg_figures_srm / sizeof *sg_figures_srm;
