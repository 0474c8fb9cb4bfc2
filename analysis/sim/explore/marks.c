#include "sim/explore/marks.h"

static const char *const host_names[SG_HOST_MARK_COUNT - SG_MARK_COUNT] = {
    [SG_HOST_SIGNAL - SG_MARK_COUNT] = "signal while computing",
    [SG_HOST_SIGNAL_IN_PROGRESS - SG_MARK_COUNT] = "signal while in progress",
    [SG_HOST_LOST - SG_MARK_COUNT] = "multicast lost",
    [SG_HOST_REPEATED - SG_MARK_COUNT] = "multicast repeated",
    [SG_HOST_OVERTAKEN - SG_MARK_COUNT] = "message overtaken",
    [SG_HOST_TIMER_EARLY - SG_MARK_COUNT] = "timer before messages",
    [SG_HOST_DRAIN_OUTSTANDING - SG_MARK_COUNT] = "drained while outstanding",
    [SG_HOST_CROSSED_CALL - SG_MARK_COUNT] = "message before its call",
};

/* Which protocols can reach a mark: one of them is enough. */
static const struct {
    int mark;
    const struct sg_algo *by[SG_EXPLORE_ALGOS_MAX];
} reachable[] = {
    {SG_MARK_EARLY,
     {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree, &sg_algo_dissemination,
      &sg_algo_pairwise}},
    {SG_MARK_LATE, {&sg_algo_bypass}},
    {SG_MARK_CREDIT_OUT, {&sg_algo_bypass, &sg_algo_tree, &sg_algo_handoff, &sg_algo_srm}},
    {SG_MARK_POOL_OUT, {&sg_algo_bypass}},
    {SG_MARK_PULLED, {&sg_algo_bypass}},
    {SG_MARK_LINGER_PAID, {&sg_algo_bypass}},
    {SG_MARK_LINGER_VAIN, {&sg_algo_bypass}},
    {SG_MARK_TOKEN_ACK_CROSS, {&sg_algo_adaptive}},
    {SG_MARK_TOKEN_MOVED, {&sg_algo_adaptive}},
    {SG_MARK_TOKENS_MEET, {&sg_algo_adaptive}},
    {SG_MARK_PREDICTED, {&sg_algo_adaptive}},
    {SG_MARK_PREDICT_WRONG, {&sg_algo_adaptive}},
    {SG_MARK_RELEASE_LOST, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_ANSWERED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_FORWARDED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_REPEATED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_EARLY, {&sg_algo_adaptive}},
    {SG_MARK_SECOND_CLIMBED, {&sg_algo_handoff}},
    {SG_MARK_SPLIT_FINISHED, {&sg_algo_bypass, &sg_algo_handoff, &sg_algo_srm}},
    {SG_HOST_SIGNAL, {&sg_algo_bypass}},
    {SG_HOST_SIGNAL_IN_PROGRESS, {&sg_algo_bypass}},
    {SG_HOST_LOST, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_HOST_REPEATED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_HOST_OVERTAKEN, {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree}},
    {SG_HOST_TIMER_EARLY, {&sg_algo_adaptive, &sg_algo_bypass, &sg_algo_tree}},
    {SG_HOST_DRAIN_OUTSTANDING, {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree}},
    {SG_HOST_CROSSED_CALL,
     {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree, &sg_algo_dissemination,
      &sg_algo_pairwise}},
};

static bool concerns(const struct sg_algo *const *by, const struct sg_algo *const *algos,
                     uint32_t algos_count)
{
    for (uint32_t i = 0; i < SG_EXPLORE_ALGOS_MAX && by[i] != NULL; i++) {
        for (uint32_t j = 0; j < algos_count; j++) {
            if (by[i] == algos[j])
                return true;
        }
    }
    return false;
}

uint32_t sg_explore_print_marks(const uint64_t *marks, const struct sg_algo *const *algos,
                                uint32_t algos_count, FILE *out)
{
    uint32_t missed = 0;

    fputs("rare states reached:\n", out);
    for (size_t i = 0; i < sizeof reachable / sizeof *reachable; i++) {
        int mark = reachable[i].mark;

        if (!concerns(reachable[i].by, algos, algos_count))
            continue;
        fprintf(out, "  %12llu  %s\n", (unsigned long long)marks[mark],
                mark < SG_MARK_COUNT ? sg_mark_names[mark] : host_names[mark - SG_MARK_COUNT]);
        missed += marks[mark] == 0;
    }
    return missed;
}
