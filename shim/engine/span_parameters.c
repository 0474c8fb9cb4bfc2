/* A rule's parameters as a protocol's: one line each. */
#include "engine/span_layout.h"

static void set_degree(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->degree = (uint8_t)value;
}

static void set_tokens(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->tokens = (uint8_t)value;
}

static void set_predict(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->predict = (uint8_t)value;
}

static void set_deterministic(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->arrival_order = value == 0;
}

/* "auto" is valued -1: an estimate of at most what a wake-up costs. */
static void set_linger(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->linger_auto = value < 0;
    parameters->linger_ns = (uint32_t)(value < 0 ? 100000 : value * 1000);
}

/* In KiB. */
static void set_chunk(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->chunk_bytes = (uint32_t)value * 1024;
}

/* In microseconds. */
static void set_timeout(struct sg_algo_parameters *parameters, int64_t value)
{
    parameters->timeout_ns = (uint32_t)value * 1000;
}

static const struct {
    const char *name;
    void (*set)(struct sg_algo_parameters *parameters, int64_t value);
} slots[] = {
    {"degree", set_degree},   {"tokens", set_tokens},
    {"predict", set_predict}, {"deterministic", set_deterministic},
    {"linger", set_linger},   {"chunk", set_chunk},
    {"timeout", set_timeout},
};

void sg_span_parameters(const struct sg_choice *choice, struct sg_algo_parameters *parameters)
{
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        int index = sg_parameter_find(choice->algorithm, slots[i].name);

        if (index >= 0)
            slots[i].set(parameters, choice->parameters[index]);
    }
    /* The word "auto" of adaptive is one below its least degree. */
    if (choice->algorithm == SG_ALGORITHM_ADAPTIVE && parameters->degree == 1)
        parameters->degree = 0;
}
