/* The state of bypass: its layout, its slots, and the estimate of the linger (see bypass.c). */
#include "algos/bypass/state.h"
#include "algos/peers.h"
#include "algos/tree.h"

/* The pool is a word of bits; more slots than instances that could hold one are of no use. */
static uint32_t pool_of(const struct sg_algo_parameters *parameters)
{
    uint32_t pool = parameters->pool ? parameters->pool : SG_POOL_DEFAULT;

    return pool < sg_credits(parameters) ? pool : sg_credits(parameters);
}

bool sg_bypass_needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    uint32_t credits = sg_credits(&setup->parameters);
    uint32_t edges;

    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX || credits < 2 ||
        credits > SG_CREDITS_MAX)
        return false;
    edges = (uint32_t)sg_tree_levels(setup->size);
    needs->state_bytes = (uint32_t)(sizeof(struct bypass) + credits * sizeof(struct instance) +
                                    edges * credits * sizeof(struct early));
    needs->slots = 2 * credits + edges * credits + pool_of(&setup->parameters);
    needs->cells = 0;
    needs->parts = 1;
    needs->slot_bytes = sg_read_bytes(&setup->parameters);
    needs->part_bytes = sg_eager_bytes(&setup->parameters);
    if (needs->part_bytes < SG_PART_DEFAULT)
        needs->part_bytes = SG_PART_DEFAULT;
    needs->in_parts = 1u << SG_OPERATION_BCAST;
    needs->receivers = (uint32_t)sg_branch_children(0, setup->size, SG_TREE_BINOMIAL);
    return true;
}

static uint32_t pool_at(const struct bypass *state)
{
    return state->credits + state->edges * state->credits;
}

void sg_bypass_init(void *state, const struct sg_algo_setup *setup)
{
    const struct sg_algo_parameters *parameters = &setup->parameters;
    struct bypass *s = state;

    s->head.seq = s->broadcasts = parameters->first;
    s->rank = setup->rank;
    s->size = setup->size;
    s->edges = (uint32_t)sg_tree_levels(setup->size);
    s->credits = (uint8_t)sg_credits(parameters);
    s->pool_all = ~UINT64_C(0) >> (64 - pool_of(parameters));
    s->eager_bytes = sg_eager_bytes(parameters);
    s->linger_ns = parameters->linger_ns;
    s->linger_auto = parameters->linger_auto;
    s->arrival_order = parameters->arrival_order;
    sg_broadcast_init(&s->broadcast, setup, SG_TREE_BINOMIAL, true,
                      pool_at(s) + pool_of(parameters), 1);
    sg_flow_init(&s->flow, setup, SG_TREE_BINOMIAL, s->credits, SG_FLOW_SOLICITED_REPORT);
}

int sg_bypass_peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                    int32_t *out, int capacity)
{
    struct sg_peers peers = sg_peers_into(out, capacity);

    sg_peers_add_branch(&peers, setup->rank, setup->size, root, SG_TREE_BINOMIAL);
    /* Those of flow control. */
    if (operation == SG_OPERATION_BCAST)
        sg_peers_add_branch(&peers, setup->rank, setup->size, 0, SG_TREE_BINOMIAL);
    return sg_peers_count(&peers);
}

/* ---- slots ---- */

static struct early *all_early(struct bypass *state)
{
    return (struct early *)(state->ring + state->credits);
}

struct early *sg_bypass_early(struct bypass *state, uint32_t edge, uint64_t seq)
{
    struct early *early = all_early(state) + (size_t)edge * state->credits;

    for (uint32_t i = 0; i < state->credits; i++) {
        if (early[i].seq == seq)
            return &early[i];
    }
    return NULL;
}

uint32_t sg_bypass_waiting(struct bypass *state, uint64_t seq)
{
    const struct early *early = all_early(state);
    uint32_t waiting = 0;

    for (uint32_t i = 0; i < state->edges * state->credits; i++) {
        if (early[i].seq == seq && early[i].here)
            waiting |= 1u << i / state->credits;
    }
    return waiting;
}

uint32_t sg_bypass_early_slot(struct bypass *state, const struct early *early)
{
    return state->credits + (uint32_t)(early - all_early(state));
}

struct early *sg_bypass_early_at(struct bypass *state, uint32_t slot)
{
    return all_early(state) + (slot - state->credits);
}

uint32_t sg_bypass_edge_of(const struct bypass *state, uint32_t slot)
{
    return (slot - state->credits) / state->credits;
}

uint32_t sg_bypass_take_pool_slot(struct bypass *state)
{
    uint32_t free_one = (uint32_t)__builtin_ctzll(~state->pool_used);

    state->pool_used |= UINT64_C(1) << free_one;
    return pool_at(state) + free_one;
}

void sg_bypass_free_pool_slot(struct bypass *state, uint32_t slot)
{
    if (slot >= pool_at(state))
        state->pool_used &= ~(UINT64_C(1) << (slot - pool_at(state)));
}

/* ---- the linger ---- */

/* A second is later than any wait is worth, and keeps the arithmetic within 32 bits. */
#define LATE_MAX_NS 1000000000u

void sg_bypass_observe(struct lateness *site, uint64_t late_ns)
{
    uint32_t sample_ns = late_ns < LATE_MAX_NS ? (uint32_t)late_ns : LATE_MAX_NS;
    uint32_t error_ns;

    if (!site->known) {
        site->known = true;
        site->mean_ns = sample_ns;
        site->deviation_ns = sample_ns / 2;
        return;
    }
    error_ns = sample_ns > site->mean_ns ? sample_ns - site->mean_ns : site->mean_ns - sample_ns;
    site->deviation_ns += error_ns / 4 - site->deviation_ns / 4;
    site->mean_ns += sample_ns / 8 - site->mean_ns / 8;
}

uint32_t sg_bypass_linger(const struct lateness *site, uint32_t bound_ns)
{
    uint64_t likely_ns = (uint64_t)site->mean_ns + 4 * (uint64_t)site->deviation_ns;

    if (!site->known || (site->mean_ns <= bound_ns && likely_ns > bound_ns))
        return bound_ns;
    return site->mean_ns > bound_ns ? 0 : (uint32_t)likely_ns;
}
