#include "bench/given.h"

#include "rule/ruleset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION "--vs"

/* Where the name of a communicator is inserted in a rule that parses: before the bytes or the '='.
 */
static const char *place_of(const char *begin, const char *end)
{
    const char *place = sg_rule_trim(begin, sg_rule_find_plain(begin, end, "="));

    if (place[-1] == ']')
        while (*--place != '[')
            ;
    return place;
}

static bool names_communicator(const char *begin, const char *end)
{
    const char *equals = sg_rule_find_plain(begin, end, "=");

    return sg_rule_find_plain(begin, equals, "~") < equals;
}

/* One rule, without leading blanks. */
static bool is_bindable(const char *begin, const char *end)
{
    struct sg_algorithm_table table = {sg_algorithms, sg_algorithm_count, sg_rule_defaults};
    struct sg_rule rule = {.any_bytes = true};
    struct sg_rule_fault fault;
    bool parses = sg_rule_parse(&table, begin, end, &rule, &fault) == SG_OK;

    sg_rule_clear(&rule);
    return parses && !names_communicator(begin, end);
}

char *sg_bench_given_bind(const char *text, const char *comm)
{
    const char *end = text + strlen(text), *stop;
    char *bound = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&bound, &size_bytes);
    bool good = stream != NULL;

    for (const char *at = text; at < end && good; at = stop + 1) {
        const char *begin, *place;

        stop = sg_rule_find_plain(at, end, ";\n");
        begin = sg_rule_skip_blanks(at, stop);
        if (begin == stop)
            continue;
        good = is_bindable(begin, stop);
        if (!good)
            break;
        place = place_of(begin, stop);
        fprintf(stream, "%.*s~%s%.*s;", (int)(place - begin), begin, comm, (int)(stop - place),
                place);
    }
    if (stream != NULL)
        good = fclose(stream) == 0 && good && *bound != '\0';
    if (good)
        return bound;
    free(bound);
    return NULL;
}

bool sg_bench_given_check(const char *source, const char *text)
{
    char *bound;

    if (sg_rule_check(source, text) != SG_OK)
        return false;
    bound = sg_bench_given_bind(text, "");
    if (bound == NULL)
        sg_log("%s: a rule here names no communicator: it has one of its own", source);
    free(bound);
    return bound != NULL;
}

const char *sg_bench_given_find(int argc, char **argv)
{
    const char *found = NULL;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], OPTION "=", strlen(OPTION "=")) == 0)
            found = argv[i] + strlen(OPTION "=");
        else if (strcmp(argv[i], OPTION) == 0 && i + 1 < argc)
            found = argv[++i];
    }
    return found != NULL && strchr(found, '=') != NULL ? found : NULL;
}
