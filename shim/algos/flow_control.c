#include "algos/flow_control.h"

#include "algos/emit.h"
#include "algos/tree.h"

void sg_flow_init(struct sg_flow *flow, const struct sg_algo_setup *setup, int degree,
                  uint32_t credits, enum sg_flow_kind kind)
{
    flow->rank = setup->rank;
    flow->size = setup->size;
    flow->degree = (uint8_t)degree;
    flow->credits = (uint8_t)credits;
    flow->kind = (uint8_t)kind;
    flow->floor = flow->moot = setup->parameters.first;
}

bool sg_flow_allows(const struct sg_flow *flow, uint64_t seq)
{
    return seq <= flow->floor + flow->credits;
}

void sg_flow_enter(struct sg_flow *flow, uint64_t seq, bool synchronises)
{
    if (synchronises) {
        flow->run = 0;
        flow->moot = seq - 1;
    } else {
        flow->run++;
    }
}

void sg_flow_synchronised(struct sg_flow *flow, uint64_t seq)
{
    if (seq - 1 > flow->floor)
        flow->floor = seq - 1;
}

/* To a neighbour in the tree that passes it on, or not. */
static void tell(const struct sg_flow *flow, int32_t to, uint64_t seq, uint8_t kind,
                 struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)seq, .kind = kind};
    bool passes_on = to == 0 || sg_branch_children(to, flow->size, flow->degree) > 0;

    sg_emit_send(actions, to, &header)->solicited =
        flow->kind == SG_FLOW_SOLICITED_REPORT && passes_on;
}

static void raise_bound(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions)
{
    int children = sg_branch_children(flow->rank, flow->size, flow->degree);

    for (int i = 0; i < children; i++)
        tell(flow, sg_branch_child(flow->rank, flow->size, flow->degree, i), seq,
             (uint8_t)(flow->kind + 1), actions);
    if (seq > flow->floor)
        flow->floor = seq;
}

/* From this endpoint, or from a child for all below it. */
static void report(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions)
{
    uint32_t due = (uint32_t)sg_branch_children(flow->rank, flow->size, flow->degree) + 1;
    int at = -1;

    /* A synchronising instance has overtaken it. */
    if (seq <= flow->moot || seq <= flow->floor)
        return;
    for (int i = 0; i < SG_FLOW_REPORTS_MAX; i++) {
        if (flow->reports[i].count > 0 && flow->reports[i].seq == seq) {
            at = i;
            break;
        }
        /* Messages overtake each other: a later report may have raised the bound. */
        if (flow->reports[i].count == 0 || flow->reports[i].seq <= flow->moot ||
            flow->reports[i].seq <= flow->floor)
            at = i;
    }
    if (at < 0)
        __builtin_trap(); /* no more than three are due within the credits */
    if (flow->reports[at].seq != seq) {
        flow->reports[at].seq = seq;
        flow->reports[at].count = 0;
    }
    if (++flow->reports[at].count < due)
        return;
    flow->reports[at].count = 0;
    if (flow->rank == 0)
        raise_bound(flow, seq, actions);
    else
        tell(flow, sg_branch_parent(flow->rank, flow->size, flow->degree), seq, flow->kind,
             actions);
}

void sg_flow_finished(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions)
{
    if (flow->size > 1 && sg_count_place(flow->run, flow->credits / 2u) == 0)
        report(flow, seq, actions);
    else if (flow->size == 1)
        flow->floor = seq;
}

void sg_flow_message(struct sg_flow *flow, const struct sg_header *header,
                     struct sg_actions *actions)
{
    uint64_t seq = sg_count_told(flow->floor, header->seq);

    if (header->kind == flow->kind)
        report(flow, seq, actions);
    else
        raise_bound(flow, seq, actions);
}
