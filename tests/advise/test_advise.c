/* Tests advice on runs with scripted arrivals on a scripted machine (planted.h). */
#include "advise/advise.h"
#include "advise/advised_rules.h"
#include "advise/planted.h"
#include "lib/unit.h"
#include "rule/rule.h"

#include <jansson.h>
#include <math.h>

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 0.5)

static struct archive archive;

static void advise_with(const struct sg_advise_options *options, struct sg_advice *out)
{
    static int number;
    char path[256];

    snprintf(path, sizeof path, "%s/run-%d", unit_directory(), ++number);
    archive_write(&archive, path);
    CU_ASSERT_EQUAL_FATAL(sg_advise(path, options, out), SG_OK);
}

static void advise(const char *configuration, struct sg_advice *out)
{
    struct sg_advise_options options = {.configuration = configuration};

    advise_with(&options, out);
}

static const struct sg_advise_estimate *estimate(const struct sg_advice_item *item,
                                                 const char *rule)
{
    for (int i = 0; i < item->estimate_count; i++) {
        if (strcmp(sg_candidates[item->estimates[i].candidate], rule) == 0)
            return &item->estimates[i];
    }
    CU_FAIL_FATAL("there is such an estimate");
    return NULL;
}

static const char *best_of(const struct sg_advice_item *item)
{
    return item->best < 0 ? "" : sg_candidates[item->estimates[item->best].candidate];
}

/* Prints advice into a string; the caller frees it. */
static char *rules_of(const struct sg_advice *advice)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);

    sg_advice_print_rules(advice, stream);
    fclose(stream);
    return text;
}

static char *text_of(const struct sg_advice *advice)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);

    CU_ASSERT_EQUAL(sg_advice_print_text(advice, 0, stream), SG_OK);
    fclose(stream);
    return text;
}

static bool has_rule(const struct sg_advice *advice, const char *rule)
{
    char *rules = rules_of(advice);
    char line[200];
    bool found;

    snprintf(line, sizeof line, "\n%s\n", rule);
    found = strstr(rules, line) != NULL;
    free(rules);
    return found;
}

/* ---- figures and planted patterns */

