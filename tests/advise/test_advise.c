/* Tests advice on runs with scripted arrivals on a scripted machine (planted.h). */
#include "advise/advise.h"
#include "advise/planted.h"
#include "lib/unit.h"
#include "rule/rule.h"

#include <jansson.h>
#include <math.h>

#define NEAR(a, b) EXPECT(is_near(a, b, 0.5))

static struct archive archive;

static void advise_with(const struct sg_advise_options *options, struct sg_advice *out)
{
    static int number;
    char path[256];

    snprintf(path, sizeof path, "%s/run-%d", unit_directory(), ++number);
    archive_write(&archive, path);
    ASSERT(sg_advise(path, options, out) == SG_OK);
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
    return PRINTED(sg_advice_print_rules(advice, stream));
}

static char *text_of(const struct sg_advice *advice)
{
    return PRINTED(EXPECT(sg_advice_print_text(advice, 0, stream) == SG_OK));
}

static bool has_rule(const struct sg_advice *advice, const char *rule)
{
    char *rules = rules_of(advice);
    char line[200];

    snprintf(line, sizeof line, "\n%s\n", rule);
    bool found = strstr(rules, line) != NULL;
    free(rules);
    return found;
}

/* ---- figures and planted patterns */

TEST("estimates are those worked out by hand")
{
    struct sg_advice advice;
    const struct sg_advice_item *item = NULL;

    planted_pair(&archive);
    advise(NULL, &advice);
    ASSERT(advice.item_count == 1);
    item = &advice.items[0];
    EXPECT(item->replayed == PLANTED_INSTANCES);
    NEAR(item->measured_blocked_ns, 1400);
    NEAR(item->measured_processor_ns, 1400);
    NEAR(item->error_ns, 0);
    NEAR(estimate(item, "mpich")->blocked_ns, 1400);
    NEAR(estimate(item, "handoff")->blocked_ns, 750);
    NEAR(estimate(item, "srm")->blocked_ns, 700);
    NEAR(estimate(item, "srm")->processor_ns, 700);
    NEAR(estimate(item, "srm")->gain_ns, 700);
    NEAR(estimate(item, "srm")->low_ns, 700);
    EXPECT(item->estimate_count == 3); /* the others are for between nodes */
    EXPECT(item->verdict == SG_ADVICE_CHANGE, text_is(best_of(item), "srm"),
           has_rule(&advice, "barrier@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

TEST("adaptive is advised for one rank that is always late")
{
    struct sg_advice advice;

    planted_late_rank(&archive);
    advise("STAGGER_PROGRESS=poll\n", &advice);
    const struct sg_advice_item *item = &advice.items[0];
    NEAR(item->measured_blocked_ns, 7090500.0 / 8);
    NEAR(estimate(item, "tree")->processor_ns, 7090500.0 / 8);
    EXPECT(item->verdict == SG_ADVICE_CHANGE, text_is(best_of(item), "adaptive"),
           estimate(item, "adaptive")->gain_ns > 5000, estimate(item, "adaptive")->gain_ns < 6000);
    /* Over several machines rules name no call sites. */
    EXPECT(has_rule(&advice, "barrier~8=adaptive"));
    sg_advice_clear(&advice);
}

TEST("srm is advised for a small skew in any order")
{
    struct sg_advice advice;

    planted_small_skew(&archive);
    advise(NULL, &advice);
    const struct sg_advice_item *item = &advice.items[0];
    EXPECT(item->group->instances == 4 * PLANTED_INSTANCES, item->verdict == SG_ADVICE_CHANGE,
           text_is(best_of(item), "srm"));
    /* 900 till the last, 100 and 16 to write a line, 100 to see it, 3 folds of 32; less the
     * mean lateness. */
    NEAR(estimate(item, "srm")->blocked_ns, 900 + 116 + 100 + 96 - 450);
    EXPECT(has_rule(&advice, "allreduce@0000000a~4=srm"));
    sg_advice_clear(&advice);
}

TEST("bypass is not advised for a late root, and the text states the reason")
{
    struct sg_advice advice;

    planted_late_root(&archive);
    advise(NULL, &advice);
    const struct sg_advice_item *item = &advice.items[0];
    EXPECT(item->group->root_last == PLANTED_INSTANCES, estimate(item, "bypass")->gain_ns < 0,
           !contains(best_of(item), "bypass"));
    char *text = text_of(&advice);
    EXPECT(contains(text, "the root arrives last in 100% of the instances"));
    free(text);
    sg_advice_clear(&advice);
}

TEST("broadcasts inside a node get advice too")
{
    struct sg_advice advice;

    planted_broadcast(&archive);
    advise(NULL, &advice);
    const struct sg_advice_item *item = &advice.items[0];
    NEAR(estimate(item, "mpich")->blocked_ns, 216);
    NEAR(estimate(item, "srm")->blocked_ns, 116);
    EXPECT(item->estimate_count == 2); /* handoff folds; the others are for between nodes */
    EXPECT(item->verdict == SG_ADVICE_CHANGE, has_rule(&advice, "bcast@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

TEST("bypass is advised for a broadcast behind a late inner rank of the tree")
{
    struct sg_advice advice;

    planted_late_inner(&archive);
    advise("STAGGER_PROGRESS=signal\n", &advice);
    const struct sg_advice_item *item = &advice.items[0];
    EXPECT(item->verdict == SG_ADVICE_CHANGE, text_is(best_of(item), "bypass"),
           estimate(item, "mpich")->blocked_ns > 2e6 / 8,
           estimate(item, "tree")->processor_ns > 1e6 / 8,
           estimate(item, "bypass")->processor_ns < 1e6 / 8, has_rule(&advice, "bcast~8=bypass"));
    sg_advice_clear(&advice);
}

/* ---- when there is no advice */

TEST("a gain below the model's unexplained error is not advised")
{
    struct sg_advice advice;

    planted_pair(&archive);
    for (int i = 0; i < 2; i++) {
        archive.calls[i].algorithm = "handoff";
        archive.calls[i].end_ns = 1000 + 1350; /* 100 a call that the model does not explain */
    }
    advise(NULL, &advice);
    NEAR(advice.items[0].error_ns, 100);
    NEAR(estimate(&advice.items[0], "srm")->gain_ns, 50);
    EXPECT(text_is(best_of(&advice.items[0]), "srm"),
           advice.items[0].verdict == SG_ADVICE_WITHIN_ERROR,
           !has_rule(&advice, "barrier@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

/* Measured 1200 a call, estimated 1400: half of what was measured is saved. */
TEST("the promised saving is a share of the measured cost")
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calls[0].end_ns -= 400;
    advise(NULL, &advice);
    EXPECT(advice.items[0].verdict == SG_ADVICE_CHANGE);
    NEAR(sg_advice_saved_ns(&advice.items[0]), 2 * 1200 * PLANTED_INSTANCES / 2);
    sg_advice_clear(&advice);
}

/* The estimate is 1400 a call. */
static void misses(int64_t more_ns, const char *text)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calls[0].end_ns = (uint64_t)((int64_t)archive.calls[0].end_ns + more_ns);
    advise(NULL, &advice);
    char *printed = text_of(&advice);
    EXPECT((advice.items[0].verdict == SG_ADVICE_MISSED) == (text != NULL),
           contains(printed, text != NULL ? text : "advice: srm"));
    free(printed);
    sg_advice_clear(&advice);
}

TEST("the text has the trial that measures a call site which the model misses")
{
    misses(2 * 600, NULL); /* 1.43 times the estimate */
    misses(2 * 710, "the model misses this site by 1.5x; measure it: "
                    "STAGGER_TRIAL='barrier@0000000a~2=mpich|srm'");
    misses(-2 * 460, NULL); /* 0.67 times */
    misses(-2 * 700, "by 2x; measure it: ");
}

TEST("nothing is advised if the best algorithm already ran")
{
    struct sg_advice advice;

    planted_pair(&archive);
    for (int i = 0; i < 2; i++) {
        archive.calls[i].algorithm = "srm";
        archive.calls[i].end_ns = 1000 + 1200;
    }
    advise(NULL, &advice);
    NEAR(advice.items[0].error_ns, 0);
    EXPECT(advice.items[0].verdict == SG_ADVICE_BEST);
    sg_advice_clear(&advice);
}

TEST("too few instances give no advice")
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.repeat = 9;
    advise(NULL, &advice);
    EXPECT(advice.items[0].verdict == SG_ADVICE_FEW);
    sg_advice_clear(&advice);
}

TEST("call sites that meet in an instance get one rule, or none if rules distinguish them")
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calls[1].site = PLANTED_OTHER;
    advise("barrier@0000000b=mpich\nbarrier@0000000a=mpich\n", &advice);
    EXPECT(advice.items[0].verdict == SG_ADVICE_CHANGE, has_rule(&advice, "barrier@0000000a~2=srm"),
           has_rule(&advice, "barrier@0000000b~2=srm"), !has_rule(&advice, "STAGGER_DEPTH=3"));
    sg_advice_clear(&advice);
    advise("STAGGER_DEPTH=3\n", &advice);
    EXPECT(has_rule(&advice, "STAGGER_DEPTH=3"));
    sg_advice_clear(&advice);
    advise("barrier@0000000b=handoff\nbarrier@0000000a=mpich\n", &advice);
    EXPECT(advice.items[0].verdict == SG_ADVICE_SITES,
           !has_rule(&advice, "barrier@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

/* One call site with two sizes, of which each is better off by another algorithm. */
TEST("sizes of one call site are advised separately")
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
    EXPECT(advice.item_count == 2, has_rule(&advice, "allreduce@0000000a~2[8-15]=srm"),
           !has_rule(&advice, "allreduce@0000000a~2=srm"));
    sg_advice_clear(&advice);
}

/* The same on several machines, where one rule stands for both call sites: of which one is better
 * off by another algorithm. */
TEST("a rule that would also match calls it harms is not advised")
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
    EXPECT(advice.item_count == 2);
    for (uint32_t i = 0; i < advice.item_count; i++)
        conflicts += advice.items[i].verdict == SG_ADVICE_CONFLICT;
    EXPECT(advice.counts[SG_ADVICE_CONFLICT] == conflicts, conflicts > 0);
    sg_advice_clear(&advice);
}

/* ---- costs */

TEST("an archive without calibration is simulated with a named network")
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calibration = NULL;
    advise(NULL, &advice);
    EXPECT(!advice.machine.measured, text_is(advice.machine.between.name, SG_MACHINE_DEFAULT));
    char *text = text_of(&advice);
    EXPECT(contains(text, "its archive has no calibration"));
    free(text);
    sg_advice_clear(&advice);
}

TEST("a named network replaces the archive's calibration")
{
    struct sg_advise_options options = {.network = "analysis/sim/networks/qsnet.conf"};
    struct sg_advice advice;

    planted_pair(&archive);
    advise_with(&options, &advice);
    EXPECT(!advice.machine.measured, advice.machine.between.latency_us == 1.3);
    EXPECT(advice.machine.inside.latency_us == 0.3); /* its local_us */
    sg_advice_clear(&advice);
}

static void says(const char *calibration, bool busy)
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calibration = calibration;
    advise(NULL, &advice);
    char *text = text_of(&advice);
    EXPECT((strstr(text, "the costs may be far off") != NULL) == busy,
           sg_machine_was_busy(&advice.machine) == busy);
    free(text);
    sg_advice_clear(&advice);
}

TEST("costs that vary or were measured few times come with a warning")
{
    says(PLANTED_COSTS " spread=3.5 samples=64", true);
    says(PLANTED_COSTS " spread=1.5 samples=8", true);
    says(PLANTED_COSTS " spread=1.5 samples=64", false);
    says(PLANTED_COSTS, false); /* of a run that kept neither */
}

/* Two ranks on one processor: a message of MPICH's waits for a turn, 4 ms. */
TEST("modelled MPICH ranks wait for a processor when processors are short")
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
    EXPECT(advice.items[0].verdict == SG_ADVICE_MISSED);
    sg_advice_clear(&advice);
}

/* 1000 yields of 3 us. */
TEST("if the run's ranks yielded, modelled MPICH ranks wait for as long as a yield")
{
    struct sg_advice advice;

    planted_pair(&archive);
    archive.calibration = PLANTED_COSTS " processors=1 ranks=2 slice_us=4000";
    archive.more[0][0] = "STAGGER::WAIT_TOLD", archive.more[0][1] = "2";
    archive.more[1][0] = "STAGGER::WAIT_MODE", archive.more[1][1] = "auto";
    archive.more[2][0] = "STAGGER::YIELDS", archive.more[2][1] = "1000";
    archive.more[3][0] = "STAGGER::YIELD_NS", archive.more[3][1] = "3000000";
    advise(NULL, &advice);
    NEAR(sg_machine_turn_us(&advice.machine), 3);
    NEAR(estimate(&advice.items[0], "mpich")->blocked_ns, (5400 + 3400) / 2.0);
    sg_advice_clear(&advice);
    archive.more[1][1] = "spin";
    advise(NULL, &advice);
    NEAR(sg_machine_turn_us(&advice.machine), 4000);
    sg_advice_clear(&advice);
}

/* ---- printing */

TEST("every algorithm but bcs is a candidate, and every candidate can be written as a rule")
{
    /* Slices of time make no call faster; auto is one of the others. */
    for (int i = 0; i < sg_algorithm_count; i++)
        EXPECT((sg_candidate_find(sg_algorithms[i].name) >= 0) ==
               (i != SG_ALGORITHM_BCS && i != SG_ALGORITHM_AUTO));
    for (int i = 0; i < sg_candidate_count; i++) {
        char rule[100];

        for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            snprintf(rule, sizeof rule, "%s@0000000a~8=%s", sg_operation_names[operation],
                     sg_candidates[i]);
            if (sg_candidate_runs(i, (enum sg_operation)operation, true) ||
                sg_candidate_runs(i, (enum sg_operation)operation, false))
                EXPECT(sg_rule_check("a candidate", rule) == SG_OK);
        }
    }
}

TEST("JSON has the figures worked out by hand")
{
    struct sg_advice advice;

    planted_pair(&archive);
    advise(NULL, &advice);
    char *text = PRINTED(EXPECT(sg_advice_print_json(&advice, stream) == SG_OK));
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ASSERT(root != NULL);
    json_t *group = json_array_get(json_object_get(root, "groups"), 0);
    EXPECT(text_is(json_string_value(json_object_get(group, "advice")), "srm"),
           text_is(json_string_value(json_object_get(group, "verdict")), "change"));
    NEAR(json_real_value(json_object_get(json_object_get(group, "measured"), "processor_ns")),
         1400);
    EXPECT(json_array_size(json_object_get(group, "estimates")) == 3);
    json_decref(root);
    free(text);
    sg_advice_clear(&advice);
}
