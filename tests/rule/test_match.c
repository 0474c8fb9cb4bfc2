/* Tests the match of calls with rules: operations, call sites, communicators, bytes, and choices
 * that are fixed. */
#include "rule/rule_support.h"

#include <stdint.h>

static const struct sg_rule_site solve = {.id = 0x3f2a9c1b,
                                          .module = "cg",
                                          .offset = 0x11c4,
                                          .function = "solve_step",
                                          .file = "/home/me/src/solver.c",
                                          .line = 88};
static const struct sg_rule_site unresolved = {.id = 5, .module = "cg", .offset = 0x20};
static const struct sg_rule_site unknown = {.id = 0};
static const struct sg_rule_comm world = {.name = "MPI_COMM_WORLD", .size = 16};

struct outcome {
    int algorithm;
    bool fixed;
    bool needs_names;
    int64_t degree;
};

static struct outcome match(const char *text, enum sg_operation operation,
                            const struct sg_rule_site *site, const struct sg_rule_comm *comm,
                            uint64_t bytes)
{
    char *log;
    struct sg_ruleset *rules = rules_of(text, &log);
    struct outcome outcome;
    const struct sg_choice *choice;

    CU_ASSERT_STRING_EQUAL(log, "");
    choice = sg_ruleset_match(rules, operation, site, comm, bytes, &outcome.fixed);
    outcome.algorithm = choice->algorithm;
    outcome.degree = choice->parameters[DEGREE];
    outcome.needs_names = sg_ruleset_needs_names(rules);
    free(log);
    sg_ruleset_destroy(rules);
    return outcome;
}

/* Whether a rule "reduce<place>=bypass" takes a reduce. */
static bool takes(const char *place, const struct sg_rule_site *site,
                  const struct sg_rule_comm *comm, uint64_t bytes)
{
    char text[200];

    snprintf(text, sizeof text, "reduce%s=bypass", place);
    return match(text, SG_OPERATION_REDUCE, site, comm, bytes).algorithm == BYPASS;
}

static bool takes_site(const char *site)
{
    return takes(site, &solve, &world, 8);
}

static bool takes_comm(const char *place, const char *name, int size)
{
    return takes(place, &solve, &(struct sg_rule_comm){.name = name, .size = size}, 8);
}

static bool takes_bytes(const char *place, uint64_t bytes)
{
    return takes(place, &solve, &world, bytes);
}

static int algorithm(const char *text, enum sg_operation operation)
{
    return match(text, operation, &solve, &world, 8).algorithm;
}

static bool fixed(const char *text, enum sg_operation operation, uint64_t bytes)
{
    return match(text, operation, &solve, &world, bytes).fixed;
}

/* ---- places ----------------------------------------------------------------------------------*/

static void matches_operations(void)
{
    CU_ASSERT_EQUAL(algorithm("", SG_OPERATION_REDUCE), MPICH);
    CU_ASSERT_EQUAL(algorithm("reduce=adaptive", SG_OPERATION_REDUCE), ADAPTIVE);
    CU_ASSERT_EQUAL(algorithm("reduce=adaptive", SG_OPERATION_ALLREDUCE), MPICH);
    CU_ASSERT_EQUAL(algorithm("*=adaptive", SG_OPERATION_ALLREDUCE), ADAPTIVE);
    CU_ASSERT_EQUAL(algorithm("*=adaptive", SG_OPERATION_BARRIER), MPICH);
    CU_ASSERT_EQUAL(algorithm("*=bypass; *=adaptive", SG_OPERATION_REDUCE), BYPASS);
    CU_ASSERT_EQUAL(algorithm("*=bypass; *=adaptive", SG_OPERATION_ALLREDUCE), ADAPTIVE);
}

