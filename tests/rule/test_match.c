/* Tests the match of calls with rules: operations, call sites, communicators, bytes, and choices
 * that are fixed. */
#include "rule/rule_support.h"

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

    EXPECT(text_is(log, ""));
    const struct sg_choice *choice =
        sg_ruleset_match(rules, operation, site, comm, bytes, &outcome.fixed);
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

TEST("a rule matches its operation, and * matches all that the algorithm supports")
{
    EXPECT(algorithm("", SG_OPERATION_REDUCE) == MPICH,
           algorithm("reduce=adaptive", SG_OPERATION_REDUCE) == ADAPTIVE,
           algorithm("reduce=adaptive", SG_OPERATION_ALLREDUCE) == MPICH,
           algorithm("*=adaptive", SG_OPERATION_ALLREDUCE) == ADAPTIVE,
           algorithm("*=adaptive", SG_OPERATION_BARRIER) == MPICH,
           algorithm("*=bypass; *=adaptive", SG_OPERATION_REDUCE) == BYPASS,
           algorithm("*=bypass; *=adaptive", SG_OPERATION_ALLREDUCE) == ADAPTIVE);
}

TEST("sites match by id, offset and function")
{
    EXPECT(takes_site("@*"), takes_site("@3f2a9c1b"), !takes_site("@3f2a9c1c"),
           takes_site("@cg+0x11c4"), takes_site("@c?+0x011C4"), !takes_site("@cg+0x11c5"),
           !takes_site("@bicg+0x11c4"), takes_site("@solve_step"), takes_site("@solve*"),
           takes_site("@[rs]olve_????"), !takes_site("@solve"), !takes_site("@SOLVE*"));
}

TEST("files match by base name or by the end of the path")
{
    EXPECT(takes_site("@solver.c:88"), takes_site("@src/solver.c:88"),
           takes_site("@/home/me/src/solver.c:88"), takes_site("@./solver.c:88"),
           takes_site("@*.c:88"), takes_site("@me/*/solver.c:88"), !takes_site("@olver.c:88"),
           !takes_site("@rc/solver.c:88"), !takes_site("@me/*.c:88"),
           !takes_site("@/src/solver.c:88"), !takes_site("@solver.c:8"));
}

/* As stagger report prints them: FUNCTION FILE:LINE, FUNCTION MODULE+0xOFFSET, #ID. */
TEST("a call site copied from a report matches")
{
    static const struct sg_rule_site of_template = {
        .function = "sum of<int, 2>(int, double)", .file = "/src/my sums.cc", .line = 7};

    EXPECT(takes_site("@solve_step solver.c:88"), takes_site("@solve_step   src/solver.c:88"),
           takes_site("@solve* *.c:88"), !takes_site("@solve_step solver.c:89"),
           !takes_site("@other solver.c:88"), !takes_site("@solve_step other.c:88"),
           takes_site("@solve_step cg+0x11c4"), !takes_site("@solve_step cg+0x11c5"),
           takes_site("@#3f2a9c1b"), !takes_site("@#3f2a9c1c"),
           takes("@sum of<int, 2>(int, double) my sums.cc:7", &of_template, &world, 8),
           takes("@my sums.cc:7", &of_template, &world, 8),
           !takes("@other(int) my sums.cc:7", &of_template, &world, 8));
}

TEST("a communicator copied from a report matches")
{
    EXPECT(takes_comm("~WORLD(4)", "MPI_COMM_WORLD", 4), takes_comm("~WORLD", "MPI_COMM_WORLD", 4),
           takes_comm("~MPI_COMM_WORLD", "MPI_COMM_WORLD", 4),
           takes_comm("~MPI_COMM_WORLD(4)", "MPI_COMM_WORLD", 4),
           !takes_comm("~WORLD(5)", "MPI_COMM_WORLD", 4),
           !takes_comm("~COMM_WORLD", "MPI_COMM_WORLD", 4), takes_comm("~half(2)", "half", 2),
           !takes_comm("~half(2)", "half", 3), takes_comm("~half(2)", "half(2)", 3),
           takes_comm("~half(2)(3)", "half(2)", 3), !takes_comm("~half(x)", "half", 2),
           !takes_comm("~(2)", "half", 2));
}

