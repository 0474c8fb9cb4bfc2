#include "profile/function_globs.h"

#include "core/status.h"
#include "core/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_BYTES 4 /* of "MPI_" */

static bool matches_name(const char *glob, const char *name)
{
    return fnmatch(glob, name, FNM_CASEFOLD) == 0 ||
           fnmatch(glob, name + PREFIX_BYTES, FNM_CASEFOLD) == 0;
}

/* The name of the function that counts are no wider in. */
static void common_name(enum sg_function function, char name[SG_DISTANCE_BYTES + 1])
{
    const struct sg_function_facts *facts = &sg_functions[function];

    snprintf(name, SG_DISTANCE_BYTES + 1, "%s", facts->name);
    if (facts->counts_wide)
        name[strlen(name) - strlen("_c")] = '\0';
}

static bool matches(const char *glob, enum sg_function function)
{
    char name[SG_DISTANCE_BYTES + 1];

    common_name(function, name);
    return matches_name(glob, name) || matches_name(glob, sg_functions[function].name);
}

static void lower(const char *text, char out[SG_DISTANCE_BYTES + 1])
{
    size_t at = 0;

    for (; text[at] != '\0' && at < SG_DISTANCE_BYTES; at++)
        out[at] = (char)tolower((unsigned char)text[at]);
    out[at] = '\0';
}

static int distance_to(const char *glob, enum sg_function function)
{
    char own[SG_DISTANCE_BYTES + 1], name[SG_DISTANCE_BYTES + 1];
    int whole, bare;

    lower(glob, own);
    lower(sg_functions[function].name, name);
    whole = sg_text_distance(own, name);
    bare = sg_text_distance(own, name + PREFIX_BYTES);
    return whole < bare ? whole : bare;
}

static void complain(const char *source, const char *glob)
{
    char excerpt[SG_EXCERPT_BYTES];
    int nearest = 0, least = distance_to(glob, 0);

    for (int function = 1; function < SG_FUNCTION_COUNT; function++) {
        int distance = distance_to(glob, function);

        if (distance < least) {
            least = distance;
            nearest = function;
        }
    }
    sg_log("%s: no function matches %s, which is ignored; the nearest name is %s", source,
           sg_text_excerpt(glob, strlen(glob), excerpt, sizeof excerpt),
           sg_functions[nearest].name);
}

static bool take(const char *glob, bool takes[SG_FUNCTION_COUNT])
{
    bool any = false;

    for (int function = 0; function < SG_FUNCTION_COUNT; function++) {
        if (matches(glob, function))
            takes[function] = any = true;
    }
    return any;
}

void sg_function_globs(const char *source, const char *globs, bool speak, bool otherwise,
                       bool takes[SG_FUNCTION_COUNT])
{
    char *copy = strdup(globs), *rest = copy;
    const char *glob;
    bool any = false;

    memset(takes, false, SG_FUNCTION_COUNT * sizeof *takes);
    while (copy != NULL && (glob = strtok_r(rest, ", \t", &rest)) != NULL) {
        if (take(glob, takes))
            any = true;
        else if (speak)
            complain(source, glob);
    }
    free(copy);
    if (!any)
        memset(takes, otherwise, SG_FUNCTION_COUNT * sizeof *takes);
}