static void matches_sites(void)
{
    CU_ASSERT(takes_site("@*"));
    CU_ASSERT(takes_site("@3f2a9c1b"));
    CU_ASSERT_FALSE(takes_site("@3f2a9c1c"));
    CU_ASSERT(takes_site("@cg+0x11c4"));
    CU_ASSERT(takes_site("@c?+0x011C4"));
    CU_ASSERT_FALSE(takes_site("@cg+0x11c5"));
    CU_ASSERT_FALSE(takes_site("@bicg+0x11c4"));
    CU_ASSERT(takes_site("@solve_step"));
    CU_ASSERT(takes_site("@solve*"));
    CU_ASSERT(takes_site("@[rs]olve_????"));
    CU_ASSERT_FALSE(takes_site("@solve"));
    CU_ASSERT_FALSE(takes_site("@SOLVE*"));
}

static void matches_files(void)
{
    CU_ASSERT(takes_site("@solver.c:88"));
    CU_ASSERT(takes_site("@src/solver.c:88"));
    CU_ASSERT(takes_site("@/home/me/src/solver.c:88"));
    CU_ASSERT(takes_site("@./solver.c:88"));
    CU_ASSERT(takes_site("@*.c:88"));
    CU_ASSERT(takes_site("@me/*/solver.c:88"));
    CU_ASSERT_FALSE(takes_site("@olver.c:88"));
    CU_ASSERT_FALSE(takes_site("@rc/solver.c:88"));
    CU_ASSERT_FALSE(takes_site("@me/*.c:88"));
    CU_ASSERT_FALSE(takes_site("@/src/solver.c:88"));
    CU_ASSERT_FALSE(takes_site("@solver.c:8"));
}

/* As stagger report prints them: FUNCTION FILE:LINE, FUNCTION MODULE+0xOFFSET, #ID. */
static void matches_sites_of_reports(void)
{
    static const struct sg_rule_site of_template = {
        .function = "sum of<int, 2>(int, double)", .file = "/src/my sums.cc", .line = 7};

    CU_ASSERT(takes_site("@solve_step solver.c:88"));
    CU_ASSERT(takes_site("@solve_step   src/solver.c:88"));
    CU_ASSERT(takes_site("@solve* *.c:88"));
    CU_ASSERT_FALSE(takes_site("@solve_step solver.c:89"));
    CU_ASSERT_FALSE(takes_site("@other solver.c:88"));
    CU_ASSERT_FALSE(takes_site("@solve_step other.c:88"));
    CU_ASSERT(takes_site("@solve_step cg+0x11c4"));
    CU_ASSERT_FALSE(takes_site("@solve_step cg+0x11c5"));
    CU_ASSERT(takes_site("@#3f2a9c1b"));
    CU_ASSERT_FALSE(takes_site("@#3f2a9c1c"));
    CU_ASSERT(takes("@sum of<int, 2>(int, double) my sums.cc:7", &of_template, &world, 8));
    CU_ASSERT(takes("@my sums.cc:7", &of_template, &world, 8));
    CU_ASSERT_FALSE(takes("@other(int) my sums.cc:7", &of_template, &world, 8));
}

static void matches_communicators_of_reports(void)
{
    CU_ASSERT(takes_comm("~WORLD(4)", "MPI_COMM_WORLD", 4));
    CU_ASSERT(takes_comm("~WORLD", "MPI_COMM_WORLD", 4));
    CU_ASSERT(takes_comm("~MPI_COMM_WORLD", "MPI_COMM_WORLD", 4));
    CU_ASSERT(takes_comm("~MPI_COMM_WORLD(4)", "MPI_COMM_WORLD", 4));
    CU_ASSERT_FALSE(takes_comm("~WORLD(5)", "MPI_COMM_WORLD", 4));
    CU_ASSERT_FALSE(takes_comm("~COMM_WORLD", "MPI_COMM_WORLD", 4));
    CU_ASSERT(takes_comm("~half(2)", "half", 2));
    CU_ASSERT_FALSE(takes_comm("~half(2)", "half", 3));
    CU_ASSERT(takes_comm("~half(2)", "half(2)", 3));
    CU_ASSERT(takes_comm("~half(2)(3)", "half(2)", 3));
    CU_ASSERT_FALSE(takes_comm("~half(x)", "half", 2));
    CU_ASSERT_FALSE(takes_comm("~(2)", "half", 2));
}

