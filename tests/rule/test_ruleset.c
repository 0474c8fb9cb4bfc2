/* Tests rulesets: the order of their sources, their print, the built-in table and rules, and the
 * candidates of auto. */
#include "rule/rule_support.h"

static const struct sg_rule_comm world = {.name = "MPI_COMM_WORLD", .size = 16};

static int chosen(const struct sg_ruleset *rules, uint32_t id, uint64_t bytes)
{
    struct sg_rule_site site = {.id = id};
    bool fixed;

    return sg_ruleset_match(rules, SG_OPERATION_REDUCE, &site, &world, bytes, &fixed)->algorithm;
}

TEST("sources take precedence in order: site, RULES, file, short variable")
{
    static const char text[] = "STAGGER_REDUCE=adaptive\n"
                               "reduce[3-5]=mpich\n"
                               "STAGGER_RULES=reduce[4-6]=bypass\n"
                               "STAGGER_SITE_0000000A=mpich\n";
    struct sg_config config;
    struct sg_ruleset *rules;

    EXPECT(sg_config_parse(text, &config) == SG_OK,
           sg_ruleset_create_with(&test_table, &config, true, &rules) == SG_OK);
    EXPECT(chosen(rules, 10, 4) == MPICH);    /* the site */
    EXPECT(chosen(rules, 11, 4) == BYPASS);   /* RULES before the file */
    EXPECT(chosen(rules, 11, 3) == MPICH);    /* the file */
    EXPECT(chosen(rules, 11, 2) == ADAPTIVE); /* the short variable */
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

TEST("the rules in force are printed with their sources")
{
    static const char text[] = "STAGGER_ALLREDUCE=adaptive(wait=spin)\n"
                               "  barrier=mpich # why\n"
                               "STAGGER_RULES=reduce=bypass;*~8=mpich\n"
                               "STAGGER_SITE_0000000a=adaptive\n";
    struct sg_config config;
    struct sg_ruleset *rules;

    EXPECT(sg_config_parse(text, &config) == SG_OK,
           sg_ruleset_create_with(&test_table, &config, true, &rules) == SG_OK);
    char *print = printed(rules);
    EXPECT(text_is(print, "*@0000000a=adaptive(degree=auto,wait=block,limit=4096) # stagger.conf:4 "
                          "STAGGER_SITE_0000000a\n"
                          "reduce=bypass # stagger.conf:3 STAGGER_RULES\n"
                          "*~8-8=mpich # stagger.conf:3 STAGGER_RULES\n"
                          "barrier=mpich # stagger.conf:2\n"
                          "allreduce=adaptive(degree=auto,wait=spin,limit=4096) # stagger.conf:1 "
                          "STAGGER_ALLREDUCE\n"));
    free(print);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

TEST("a fault is reported with its source")
{
    static const char text[] = "STAGGER_BARRIER=bypass\n"
                               "STAGGER_REDUCE=mpich; x\n"
                               "  barier=mpich\n"
                               "STAGGER_RULES=reduce=\n"
                               "STAGGER_SITE_0000000a=none\n";
    struct sg_config config;
    struct sg_ruleset *rules;
    struct capture capture;

    EXPECT(sg_config_parse(text, &config) == SG_OK);
    capture_begin(&capture);
    EXPECT(sg_ruleset_create_with(&test_table, &config, true, &rules) == SG_OK);
    char *log = capture_end(&capture);
    EXPECT(
        text_is(
            log,
            "stagger: stagger.conf:5 STAGGER_SITE_0000000a, column 1: unknown algorithm 'none', "
            "expected one of: mpich, bypass, adaptive; ignored: none\n"
            "stagger: stagger.conf:4 STAGGER_RULES, column 8: expected an algorithm (mpich, "
            "bypass, "
            "adaptive), found the end; ignored: reduce=\n"
            "stagger: stagger.conf:3, column 3: expected barrier, reduce, allreduce, bcast or *, "
            "found "
            "'barier'; ignored: barier=mpich\n"
            "stagger: stagger.conf:1 STAGGER_BARRIER, column 1: bypass does not support barrier, "
            "only "
            "reduce; ignored: bypass\n"
            "stagger: stagger.conf:2 STAGGER_REDUCE, column 6: expected the end of the rule, found "
            "'; x'; ignored: mpich; x\n"),
        chosen(rules, 10, 8) == MPICH);
    free(log);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

TEST("quiet parsing prints nothing")
{
    struct sg_config config;
    struct sg_ruleset *rules;
    struct capture capture;

    EXPECT(sg_config_parse("nonsense\n", &config) == SG_OK);
    capture_begin(&capture);
    EXPECT(sg_ruleset_create(&config, false, &rules) == SG_OK);
    char *log = capture_end(&capture);
    EXPECT(text_is(log, ""));
    free(log);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

/* -1: none of that name. */
static int find_algorithm(const char *name)
{
    for (int i = 0; i < sg_algorithm_count; i++) {
        if (strcmp(sg_algorithms[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* Checks every entry for the properties that rules rely on. */
TEST("every algorithm is found, supports an operation, and its defaults parse")
{
    struct sg_algorithm_table table = {sg_algorithms, sg_algorithm_count, sg_rule_defaults};

    EXPECT(text_is(sg_algorithms[SG_ALGORITHM_MPICH].name, "mpich"));
    for (int i = 0; i < sg_algorithm_count; i++) {
        const struct sg_algorithm *algorithm = &sg_algorithms[i];
        const struct sg_parameter *parameter = algorithm->parameters;

        EXPECT(find_algorithm(algorithm->name) == i,
               algorithm->operations != 0 && algorithm->operations < 1u << SG_OPERATION_COUNT,
               algorithm->documentation != NULL);
        for (int j = 0; parameter != NULL && parameter[j].name != NULL; j++) {
            char text[200];
            struct sg_choice choice;
            struct sg_rule_fault fault;

            ASSERT(j < SG_PARAMETERS_MAX);
            EXPECT(parameter[j].documentation != NULL);
            snprintf(text, sizeof text, "%s(%s=%s)", algorithm->name, parameter[j].name,
                     parameter[j].default_text);
            EXPECT(sg_rule_parse_target(&table, -1, text, text + strlen(text), &choice, &fault) ==
                   SG_OK);
        }
    }
    EXPECT(find_algorithm("none") == -1);
}

TEST("the built-in rules parse and match every operation")
{
    struct sg_ruleset set = {.table = {sg_algorithms, sg_algorithm_count, sg_rule_defaults}};
    struct sg_rule_reader reader = {.table = set.table, .source = "default", .speak = true};
    struct sg_config config = {0};
    struct sg_ruleset *rules;

    EXPECT(sg_rule_parse_list(&reader, sg_rule_defaults, &set) == SG_OK, reader.faults == 0);
    for (int i = 0; i < set.count; i++)
        sg_rule_clear(&set.rules[i]);
    free(set.rules);

    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        struct sg_rule_site site = {.id = 0};
        bool fixed;

        EXPECT(sg_ruleset_match(rules, (enum sg_operation)operation, &site, &world, 0, &fixed) !=
               NULL);
    }
    sg_ruleset_destroy(rules);
}

/* Every algorithm between nodes takes it, and no other. */
TEST("every algorithm between nodes has the parameter progress")
{
    static const char *const words[] = {"auto", "poll", "thread", "signal"};
    struct sg_algorithm_table table = {sg_algorithms, sg_algorithm_count, "*=mpich"};

    for (int i = 0; i < sg_algorithm_count; i++) {
        for (int word = 0; word < 4; word++) {
            char text[100];
            struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, text, text, text};
            struct sg_config config = {.rules = &rule, .rule_count = 1};
            struct sg_ruleset *rules;

            snprintf(text, sizeof text, "*=%s(progress=%s)", sg_algorithms[i].name, words[word]);
            EXPECT(sg_ruleset_create_with(&table, &config, false, &rules) == SG_OK);
            char *print = printed(rules);
            snprintf(text, sizeof text, "progress=%s)", words[word]);
            /* Candidates of auto take STAGGER_PROGRESS. */
            EXPECT((strstr(print, text) != NULL) ==
                   ((sg_algorithms[i].reach & SG_REACH_INTERNODE) != 0 && i != SG_ALGORITHM_AUTO));
            free(print);
            sg_ruleset_destroy(rules);
        }
    }
}

TEST("an unknown mode of progress is reported with the known ones")
{
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_rule_check("--rule", "reduce=bypass(progress=always)") == SG_ERR_SYNTAX);
    char *log = capture_end(&capture);
    EXPECT(text_is(log, "stagger: --rule, column 24: expected progress to be one of "
                        "auto|poll|thread|signal, found 'always'\n"));
    free(log);
}

/* The shortest slice of a text's rules that is short at such wake-ups; 0: none. */
static int64_t short_slice(const char *text, double wake_us)
{
    int64_t slice_us = 0;
    struct sg_config config;
    struct sg_ruleset *rules;

    ASSERT(sg_config_parse(text, &config) == SG_OK,
           sg_ruleset_create(&config, false, &rules) == SG_OK);
    bool is_short = sg_ruleset_is_slice_short(rules, wake_us, &slice_us);
    EXPECT(is_short == (slice_us > 0));
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
    return slice_us;
}

TEST("the shortest slice below four wake-ups is found")
{
    EXPECT(
        short_slice("reduce=bcs(slice=200)\n", 49.9) == 0,
        short_slice("reduce=bcs(slice=200)\n", 50.1) == 200, short_slice("reduce=bcs\n", 124) == 0,
        short_slice("reduce=bcs\n", 126) == 500,
        short_slice("STAGGER_RULES=reduce=bcs(slice=300);barrier=bcs(slice=101);*=bcs(slice=400)\n",
                    100) == 101,
        short_slice("STAGGER_TRIAL=reduce=mpich|bcs(slice=150)\n", 40) == 150,
        short_slice("reduce=bypass\n", 1e9) == 0, short_slice("reduce=bcs(slice=100)\n", 0) == 0);
}

static struct sg_ruleset *own_rules(const char *text)
{
    struct sg_config config;
    struct sg_ruleset *rules;

    ASSERT(sg_config_parse(text, &config) == SG_OK,
           sg_ruleset_create(&config, false, &rules) == SG_OK);
    sg_config_clear(&config);
    return rules;
}

TEST("auto's choice between nodes is stored after the rules, and no call matches it")
{
    const struct sg_rule_comm four = {.name = "w", .size = 4, .reach = SG_REACH_INTERNODE};
    const struct sg_rule_comm eight = {.name = "w", .size = 8, .reach = SG_REACH_INTERNODE};
    struct sg_ruleset *rules = own_rules("allreduce~4[-1k]=auto\nreduce~4=auto(where=inside)\n");
    const struct sg_choice *arm = sg_ruleset_arm(rules, SG_ALGORITHM_SRM);
    bool fixed;

    ASSERT(arm != NULL);
    int index = sg_ruleset_index(rules, arm);
    EXPECT(sg_ruleset_choice(rules, index) == arm, sg_ruleset_concerns(rules, index, &four),
           !sg_ruleset_concerns(rules, index, &eight), sg_ruleset_most_bytes(rules, index) == 1024,
           sg_ruleset_arm(rules, SG_ALGORITHM_BCS) == NULL);
    /* No call comes to an arm, beyond the last built-in rule. */
    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        const struct sg_choice *choice =
            sg_ruleset_match(rules, (enum sg_operation)operation, NULL, &eight, 1 << 20, &fixed);

        EXPECT(sg_ruleset_index(rules, choice) < index,
               choice->algorithm == (operation == SG_OPERATION_BARRIER ? SG_ALGORITHM_ADAPTIVE
                                                                       : SG_ALGORITHM_MPICH));
    }
    sg_ruleset_destroy(rules);
}

TEST("auto's choice between nodes is not printed")
{
    struct sg_ruleset *with = own_rules("*=auto\n"), *without = own_rules("");
    char *print = printed(with), *other = printed(without);

    EXPECT(strstr(print, "*=auto(") == print,
           strlen(print) == strcspn(print, "\n") + 1 + strlen(other),
           sg_ruleset_count(with) > sg_ruleset_count(without) + 1);
    free(print);
    free(other);
    sg_ruleset_destroy(with);
    sg_ruleset_destroy(without);
}

TEST("rules without auto have no choice of auto")
{
    static const char *const texts[] = {"", "*=srm\n", "*=auto(where=inside)\n"};

    for (int i = 0; i < 3; i++) {
        struct sg_ruleset *rules = own_rules(texts[i]);

        EXPECT(sg_ruleset_arm(rules, SG_ALGORITHM_SRM) == NULL);
        sg_ruleset_destroy(rules);
    }
}
