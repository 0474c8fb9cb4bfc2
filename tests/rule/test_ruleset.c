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

static void follows_precedence(void)
{
    static const char text[] = "STAGGER_REDUCE=adaptive\n"
                               "reduce[3-5]=mpich\n"
                               "STAGGER_RULES=reduce[4-6]=bypass\n"
                               "STAGGER_SITE_0000000A=mpich\n";
    struct sg_config config;
    struct sg_ruleset *rules;

    CU_ASSERT_EQUAL(sg_config_parse(text, &config), SG_OK);
    CU_ASSERT_EQUAL(sg_ruleset_create_with(&test_table, &config, true, &rules), SG_OK);
    CU_ASSERT_EQUAL(chosen(rules, 10, 4), MPICH);    /* the site */
    CU_ASSERT_EQUAL(chosen(rules, 11, 4), BYPASS);   /* RULES before the file */
    CU_ASSERT_EQUAL(chosen(rules, 11, 3), MPICH);    /* the file */
    CU_ASSERT_EQUAL(chosen(rules, 11, 2), ADAPTIVE); /* the short variable */
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

static void prints_sources(void)
{
    static const char text[] = "STAGGER_ALLREDUCE=adaptive(wait=spin)\n"
                               "  barrier=mpich # why\n"
                               "STAGGER_RULES=reduce=bypass;*~8=mpich\n"
                               "STAGGER_SITE_0000000a=adaptive\n";
    struct sg_config config;
    struct sg_ruleset *rules;
    char *print;

    CU_ASSERT_EQUAL(sg_config_parse(text, &config), SG_OK);
    CU_ASSERT_EQUAL(sg_ruleset_create_with(&test_table, &config, true, &rules), SG_OK);
    print = printed(rules);
    CU_ASSERT_STRING_EQUAL(
        print, "*@0000000a=adaptive(degree=auto,wait=block,limit=4096) # stagger.conf:4 "
               "STAGGER_SITE_0000000a\n"
               "reduce=bypass # stagger.conf:3 STAGGER_RULES\n"
               "*~8-8=mpich # stagger.conf:3 STAGGER_RULES\n"
               "barrier=mpich # stagger.conf:2\n"
               "allreduce=adaptive(degree=auto,wait=spin,limit=4096) # stagger.conf:1 "
               "STAGGER_ALLREDUCE\n");
    free(print);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

static void names_sources(void)
{
    static const char text[] = "STAGGER_BARRIER=bypass\n"
                               "STAGGER_REDUCE=mpich; x\n"
                               "  barier=mpich\n"
                               "STAGGER_RULES=reduce=\n"
                               "STAGGER_SITE_0000000a=none\n";
    struct sg_config config;
    struct sg_ruleset *rules;
    struct capture capture;
    char *log;

    CU_ASSERT_EQUAL(sg_config_parse(text, &config), SG_OK);
    capture_begin(&capture);
    CU_ASSERT_EQUAL(sg_ruleset_create_with(&test_table, &config, true, &rules), SG_OK);
    log = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(
        log,
        "stagger: stagger.conf:5 STAGGER_SITE_0000000a, column 1: unknown algorithm 'none', "
        "expected one of: mpich, bypass, adaptive; ignored: none\n"
        "stagger: stagger.conf:4 STAGGER_RULES, column 8: expected an algorithm (mpich, bypass, "
        "adaptive), found the end; ignored: reduce=\n"
        "stagger: stagger.conf:3, column 3: expected barrier, reduce, allreduce, bcast or *, found "
        "'barier'; ignored: barier=mpich\n"
        "stagger: stagger.conf:1 STAGGER_BARRIER, column 1: bypass does not support barrier, only "
        "reduce; ignored: bypass\n"
        "stagger: stagger.conf:2 STAGGER_REDUCE, column 6: expected the end of the rule, found "
        "'; x'; ignored: mpich; x\n");
    CU_ASSERT_EQUAL(chosen(rules, 10, 8), MPICH);
    free(log);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
}

static void silent_creation(void)
{
    struct sg_config config;
    struct sg_ruleset *rules;
    struct capture capture;
    char *log;

    CU_ASSERT_EQUAL(sg_config_parse("nonsense\n", &config), SG_OK);
    capture_begin(&capture);
    CU_ASSERT_EQUAL(sg_ruleset_create(&config, false, &rules), SG_OK);
    log = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(log, "");
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
static void table_is_sound(void)
{
    struct sg_algorithm_table table = {sg_algorithms, sg_algorithm_count, sg_rule_defaults};

    CU_ASSERT_STRING_EQUAL(sg_algorithms[SG_ALGORITHM_MPICH].name, "mpich");
    for (int i = 0; i < sg_algorithm_count; i++) {
        const struct sg_algorithm *algorithm = &sg_algorithms[i];
        const struct sg_parameter *parameter = algorithm->parameters;

        CU_ASSERT_EQUAL(find_algorithm(algorithm->name), i);
        CU_ASSERT(algorithm->operations != 0 && algorithm->operations < 1u << SG_OPERATION_COUNT);
        CU_ASSERT_PTR_NOT_NULL(algorithm->documentation);
        for (int j = 0; parameter != NULL && parameter[j].name != NULL; j++) {
            char text[200];
            struct sg_choice choice;
            struct sg_rule_fault fault;

            CU_ASSERT_FATAL(j < SG_PARAMETERS_MAX);
            CU_ASSERT_PTR_NOT_NULL(parameter[j].documentation);
            snprintf(text, sizeof text, "%s(%s=%s)", algorithm->name, parameter[j].name,
                     parameter[j].default_text);
            CU_ASSERT_EQUAL(
                sg_rule_parse_target(&table, -1, text, text + strlen(text), &choice, &fault),
                SG_OK);
        }
    }
    CU_ASSERT_EQUAL(find_algorithm("none"), -1);
}

static void built_in_rules_parse(void)
{
    struct sg_ruleset set = {.table = {sg_algorithms, sg_algorithm_count, sg_rule_defaults}};
    struct sg_rule_reader reader = {.table = set.table, .source = "default", .speak = true};
    struct sg_config config = {0};
    struct sg_ruleset *rules;

    CU_ASSERT_EQUAL(sg_rule_parse_list(&reader, sg_rule_defaults, &set), SG_OK);
    CU_ASSERT_EQUAL(reader.faults, 0);
    for (int i = 0; i < set.count; i++)
        sg_rule_clear(&set.rules[i]);
    free(set.rules);

    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        struct sg_rule_site site = {.id = 0};
        bool fixed;

        CU_ASSERT_PTR_NOT_NULL(
            sg_ruleset_match(rules, (enum sg_operation)operation, &site, &world, 0, &fixed));
    }
    sg_ruleset_destroy(rules);
}

/* Every algorithm between nodes takes it, and no other. */
static void progress_is_named(void)
{
    static const char *const words[] = {"auto", "poll", "thread", "signal"};
    struct sg_algorithm_table table = {sg_algorithms, sg_algorithm_count, "*=mpich"};

    for (int i = 0; i < sg_algorithm_count; i++) {
        for (int word = 0; word < 4; word++) {
            char text[100];
            struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, text, text, text};
            struct sg_config config = {.rules = &rule, .rule_count = 1};
            struct sg_ruleset *rules;
            char *print;

            snprintf(text, sizeof text, "*=%s(progress=%s)", sg_algorithms[i].name, words[word]);
            CU_ASSERT_EQUAL(sg_ruleset_create_with(&table, &config, false, &rules), SG_OK);
            print = printed(rules);
            snprintf(text, sizeof text, "progress=%s)", words[word]);
            /* Candidates of auto take STAGGER_PROGRESS. */
            CU_ASSERT_EQUAL(strstr(print, text) != NULL,
                            (sg_algorithms[i].reach & SG_REACH_INTERNODE) != 0 &&
                                i != SG_ALGORITHM_AUTO);
            free(print);
            sg_ruleset_destroy(rules);
        }
    }
}

static void progress_is_one_of(void)
{
    struct capture capture;
    char *log;

    capture_begin(&capture);
    CU_ASSERT_EQUAL(sg_rule_check("--rule", "reduce=bypass(progress=always)"), SG_ERR_SYNTAX);
    log = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(log, "stagger: --rule, column 24: expected progress to be one of "
                                "auto|poll|thread|signal, found 'always'\n");
    free(log);
}

/* The shortest slice of a text's rules that is short at such wake-ups; 0: none. */
static int64_t short_slice(const char *text, double wake_us)
{
    int64_t slice_us = 0;
    struct sg_config config;
    struct sg_ruleset *rules;
    bool is_short;

    CU_ASSERT_EQUAL_FATAL(sg_config_parse(text, &config), SG_OK);
    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, false, &rules), SG_OK);
    is_short = sg_ruleset_is_slice_short(rules, wake_us, &slice_us);
    CU_ASSERT_EQUAL(is_short, slice_us > 0);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
    return slice_us;
}

