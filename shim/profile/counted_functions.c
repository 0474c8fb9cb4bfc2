/* Matches globs of functions, and writes their definitions (counted_functions.h). A _c function has
 * the name of its narrow form in globs and definitions.
 */
#include "profile/counted_functions.h"

#include "core/status.h"
#include "core/text.h"
#include "runtime/settings.h"

#include <ctype.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words beyond the function's are passed, too, and ignored. */
int sg_function_call(enum sg_function function, const sg_word *words)
{
    static void *_Atomic known[SG_FUNCTION_COUNT];
    sg_word w[SG_ARGUMENTS_MAX] = {0};
    int (*own)(sg_word, sg_word, sg_word, sg_word, sg_word, sg_word, sg_word, sg_word, sg_word,
               sg_word, sg_word, sg_word, sg_word, sg_word);

    *(void **)&own = sg_real_find_once(&known[function], sg_functions[function].own);
    memcpy(w, words, sg_functions[function].words * sizeof *w);
    return own == NULL ? MPI_ERR_OTHER
                       : own(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
                             w[11], w[12], w[13]);
}

#define PREFIX_BYTES 4 /* of "MPI_" */

static bool matches_name(const char *glob, const char *name)
{
    return fnmatch(glob, name, FNM_CASEFOLD) == 0 ||
           fnmatch(glob, name + PREFIX_BYTES, FNM_CASEFOLD) == 0;
}

/* Writes the name without the suffix for wide counts. */
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
    sg_log("%s: %s matches no function and is ignored; the nearest name is %s", source,
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

#define NAME_BYTES 64

_Atomic uint32_t sg_function_numbers[SG_FUNCTION_COUNT];
static _Atomic(struct sg_record_function *) records[SG_FUNCTION_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t count;

/* Call with the lock. A function with wide counts has the other's name. */
static uint32_t define(enum sg_function function)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    size_t text_bytes = strlen(facts->name) + 1 - (facts->counts_wide ? strlen("_c") : 0);
    struct sg_record_function *entry;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%.*s", (int)text_bytes - 1, facts->name);
    entry = sg_log_definition(sg_process.log, name, text_bytes);
    if (entry == NULL)
        return 0;
    entry->mode = facts->mode;
    entry->class = facts->class;
    entry->index = count++;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_FUNCTION);
    /* Release: a thread that sees it may count in it. */
    atomic_store_explicit(&records[function], entry, memory_order_release);
    atomic_store_explicit(&sg_function_numbers[function], count, memory_order_relaxed);
    return count;
}

uint32_t sg_function_define(enum sg_function function)
{
    uint32_t number;

    pthread_mutex_lock(&lock);
    number = atomic_load_explicit(&sg_function_numbers[function], memory_order_relaxed);
    if (number == 0)
        number = define(function);
    pthread_mutex_unlock(&lock);
    return number;
}

void sg_function_leave_out(enum sg_function function)
{
    struct sg_record_function *entry =
        sg_function_number(function) > 0
            ? atomic_load_explicit(&records[function], memory_order_acquire)
            : NULL;

    if (entry != NULL)
        atomic_fetch_add_explicit(&entry->left_out, 1, memory_order_relaxed);
}