static void hand_worked(void)
{
    struct sg_advice advice;
    const struct sg_advice_item *item = NULL;

    planted_pair(&archive);
    advise(NULL, &advice);
    CU_ASSERT_EQUAL_FATAL(advice.item_count, 1);
    item = &advice.items[0];
    CU_ASSERT_EQUAL(item->replayed, PLANTED_INSTANCES);
    NEAR(item->measured_blocked_ns, 1400);
    NEAR(item->measured_processor_ns, 1400);
    NEAR(item->error_ns, 0);
    NEAR(estimate(item, "mpich")->blocked_ns, 1400);
    NEAR(estimate(item, "handoff")->blocked_ns, 750);
    NEAR(estimate(item, "srm")->blocked_ns, 700);
    NEAR(estimate(item, "srm")->processor_ns, 700);
    NEAR(estimate(item, "srm")->gain_ns, 700);
    NEAR(estimate(item, "srm")->low_ns, 700);
    CU_ASSERT_EQUAL(item->estimate_count, 3); /* the others are for between nodes */
    CU_ASSERT_EQUAL(item->verdict, SG_ADVICE_CHANGE);
    CU_ASSERT_STRING_EQUAL(best_of(item), "srm");
    CU_ASSERT_TRUE(has_rule(&advice, "barrier@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

static void one_rank_late(void)
{
    struct sg_advice advice;
    const struct sg_advice_item *item;

    planted_late_rank(&archive);
    advise("STAGGER_PROGRESS=poll\n", &advice);
    item = &advice.items[0];
    NEAR(item->measured_blocked_ns, 7090500.0 / 8);
    NEAR(estimate(item, "tree")->processor_ns, 7090500.0 / 8);
    CU_ASSERT_EQUAL(item->verdict, SG_ADVICE_CHANGE);
    CU_ASSERT_STRING_EQUAL(best_of(item), "adaptive");
    CU_ASSERT_TRUE(estimate(item, "adaptive")->gain_ns > 5000);
    CU_ASSERT_TRUE(estimate(item, "adaptive")->gain_ns < 6000);
    /* Over several machines rules name no call sites. */
    CU_ASSERT_TRUE(has_rule(&advice, "barrier~8=adaptive"));
    sg_advice_clear(&advice);
}

static void small_skew(void)
{
    struct sg_advice advice;
    const struct sg_advice_item *item;

    planted_small_skew(&archive);
    advise(NULL, &advice);
    item = &advice.items[0];
    CU_ASSERT_EQUAL(item->group->instances, 4 * PLANTED_INSTANCES);
    CU_ASSERT_EQUAL(item->verdict, SG_ADVICE_CHANGE);
    CU_ASSERT_STRING_EQUAL(best_of(item), "srm");
    /* 900 till the last, 100 and 16 to write a line, 100 to see it, 3 folds of 32; less the
     * mean lateness. */
    NEAR(estimate(item, "srm")->blocked_ns, 900 + 116 + 100 + 96 - 450);
    CU_ASSERT_TRUE(has_rule(&advice, "allreduce@0000000a~4=srm"));
    sg_advice_clear(&advice);
}

static void late_root(void)
{
    struct sg_advice advice;
    const struct sg_advice_item *item;
    char *text;

    planted_late_root(&archive);
    advise(NULL, &advice);
    item = &advice.items[0];
    CU_ASSERT_EQUAL(item->group->root_last, PLANTED_INSTANCES);
    CU_ASSERT_TRUE(estimate(item, "bypass")->gain_ns < 0);
    CU_ASSERT_PTR_NULL(strstr(best_of(item), "bypass"));
    text = text_of(&advice);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "the root arrives last in 100% of the instances"));
    free(text);
    sg_advice_clear(&advice);
}

static void broadcast_in_a_node(void)
{
    struct sg_advice advice;
    const struct sg_advice_item *item;

    planted_broadcast(&archive);
    advise(NULL, &advice);
    item = &advice.items[0];
    NEAR(estimate(item, "mpich")->blocked_ns, 216);
    NEAR(estimate(item, "srm")->blocked_ns, 116);
    CU_ASSERT_EQUAL(item->estimate_count, 2); /* handoff folds; the others are for between nodes */
    CU_ASSERT_EQUAL(item->verdict, SG_ADVICE_CHANGE);
    CU_ASSERT_TRUE(has_rule(&advice, "bcast@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

static void broadcast_behind_a_late_rank(void)
{
    struct sg_advice advice;
    const struct sg_advice_item *item;

    planted_late_inner(&archive);
    advise("STAGGER_PROGRESS=signal\n", &advice);
    item = &advice.items[0];
    CU_ASSERT_EQUAL(item->verdict, SG_ADVICE_CHANGE);
    CU_ASSERT_STRING_EQUAL(best_of(item), "bypass");
    CU_ASSERT_TRUE(estimate(item, "mpich")->blocked_ns > 2e6 / 8);
    CU_ASSERT_TRUE(estimate(item, "tree")->processor_ns > 1e6 / 8);
    CU_ASSERT_TRUE(estimate(item, "bypass")->processor_ns < 1e6 / 8);
    CU_ASSERT_TRUE(has_rule(&advice, "bcast~8=bypass"));
    sg_advice_clear(&advice);
}

/* ---- when there is no advice */

static void within_the_error(void)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calls[0].end_ns += 1500; /* 750 a call that the model does not explain, above 700 */
    advise(NULL, &advice);
    NEAR(advice.items[0].error_ns, 750);
    CU_ASSERT_STRING_EQUAL(best_of(&advice.items[0]), "srm");
    CU_ASSERT_EQUAL(advice.items[0].verdict, SG_ADVICE_WITHIN_ERROR);
    CU_ASSERT_FALSE(has_rule(&advice, "barrier@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

static void best_already(void)
{
    struct sg_advice advice;

    planted_pair(&archive);
    for (int i = 0; i < 2; i++) {
        archive.calls[i].algorithm = "srm";
        archive.calls[i].end_ns = 1000 + 1200;
    }
    advise(NULL, &advice);
    NEAR(advice.items[0].error_ns, 0);
    CU_ASSERT_EQUAL(advice.items[0].verdict, SG_ADVICE_BEST);
    sg_advice_clear(&advice);
}

static void few_instances(void)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.repeat = 9;
    advise(NULL, &advice);
    CU_ASSERT_EQUAL(advice.items[0].verdict, SG_ADVICE_FEW);
    sg_advice_clear(&advice);
}

static void two_sites(void)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calls[1].site = PLANTED_OTHER;
    advise("barrier@0000000b=mpich\nbarrier@0000000a=mpich\n", &advice);
    CU_ASSERT_EQUAL(advice.items[0].verdict, SG_ADVICE_CHANGE);
    CU_ASSERT_TRUE(has_rule(&advice, "barrier@0000000a~2=srm"));
    CU_ASSERT_TRUE(has_rule(&advice, "barrier@0000000b~2=srm"));
    CU_ASSERT_FALSE(has_rule(&advice, "STAGGER_DEPTH=3"));
    sg_advice_clear(&advice);
    advise("STAGGER_DEPTH=3\n", &advice);
    CU_ASSERT_TRUE(has_rule(&advice, "STAGGER_DEPTH=3"));
    sg_advice_clear(&advice);
    advise("barrier@0000000b=handoff\nbarrier@0000000a=mpich\n", &advice);
    CU_ASSERT_EQUAL(advice.items[0].verdict, SG_ADVICE_SITES);
    CU_ASSERT_FALSE(has_rule(&advice, "barrier@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

/* One call site with two sizes, of which each is better off by another algorithm. */
static void two_sizes(void)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.repeat_seq = 2;
    for (int rank = 0; rank < 2; rank++) {
        archive.calls[rank].operation = SG_OPERATION_ALLREDUCE;
        archive.calls[rank].bytes = 8;
    }
    for (int rank = 0; rank < 2; rank++) {
        struct archive_call *call = planted_call(&archive, rank, SG_OPERATION_ALLREDUCE,
                                                 1000 * (uint64_t)rank, 12000, "mpich");

        call->seq = 1;
        call->bytes = 4096;
        call->begin_ns += 100000;
        call->end_ns += 100000;
    }
    advise(NULL, &advice);
    CU_ASSERT_EQUAL(advice.item_count, 2);
    CU_ASSERT_TRUE(has_rule(&advice, "allreduce@0000000a~2[8-15]=srm"));
    CU_ASSERT_FALSE(has_rule(&advice, "allreduce@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

/* The same on several machines, where one rule stands for both call sites: of which one is better
 * off by another algorithm. */
static void conflict(void)
{
    struct sg_advice advice;
    uint32_t conflicts = 0;

    planted_late_rank(&archive);
    archive.repeat_seq = 2;
    for (int rank = 0; rank < 8; rank++) {
        /* All at once, under handoff, which is slow at that. */
        struct archive_call *call =
            planted_call(&archive, rank, SG_OPERATION_BARRIER, 0, 60000, "handoff");

        call->seq = 1;
        call->site = PLANTED_OTHER;
        call->begin_ns += 5000000;
        call->end_ns += 5000000;
    }
    advise("STAGGER_PROGRESS=poll\n", &advice);
    CU_ASSERT_EQUAL(advice.item_count, 2);
    for (uint32_t i = 0; i < advice.item_count; i++)
        conflicts += advice.items[i].verdict == SG_ADVICE_CONFLICT;
    CU_ASSERT_EQUAL(advice.counts[SG_ADVICE_CONFLICT], conflicts);
    CU_ASSERT_TRUE(conflicts > 0);
    sg_advice_clear(&advice);
}

/* ---- costs */

static void without_calibration(void)
{
    struct sg_advice advice;
    char *text;

    planted_pair(&archive);
    archive.calibration = NULL;
    advise(NULL, &advice);
    CU_ASSERT_FALSE(advice.machine.measured);
    CU_ASSERT_STRING_EQUAL(advice.machine.between.name, SG_MACHINE_DEFAULT);
    text = text_of(&advice);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "its archive has no calibration"));
    free(text);
    sg_advice_clear(&advice);
}

static void another_network(void)
{
    struct sg_advise_options options = {.network = "analysis/sim/networks/qsnet.conf"};
    struct sg_advice advice;

    planted_pair(&archive);
    advise_with(&options, &advice);
    CU_ASSERT_FALSE(advice.machine.measured);
    CU_ASSERT_EQUAL(advice.machine.between.latency_us, 1.3);
    CU_ASSERT_EQUAL(advice.machine.inside.latency_us, 0.3); /* its local_us */
    sg_advice_clear(&advice);
}

static void says(const char *calibration, bool busy)
{
    struct sg_advice advice;
    char *text;

    planted_pair(&archive);
    archive.calibration = calibration;
    advise(NULL, &advice);
    text = text_of(&advice);
    CU_ASSERT_EQUAL(strstr(text, "the costs may be far off") != NULL, busy);
    CU_ASSERT_EQUAL(sg_machine_was_busy(&advice.machine), busy);
    free(text);
    sg_advice_clear(&advice);
}

static void busy_machine(void)
{
    says(PLANTED_COSTS " spread=3.5 samples=64", true);
    says(PLANTED_COSTS " spread=1.5 samples=8", true);
    says(PLANTED_COSTS " spread=1.5 samples=64", false);
    says(PLANTED_COSTS, false); /* of a run that kept neither */
}

/* Two ranks on one processor: a message of MPICH's waits for a turn, 4 ms. */
static void oversubscribed(void)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calibration = PLANTED_COSTS " processors=1 ranks=2 slice_us=4000";
    advise(NULL, &advice);
    NEAR(sg_machine_turn_us(&advice.machine), 4000);
    /* Rank 0's comes to rank 1, that is 1000 late, at 4001200, and the other way at 4002200; 200
     * more to take each. */
    NEAR(estimate(&advice.items[0], "mpich")->blocked_ns, (4002400 + 4000400) / 2.0);
    NEAR(estimate(&advice.items[0], "srm")->blocked_ns, 700);
    sg_advice_clear(&advice);
}

/* ---- printing */

static void every_algorithm(void)
{
    /* Slices of time make no call faster; auto is one of the others. */
    for (int i = 0; i < sg_algorithm_count; i++)
        CU_ASSERT_EQUAL(sg_candidate_find(sg_algorithms[i].name) >= 0,
                        i != SG_ALGORITHM_BCS && i != SG_ALGORITHM_AUTO);
    for (int i = 0; i < sg_candidate_count; i++) {
        char rule[100];

        for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            snprintf(rule, sizeof rule, "%s@0000000a~8=%s", sg_operation_names[operation],
                     sg_candidates[i]);
            if (sg_candidate_runs(i, (enum sg_operation)operation, true) ||
                sg_candidate_runs(i, (enum sg_operation)operation, false))
                CU_ASSERT_EQUAL(sg_rule_check("a candidate", rule), SG_OK);
        }
    }
}

static void json(void)
{
    struct sg_advice advice;
    char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);
    json_t *root, *group;

    planted_pair(&archive);
    advise(NULL, &advice);
    CU_ASSERT_EQUAL(sg_advice_print_json(&advice, stream), SG_OK);
    fclose(stream);
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    group = json_array_get(json_object_get(root, "groups"), 0);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(group, "advice")), "srm");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(group, "verdict")), "change");
    NEAR(json_real_value(json_object_get(json_object_get(group, "measured"), "processor_ns")),
         1400);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(group, "estimates")), 3);
    json_decref(root);
    free(text);
    sg_advice_clear(&advice);
}

const struct unit_test unit_tests[] = {
    {"estimates are those worked out by hand", hand_worked},
    {"one rank that is always late: adaptive", one_rank_late},
    {"a small skew in any order: srm", small_skew},
    {"a late root leaves nothing to bypass, and that is said", late_root},
    {"a broadcast in a node is advised, too", broadcast_in_a_node},
    {"a broadcast behind a late rank of the tree: bypass", broadcast_behind_a_late_rank},
    {"what the model does not explain forbids advice", within_the_error},
    {"where the best ran nothing is advised", best_already},
    {"few instances say nothing", few_instances},
    {"call sites that meet in an instance get one rule, or none where rules tell them apart",
     two_sites},
    {"sizes are told apart", two_sizes},
    {"a rule that would be wrong elsewhere is not advised", conflict},
    {"an archive without calibration is simulated with a network by name", without_calibration},
    {"costs that swing, or were measured few times, come with a warning", busy_machine},
    {"another machine's network takes the place of the calibration", another_network},
    {"MPICH waits for its turn where processors are short", oversubscribed},
    {"every algorithm but bcs is a candidate, and every candidate a rule", every_algorithm},
    {"JSON has the figures worked out by hand", json},
    {NULL, NULL},
};
