#include "bench/algorithms.h"

#include "bench/collectives.h"
#include "bench/given.h"

#include "core/config.h"
#include "rule/algorithm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_VARIABLE "STAGGER_RULES"
#define SETUP_VARIABLE "STAGGER_SETUP_AFTER"
#define COMM_PREFIX "stagger-bench/"
#define RULES_WORD "rules"
#define GIVEN_COMM_NAME COMM_PREFIX "vs"
#define TEXT_BYTES 1024

static const char *given_rules = "";

static bool is_named(int algorithm)
{
    /* What auto runs changes while it is measured. */
    return (sg_algorithms[algorithm].reach & SG_REACH_INTERNODE) != 0 &&
           algorithm != SG_ALGORITHM_AUTO;
}

int sg_bench_algorithm_find(const char *word, size_t length)
{
    if (length == strlen(RULES_WORD) && memcmp(word, RULES_WORD, length) == 0)
        return SG_BENCH_RULES;
    for (int i = 0; i < sg_algorithm_count; i++) {
        if (is_named(i) && strlen(sg_algorithms[i].name) == length &&
            memcmp(word, sg_algorithms[i].name, length) == 0)
            return i;
    }
    return SG_BENCH_NO_ALGORITHM;
}

const char *sg_bench_algorithm_name(int algorithm)
{
    if (algorithm == SG_BENCH_GIVEN)
        return given_rules;
    return algorithm == SG_BENCH_RULES ? RULES_WORD : sg_algorithms[algorithm].name;
}

bool sg_bench_algorithm_takes(int algorithm, int collective)
{
    if (!sg_bench_collectives[collective].routed)
        return algorithm == SG_ALGORITHM_MPICH;
    return algorithm == SG_BENCH_RULES || algorithm == SG_BENCH_GIVEN ||
           (sg_algorithms[algorithm].operations & 1u << collective) != 0;
}

const char *sg_bench_algorithm_list(void)
{
    static char text[TEXT_BYTES];
    int used = snprintf(text, sizeof text, RULES_WORD);

    for (int i = 0; i < sg_algorithm_count && used < TEXT_BYTES; i++) {
        if (is_named(i))
            used +=
                snprintf(text + used, sizeof text - (size_t)used, ", %s", sg_algorithms[i].name);
    }
    return text;
}

void sg_bench_algorithm_comm_name(int algorithm, char name[SG_BENCH_COMM_NAME_BYTES])
{
    if (algorithm == SG_BENCH_GIVEN)
        snprintf(name, SG_BENCH_COMM_NAME_BYTES, GIVEN_COMM_NAME);
    else
        snprintf(name, SG_BENCH_COMM_NAME_BYTES, COMM_PREFIX "%s", sg_algorithms[algorithm].name);
}

enum sg_status sg_bench_algorithms_announce(const char *given)
{
    char *bound = given != NULL ? sg_bench_given_bind(given, GIVEN_COMM_NAME) : NULL;
    const char *users = sg_config_environment(RULES_VARIABLE);
    size_t size_bytes;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size_bytes);
    bool good = stream != NULL;

    for (int i = 0; good && i < sg_algorithm_count; i++) {
        char name[SG_BENCH_COMM_NAME_BYTES];

        if (!is_named(i))
            continue;
        sg_bench_algorithm_comm_name(i, name);
        fprintf(stream, "*~%s=%s;", name, sg_algorithms[i].name);
    }
    if (good)
        fprintf(stream, "barrier~%s=%s;", SG_BENCH_SETTLE_COMM_NAME,
                sg_algorithms[SG_ALGORITHM_TREE].name);
    if (good && bound != NULL)
        fputs(bound, stream);
    /* The first match decides: the user's rules may match every communicator. */
    if (good && users != NULL)
        fputs(users, stream);
    good = good && fclose(stream) == 0;
    good = good && setenv(RULES_VARIABLE, text, 1) == 0 && setenv(SETUP_VARIABLE, "1", 1) == 0;
    free(text);
    free(bound);
    if (given != NULL)
        given_rules = given;
    if (!good)
        sg_log("bench: out of memory");
    return good ? SG_OK : SG_ERR_MEMORY;
}
