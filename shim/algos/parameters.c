#include "algos/parameters.h"

#include <stddef.h>
#include <string.h>

/* ---- functions that store values ------------------------------------------------------------ */

void sg_parameter_put_number(const struct sg_parameter *parameter, int64_t value,
                             struct sg_algo_parameters *into)
{
    /* Words are stored as 0: the protocol's own choice. */
    uint32_t number = value < parameter->low ? 0 : (uint32_t)value * parameter->scale;
    uint8_t small = (uint8_t)number;
    bool is_small = parameter->size_bytes == sizeof small;

    memcpy((char *)into + parameter->offset, is_small ? &small : (void *)&number,
           parameter->size_bytes);
}

static void put_opposite(const struct sg_parameter *parameter, int64_t value,
                         struct sg_algo_parameters *into)
{
    sg_parameter_put_number(parameter, value == 0, into);
}

static void put_linger(const struct sg_parameter *parameter, int64_t value,
                       struct sg_algo_parameters *into)
{
    into->linger_auto = value < parameter->low;
    sg_parameter_put_number(parameter, into->linger_auto ? SG_LINGER_AUTO_US : value, into);
}

/* ---- the tables ------------------------------------------------------------------------------*/

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

#define FIELD(field, scale) sg_parameter_put_number, SG_PARAMETER_FIELD(field, scale)
#define ENGINE NULL, 0, 0, 0
#define END                                                                                        \
    {                                                                                              \
        NULL, SG_PARAMETER_INTEGER, 0, 0, NULL, NULL, NULL, NULL, ENGINE                           \
    }

#define DEGREE_AUTO                                                                                \
    "auto: " TEXT(SG_DEGREE_BARRIER) " in a barrier, " TEXT(SG_DEGREE_DATA) " otherwise"

#define DETERMINISTIC                                                                              \
    {                                                                                              \
        "deterministic", SG_PARAMETER_INTEGER, 0, 1, NULL, "1", NULL,                              \
            "0: combines operands in the order of arrival", put_opposite,                          \
            SG_PARAMETER_FIELD(arrival_order, 1)                                                   \
    }
/* For protocols that release by multicast. */
#define TIMEOUT                                                                                    \
    {                                                                                              \
        "timeout", SG_PARAMETER_INTEGER, 10, 1000000, NULL, TEXT(SG_TIMEOUT_DEFAULT_US),           \
            "microseconds", "time before a rank requests or repeats a lost message",               \
            FIELD(timeout_ns, 1000)                                                                \
    }
/* After "auto", the words are in the order of enum sg_progress_mode. */
#define PROGRESS                                                                                   \
    {                                                                                              \
        "progress", SG_PARAMETER_CHOICE, 0, 0, "auto|poll|thread|signal", "auto", NULL,            \
            "handler of late messages; auto: STAGGER_PROGRESS", ENGINE                             \
    }
/* For algorithms that run inside a node and between nodes; after "any", the words are in the order
 * of SG_REACH_*. */
#define WHERE                                                                                      \
    {                                                                                              \
        "where", SG_PARAMETER_CHOICE, 0, 0, "any|inside|between", "any", NULL,                     \
            "scope of the rule: inside a node, between nodes, or any", ENGINE                      \
    }
#define CREDITS                                                                                    \
    {                                                                                              \
        "credits", SG_PARAMETER_INTEGER, 2, SG_CREDITS_MAX, NULL, TEXT(SG_CREDITS_DEFAULT), NULL,  \
            "calls that may be outstanding", FIELD(credits, 1)                                     \
    }
#define EAGER                                                                                      \
    {                                                                                              \
        "eager", SG_PARAMETER_INTEGER, SG_EAGER_MIN, SG_EAGER_MAX, NULL, TEXT(SG_EAGER_DEFAULT),   \
            "bytes", "size above which a node reads a reduce's operands remotely",                 \
            FIELD(eager_bytes, 1)                                                                  \
    }
#define SPLIT                                                                                      \
    {                                                                                              \
        "split", SG_PARAMETER_INTEGER, 0, 1, NULL, "0", NULL, "1: nonblocking calls",              \
            FIELD(split, 1)                                                                        \
    }

const struct sg_parameter sg_parameters_none[] = {END, END};

const struct sg_parameter sg_parameters_bypass[] = {
    {"linger", SG_PARAMETER_INTEGER, 0, 100000, "auto", "0", "microseconds",
     "time that a call waits for late children before it returns", put_linger,
     SG_PARAMETER_FIELD(linger_ns, 1000)},
    DETERMINISTIC,
    EAGER,
    PROGRESS,
    END,
    CREDITS,
    {"pool", SG_PARAMETER_INTEGER, 1, 64, NULL, TEXT(SG_POOL_DEFAULT), NULL,
     "buffers for operands that wait to be read", FIELD(pool, 1)},
    SPLIT,
    END,
};

const struct sg_parameter sg_parameters_adaptive[] = {
    {"degree", SG_PARAMETER_INTEGER, 2, SG_DEGREE_MAX, "auto", "auto", NULL,
     "children in the tree; " DEGREE_AUTO, FIELD(degree, 1)},
    {"tokens", SG_PARAMETER_INTEGER, 1, SG_TOKENS_MAX, NULL, "1", NULL,
     "late ranks that a token meets half-way", FIELD(tokens, 1)},
    {"predict", SG_PARAMETER_INTEGER, 0, 1, NULL, "0", NULL,
     "1: starts at the rank that usually arrives last", FIELD(predict, 1)},
    DETERMINISTIC,
    TIMEOUT,
    PROGRESS,
    END,
    CREDITS,
    END,
};

