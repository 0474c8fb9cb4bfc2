/* Tests the explorer of protocols on the toy protocol and its variants with bugs (toy.h). */
#include "lib/unit.h"
#include "sim/toy.h"
#include "verify/exhaustive.h"
#include "verify/schedule.h"
#include "verify/shrink.h"

#define SEEDS 400
#define MAX_NODES 6

/* Explores the toy until a violation; its text, "" when there is none. */
static const char *explore_to(struct sg_explore_subject *subject)
{
    static char violation[SG_EXPLORE_VIOLATION_BYTES];
    struct sg_explore_world world;
    struct sg_explore_scenario scenario;

    violation[0] = '\0';
    ASSERT(sg_explore_world_create(&world));
    for (uint64_t seed = 0; seed < SEEDS && violation[0] == '\0'; seed++) {
        *subject = (struct sg_explore_subject){&toy_algo,        seed, MAX_NODES, SG_FAULTS_ALL,
                                               SG_EXPLORE_UNCUT, false};
        ASSERT(sg_explore_run_subject(&world, subject, &scenario));
        memcpy(violation, world.violation, sizeof violation);
    }
    sg_explore_world_destroy(&world);
    return violation;
}

static void expect(enum toy_bug bug, const char *words)
{
    struct sg_explore_subject subject;

    toy_bug = bug;
    const char *violation = explore_to(&subject);
    EXPECT(contains(violation, words));
    if (strstr(violation, words) == NULL)
        printf("# expected \"%s\", got \"%s\"\n", words, violation);
}

TEST("a sound protocol has no violation")
{
    struct sg_explore_subject subject;

    toy_bug = TOY_SOUND;
    EXPECT(text_is(explore_to(&subject), ""));
}

TEST("the explorer finds an exit before the last entry, and a result before the last operand")
{
    struct sg_explore_world world;
    struct sg_explore_scenario scenario;
    struct sg_explore_subject subject = {&toy_algo, 0, MAX_NODES, 0, SG_EXPLORE_UNCUT, false};
    int exits = 0, results = 0;

    toy_bug = TOY_LEAVES_EARLY;
    ASSERT(sg_explore_world_create(&world));
    for (; subject.seed < SEEDS; subject.seed++) {
        ASSERT(sg_explore_run_subject(&world, &subject, &scenario));
        exits += strstr(world.violation, "has entered it") != NULL;
        results += strstr(world.violation, "holds nothing") != NULL;
    }
    EXPECT(exits > 0, results > 0);
    sg_explore_world_destroy(&world);
}

TEST("the explorer finds contributions folded twice, never or on the wrong side")
{
    expect(TOY_FOLDS_TWICE, "combines a contribution twice");
    expect(TOY_FOLDS_TOO_FEW, "without the contribution of");
    expect(TOY_SWAPS_SIDES, "out of order");
}

TEST("the explorer finds an instance that ends twice, unofficially or never")
{
    expect(TOY_FINISHES_TWICE, "twice");
    expect(TOY_FINISHES_NEVER, "has not finished every instance");
    expect(TOY_HANGS, "hangs in the call of instance 1");
}

TEST("the explorer finds too many messages, and writes outside the state")
{
    expect(TOY_FLOODS, "messages in flight to 0");
    expect(TOY_NAMES_A_STRANGER, "names 1, which is none of its peers");
    expect(TOY_WRITES_OUTSIDE, "has written outside its state");
}

TEST("the explorer finds a state that holds a pointer")
{
    struct sg_explore_subject subject;

    toy_bug = TOY_KEEPS_A_POINTER;
    EXPECT(!text_is(explore_to(&subject), ""));
}

TEST("the explorer finds a message taken for another instance's")
{
    struct sg_explore_subject subject;

    toy_bug = TOY_FORGETS_SEQ;
    EXPECT(!text_is(explore_to(&subject), ""));
}

TEST("the explorer finds a protocol that crashes")
{
    sg_explore_catch_crashes();
    expect(TOY_CRASHES, "crashes");
}

TEST("a seed gives one history, unless the protocol keeps memory outside its state")
{
    struct sg_explore_world world;
    struct sg_explore_scenario scenario;
    struct sg_explore_subject subject = {&toy_algo,        0,    MAX_NODES, SG_FAULTS_ALL,
                                         SG_EXPLORE_UNCUT, false};
    int same = 0, others = 0;

    ASSERT(sg_explore_world_create(&world));
    for (; subject.seed < SEEDS; subject.seed++) {
        uint64_t history;

        toy_bug = TOY_SOUND;
        EXPECT(sg_explore_run_subject(&world, &subject, &scenario));
        history = world.history;
        EXPECT(sg_explore_run_subject(&world, &subject, &scenario));
        same += world.history == history;
        toy_bug = TOY_REMEMBERS;
        EXPECT(sg_explore_run_subject(&world, &subject, &scenario));
        others += world.history != history;
    }
    EXPECT(same == SEEDS, others > 0);
    sg_explore_world_destroy(&world);
}

TEST("a violation is reduced to the least case, whose command repeats it")
{
    struct sg_explore_world world;
    struct sg_explore_scenario scenario;
    struct sg_explore_subject subject;
    char *text = NULL, *only;
    size_t bytes = 0;
    const char *wrong;

    toy_bug = TOY_FINISHES_TWICE;
    EXPECT(!text_is(explore_to(&subject), ""));
    ASSERT(sg_explore_world_create(&world));
    sg_explore_shrink(&world, &subject);
    EXPECT(sg_explore_run_subject(&world, &subject, &scenario), !text_is(world.violation, ""),
           scenario.instances == 1, scenario.nodes == 1, scenario.faults == 0);

    /* The printed command reads back as the same cut. */
    FILE *memory = open_memstream(&text, &bytes);
    ASSERT(memory != NULL);
    sg_explore_print_replay(&subject, memory);
    fclose(memory);
    only = strstr(text, "--only ");
    ASSERT(only != NULL);
    struct sg_explore_subject again = subject;
    again.cut = SG_EXPLORE_UNCUT;
    EXPECT(sg_explore_cut_read(only + strlen("--only "), &again.cut, &wrong),
           memcmp(&again.cut, &subject.cut, sizeof again.cut) == 0);
    free(text);
    sg_explore_world_destroy(&world);
}

static bool walk_so(enum toy_bug bug, int32_t nodes, bool unreduced)
{
    struct sg_explore_world world;
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    toy_bug = bug;
    ASSERT(memory != NULL && sg_explore_world_create(&world));
    bool well = sg_explore_exhaustive(&world, &toy_algo, nodes, SG_FAULTS_ALL, unreduced, memory);
    fclose(memory);
    EXPECT(contains(text, well ? "states" : "violation: "));
    free(text);
    sg_explore_world_destroy(&world);
    return well;
}

static bool walk(enum toy_bug bug, int32_t nodes)
{
    bool well = walk_so(bug, nodes, false);

    EXPECT(walk_so(bug, nodes, true) == well);
    return well;
}

TEST("walking every order finds every violation, and nothing else")
{
    for (int32_t nodes = 2; nodes <= 3; nodes++) {
        EXPECT(walk(TOY_SOUND, nodes), !walk(TOY_LEAVES_EARLY, nodes),
               !walk(TOY_FINISHES_TWICE, nodes), !walk(TOY_HANGS, nodes));
    }
    /* With two endpoints no contribution meets another instance's. */
    EXPECT(!walk(TOY_FORGETS_SEQ, 3));
}