static void slices_need_wake_ups(void)
{
    CU_ASSERT_EQUAL(short_slice("reduce=bcs(slice=200)\n", 49.9), 0);
    CU_ASSERT_EQUAL(short_slice("reduce=bcs(slice=200)\n", 50.1), 200);
    CU_ASSERT_EQUAL(short_slice("reduce=bcs\n", 124), 0);
    CU_ASSERT_EQUAL(short_slice("reduce=bcs\n", 126), 500);
    CU_ASSERT_EQUAL(
        short_slice("STAGGER_RULES=reduce=bcs(slice=300);barrier=bcs(slice=101);*=bcs(slice=400)\n",
                    100),
        101);
    CU_ASSERT_EQUAL(short_slice("STAGGER_TRIAL=reduce=mpich|bcs(slice=150)\n", 40), 150);
    CU_ASSERT_EQUAL(short_slice("reduce=bypass\n", 1e9), 0);
    CU_ASSERT_EQUAL(short_slice("reduce=bcs(slice=100)\n", 0), 0);
}

static struct sg_ruleset *own_rules(const char *text)
{
    struct sg_config config;
    struct sg_ruleset *rules;

    CU_ASSERT_EQUAL_FATAL(sg_config_parse(text, &config), SG_OK);
    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, false, &rules), SG_OK);
    sg_config_clear(&config);
    return rules;
}