TEST("a glob does not match unknown parts of a site")
{
    EXPECT(takes("@cg+0x20", &unresolved, &world, 8), !takes("@?*", &unresolved, &world, 8),
           !takes("@*.c:1", &unresolved, &world, 8), !takes("@*+0x0", &unknown, &world, 8),
           takes("@*", &unknown, &world, 8),
           !takes("~?*", &solve, &(struct sg_rule_comm){.name = NULL, .size = 4}, 8));
}

TEST("communicators match by name and size range, bounds included")
{
    EXPECT(takes_comm("~ocean*", "ocean 1", 4), !takes_comm("~ocean*", "an ocean", 4),
           takes_comm("~a\\*", "a*", 4), !takes_comm("~a\\*", "ab", 4),
           !takes_comm("~2-64", "x", 1), takes_comm("~2-64", "x", 2), takes_comm("~2-64", "x", 64),
           !takes_comm("~2-64", "x", 65), !takes_comm("~8", "8", 7), takes_comm("~8", "x", 8),
           takes_comm("~16-", "x", 2147483647), takes_comm("~-4", "x", 4),
           !takes_comm("~-4", "x", 5));
}

TEST("bytes match within their range, bounds included")
{
    EXPECT(takes_bytes("[0-4k]", 0), takes_bytes("[0-4k]", 4096), !takes_bytes("[0-4k]", 4097),
           !takes_bytes("[5-]", 4), takes_bytes("[5-]", 5), takes_bytes("[5-]", UINT64_MAX),
           takes_bytes("[-7]", 7), !takes_bytes("[-7]", 8), takes_bytes("[8]", 8),
           !takes_bytes("[8]", 9), takes("@solver.c:88~MPI*[8]", &solve, &world, 8),
           !takes("@solver.c:88~MPI*[8]", &solve, &world, 7));
}

TEST("a choice has the rule's parameters, and defaults for the others")
{
    EXPECT(match("reduce=adaptive", SG_OPERATION_REDUCE, &solve, &world, 8).degree == 1,
           match("reduce=adaptive(degree=none)", SG_OPERATION_REDUCE, &solve, &world, 8).degree ==
               0,
           match("reduce=adaptive(degree=5)", SG_OPERATION_REDUCE, &solve, &world, 8).degree == 5);
}

TEST("only rules with files or functions need names")
{
    EXPECT(!match("*=mpich;reduce@3f2a9c1b~x[8]=mpich;*@cg+0x1=mpich", SG_OPERATION_REDUCE, &solve,
                  &world, 8)
                .needs_names,
           match("*@f=mpich", SG_OPERATION_REDUCE, &solve, &world, 8).needs_names,
           match("*@f.c:1=mpich", SG_OPERATION_REDUCE, &solve, &world, 8).needs_names);
}

/* ---- fixed -----------------------------------------------------------------------------------*/

TEST("a choice that depends on neither communicator nor size is fixed")
{
    EXPECT(fixed("", SG_OPERATION_REDUCE, 8),
           fixed("reduce@solve*=bypass", SG_OPERATION_REDUCE, 8));
    /* Conditions of other sites and operations, or behind the rule that decides. */
    EXPECT(fixed("reduce@other[8]=bypass", SG_OPERATION_REDUCE, 8),
           fixed("allreduce[8]=adaptive", SG_OPERATION_REDUCE, 8),
           fixed("reduce=bypass;reduce[8]=mpich", SG_OPERATION_REDUCE, 8));
    /* Conditions that change nothing. */
    EXPECT(fixed("reduce[8]=mpich", SG_OPERATION_REDUCE, 8),
           fixed("reduce~4=mpich", SG_OPERATION_REDUCE, 8),
           fixed("reduce[8]=bypass;reduce~4=bypass;*=bypass", SG_OPERATION_REDUCE, 9));
    /* A barrier's bytes are always 0. */
    EXPECT(fixed("barrier[1-]=mpich;*[4k-]=adaptive", SG_OPERATION_BARRIER, 0));
}

