#include "sim/papers/programs.h"

#include "sim/bcs_protocol.h"
#include "sim/program/stock.h"

#define MESSAGE_BYTES 4096
/* Share by which SAGE's computations differ at most: calls that wait then take the paper's 2.312 ms
 * among 64 processes. */
#define SAGE_IMBALANCE 0.255

struct sg_pattern sg_paper_exchange(int32_t processes, bool nonblocking)
{
    return (struct sg_pattern){.kind = SG_PATTERN_EXCHANGE,
                               .nonblocking = nonblocking,
                               .processes = processes,
                               .steps = 400,
                               .granularity_ns = 3500000,
                               .bytes = MESSAGE_BYTES};
}

struct sg_pattern sg_paper_sage(int32_t processes, uint32_t calls)
{
    return (struct sg_pattern){.kind = SG_PATTERN_SAGE,
                               .processes = processes,
                               .steps = calls,
                               .granularity_ns = 9461000,
                               .imbalance = SAGE_IMBALANCE,
                               .bytes = MESSAGE_BYTES,
                               .seed = 1};
}

struct sg_pattern sg_paper_barriers(uint32_t barriers)
{
    return (struct sg_pattern){
        .kind = SG_PATTERN_BARRIER, .processes = 32, .steps = barriers, .granularity_ns = 1900000};
}

struct sg_sliced_setup sg_paper_slices(const struct sg_network *network, bool restart_slice)
{
    return (struct sg_sliced_setup){.network = network,
                                    .slice_ns = SG_PAPER_SLICE_US * 1000,
                                    .restart_slice = restart_slice,
                                    .separate = true,
                                    .always = true};
}

/* The card carries everything out, at no time of the processors. */
static struct sg_network on_card(const struct sg_network *network)
{
    struct sg_network card = *network;

    card.overhead_us = card.signal_us = card.wake_us = card.local_us = card.copy_ns_per_byte = 0;
    return card;
}

enum sg_status sg_paper_protocol(const struct sg_network *network, uint32_t barriers,
                                 void (*slice)(void *context, int32_t endpoint,
                                               const struct sg_slice *slice),
                                 void *context)
{
    struct sg_pattern pattern = sg_paper_barriers(barriers);
    struct sg_lateness work = {0, pattern.processes - 1, pattern.granularity_ns};
    struct sg_network card = on_card(network);
    struct sg_world_setup setup = {
        .algo = &sg_algo_bcs,
        .parameters = {.slice_ns = SG_PAPER_SLICE_US * 1000,
                       .restart_slice = true,
                       .strobe_always = true,
                       .microphases_separate = true},
        .network = &card,
        .mode = SG_SIM_SIGNAL,
        .endpoints = pattern.processes,
        .ranks_per_node = 1,
        .call = {.operation = SG_OPERATION_BARRIER, .root = -1},
        .iterations = barriers,
        .late = &work,
        .late_count = 1,
        .free_running = true,
        .slice = slice,
        .slice_context = context,
    };
    struct sg_world_result result;

    return sg_world_run(&setup, &result);
}

enum sg_status sg_paper_run(const struct sg_network *network, struct sg_pattern *pattern,
                            bool restart_slice, struct sg_paper_times *out)
{
    struct sg_stock_setup usual = {.network = network, .eager_bytes = SG_STOCK_EAGER_DEFAULT};
    struct sg_sliced_setup slices = sg_paper_slices(network, restart_slice);
    struct sg_program_result result = {0};
    enum sg_status status;

    sg_pattern_make(pattern);
    status = sg_stock_run(&usual, &pattern->program, &result);
    if (status != SG_OK)
        return status;
    out->usual_ns = (double)result.run_ns;
    status = sg_sliced_run(&slices, &pattern->program, &result);
    if (status != SG_OK)
        return status;
    out->bcs_ns = (double)result.run_ns;
    out->call_ns = (result.blocked_ns + result.busy_ns) / (double)result.blocking_calls;
    return SG_OK;
}

enum sg_status sg_paper_run_protocol(const struct sg_network *network, struct sg_pattern *pattern,
                                     double *bcs_ns)
{
    struct sg_network card = on_card(network);
    struct sg_world_setup setup = {
        .parameters = {.slice_ns = SG_PAPER_SLICE_US * 1000,
                       .budget_bytes = SG_SLICED_BUDGET_DEFAULT,
                       .microphases_separate = true,
                       .strobe_always = true},
        .network = &card,
        .mode = SG_SIM_SIGNAL,
    };
    struct sg_program_result result = {0};
    enum sg_status status;

    sg_pattern_make(pattern);
    status = sg_bcs_protocol_run(&setup, &pattern->program, &result);
    *bcs_ns = (double)result.run_ns;
    return status;
}
