/* Tests the tables of parameters against the protocols, and the texts that the simulator takes. */
#include "algos/algo.h"
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
    return strstr(parameter->documentation, "inside a node") != NULL;
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

static struct sg_algo_parameters simulated(const char *text)
{
    return sg_sim_algo_of(text).parameters;
}

TEST("values are stored in their fields")
{
    struct sg_algo_parameters bypass =
        simulated("bypass(linger=auto,deterministic=0,credits=4,eager=4k,pool=3,split=1)");
    struct sg_algo_parameters adaptive =
        simulated("adaptive(degree=auto,tokens=2,predict=1,deterministic=1,timeout=20)");

    EXPECT(bypass.linger_auto == 1 && bypass.linger_ns == 100000,
           bypass.arrival_order == 1 && bypass.credits == 4 && bypass.split == 1,
           bypass.eager_bytes == 4096 && bypass.pool == 3,
           adaptive.degree == 0 && adaptive.tokens == 2 && adaptive.predict == 1,
           adaptive.arrival_order == 0 && adaptive.timeout_ns == 20000,
           simulated("bypass(linger=5)").linger_ns == 5000,
           simulated("srm(chunk=2)").chunk_bytes == 2048);
}

TEST("unknown parameters and values out of range are refused")
{
    static const char *const wrong[] = {"bypass(progress=poll)", "bypass(linger=100001)",
                                        "adaptive(degree=33)",   "adaptive(degree=none)",
                                        "srm(chunk=0)",          "tree(magic=1)",
                                        "tree(degree=1",         "tree(degree)",
                                        "handoff(predict=1)",    "bypass(linger_us=20)"};
    char room[SG_OPTION_FAULT_BYTES];
    struct sg_sim_algos algos;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(sg_sim_parse_algos(wrong[i], &algos, room) != NULL);
}