TEST("a choice that depends on communicator or size is not fixed")
{
    EXPECT(
        !fixed("reduce[8]=bypass", SG_OPERATION_REDUCE, 8),
        !fixed("reduce[8]=bypass", SG_OPERATION_REDUCE, 9),
        !fixed("reduce~16=bypass", SG_OPERATION_REDUCE, 8),
        !fixed("reduce~ocean=bypass", SG_OPERATION_REDUCE, 8),
        !fixed("reduce[9]=bypass;reduce=mpich", SG_OPERATION_REDUCE, 8),
        !fixed("reduce[8]=mpich;reduce[9]=bypass", SG_OPERATION_REDUCE, 8),
        !fixed("reduce[8]=adaptive(degree=2);reduce=adaptive(degree=3)", SG_OPERATION_REDUCE, 8));
}

/* The flag means what it says: where it is set, no communicator or size gets another choice. */
TEST("fixed choices hold for every communicator and size")
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
        char *log;

        for (int i = rand_r(&seed) % 5; i > 0; i--)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s;",
                     rand_r(&seed) % 2 ? "*" : "reduce", places[rand_r(&seed) % 10],
                     targets[rand_r(&seed) % 4]);
        struct sg_ruleset *rules = rules_of(text, &log);
        const struct sg_choice *choice =
            sg_ruleset_match(rules, SG_OPERATION_REDUCE, &solve, &comms[0], 8, &is_fixed);
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
    EXPECT(fixed_seen > 0 && fixed_seen < 3000);
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

    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
    algorithm = sg_ruleset_match(rules, SG_OPERATION_REDUCE, site, &comm, 8, &fixed)->algorithm;
    sg_ruleset_destroy(rules);
    return sg_algorithms[algorithm].name;
}

TEST("rules whose algorithm does not run on the communicator are skipped")
{
    EXPECT(
        text_is(reached("reduce=bypass", SG_REACH_INTERNODE, &solve), "bypass"),
        text_is(reached("reduce=bypass", SG_REACH_NODE, &solve), "srm"),
        text_is(reached("reduce=handoff;reduce=tree", SG_REACH_NODE, &solve), "handoff"),
        text_is(reached("reduce=handoff;reduce=tree", SG_REACH_INTERNODE, &solve), "handoff"),
        text_is(reached("reduce=handoff(where=inside);*=tree", SG_REACH_INTERNODE, &solve), "tree"),
        text_is(reached("reduce=handoff(where=between);*=tree", SG_REACH_INTERNODE, &solve),
                "handoff"),
        text_is(reached("reduce=handoff(where=between);*=srm", SG_REACH_NODE, &solve), "srm"),
        text_is(reached("reduce=mpich;*=tree", SG_REACH_INTERNODE, &solve), "mpich"),
        text_is(reached("barrier=tree", SG_REACH_INTERNODE, &solve), "bypass"),
        text_is(reached("reduce@*.c:88=tree", SG_REACH_INTERNODE, &solve), "tree"),
        text_is(reached("reduce@*.c:88=tree;reduce=bypass", SG_REACH_INTERNODE, NULL), "bypass"));
}