static void unknown_parts_match_nothing(void)
{
    CU_ASSERT(takes("@cg+0x20", &unresolved, &world, 8));
    CU_ASSERT_FALSE(takes("@?*", &unresolved, &world, 8));
    CU_ASSERT_FALSE(takes("@*.c:1", &unresolved, &world, 8));
    CU_ASSERT_FALSE(takes("@*+0x0", &unknown, &world, 8));
    CU_ASSERT(takes("@*", &unknown, &world, 8));
    CU_ASSERT_FALSE(takes("~?*", &solve, &(struct sg_rule_comm){.name = NULL, .size = 4}, 8));
}

static void matches_communicators(void)
{
    CU_ASSERT(takes_comm("~ocean*", "ocean 1", 4));
    CU_ASSERT_FALSE(takes_comm("~ocean*", "an ocean", 4));
    CU_ASSERT(takes_comm("~a\\*", "a*", 4));
    CU_ASSERT_FALSE(takes_comm("~a\\*", "ab", 4));
    CU_ASSERT_FALSE(takes_comm("~2-64", "x", 1));
    CU_ASSERT(takes_comm("~2-64", "x", 2));
    CU_ASSERT(takes_comm("~2-64", "x", 64));
    CU_ASSERT_FALSE(takes_comm("~2-64", "x", 65));
    CU_ASSERT_FALSE(takes_comm("~8", "8", 7));
    CU_ASSERT(takes_comm("~8", "x", 8));
    CU_ASSERT(takes_comm("~16-", "x", 2147483647));
    CU_ASSERT(takes_comm("~-4", "x", 4));
    CU_ASSERT_FALSE(takes_comm("~-4", "x", 5));
}

static void matches_bytes(void)
{
    CU_ASSERT(takes_bytes("[0-4k]", 0));
    CU_ASSERT(takes_bytes("[0-4k]", 4096));
    CU_ASSERT_FALSE(takes_bytes("[0-4k]", 4097));
    CU_ASSERT_FALSE(takes_bytes("[5-]", 4));
    CU_ASSERT(takes_bytes("[5-]", 5));
    CU_ASSERT(takes_bytes("[5-]", UINT64_MAX));
    CU_ASSERT(takes_bytes("[-7]", 7));
    CU_ASSERT_FALSE(takes_bytes("[-7]", 8));
    CU_ASSERT(takes_bytes("[8]", 8));
    CU_ASSERT_FALSE(takes_bytes("[8]", 9));
    CU_ASSERT(takes("@solver.c:88~MPI*[8]", &solve, &world, 8));
    CU_ASSERT_FALSE(takes("@solver.c:88~MPI*[8]", &solve, &world, 7));
}

static void fills_parameters(void)
{
    CU_ASSERT_EQUAL(match("reduce=adaptive", SG_OPERATION_REDUCE, &solve, &world, 8).degree, 1);
    CU_ASSERT_EQUAL(
        match("reduce=adaptive(degree=none)", SG_OPERATION_REDUCE, &solve, &world, 8).degree, 0);
    CU_ASSERT_EQUAL(
        match("reduce=adaptive(degree=5)", SG_OPERATION_REDUCE, &solve, &world, 8).degree, 5);
}

static void knows_when_names_are_needed(void)
{
    CU_ASSERT_FALSE(match("*=mpich;reduce@3f2a9c1b~x[8]=mpich;*@cg+0x1=mpich", SG_OPERATION_REDUCE,
                          &solve, &world, 8)
                        .needs_names);
    CU_ASSERT(match("*@f=mpich", SG_OPERATION_REDUCE, &solve, &world, 8).needs_names);
    CU_ASSERT(match("*@f.c:1=mpich", SG_OPERATION_REDUCE, &solve, &world, 8).needs_names);
}

/* ---- fixed -----------------------------------------------------------------------------------*/

