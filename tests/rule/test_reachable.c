/* Tests which choices calls may come to. */
#include "rule/rule_support.h"

#include <stdint.h>
#include <stdlib.h>

static struct sg_ruleset *rules_and_trial(const char *text, const char *trial)
{
    struct sg_config_rule both[] = {
        {SG_CONFIG_RULE_TRIAL, (char *)"STAGGER_TRIAL", (char *)"STAGGER_TRIAL", (char *)trial},
        {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES", (char *)"STAGGER_RULES", (char *)text}};
    struct sg_config config = {.rules = trial != NULL ? both : both + 1,
                               .rule_count = trial != NULL ? 2 : 1};
    struct sg_ruleset *rules = NULL;

    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    return rules;
}

static bool is_ours(const struct sg_choice *choice)
{
    return choice->arm != 0 || choice->algorithm != SG_ALGORITHM_MPICH;
}

static bool is_srm(const struct sg_choice *choice)
{
    return choice->algorithm == SG_ALGORITHM_SRM;
}

/* Any operation, on a communicator of one node. size 0: on any. */
static bool runs(const char *text, const char *trial, const char *name, int size)
{
    struct sg_ruleset *rules = rules_and_trial(text, trial);
    const struct sg_rule_comm comm = {.name = name, .size = size, .reach = SG_REACH_NODE};
    bool may = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++)
        may = may || sg_ruleset_may_choose(rules, (enum sg_operation)operation, &comm, 0, is_ours);
    sg_ruleset_destroy(rules);
    return may;
}

static bool comes_to_srm(const char *text, enum sg_operation operation, uint64_t least_bytes)
{
    struct sg_ruleset *rules = rules_and_trial(text, NULL);
    const struct sg_rule_comm comm = {.reach = SG_REACH_NODE};
    bool may = sg_ruleset_may_choose(rules, operation, &comm, least_bytes, is_srm);

    sg_ruleset_destroy(rules);
    return may;
}

static void nothing_but_mpich(void)
{
    CU_ASSERT(runs("", NULL, "w", 4));
    CU_ASSERT(!runs("*=mpich", NULL, "w", 4));
    CU_ASSERT(runs("reduce=mpich;barrier=mpich", NULL, "w", 4));
    CU_ASSERT(!runs("reduce=mpich;barrier=mpich;allreduce=mpich;bcast=mpich", NULL, "w", 4));
    CU_ASSERT(!runs("*=mpich;*=srm", NULL, "w", 4));
    CU_ASSERT(runs("*=srm;*=mpich", NULL, "w", 4));
}

static void by_reach(void)
{
    CU_ASSERT(!runs("reduce=bypass;*=srm(where=between);*=mpich", NULL, "w", 4));
    CU_ASSERT(runs("reduce=bypass;*=srm(where=inside);*=mpich", NULL, "w", 4));
}

static void by_site(void)
{
    CU_ASSERT(runs("*@solver.c:8=srm;*=mpich", NULL, "w", 4));
    CU_ASSERT(!runs("*@solver.c:8=mpich;*=mpich", NULL, "w", 4));
    CU_ASSERT(runs("*@solver.c:8=mpich", NULL, "w", 4));
    CU_ASSERT(!runs("*=mpich;*@solver.c:8=srm", NULL, "w", 4));
}

static void by_communicator(void)
{
    const char *named = "*~ocean*=mpich;*~2-8=handoff;*=mpich";

    CU_ASSERT(!runs(named, NULL, "ocean 1", 4));
    CU_ASSERT(runs(named, NULL, "air", 4));
    CU_ASSERT(!runs(named, NULL, "air", 9));
    CU_ASSERT(runs(named, NULL, NULL, 0));
    CU_ASSERT(!runs("*~2-8=mpich;*=mpich", NULL, NULL, 0));
    CU_ASSERT(runs("*~2-8=mpich", NULL, NULL, 0));
}

static void by_bytes(void)
{
    CU_ASSERT(!runs("*[0-64]=mpich;*[65-]=mpich", NULL, "w", 4));
    CU_ASSERT(runs("*[0-64]=mpich;*[66-]=mpich", NULL, "w", 4));
    CU_ASSERT(!runs("*[-1k]=mpich;*[512-]=mpich;*[600-700]=srm", NULL, "w", 4));
    CU_ASSERT(runs("*[8]=srm;*=mpich", NULL, "w", 4));
    CU_ASSERT(!runs("barrier[8-]=srm;*=mpich", NULL, "w", 4));
    CU_ASSERT(runs("barrier[-8]=srm;*=mpich", NULL, "w", 4));
}

static void large_only(void)
{
    CU_ASSERT(comes_to_srm("", SG_OPERATION_ALLREDUCE, 65536));
    CU_ASSERT(comes_to_srm("*[-1m]=mpich", SG_OPERATION_ALLREDUCE, 65536));
    CU_ASSERT(!comes_to_srm("*[65536-]=mpich", SG_OPERATION_ALLREDUCE, 65536));
    CU_ASSERT(comes_to_srm("*[65537-]=mpich", SG_OPERATION_ALLREDUCE, 65536));
    CU_ASSERT(!comes_to_srm("*[0-100k]=mpich;*[90000-]=handoff", SG_OPERATION_ALLREDUCE, 65536));
    CU_ASSERT(!comes_to_srm("", SG_OPERATION_BARRIER, 1));
}

static void by_trial(void)
{
    CU_ASSERT(runs("*=mpich", "reduce[8-]=mpich|handoff", "w", 4));
    CU_ASSERT(runs("*=mpich", "reduce=mpich|mpich", "w", 4));
    CU_ASSERT(runs("*=mpich", "reduce@x.c:3=mpich|handoff", "w", 4));
    CU_ASSERT(!runs("*=mpich", "reduce=mpich|bypass", "w", 4));
    CU_ASSERT(!runs("*=mpich", "reduce~9=mpich|handoff", "w", 4));
}

const struct unit_test unit_tests[] = {
    {"where all rules say mpich nothing else is come to", nothing_but_mpich},
    {"nor where other algorithms do not run inside a node", by_reach},
    {"a rule that names a call site may match", by_site},
    {"communicators are told apart, and a size of 0 stands for all", by_communicator},
    {"ranges of bytes that cover all sizes leave nothing to later rules", by_bytes},
    {"only sizes from the least one on count", large_only},
    {"a trial that has turns there counts, whatever its arms", by_trial},
    {NULL, NULL},
};
