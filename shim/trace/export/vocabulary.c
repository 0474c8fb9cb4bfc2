#include "trace/export/vocabulary.h"

#include <otf2/otf2.h>

const struct sg_attribute_definition sg_attributes[SG_ATTRIBUTE_COUNT] = {
    [SG_ATTRIBUTE_SITE] = {"call site", "where the call stands, and its id", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_ALGORITHM] = {"algorithm", "what ran the call", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_SEQ] = {"seq", "number of the instance on its communicator", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_BYTES] = {"bytes", "count times type size", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_TRIAL] = {"trial", "left side of the trial that the call was in",
                            OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_ARM] = {"arm", "the algorithm whose turn it was in the trial", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_COMM] =
        {"communicator",
         "of the nonblocking call, the call that it was late for, the stretch, the "
         "neighborhood collective, the slice",
         OTF2_TYPE_COMM},
    [SG_ATTRIBUTE_OPERATION] = {"operation", "the call that it was late for", OTF2_TYPE_REGION},
    [SG_ATTRIBUTE_CHILD] = {"child", "rank in the communicator that it came from",
                            OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_AVOIDED] = {"wait avoided",
                              "ns since the call returned, or the last one before it came",
                              OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_BY_SIGNAL] = {"by signal", "1: handled in a signal handler", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_EXPOSED] = {"exposed wait", "ns in waits and tests for the request",
                              OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_HIDDEN] = {"hidden time", "ns outside of the starting call, waits and tests",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_TESTS] = {"tests", "waits and tests for the request", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_LEFT] = {"left", "call site of the call before the interval", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_ENTERED] = {"entered", "call site of the call that ends it", OTF2_TYPE_STRING},
    [SG_ATTRIBUTE_STRETCH] = {"stretch",
                              "number of the collective on the communicator that it follows",
                              OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_BOUNDS] = {"bounds", "1: the first of its stretch, 2: the last, 3: both",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_GAP] = {"gap",
                          "messages of the same communicator, ranks and tag that have no event, "
                          "sent or posted before this one and after the one before it",
                          OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_NUMBER] = {"number", "of the collective on its communicator, for all members",
                             OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_SOURCES] = {"sources", "ranks whose data the neighborhood collective brings",
                              OTF2_TYPE_GROUP},
    [SG_ATTRIBUTE_SLICE] = {"slice", "number of the slice, from MPI_Init", OTF2_TYPE_UINT64},
    [SG_ATTRIBUTE_NODE] = {"node", "of the slice, among the job's", OTF2_TYPE_UINT64},
};

const char *const sg_parameters[SG_PARAMETER_COUNT] = {
    [SG_PARAMETER_BEGUN] = "neighborhood collective begun",
    [SG_PARAMETER_COMPLETE] = "neighborhood collective complete",
};

const struct sg_metric_definition sg_metrics[SG_METRIC_COUNT] = {
    [SG_METRIC_SKEW] = {"skew", "own arrival less the first arrival", "ns"},
    [SG_METRIC_LATE] = {"late messages", "messages handled after the call had returned", "#"},
    [SG_METRIC_EARLY] = {"early messages", "messages there before the call", "#"},
    [SG_METRIC_SIGNALS] = {"signals", "signals that brought something", "#"},
    [SG_METRIC_OUTSTANDING] = {"bypass outstanding", "instances outstanding when the call returned",
                               "#"},
    [SG_METRIC_STALLS] = {"slot stalls", "times the call waited for a slot or a credit", "#"},
    [SG_METRIC_COPIES] = {"copies", "times an operand or a result was copied", "#"},
    [SG_METRIC_IGNORED] = {"signals ignored", "signals that found progress under way", "#"},
    [SG_METRIC_MOVES] = {"token moves", "times a token went down a level", "#"},
    [SG_METRIC_REPEATS] = {"releases repeated", "releases that came again", "#"},
};

#define FIELD(name) offsetof(struct sg_run_waiting, name)
const struct sg_wait_text sg_wait_texts[2] = {
    {"STAGGER::WAIT_HOOK", FIELD(hook), SG_WAIT_HOOK_BYTES},
    {"STAGGER::WAIT_HOST", FIELD(host), SG_WAIT_HOST_BYTES},
};
const struct sg_wait_number sg_wait_numbers[10] = {
    {"STAGGER::WAIT_TOLD", FIELD(told)},
    {"STAGGER::WAIT_RANKS", FIELD(ranks)},
    {"STAGGER::WAIT_PROCESSORS", FIELD(processors)},
    {"STAGGER::WAIT_QUOTA", FIELD(quota)},
    {"STAGGER::WAIT_SHORT_RANKS", FIELD(short_ranks)},
    {"STAGGER::WAIT_APART_RANKS", FIELD(apart_ranks)},
    {"STAGGER::YIELDS", FIELD(yields)},
    {"STAGGER::YIELD_NS", FIELD(yield_ns)},
    {"STAGGER::SLEEPS", FIELD(sleeps)},
    {"STAGGER::SLEEP_NS", FIELD(sleep_ns)},
};