static bool depends_on_site(const char *text)
{
    struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES",
                                  (char *)"STAGGER_RULES", (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_ruleset *rules = NULL;

    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
    bool depends = sg_ruleset_depends_on_site(rules, SG_OPERATION_REDUCE);
    sg_ruleset_destroy(rules);
    return depends;
}

/* Later rules decide where a rule does not reach, and they may distinguish call sites. */
TEST("a choice depends on call sites if a rule that names one may be reached")
{
    EXPECT(!depends_on_site("reduce=mpich; barrier@main=mpich"),
           depends_on_site("reduce@main=mpich"),
           depends_on_site("reduce[4k-]=mpich; reduce@main=handoff"),
           !depends_on_site("reduce=mpich; reduce@main=handoff"),
           !depends_on_site("reduce=handoff; reduce@main=mpich"),
           depends_on_site("reduce=bypass; reduce@main=mpich"),
           depends_on_site("reduce=handoff(where=inside); reduce@main=mpich"));
}

static int messages_of(const char *text, int size)
{
    struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, (char *)"STAGGER_RULES",
                                  (char *)"STAGGER_RULES", (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_ruleset *rules = NULL;

    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
    int index = sg_ruleset_messages(rules, "MPI_COMM_WORLD", size);
    EXPECT(index < 0 || sg_ruleset_is_of_messages(rules, index));
    sg_ruleset_destroy(rules);
    return index;
}

TEST("a message finds its rule")
{
    EXPECT(messages_of("*=bcs", 4) == -1, messages_of("barrier=bcs; p2p=bcs", 4) == 1,
           messages_of("p2p~2-3=bcs", 4) == -1,
           messages_of("p2p~2-3=bcs; p2p~MPI_COMM_WORLD=bcs(slice=250)", 4) == 1,
           messages_of("p2p~2-3=mpich; p2p=bcs", 3) == -1,
           messages_of("p2p~2-3=mpich; p2p=bcs", 4) == 1);
}

TEST("rules for messages match no collective")
{
    const struct sg_rule_comm comm = {.name = "MPI_COMM_WORLD", .size = 4};
    char *log;
    struct sg_ruleset *rules = rules_of("p2p=mpich; p2p~2-64=mpich; *=mpich", &log);
    bool fixed;

    for (int operation = 0; operation <= SG_OPERATION_ALLREDUCE; operation++) {
        const struct sg_choice *choice =
            sg_ruleset_match(rules, (enum sg_operation)operation, NULL, &comm, 8, &fixed);

        EXPECT(sg_ruleset_index(rules, choice) >= 2);
    }
    free(log);
    sg_ruleset_destroy(rules);
}

/* Whether the only rule of "reduce<place>=bypass" may be a choice on the communicator. */
static bool concerns(const char *place, const char *name, int size)
{
    const struct sg_rule_comm comm = {.name = name, .size = size};
    char text[200], *log;

    snprintf(text, sizeof text, "reduce%s=bypass", place);
    struct sg_ruleset *rules = rules_of(text, &log);
    bool result = sg_ruleset_concerns(rules, 0, &comm);
    EXPECT(sg_ruleset_concerns(rules, 1, &comm)); /* the built-in one */
    free(log);
    sg_ruleset_destroy(rules);
    return result;
}

TEST("a choice states the largest call it may serve")
{
    char *log;
    struct sg_ruleset *rules =
        rules_of("reduce[-4k]=bypass; reduce[8k-]=bypass(linger=5); reduce=mpich", &log);

    EXPECT(sg_ruleset_most_bytes(rules, 0) == 4096, sg_ruleset_most_bytes(rules, 1) == UINT64_MAX,
           sg_ruleset_most_bytes(rules, 2) == UINT64_MAX);
    free(log);
    sg_ruleset_destroy(rules);
}

/* Site and bytes are a call's: they keep no choice from a communicator. */
TEST("a rule applies only to the communicators it names")
{
    EXPECT(concerns("", "MPI_COMM_WORLD", 4), concerns("@solver.c:88[4k-]", "MPI_COMM_WORLD", 4),
           concerns("~MPI_COMM_*", "MPI_COMM_WORLD", 4), !concerns("~ocean*", "MPI_COMM_WORLD", 4),
           concerns("~2-4", "rows", 4), !concerns("~2-4", "rows", 5));
}