const struct sg_parameter sg_parameters_tree[] = {
    {"degree", SG_PARAMETER_INTEGER, 1, SG_DEGREE_MAX, "auto", "auto", NULL,
     "children in the tree; 1: binomial, " DEGREE_AUTO, FIELD(degree, 1)},
    {"shape", SG_PARAMETER_CHOICE, 0, 0, "auto|binomial|binary|fibonacci", "auto", NULL,
     "shape of a broadcast's tree; auto: by degree", FIELD(shape, 1)},
    TIMEOUT,
    PROGRESS,
    END,
    CREDITS,
    DETERMINISTIC,
    END,
};

const struct sg_parameter sg_parameters_dissemination[] = {PROGRESS, END, END};

const struct sg_parameter sg_parameters_pairwise[] = {PROGRESS, END, CREDITS, END};

const struct sg_parameter sg_parameters_handoff[] = {WHERE,   EAGER, PROGRESS, END,
                                                     CREDITS, SPLIT, END};

/* The words of form are in the order of enum sg_srm_form. */
const struct sg_parameter sg_parameters_srm[] = {
    {"form", SG_PARAMETER_CHOICE, 0, 0, "auto|flat|climb|chunks|single|groups", "auto", NULL,
     "exchange of operands inside a node; auto: by ranks and bytes", ENGINE},
    WHERE,
    {"chunk", SG_PARAMETER_INTEGER, 1, 64, NULL, TEXT(SG_CHUNK_DEFAULT_KIB), "KiB",
     "bytes exchanged at once between nodes; larger operands are split", FIELD(chunk_bytes, 1024)},
    PROGRESS,
    {"group", SG_PARAMETER_INTEGER, 2, SG_GROUP_MAX, "auto", "auto", NULL,
     "ranks of a group inside a node (form=groups); auto: by the places of the ranks", ENGINE},
    {"outer", SG_PARAMETER_INTEGER, 2, SG_OUTER_MAX, "auto", "auto", NULL,
     "ranks of a group of groups inside a node; auto: by the places, or none with a given group",
     ENGINE},
    END,
    CREDITS,
    SPLIT,
    END,
};

/* "slice" and "always" have index 1. */
const struct sg_parameter sg_parameters_bcs[] = {
    {"slice", SG_PARAMETER_INTEGER, 100, 1000000, NULL, TEXT(SG_SLICE_DEFAULT_US), "microseconds",
     "length of a slice; calls that all ranks made before a boundary run after it",
     FIELD(slice_ns, 1000)},
    {"restart", SG_PARAMETER_CHOICE, 0, 0, "phase|slice", "phase", NULL,
     "time at which a call returns: when it has run, or at the next boundary",
     FIELD(restart_slice, 1)},
    {"strobe", SG_PARAMETER_CHOICE, 0, 0, "demand|always", "demand", NULL,
     "strobes: when there is work, or at each boundary", FIELD(strobe_always, 1)},
    {"microphases", SG_PARAMETER_CHOICE, 0, 0, "merged|separate", "merged", NULL,
     "strobes of a slice: one for all microphases, or one for each",
     FIELD(microphases_separate, 1)},
    {"budget", SG_PARAMETER_INTEGER, 4, 65536, NULL, TEXT(SG_BUDGET_DEFAULT_KIB), "KiB",
     "operands that one slice moves", FIELD(budget_bytes, 1024)},
    {"degree", SG_PARAMETER_INTEGER, 2, SG_DEGREE_MAX, "auto", "auto", NULL,
     "children in the tree; auto: " TEXT(SG_DEGREE_BARRIER), FIELD(degree, 1)},
    {"send", SG_PARAMETER_CHOICE, 0, 0, "buffered|rendezvous", "buffered", NULL,
     "time at which a send of up to 64 KiB returns: when it is copied, or when it is received",
     ENGINE},
    PROGRESS,
    END,
    CREDITS,
    TIMEOUT,
    SPLIT,
    END,
};

const struct sg_parameter sg_parameters_auto[] = {
    {"block", SG_PARAMETER_INTEGER, 2, 1000, NULL, "8", NULL,
     "consecutive calls of a trial round's candidate", ENGINE},
    {"hold", SG_PARAMETER_INTEGER, 16, 1000000, NULL, "1024", NULL,
     "calls for which a choice holds; doubled each time that it is confirmed", ENGINE},
    WHERE,
    {"bits", SG_PARAMETER_CHOICE, 0, 0, "same|any", "same", NULL,
     "candidates between nodes: those with the same bits, or any", ENGINE},
    END,
    END,
};

const struct sg_parameter *sg_parameters_simulated(const struct sg_parameter *parameters)
{
    while (parameters->name != NULL)
        parameters++;
    return parameters + 1;
}

void sg_parameters_put(const struct sg_parameter *parameters, const int64_t *values,
                       struct sg_algo_parameters *into)
{
    for (int i = 0; parameters[i].name != NULL; i++) {
        if (parameters[i].put != NULL)
            parameters[i].put(&parameters[i], values[i], into);
    }
}