static void fixed_choices(void)
{
    CU_ASSERT_TRUE(fixed("", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_TRUE(fixed("reduce@solve*=bypass", SG_OPERATION_REDUCE, 8));
    /* Conditions of other sites and operations, or behind the rule that decides. */
    CU_ASSERT_TRUE(fixed("reduce@other[8]=bypass", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_TRUE(fixed("allreduce[8]=adaptive", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_TRUE(fixed("reduce=bypass;reduce[8]=mpich", SG_OPERATION_REDUCE, 8));
    /* Conditions that change nothing. */
    CU_ASSERT_TRUE(fixed("reduce[8]=mpich", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_TRUE(fixed("reduce~4=mpich", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_TRUE(fixed("reduce[8]=bypass;reduce~4=bypass;*=bypass", SG_OPERATION_REDUCE, 9));
    /* A barrier's bytes are always 0. */
    CU_ASSERT_TRUE(fixed("barrier[1-]=mpich;*[4k-]=adaptive", SG_OPERATION_BARRIER, 0));
}

static void choices_that_vary(void)
{
    CU_ASSERT_FALSE(fixed("reduce[8]=bypass", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_FALSE(fixed("reduce[8]=bypass", SG_OPERATION_REDUCE, 9));
    CU_ASSERT_FALSE(fixed("reduce~16=bypass", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_FALSE(fixed("reduce~ocean=bypass", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_FALSE(fixed("reduce[9]=bypass;reduce=mpich", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_FALSE(fixed("reduce[8]=mpich;reduce[9]=bypass", SG_OPERATION_REDUCE, 8));
    CU_ASSERT_FALSE(
        fixed("reduce[8]=adaptive(degree=2);reduce=adaptive(degree=3)", SG_OPERATION_REDUCE, 8));
}

/* The flag means what it says: where it is set, no communicator or size gets another choice. */
static void fixed_holds_everywhere(void)
{
    static const char *const places[] = {"",    "[8]",     "[-9]",    "[10-]",  "~4",
                                         "~w*", "~8-[9-]", "@solve*", "@other", "@solve*[8]"};
    static const char *const targets[] = {"mpich", "bypass", "adaptive(degree=2)", "adaptive"};
    static const struct sg_rule_comm comms[] = {{.name = "w", .size = 4},
                                                {.name = "w", .size = 9},
                                                {.name = "x", .size = 4},
                                                {.name = "x", .size = 7},
                                                {.name = "x", .size = 8}};
    static const uint64_t bytes[] = {0, 8, 9, 10, 1 << 20};
    unsigned seed = 2;
    int fixed_seen = 0;

    for (int round = 0; round < 3000; round++) {
        char text[300] = "";
        bool is_fixed, differs = false, all_agree = true;
        struct sg_ruleset *rules;
        const struct sg_choice *choice;
        char *log;

        for (int i = rand_r(&seed) % 5; i > 0; i--)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s;",
                     rand_r(&seed) % 2 ? "*" : "reduce", places[rand_r(&seed) % 10],
                     targets[rand_r(&seed) % 4]);
        rules = rules_of(text, &log);
        choice = sg_ruleset_match(rules, SG_OPERATION_REDUCE, &solve, &comms[0], 8, &is_fixed);
        for (int i = 0; i < 25; i++) {
            bool also_fixed;
            const struct sg_choice *other = sg_ruleset_match(
                rules, SG_OPERATION_REDUCE, &solve, &comms[i / 5], bytes[i % 5], &also_fixed);

            differs = differs || memcmp(choice, other, sizeof *choice) != 0;
            all_agree = all_agree && also_fixed == is_fixed;
        }
        fixed_seen += is_fixed;
        sg_ruleset_destroy(rules);
        free(log);
        if ((is_fixed && differs) || (is_fixed && !all_agree)) {
            printf("# %s\n", text);
            CU_FAIL("a fixed choice varies");
            return;
        }
    }
    CU_ASSERT(fixed_seen > 0 && fixed_seen < 3000);
}

/* The name of the algorithm that the built-in table and these rules choose. */
static const char *reached(const char *text, unsigned reach, const struct sg_rule_site *site)
{
    struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES",
                                  (char *)"STAGGER_RULES", (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_rule_comm comm = {.name = "w", .size = 4, .reach = reach};
    struct sg_ruleset *rules = NULL;
    int algorithm;
    bool fixed;

    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    algorithm = sg_ruleset_match(rules, SG_OPERATION_REDUCE, site, &comm, 8, &fixed)->algorithm;
    sg_ruleset_destroy(rules);
    return sg_algorithms[algorithm].name;
}

static void passes_over_what_does_not_reach(void)
{
    CU_ASSERT_STRING_EQUAL(reached("reduce=bypass", SG_REACH_INTERNODE, &solve), "bypass");
    CU_ASSERT_STRING_EQUAL(reached("reduce=bypass", SG_REACH_NODE, &solve), "srm");
    CU_ASSERT_STRING_EQUAL(reached("reduce=handoff;reduce=tree", SG_REACH_NODE, &solve), "handoff");
    CU_ASSERT_STRING_EQUAL(reached("reduce=handoff;reduce=tree", SG_REACH_INTERNODE, &solve),
                           "handoff");
    CU_ASSERT_STRING_EQUAL(
        reached("reduce=handoff(where=inside);*=tree", SG_REACH_INTERNODE, &solve), "tree");
    CU_ASSERT_STRING_EQUAL(
        reached("reduce=handoff(where=between);*=tree", SG_REACH_INTERNODE, &solve), "handoff");
    CU_ASSERT_STRING_EQUAL(reached("reduce=handoff(where=between);*=srm", SG_REACH_NODE, &solve),
                           "srm");
    CU_ASSERT_STRING_EQUAL(reached("reduce=mpich;*=tree", SG_REACH_INTERNODE, &solve), "mpich");
    CU_ASSERT_STRING_EQUAL(reached("barrier=tree", SG_REACH_INTERNODE, &solve), "bypass");
    CU_ASSERT_STRING_EQUAL(reached("reduce@*.c:88=tree", SG_REACH_INTERNODE, &solve), "tree");
    CU_ASSERT_STRING_EQUAL(reached("reduce@*.c:88=tree;reduce=bypass", SG_REACH_INTERNODE, NULL),
                           "bypass");
}

static bool depends_on_site(const char *text)
{
    struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES",
                                  (char *)"STAGGER_RULES", (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_ruleset *rules = NULL;
    bool depends;

    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    depends = sg_ruleset_depends_on_site(rules, SG_OPERATION_REDUCE);
    sg_ruleset_destroy(rules);
    return depends;
}

/* Later rules decide where a rule does not reach, and they may distinguish call sites. */
static void knows_where_sites_matter(void)
{
    CU_ASSERT(!depends_on_site("reduce=mpich; barrier@main=mpich"));
    CU_ASSERT(depends_on_site("reduce@main=mpich"));
    CU_ASSERT(depends_on_site("reduce[4k-]=mpich; reduce@main=handoff"));
    CU_ASSERT(!depends_on_site("reduce=mpich; reduce@main=handoff"));
    CU_ASSERT(!depends_on_site("reduce=handoff; reduce@main=mpich"));
    CU_ASSERT(depends_on_site("reduce=bypass; reduce@main=mpich"));
    CU_ASSERT(depends_on_site("reduce=handoff(where=inside); reduce@main=mpich"));
}

static int messages_of(const char *text, int size)
{
    struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES",
                                  (char *)"STAGGER_RULES", (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_ruleset *rules = NULL;
    int index;

    CU_ASSERT_EQUAL_FATAL(sg_ruleset_create(&config, true, &rules), SG_OK);
    index = sg_ruleset_messages(rules, "MPI_COMM_WORLD", size);
    CU_ASSERT(index < 0 || sg_ruleset_is_of_messages(rules, index));
    sg_ruleset_destroy(rules);
    return index;
}

static void finds_the_rule_for_messages(void)
{
    CU_ASSERT_EQUAL(messages_of("*=bcs", 4), -1);
    CU_ASSERT_EQUAL(messages_of("barrier=bcs; p2p=bcs", 4), 1);
    CU_ASSERT_EQUAL(messages_of("p2p~2-3=bcs", 4), -1);
    CU_ASSERT_EQUAL(messages_of("p2p~2-3=bcs; p2p~MPI_COMM_WORLD=bcs(slice=250)", 4), 1);
    CU_ASSERT_EQUAL(messages_of("p2p~2-3=mpich; p2p=bcs", 3), -1);
    CU_ASSERT_EQUAL(messages_of("p2p~2-3=mpich; p2p=bcs", 4), 1);
}

static void rules_for_messages_match_no_collective(void)
{
    const struct sg_rule_comm comm = {.name = "MPI_COMM_WORLD", .size = 4};
    char *log;
    struct sg_ruleset *rules = rules_of("p2p=mpich; p2p~2-64=mpich; *=mpich", &log);
    bool fixed;

    for (int operation = 0; operation <= SG_OPERATION_ALLREDUCE; operation++) {
        const struct sg_choice *choice =
            sg_ruleset_match(rules, (enum sg_operation)operation, NULL, &comm, 8, &fixed);

        CU_ASSERT(sg_ruleset_index(rules, choice) >= 2);
    }
    free(log);
    sg_ruleset_destroy(rules);
}

/* Whether the only rule of "reduce<place>=bypass" may be a choice on the communicator. */
static bool concerns(const char *place, const char *name, int size)
{
    const struct sg_rule_comm comm = {.name = name, .size = size};
    char text[200], *log;
    struct sg_ruleset *rules;
    bool result;

    snprintf(text, sizeof text, "reduce%s=bypass", place);
    rules = rules_of(text, &log);
    result = sg_ruleset_concerns(rules, 0, &comm);
    CU_ASSERT(sg_ruleset_concerns(rules, 1, &comm)); /* the built-in one */
    free(log);
    sg_ruleset_destroy(rules);
    return result;
}

static void knows_the_largest_call_of_a_choice(void)
{
    char *log;
    struct sg_ruleset *rules =
        rules_of("reduce[-4k]=bypass; reduce[8k-]=bypass(linger=5); reduce=mpich", &log);

    CU_ASSERT(sg_ruleset_most_bytes(rules, 0) == 4096);
    CU_ASSERT(sg_ruleset_most_bytes(rules, 1) == UINT64_MAX);
    CU_ASSERT(sg_ruleset_most_bytes(rules, 2) == UINT64_MAX);
    free(log);
    sg_ruleset_destroy(rules);
}

/* Site and bytes are a call's: they keep no choice from a communicator. */
static void knows_what_concerns_a_communicator(void)
{
    CU_ASSERT(concerns("", "MPI_COMM_WORLD", 4));
    CU_ASSERT(concerns("@solver.c:88[4k-]", "MPI_COMM_WORLD", 4));
    CU_ASSERT(concerns("~MPI_COMM_*", "MPI_COMM_WORLD", 4));
    CU_ASSERT(!concerns("~ocean*", "MPI_COMM_WORLD", 4));
    CU_ASSERT(concerns("~2-4", "rows", 4));
    CU_ASSERT(!concerns("~2-4", "rows", 5));
}

const struct unit_test unit_tests[] = {
    {"rules match their operation, and * what the algorithm takes", matches_operations},
    {"sites match by id, offset and function", matches_sites},
    {"files match by base name or end of path", matches_files},
    {"sites match as reports print them", matches_sites_of_reports},
    {"communicators match as reports print them", matches_communicators_of_reports},
    {"what is not known of a site matches no glob", unknown_parts_match_nothing},
    {"communicators match by name and size, ends included", matches_communicators},
    {"bytes match within their range, ends included", matches_bytes},
    {"a choice has the rule's parameters and the defaults of others", fills_parameters},
    {"only rules with files or functions need names", knows_when_names_are_needed},
    {"a choice that no communicator or size changes is fixed", fixed_choices},
    {"a choice that depends on communicator or size is not", choices_that_vary},
    {"fixed choices hold for every communicator and size", fixed_holds_everywhere},
    {"a choice tells the largest call that may come to it", knows_the_largest_call_of_a_choice},
    {"a rule concerns the communicators that it names", knows_what_concerns_a_communicator},
    {"rules whose algorithm does not run on the communicator are passed over",
     passes_over_what_does_not_reach},
    {"a choice depends on call sites where a rule that names one may be reached",
     knows_where_sites_matter},
    {"finds the rule for messages", finds_the_rule_for_messages},
    {"rules for messages match no collective", rules_for_messages_match_no_collective},
    {NULL, NULL},
};
