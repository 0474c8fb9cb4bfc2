/* Tests trials: their text, their precedence over rules, and the order in which candidates take
 * turns. */
#include "rule/rule_support.h"
#include "rule/trial.h"

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
    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
    *log = capture_end(&capture);
    return rules;
}

static struct sg_ruleset *good_trials(const char *text)
{
    char *log;
    struct sg_ruleset *rules = trials(text, &log);

    EXPECT(text_is(log, ""));
    free(log);
    return rules;
}

/* ---- reading ---- */

TEST("a trial has the candidates between the bars, and duplicates are numbered")
{
    struct sg_ruleset *rules =
        good_trials(" reduce@solver.c:88~w[0-4k] = mpich | handoff |bypass(linger=auto);"
                    "barrier=mpich|mpich|srm|mpich\n");
    int first, count;

    EXPECT(sg_trial_count(rules) == 2, sg_trial_arms(rules) == 7);
    sg_trial_range(rules, 1, &first, &count);
    EXPECT(first == 4, count == 4,
           text_is(sg_trial_pattern(rules, 0), "reduce@solver.c:88~w[0-4k]"),
           text_is(sg_trial_arm_text(rules, 1), "mpich"),
           text_is(sg_trial_arm_text(rules, 3), "bypass(linger=auto)"), sg_trial_of(rules, 3) == 0,
           sg_trial_of(rules, 4) == 1, text_is(sg_trial_arm_text(rules, 5), "mpich #2"),
           text_is(sg_trial_arm_text(rules, 6), "srm"),
           text_is(sg_trial_arm_text(rules, 7), "mpich #3"), sg_ruleset_needs_names(rules),
           sg_ruleset_depends_on_site(rules, SG_OPERATION_REDUCE),
           !sg_ruleset_depends_on_site(rules, SG_OPERATION_BARRIER));
    for (int arm = 1; arm <= 7; arm++)
        EXPECT(sg_ruleset_choice(rules, arm - 1)->arm == arm);
    EXPECT(sg_ruleset_choice(rules, 7)->arm == 0);
    sg_ruleset_destroy(rules);
}

static void complains(const char *text, const char *expected)
{
    char *log;
    struct sg_ruleset *rules = trials(text, &log);
    bool said = strstr(log, expected) != NULL && strchr(log, '\n') == log + strlen(log) - 1;

    if (!said)
        printf("# %s: %s", text, log);
    EXPECT(said, sg_trial_count(rules) == 0, sg_ruleset_choice(rules, 0)->arm == 0);
    free(log);
    sg_ruleset_destroy(rules);
}

TEST("a malformed trial is reported in one line")
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

TEST("a malformed trial, or one too many, leaves the others intact")
{
    char *log;
    struct sg_ruleset *rules = trials("reduce=mpich|nothing; barrier=mpich|srm;"
                                      "allreduce=mpich|mpich|mpich|mpich|mpich|mpich|mpich|mpich|"
                                      "mpich|mpich|mpich|mpich|mpich;reduce=mpich|srm",
                                      &log);

    EXPECT(contains(log, "unknown algorithm 'nothing'"),
           contains(log, "in all; ignored: reduce=mpich|srm\n"), sg_trial_count(rules) == 2,
           text_is(sg_trial_pattern(rules, 0), "barrier"));
    free(log);
    sg_ruleset_destroy(rules);
}

