/* Tests the tables of parameters against the protocols, and the spellings that the simulator
 * takes. */
#include "algos/algo.h"
#include "core/capture.h"
#include "lib/unit.h"
#include "rule/rule.h"
#include "sim/lists.h"

#include <inttypes.h>

enum { SIZE = 8 };

static const struct sg_algo *protocol_of(const char *name)
{
    for (int i = 0; sg_algos[i] != NULL; i++) {
        if (strcmp(sg_algos[i]->name, name) == 0)
            return sg_algos[i];
    }
    return NULL;
}

static bool parses(const struct sg_parameter *parameter, int64_t number)
{
    char text[32];
    int64_t value;

    snprintf(text, sizeof text, "%" PRId64, number);
    return sg_parameter_parse(parameter, text, text + strlen(text), &value) && value == number;
}

static int64_t default_of(const struct sg_parameter *parameter)
{
    const char *text = parameter->default_text;
    int64_t value = 0;

    EXPECT(sg_parameter_parse(parameter, text, text + strlen(text), &value));
    return value;
}

static bool is_taken(const struct sg_algo *algo, const struct sg_parameter *parameter,
                     int64_t value)
{
    struct sg_algo_setup setup = {.size = SIZE};
    struct sg_algo_needs needs = {0};

    parameter->put(parameter, value, &setup.parameters);
    return algo->needs(&setup, &needs);
}

/* True if the parameter is about ranks in one node, where no protocol runs. */
static bool is_inside_node(const struct sg_parameter *parameter)
{
    return strstr(parameter->documentation, "inside a node, ") == parameter->documentation;
}

/* The parameters of one part of a table; each default is put into `into`. */
static void check_part(const struct sg_algo *algo, const struct sg_parameter *list,
                       struct sg_algo_parameters *into)
{
    for (; list->name != NULL; list++) {
        EXPECT(list->documentation != NULL);
        if (list->put != NULL)
            list->put(list, default_of(list), into);
        if (list->kind == SG_PARAMETER_CHOICE)
            continue;
        EXPECT(parses(list, list->low) && !parses(list, list->low - 1),
               parses(list, list->high) && !parses(list, list->high + 1));
        if (list->put == NULL && is_inside_node(list))
            continue;
        ASSERT(list->put != NULL);
        EXPECT(is_taken(algo, list, list->low) && is_taken(algo, list, list->high));
    }
}

TEST("tables and protocols agree on ranges and defaults")
{
    int protocols = 0;

    for (int i = 0; i < sg_algorithm_count; i++) {
        const struct sg_algo *algo = protocol_of(sg_algorithms[i].name);
        struct sg_algo_setup plain = {.size = SIZE}, filled = {.size = SIZE};
        struct sg_algo_needs plain_needs = {0}, filled_needs = {0};

        if (algo == NULL)
            continue;
        protocols++;
        ASSERT(sg_algorithms[i].parameters == algo->parameters);
        check_part(algo, algo->parameters, &filled.parameters);
        check_part(algo, sg_parameters_simulated(algo->parameters), &filled.parameters);
        EXPECT(algo->needs(&plain, &plain_needs), algo->needs(&filled, &filled_needs),
               memcmp(&plain_needs, &filled_needs, sizeof plain_needs) == 0);
    }
    /* All but mpich and auto. */
    EXPECT(protocols == sg_algorithm_count - 2);
}

/* Returns the simulator's parameters for a text, and its log, which the caller frees. */
static struct sg_algo_parameters simulated(const char *text, char **log)
{
    struct capture capture;

    capture_begin(&capture);
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    *log = capture_end(&capture);
    return algo.parameters;
}

TEST("values go where they belong")
{
    char *log;
    struct sg_algo_parameters bypass =
        simulated("bypass(linger=auto,deterministic=0,credits=4,eager=4k,pool=3,split=1)", &log);
    struct sg_algo_parameters adaptive;

    EXPECT(text_is(log, ""));
    free(log);
    EXPECT(bypass.linger_auto == 1 && bypass.linger_ns == 100000,
           bypass.arrival_order == 1 && bypass.credits == 4 && bypass.split == 1,
           bypass.eager_bytes == 4096 && bypass.pool == 3);
    adaptive =
        simulated("adaptive(degree=auto,tokens=2,predict=1,deterministic=1,timeout=20)", &log);
    EXPECT(text_is(log, ""));
    free(log);
    EXPECT(adaptive.degree == 0 && adaptive.tokens == 2 && adaptive.predict == 1,
           adaptive.arrival_order == 0 && adaptive.timeout_ns == 20000,
           simulated("bypass(linger=5)", &log).linger_ns == 5000);
    free(log);
    EXPECT(simulated("srm(chunk=2)", &log).chunk_bytes == 2048);
    free(log);
}

static const struct spelling {
    const char *old, *now, *said;
} spellings[] = {
    {"bypass(linger_us=20)", "bypass(linger=20)", "linger takes the place of linger_us=20, "},
    {"bypass(linger_us=100,linger_auto=1)", "bypass(linger=auto)",
     "linger=auto takes the place of linger_auto=1, "},
    {"tree(timeout_us=70)", "tree(timeout=70)", "timeout takes the place of timeout_us=70, "},
    {"adaptive(arrival_order=1)", "adaptive(deterministic=0)",
     "deterministic, the opposite, takes the place of arrival_order=1, "},
    {"bypass(arrival_order=0)", "bypass(deterministic=1)",
     "deterministic, the opposite, takes the place of arrival_order=0, "},
    {"srm(chunk=8192)", "srm(chunk=8)",
     "chunk in KiB, 64 at most, takes the place of chunk=8192, "},
    {"handoff(predict=1)", "adaptive(predict=1)", "handoff has no parameter predict, "},
};

TEST("old spellings are taken, with a line each")
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct spelling *one = &spellings[i];
        char *said, *nothing;
        struct sg_algo_parameters old = simulated(one->old, &said);
        struct sg_algo_parameters now = simulated(one->now, &nothing);

        EXPECT(memcmp(&old, &now, sizeof old) == 0, contains(said, one->said),
               contains(said, "which the next release will refuse\n"), text_is(nothing, ""));
        free(said);
        free(nothing);
    }
}

TEST("what no algorithm has is refused")
{
    static const char *const wrong[] = {"bypass(progress=poll)", "bypass(linger=100001)",
                                        "adaptive(degree=33)",   "adaptive(degree=none)",
                                        "srm(chunk=0)",          "tree(magic=1)",
                                        "tree(degree=1",         "tree(degree)"};
    char room[SG_OPTION_FAULT_BYTES];
    struct sg_sim_algos algos;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(sg_sim_parse_algos(wrong[i], &algos, room) != NULL);
}