static void auto_has_arms(void)
{
    const struct sg_rule_comm four = {.name = "w", .size = 4, .reach = SG_REACH_INTERNODE};
    const struct sg_rule_comm eight = {.name = "w", .size = 8, .reach = SG_REACH_INTERNODE};
    struct sg_ruleset *rules = own_rules("allreduce~4[-1k]=auto\nreduce~4=auto(where=inside)\n");
    const struct sg_choice *arm = sg_ruleset_arm(rules, SG_ALGORITHM_SRM);
    bool fixed;
    int index;

    CU_ASSERT_PTR_NOT_NULL_FATAL(arm);
    index = sg_ruleset_index(rules, arm);
    CU_ASSERT_PTR_EQUAL(sg_ruleset_choice(rules, index), arm);
    CU_ASSERT(sg_ruleset_concerns(rules, index, &four));
    CU_ASSERT(!sg_ruleset_concerns(rules, index, &eight));
    CU_ASSERT_EQUAL(sg_ruleset_most_bytes(rules, index), 1024);
    CU_ASSERT_PTR_NULL(sg_ruleset_arm(rules, SG_ALGORITHM_BCS));
    /* No call comes to an arm, beyond the last built-in rule. */
    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        const struct sg_choice *choice =
            sg_ruleset_match(rules, (enum sg_operation)operation, NULL, &eight, 1 << 20, &fixed);

        CU_ASSERT(sg_ruleset_index(rules, choice) < index);
        CU_ASSERT_EQUAL(choice->algorithm, operation == SG_OPERATION_BARRIER ? SG_ALGORITHM_ADAPTIVE
                                                                             : SG_ALGORITHM_MPICH);
    }
    sg_ruleset_destroy(rules);
}

static void arms_are_not_printed(void)
{
    struct sg_ruleset *with = own_rules("*=auto\n"), *without = own_rules("");
    char *print = printed(with), *other = printed(without);

    CU_ASSERT_EQUAL(strstr(print, "*=auto("), print);
    CU_ASSERT_EQUAL(strlen(print), strcspn(print, "\n") + 1 + strlen(other));
    CU_ASSERT(sg_ruleset_count(with) > sg_ruleset_count(without) + 1);
    free(print);
    free(other);
    sg_ruleset_destroy(with);
    sg_ruleset_destroy(without);
}

static void arms_are_made_where_auto_needs_them(void)
{
    static const char *const texts[] = {"", "*=srm\n", "*=auto(where=inside)\n"};

    for (int i = 0; i < 3; i++) {
        struct sg_ruleset *rules = own_rules(texts[i]);

        CU_ASSERT_PTR_NULL(sg_ruleset_arm(rules, SG_ALGORITHM_SRM));
        sg_ruleset_destroy(rules);
    }
}

const struct unit_test unit_tests[] = {
    {"sources decide in order: site, RULES, file, short variable", follows_precedence},
    {"the rules in force are printed with their sources", prints_sources},
    {"a fault names the source it stands in", names_sources},
    {"nothing is said when asked not to speak", silent_creation},
    {"every algorithm is found, takes an operation, and its defaults parse", table_is_sound},
    {"the built-in rules parse and match every operation", built_in_rules_parse},
    {"progress is a parameter of every algorithm between nodes", progress_is_named},
    {"... and a word that is no mode is named, with those that are", progress_is_one_of},
    {"the shortest slice that is shorter than four wake-ups is found", slices_need_wake_ups},
    {"what auto chooses between nodes is found behind the rules, and no call comes to it",
     auto_has_arms},
    {"... is not printed", arms_are_not_printed},
    {"... and is not there where auto is not", arms_are_made_where_auto_needs_them},
    {NULL, NULL},
};
