/* Tests which choices calls may come to. */
#include "rule/rule_support.h"

static struct sg_ruleset *rules_and_trial(const char *text, const char *trial)
{
    struct sg_config_rule both[] = {
        {SG_CONFIG_RULE_TRIAL, (char *)"STAGGER_TRIAL", (char *)"STAGGER_TRIAL", (char *)trial},
        {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES", (char *)"STAGGER_RULES", (char *)text}};
    struct sg_config config = {.rules = trial != NULL ? both : both + 1,
                               .rule_count = trial != NULL ? 2 : 1};
    struct sg_ruleset *rules = NULL;

    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
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

TEST("no other algorithm is reachable if all rules name mpich")
{
    EXPECT(runs("", NULL, "w", 4), !runs("*=mpich", NULL, "w", 4),
           runs("reduce=mpich;barrier=mpich", NULL, "w", 4),
           !runs("reduce=mpich;barrier=mpich;allreduce=mpich;bcast=mpich", NULL, "w", 4),
           !runs("*=mpich;*=srm", NULL, "w", 4), runs("*=srm;*=mpich", NULL, "w", 4));
}

TEST("algorithms that run only between nodes are not reachable inside a node")
{
    EXPECT(!runs("reduce=bypass;*=srm(where=between);*=mpich", NULL, "w", 4),
           runs("reduce=bypass;*=srm(where=inside);*=mpich", NULL, "w", 4));
}

TEST("a rule that names a call site may match")
{
    EXPECT(runs("*@solver.c:8=srm;*=mpich", NULL, "w", 4),
           !runs("*@solver.c:8=mpich;*=mpich", NULL, "w", 4),
           runs("*@solver.c:8=mpich", NULL, "w", 4),
           !runs("*=mpich;*@solver.c:8=srm", NULL, "w", 4));
}

TEST("communicators are distinguished, and a size of 0 stands for all sizes")
{
    const char *named = "*~ocean*=mpich;*~2-8=handoff;*=mpich";

    EXPECT(!runs(named, NULL, "ocean 1", 4), runs(named, NULL, "air", 4),
           !runs(named, NULL, "air", 9), runs(named, NULL, NULL, 0),
           !runs("*~2-8=mpich;*=mpich", NULL, NULL, 0), runs("*~2-8=mpich", NULL, NULL, 0));
}

TEST("ranges of bytes that cover all sizes hide later rules")
{
    EXPECT(!runs("*[0-64]=mpich;*[65-]=mpich", NULL, "w", 4),
           runs("*[0-64]=mpich;*[66-]=mpich", NULL, "w", 4),
           !runs("*[-1k]=mpich;*[512-]=mpich;*[600-700]=srm", NULL, "w", 4),
           runs("*[8]=srm;*=mpich", NULL, "w", 4), !runs("barrier[8-]=srm;*=mpich", NULL, "w", 4),
           runs("barrier[-8]=srm;*=mpich", NULL, "w", 4));
}

TEST("only sizes from the least one upwards count")
{
    EXPECT(comes_to_srm("", SG_OPERATION_ALLREDUCE, 65536),
           comes_to_srm("*[-1m]=mpich", SG_OPERATION_ALLREDUCE, 65536),
           !comes_to_srm("*[65536-]=mpich", SG_OPERATION_ALLREDUCE, 65536),
           comes_to_srm("*[65537-]=mpich", SG_OPERATION_ALLREDUCE, 65536),
           !comes_to_srm("*[0-100k]=mpich;*[90000-]=handoff", SG_OPERATION_ALLREDUCE, 65536),
           !comes_to_srm("", SG_OPERATION_BARRIER, 1));
}

TEST("a trial that may run counts, whatever its candidates")
{
    EXPECT(runs("*=mpich", "reduce[8-]=mpich|handoff", "w", 4),
           runs("*=mpich", "reduce=mpich|mpich", "w", 4),
           runs("*=mpich", "reduce@x.c:3=mpich|handoff", "w", 4),
           !runs("*=mpich", "reduce=mpich|bypass", "w", 4),
           !runs("*=mpich", "reduce~9=mpich|handoff", "w", 4));
}