/* Rules printed can be read as rules; a trial is none, so it is printed as a comment. */
TEST("trials are printed as comments")
{
    char *log, *print;
    struct sg_ruleset *rules = rules_from(SG_CONFIG_RULE_TRIAL, "STAGGER_TRIAL",
                                          "reduce@f:1 = mpich| bypass;reduce=mpich|mpich", &log);

    print = printed(rules);
    EXPECT(text_is(print, "# in turn: reduce@f:1=mpich|bypass # STAGGER_TRIAL\n"
                          "# in turn: reduce=mpich|mpich #2 # STAGGER_TRIAL\n"));
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

TEST("trials precede rules")
{
    static const char text[] = "STAGGER_SITE_3f2a9c1b=srm\nSTAGGER_RULES=reduce=srm\n"
                               "STAGGER_TRIAL=reduce[8-]=mpich|srm\n";
    struct sg_config config;
    struct sg_ruleset *rules;
    bool fixed;

    EXPECT(sg_config_parse(text, &config) == SG_OK,
           sg_ruleset_create(&config, true, &rules) == SG_OK,
           matched(rules, &inside, false, 8, &fixed) == 1,
           matched(rules, &inside, false, 7, &fixed) == 0, !fixed);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

TEST("a trial with fewer than two runnable candidates does not run")
{
    struct sg_ruleset *rules = good_trials("reduce=bypass|mpich");
    bool fixed;

    EXPECT(matched(rules, &between, false, 8, &fixed) == 1,
           matched(rules, &inside, false, 8, &fixed) == 0, !fixed);
    /* MPICH's own nonblocking calls are not recorded: they are no arm. */
    EXPECT(matched(rules, &between, true, 8, &fixed) == 0);
    sg_ruleset_destroy(rules);
    rules = good_trials("reduce=bypass|mpich|srm(where=inside)|handoff");
    EXPECT(matched(rules, &between, true, 8, &fixed) == 1,
           matched(rules, &inside, false, 8, &fixed) == 2);
    sg_ruleset_destroy(rules);
}

/* Nothing but MPICH's own runs there. */
TEST("a trial in which only MPICH can run does not run")
{
    const struct sg_rule_comm comm = {.name = "w", .size = 1};
    struct sg_ruleset *rules = good_trials("reduce=mpich|srm");
    bool fixed;

    EXPECT(matched(rules, &comm, false, 8, &fixed) == 0);
    sg_ruleset_destroy(rules);
}

/* ---- turns ---- */

TEST("every round runs every candidate once")
{
    for (int arms = 1; arms <= SG_TRIAL_ARMS_MAX; arms++) {
        for (uint64_t round = 0; round < 200; round++) {
            unsigned seen = 0;

            for (int i = 0; i < arms; i++)
                seen |= 1u << sg_trial_order(7, 0, round * (uint64_t)arms + (uint64_t)i, arms);
            EXPECT(seen == (1u << arms) - 1);
        }
    }
}

/* All orders of three come about equally often, whatever came before. */
TEST("all orders and all pairs of successive orders are about equally frequent")
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
        EXPECT(seen[i] == 0 ||
               (seen[i] > ROUNDS / 6 * 95 / 100 && seen[i] < ROUNDS / 6 * 105 / 100));
        for (int j = 0; j < 27; j++)
            EXPECT(pairs[i][j] == 0 ||
                   (pairs[i][j] > ROUNDS / 36 * 85 / 100 && pairs[i][j] < ROUNDS / 36 * 115 / 100));
    }
    EXPECT(orders == 6);
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

TEST("other seeds and other trials give other orders")
{
    EXPECT(like(1, 0, 1, 0) == 1000, like(1, 0, 2, 0) > 400 && like(1, 0, 2, 0) < 600,
           like(1, 0, 1, 1) > 400 && like(1, 0, 1, 1) < 600,
           like(0, 0, 0, 1) > 400 && like(0, 0, 0, 1) < 600);
}

/* The order is not to change from one release to the next: runs are repeated by their seed. */
TEST("a seed's order never changes")
{
    static const char expected[] = "102102102021102210210012102021";
    char order[sizeof expected] = "";

    for (uint64_t block = 0; block < sizeof expected - 1; block++)
        order[block] = (char)('0' + sg_trial_order(1, 0, block, 3));
    EXPECT(text_is(order, expected));
    if (strcmp(order, expected) != 0)
        printf("# %s\n", order);
}

TEST("candidates that do not run on a communicator get no calls there")
{
    struct sg_ruleset *rules =
        good_trials("barrier=mpich|srm; reduce=bypass|mpich|tree|srm(where=inside)|handoff");
    const struct sg_choice *head = sg_ruleset_choice(rules, 2);
    int turns[8] = {0};

    EXPECT(head->arm == 3);
    for (uint64_t block = 0; block < 300; block++)
        turns[sg_trial_turn(rules, head, &inside, 1, block)->arm]++;
    EXPECT(turns[4] == 100); /* mpich */
    EXPECT(turns[6] == 100); /* srm */
    EXPECT(turns[7] == 100); /* handoff */
    for (uint64_t block = 0; block < 400; block++)
        turns[sg_trial_turn(rules, head, &between, 1, block)->arm]++;
    EXPECT(turns[3] == 100, turns[4] == 200, turns[5] == 100, turns[6] == 100, turns[7] == 200);
    sg_ruleset_destroy(rules);
}
