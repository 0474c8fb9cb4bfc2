/* Tests trials: their text, their precedence over rules, and the order in which candidates take
 * turns. */
#include "rule/rule_support.h"
#include "rule/trial.h"

#include <stdint.h>

static const struct sg_rule_site solve = {
    .id = 0x3f2a9c1b, .function = "solve", .file = "/src/solver.c", .line = 88};
static const struct sg_rule_comm inside = {.name = "w", .size = 4, .reach = SG_REACH_NODE};
static const struct sg_rule_comm between = {.name = "w", .size = 4, .reach = SG_REACH_INTERNODE};

/* A set of the built-in algorithms with a trial, and what was said. */
static struct sg_ruleset *trials(const char *text, char **log)
{
    struct sg_config_rule rule = {SG_CONFIG_RULE_TRIAL, (char *)"STAGGER_TRIAL",
                                  (char *)"STAGGER_TRIAL", (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_ruleset *rules = NULL;
    struct capture capture;

    capture_begin(&capture);
    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    *log = capture_end(&capture);
    return rules;
}

static struct sg_ruleset *good_trials(const char *text)
{
    char *log;
    struct sg_ruleset *rules = trials(text, &log);

    CU_ASSERT_STRING_EQUAL(log, "");
    free(log);
    return rules;
}

/* ---- reading ---- */

static void reads_arms(void)
{
    struct sg_ruleset *rules =
        good_trials(" reduce@solver.c:88~w[0-4k] = mpich | handoff |bypass(linger=auto);"
                    "barrier=mpich|mpich|srm|mpich\n");
    int first, count;

    CU_ASSERT_EQUAL(sg_trial_count(rules), 2);
    CU_ASSERT_EQUAL(sg_trial_arms(rules), 7);
    sg_trial_range(rules, 1, &first, &count);
    CU_ASSERT_EQUAL(first, 4);
    CU_ASSERT_EQUAL(count, 4);
    CU_ASSERT_STRING_EQUAL(sg_trial_pattern(rules, 0), "reduce@solver.c:88~w[0-4k]");
    CU_ASSERT_STRING_EQUAL(sg_trial_arm_text(rules, 1), "mpich");
    CU_ASSERT_STRING_EQUAL(sg_trial_arm_text(rules, 3), "bypass(linger=auto)");
    CU_ASSERT_EQUAL(sg_trial_of(rules, 3), 0);
    CU_ASSERT_EQUAL(sg_trial_of(rules, 4), 1);
    CU_ASSERT_STRING_EQUAL(sg_trial_arm_text(rules, 5), "mpich #2");
    CU_ASSERT_STRING_EQUAL(sg_trial_arm_text(rules, 6), "srm");
    CU_ASSERT_STRING_EQUAL(sg_trial_arm_text(rules, 7), "mpich #3");
    CU_ASSERT(sg_ruleset_needs_names(rules));
    CU_ASSERT(sg_ruleset_depends_on_site(rules, SG_OPERATION_REDUCE));
    CU_ASSERT(!sg_ruleset_depends_on_site(rules, SG_OPERATION_BARRIER));
    for (int arm = 1; arm <= 7; arm++)
        CU_ASSERT_EQUAL(sg_ruleset_choice(rules, arm - 1)->arm, arm);
    CU_ASSERT_EQUAL(sg_ruleset_choice(rules, 7)->arm, 0);
    sg_ruleset_destroy(rules);
}

static void complains(const char *text, const char *expected)
{
    char *log;
    struct sg_ruleset *rules = trials(text, &log);
    bool said = strstr(log, expected) != NULL && strchr(log, '\n') == log + strlen(log) - 1;

    if (!said)
        printf("# %s: %s", text, log);
    CU_ASSERT(said);
    CU_ASSERT_EQUAL(sg_trial_count(rules), 0);
    CU_ASSERT_EQUAL(sg_ruleset_choice(rules, 0)->arm, 0);
    free(log);
    sg_ruleset_destroy(rules);
}

static void says_what_does_not_parse(void)
{
    complains("reduce@solver.c:88",
              "STAGGER_TRIAL, column 19: expected '=' and algorithms separated by '|', found the "
              "end; ignored: reduce@solver.c:88");
    complains("reduce=mpich", "column 13: expected '|' and a second algorithm, found the end");
    complains("reduce=mpich|handof", "column 14: unknown algorithm 'handof', expected one of: mpi");
    complains(" reduce=mpich| adaptive", "column 16: adaptive does not support reduce, only ");
    complains("reduce=mpich|bypass(linger=x)|srm", "column 28: expected linger from 0 to 100000");
    complains("reduce=mpich|", "column 14: expected an algorithm (");
    complains("reduce=mpich||srm", "column 14: expected an algorithm (");
    complains("reduc=mpich|srm",
              "column 1: expected barrier, reduce, allreduce, bcast or *, found 'redu");
    complains("reduce@x:0=mpich|srm", "column 10: expected a line from 1");
    complains("*=mpich|handoff", "column 1: expected one operation in a trial, found '*'");
    complains("barrier=mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|"
              "mpich|mpich|mpich|mpich",
              "trials have more than 15 algorithms in all");
}

static void keeps_what_parses(void)
{
    char *log;
    struct sg_ruleset *rules = trials("reduce=mpich|nothing; barrier=mpich|srm;"
                                      "allreduce=mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|"
                                      "mpich|mpich|mpich|mpich|mpich;reduce=mpich|srm",
                                      &log);

    CU_ASSERT_PTR_NOT_NULL(strstr(log, "unknown algorithm 'nothing'"));
    CU_ASSERT_PTR_NOT_NULL(strstr(log, "in all; ignored: reduce=mpich|srm\n"));
    CU_ASSERT_EQUAL(sg_trial_count(rules), 2);
    CU_ASSERT_STRING_EQUAL(sg_trial_pattern(rules, 0), "barrier");
    free(log);
    sg_ruleset_destroy(rules);
}

/* Rules printed can be read as rules; a trial is none, so it is printed as a comment. */
static void prints_as_comments(void)
{
    char *log, *print;
    struct sg_ruleset *rules = rules_from(SG_CONFIG_RULE_TRIAL, "STAGGER_TRIAL",
                                          "reduce@f:1 = mpich| bypass;reduce=mpich|mpich", &log);

    print = printed(rules);
    CU_ASSERT_STRING_EQUAL(print, "# in turn: reduce@f:1=mpich|bypass # STAGGER_TRIAL\n"
                                  "# in turn: reduce=mpich|mpich #2 # STAGGER_TRIAL\n");
    free(print);
    free(log);
    sg_ruleset_destroy(rules);
}

/* ---- matching ---- */

/* The arm of the choice that stands for what a call is matched with. */
static int matched(const struct sg_ruleset *rules, const struct sg_rule_comm *comm,
                   bool nonblocking, uint64_t bytes, bool *fixed)
{
    struct sg_rule_comm with = *comm;

    with.nonblocking = nonblocking;
    return sg_ruleset_match(rules, SG_OPERATION_REDUCE, &solve, &with, bytes, fixed)->arm;
}

static void stands_before_rules(void)
{
    static const char text[] = "STAGGER_SITE_3f2a9c1b=srm\nSTAGGER_RULES=reduce=srm\n"
                               "STAGGER_TRIAL=reduce[8-]=mpich|srm\n";
    struct sg_config config;
    struct sg_ruleset *rules;
    bool fixed;

    CU_ASSERT_EQUAL(sg_config_parse(text, &config), SG_OK);
    CU_ASSERT_EQUAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    CU_ASSERT_EQUAL(matched(rules, &inside, false, 8, &fixed), 1);
    CU_ASSERT_EQUAL(matched(rules, &inside, false, 7, &fixed), 0);
    CU_ASSERT(!fixed);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

static void is_none_where_one_arm_is_left(void)
{
    struct sg_ruleset *rules = good_trials("reduce=bypass|mpich");
    bool fixed;

    CU_ASSERT_EQUAL(matched(rules, &between, false, 8, &fixed), 1);
    CU_ASSERT_EQUAL(matched(rules, &inside, false, 8, &fixed), 0);
    CU_ASSERT(!fixed);
    /* MPICH's own nonblocking calls are not recorded: they are no arm. */
    CU_ASSERT_EQUAL(matched(rules, &between, true, 8, &fixed), 0);
    sg_ruleset_destroy(rules);
    rules = good_trials("reduce=bypass|mpich|srm(where=inside)|handoff");
    CU_ASSERT_EQUAL(matched(rules, &between, true, 8, &fixed), 1);
    CU_ASSERT_EQUAL(matched(rules, &inside, false, 8, &fixed), 2);
    sg_ruleset_destroy(rules);
}

/* Nothing but MPICH's own runs there. */
static void is_none_without_an_engine(void)
{
    const struct sg_rule_comm comm = {.name = "w", .size = 1};
    struct sg_ruleset *rules = good_trials("reduce=mpich|srm");
    bool fixed;

    CU_ASSERT_EQUAL(matched(rules, &comm, false, 8, &fixed), 0);
    sg_ruleset_destroy(rules);
}

/* ---- turns ---- */

static void rounds_are_balanced(void)
{
    for (int arms = 1; arms <= SG_TRIAL_ARMS_MAX; arms++) {
        for (uint64_t round = 0; round < 200; round++) {
            unsigned seen = 0;

            for (int i = 0; i < arms; i++)
                seen |= 1u << sg_trial_order(7, 0, round * (uint64_t)arms + (uint64_t)i, arms);
            CU_ASSERT_EQUAL(seen, (1u << arms) - 1);
        }
    }
}

/* All orders of three come about equally often, whatever came before. */
static void orders_are_even(void)
{
    enum { ROUNDS = 36000 };
    int seen[27] = {0}, pairs[27][27] = {{0}}, before = -1, orders = 0;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        int code = 0;

        for (int i = 0; i < 3; i++)
            code = 3 * code + sg_trial_order(1, 0, 3 * round + (uint64_t)i, 3);
        seen[code]++;
        if (before >= 0)
            pairs[before][code]++;
        before = code;
    }
    for (int i = 0; i < 27; i++) {
        orders += seen[i] > 0;
        CU_ASSERT(seen[i] == 0 ||
                  (seen[i] > ROUNDS / 6 * 95 / 100 && seen[i] < ROUNDS / 6 * 105 / 100));
        for (int j = 0; j < 27; j++)
            CU_ASSERT(pairs[i][j] == 0 || (pairs[i][j] > ROUNDS / 36 * 85 / 100 &&
                                           pairs[i][j] < ROUNDS / 36 * 115 / 100));
    }
    CU_ASSERT_EQUAL(orders, 6);
}

/* Counts the rounds, of 1000 with two candidates, that have the same order under both. */
static int like(uint32_t seed, int trial, uint32_t other_seed, int other_trial)
{
    int alike = 0;

    for (uint64_t round = 0; round < 1000; round++)
        alike += sg_trial_order(seed, trial, 2 * round, 2) ==
                 sg_trial_order(other_seed, other_trial, 2 * round, 2);
    return alike;
}

static void seeds_and_trials_differ(void)
{
    CU_ASSERT_EQUAL(like(1, 0, 1, 0), 1000);
    CU_ASSERT(like(1, 0, 2, 0) > 400 && like(1, 0, 2, 0) < 600);
    CU_ASSERT(like(1, 0, 1, 1) > 400 && like(1, 0, 1, 1) < 600);
    CU_ASSERT(like(0, 0, 0, 1) > 400 && like(0, 0, 0, 1) < 600);
}

/* The order is not to change from one release to the next: runs are repeated by their seed. */
static void order_is_what_it_was(void)
{
    static const char expected[] = "102102102021102210210012102021";
    char order[sizeof expected] = "";

    for (uint64_t block = 0; block < sizeof expected - 1; block++)
        order[block] = (char)('0' + sg_trial_order(1, 0, block, 3));
    CU_ASSERT_STRING_EQUAL(order, expected);
    if (strcmp(order, expected) != 0)
        printf("# %s\n", order);
}

static void only_those_that_run_have_turns(void)
{
    struct sg_ruleset *rules =
        good_trials("barrier=mpich|srm; reduce=bypass|mpich|tree|srm(where=inside)|handoff");
    const struct sg_choice *head = sg_ruleset_choice(rules, 2);
    int turns[8] = {0};

    CU_ASSERT_EQUAL(head->arm, 3);
    for (uint64_t block = 0; block < 300; block++)
        turns[sg_trial_turn(rules, head, &inside, 1, block)->arm]++;
    CU_ASSERT_EQUAL(turns[4], 100); /* mpich */
    CU_ASSERT_EQUAL(turns[6], 100); /* srm */
    CU_ASSERT_EQUAL(turns[7], 100); /* handoff */
    for (uint64_t block = 0; block < 400; block++)
        turns[sg_trial_turn(rules, head, &between, 1, block)->arm]++;
    CU_ASSERT_EQUAL(turns[3], 100);
    CU_ASSERT_EQUAL(turns[4], 200);
    CU_ASSERT_EQUAL(turns[5], 100);
    CU_ASSERT_EQUAL(turns[6], 100);
    CU_ASSERT_EQUAL(turns[7], 200);
    sg_ruleset_destroy(rules);
}

const struct unit_test unit_tests[] = {
    {"a trial has the arms between the bars, and those written alike a number", reads_arms},
    {"what does not parse as a trial is said in one line", says_what_does_not_parse},
    {"a trial that does not parse, or for which there is no room, leaves the others alone",
     keeps_what_parses},
    {"trials are printed as comments", prints_as_comments},
    {"trials stand before rules", stands_before_rules},
    {"where fewer than two arms run there is no trial", is_none_where_one_arm_is_left},
    {"where nothing but MPICH runs there is no trial", is_none_without_an_engine},
    {"every round has every arm once", rounds_are_balanced},
    {"all orders come about equally often, and after each other", orders_are_even},
    {"other seeds and other trials have other orders", seeds_and_trials_differ},
    {"a seed's order stays what it is", order_is_what_it_was},
    {"arms that do not run on a communicator have no turns there", only_those_that_run_have_turns},
    {NULL, NULL},
};
