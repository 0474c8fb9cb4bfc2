#include "core/slice.h"

#include "core/status.h"
#include "core/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TIME true, false
#define COUNT false, false
#define GLOBAL_TIME true, true
#define GLOBAL_COUNT false, true

const struct sg_slice_metric_facts sg_slice_metrics[SG_SLICE_METRICS] = {
    [SG_SLICE_GETTS] = {"GETTS", "since the previous slice's strobe was sent", GLOBAL_TIME},
    [SG_SLICE_GTDEM] = {"GTDEM", "descriptors are exchanged on all nodes", GLOBAL_TIME},
    [SG_SLICE_GTMSM] = {"GTMSM", "what runs is known on all nodes", GLOBAL_TIME},
    [SG_SLICE_GTTS] = {"GTTS", "the slice is over on all nodes", GLOBAL_TIME},
    [SG_SLICE_USRTS] = {"USRTS", "boundaries at which the previous slice was not over",
                        GLOBAL_COUNT},
    [SG_SLICE_USRDEM] = {"USRDEM", "failed comparisons before the exchange was over", GLOBAL_COUNT},
    [SG_SLICE_USRMSM] = {"USRMSM", "failed comparisons before the scheduling was over",
                         GLOBAL_COUNT},
    [SG_SLICE_LETTS] = {"LETTS", "since the previous slice's strobe came", TIME},
    [SG_SLICE_LTDEM] = {"LTDEM", "descriptors are exchanged here", TIME},
    [SG_SLICE_LTMSM] = {"LTMSM", "what runs is known here", TIME},
    [SG_SLICE_LTTS] = {"LTTS", "the slice is over here", TIME},
    [SG_SLICE_NP2PDEM] = {"NP2PDEM", "descriptors of messages exchanged", COUNT},
    [SG_SLICE_NCOLLDEM] = {"NCOLLDEM", "descriptors of collectives exchanged", COUNT},
    [SG_SLICE_NP2PMSM] = {"NP2PMSM", "messages scheduled", COUNT},
    [SG_SLICE_NCOLLMSM] = {"NCOLLMSM", "collectives scheduled", COUNT},
    [SG_SLICE_BPTS] = {"BPTS", "ranks that waited when the strobe came", COUNT},
    [SG_SLICE_LTR1] = {"LTR1", "processor time of descriptors", TIME},
    [SG_SLICE_LTR2] = {"LTR2", "processor time of matching", TIME},
    [SG_SLICE_LTR3] = {"LTR3", "processor time of transfers", TIME},
    [SG_SLICE_LTR4] = {"LTR4", "processor time of barriers and broadcasts", TIME},
    [SG_SLICE_LTR5] = {"LTR5", "processor time of reductions", TIME},
};

enum sg_slice_metric sg_slice_metric_find(const char *name)
{
    int metric = 0;

    while (metric < SG_SLICE_METRICS && strcasecmp(sg_slice_metrics[metric].name, name) != 0)
        metric++;
    return (enum sg_slice_metric)metric;
}

bool sg_slice_window_parse(const char *text, uint64_t *first, uint64_t *last)
{
    const char *end = text + strlen(text);
    const char *at = sg_text_number(text, end, false, first);

    if (at == NULL || *at != '-')
        return false;
    at = sg_text_number(at + 1, end, false, last);
    return at == end && *first <= *last;
}

static enum sg_slice_metric nearest(const char *name)
{
    char upper[SG_DISTANCE_BYTES + 1];
    size_t length = 0;
    int best = 0, least = SG_DISTANCE_BYTES;

    for (; name[length] != '\0' && length < SG_DISTANCE_BYTES; length++)
        upper[length] = (char)toupper((unsigned char)name[length]);
    upper[length] = '\0';
    for (int metric = 0; metric < SG_SLICE_METRICS; metric++) {
        int distance = sg_text_distance(upper, sg_slice_metrics[metric].name);

        if (distance < least) {
            least = distance;
            best = metric;
        }
    }
    return (enum sg_slice_metric)best;
}

uint32_t sg_slice_metrics_parse(const char *source, const char *text, bool speak)
{
    char *copy = strdup(text), *rest = copy, excerpt[SG_EXCERPT_BYTES];
    const char *name;
    uint32_t chosen = 0;

    while (copy != NULL && (name = strtok_r(rest, ", \t", &rest)) != NULL) {
        enum sg_slice_metric metric = sg_slice_metric_find(name);

        if (metric < SG_SLICE_METRICS)
            chosen |= UINT32_C(1) << metric;
        else if (speak)
            sg_log("%s: metric %s does not exist and is ignored; the nearest name is %s", source,
                   sg_text_excerpt(name, strlen(name), excerpt, sizeof excerpt),
                   sg_slice_metrics[nearest(name)].name);
    }
    free(copy);
    return chosen;
}
