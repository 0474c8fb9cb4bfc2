#include "algos/broadcast.h"

#include "algos/tree.h"

#include <string.h>

enum { NUMBER_ROOT, NUMBER_NUMBER };

void sg_broadcast_init(struct sg_broadcast *broadcast, const struct sg_algo_setup *setup,
                       int degree, bool bypass, uint32_t base, uint32_t stride)
{
    broadcast->rank = setup->rank;
    broadcast->size = setup->size;
    broadcast->base = base;
    broadcast->stride = stride;
    broadcast->credits = (uint8_t)sg_credits(&setup->parameters);
    broadcast->degree = (uint8_t)degree;
    broadcast->bypass = bypass;
}

static struct sg_data slot_of(const struct sg_broadcast *broadcast, uint64_t number)
{
    return sg_data_slot(broadcast->base +
                        sg_count_place(number, broadcast->credits) * broadcast->stride);
}

static int children_of(const struct sg_broadcast *broadcast, int32_t root, int32_t rank)
{
    return sg_branch_children(sg_tree_relative(rank, root, broadcast->size), broadcast->size,
                              broadcast->degree);
}

bool sg_broadcast_passes_on(const struct sg_broadcast *broadcast, int32_t root)
{
    return broadcast->rank != root && children_of(broadcast, root, broadcast->rank) > 0;
}

/* Sends to all children, the one with the largest subtree first. */
static void send_on(const struct sg_broadcast *broadcast, const struct sg_header *header,
                    struct sg_data data, struct sg_actions *actions)
{
    int32_t root = (int32_t)header->number[NUMBER_ROOT], size = broadcast->size;
    int32_t relative = sg_tree_relative(broadcast->rank, root, size);
    int children = sg_branch_children(relative, size, broadcast->degree);

    for (int i = 0; i < children; i++) {
        int index = broadcast->degree == SG_TREE_BINOMIAL ? children - 1 - i : i;
        int32_t to =
            sg_tree_absolute(sg_branch_child(relative, size, broadcast->degree, index), root, size);

        if (header->parts > 0)
            sg_emit_part(actions, data);
        /* Nobody waits for a leaf. */
        sg_emit_send(actions, to, header)->solicited =
            broadcast->bypass && children_of(broadcast, root, to) > 0;
    }
}

static void copy(struct sg_algo_head *head, struct sg_data from, struct sg_data into,
                 uint32_t bytes, struct sg_actions *actions)
{
    if (bytes == 0)
        return;
    sg_emit_copy(actions, from, into, bytes);
    head->copies++;
}

static struct sg_header header_of(const struct sg_algo_head *head, uint64_t number,
                                  const struct sg_algo_call *call)
{
    return (struct sg_header){
        .seq = (uint32_t)head->seq,
        .kind = SG_BROADCAST_DATA,
        .operation = SG_OPERATION_BCAST,
        .flags = (uint8_t)call->flags,
        .parts = call->bytes > 0,
        .bytes = call->bytes,
        .number = {[NUMBER_ROOT] = (uint32_t)call->root, [NUMBER_NUMBER] = (uint32_t)number},
    };
}

static struct sg_data result_of(const struct sg_broadcast *broadcast, uint64_t seq)
{
    return (struct sg_data){SG_DATA_RESULT, (uint16_t)sg_count_place(seq, broadcast->credits)};
}

bool sg_broadcast_call(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t number,
                       const struct sg_algo_call *call, struct sg_actions *actions)
{
    struct sg_header header = header_of(head, number, call);
    uint64_t place = UINT64_C(1) << sg_count_place(number, broadcast->credits);

    broadcast->called = number;
    if (call->root == broadcast->rank) {
        send_on(broadcast, &header, sg_data_operand(), actions);
        return true;
    }
    if (!(broadcast->here & place)) {
        broadcast->is_waiting = true;
        return false;
    }
    broadcast->here &= ~place;
    if (!broadcast->bypass)
        send_on(broadcast, &header, slot_of(broadcast, number), actions);
    copy(head, slot_of(broadcast, number), result_of(broadcast, head->seq), call->bytes, actions);
    return true;
}

bool sg_broadcast_take(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t last,
                       const struct sg_message *message, struct sg_actions *actions)
{
    const struct sg_header *header = &message->header;
    uint64_t number = sg_count_told(last, header->number[NUMBER_NUMBER]);

    if (broadcast->is_waiting && number == broadcast->called) {
        broadcast->is_waiting = false;
        send_on(broadcast, header, sg_data_part(0), actions);
        copy(head, sg_data_part(0), result_of(broadcast, head->seq), header->bytes, actions);
        return true;
    }
    if (header->seq != (uint32_t)head->seq || !head->in_call) {
        head->early++;
        sg_emit_mark(actions, SG_MARK_EARLY);
    }
    broadcast->here |= UINT64_C(1) << sg_count_place(number, broadcast->credits);
    if (broadcast->bypass &&
        sg_broadcast_passes_on(broadcast, (int32_t)header->number[NUMBER_ROOT])) {
        head->forwarded++;
        sg_emit_mark(actions, SG_MARK_PASSED_ON);
        send_on(broadcast, header, sg_data_part(0), actions);
    }
    copy(head, sg_data_part(0), slot_of(broadcast, number), header->bytes, actions);
    return false;
}

void sg_peers_add(struct sg_peers *peers, int32_t peer)
{
    int low = 0, high = peers->count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (peers->out[middle] < peer)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < peers->count && peers->out[low] == peer)
        return;
    if (peers->count == peers->capacity) {
        peers->is_short = true;
        return;
    }
    memmove(&peers->out[low + 1], &peers->out[low],
            (size_t)(peers->count - low) * sizeof *peers->out);
    peers->out[low] = peer;
    peers->count++;
}

void sg_peers_add_both(struct sg_peers *peers, int32_t rank, int32_t size, int32_t distance)
{
    sg_peers_add(peers, (int32_t)(((int64_t)rank + distance) % size));
    sg_peers_add(peers, (int32_t)(((int64_t)rank + size - distance) % size));
}

void sg_peers_add_branch(struct sg_peers *peers, int32_t rank, int32_t size, int32_t top,
                         int degree)
{
    int32_t relative = sg_tree_relative(rank, top, size);
    int32_t parent = sg_branch_parent(relative, size, degree);
    int children = sg_branch_children(relative, size, degree);

    if (parent >= 0)
        sg_peers_add(peers, sg_tree_absolute(parent, top, size));
    for (int i = 0; i < children; i++)
        sg_peers_add(peers,
                     sg_tree_absolute(sg_branch_child(relative, size, degree, i), top, size));
}

void sg_peers_add_tree(struct sg_peers *peers, int32_t rank, int32_t size, int degree)
{
    struct sg_tree_place place = sg_tree_find(rank, size, degree);
    int children = sg_tree_children(&place, degree);

    if (place.parent >= 0)
        sg_peers_add(peers, place.parent);
    for (int i = 0; i < children; i++)
        sg_peers_add(peers, sg_tree_child(&place, degree, i).lo);
}

/* Level by level: the subtrees of a level have at most two sizes, which differ by one. */
void sg_peers_add_branches(struct sg_peers *peers, int32_t rank, int32_t size, int32_t tree_size,
                           int degree)
{
    int32_t least = tree_size, most = tree_size;

    while (most > 1) {
        for (int32_t subtree = least; subtree <= most; subtree++) {
            struct sg_tree_place place = sg_tree_top(subtree);
            int children = subtree > 0 ? sg_tree_children(&place, degree) : 0;

            for (int i = 0; i < children; i++)
                sg_peers_add_both(peers, rank, size, sg_tree_child(&place, degree, i).lo);
        }
        least = (least - 1) / degree;
        most = (most - 1 + degree - 1) / degree;
    }
}

void sg_peers_add_powers(struct sg_peers *peers, int32_t rank, int32_t size)
{
    for (int i = 0; i < sg_tree_levels(size); i++)
        sg_peers_add_both(peers, rank, size, INT32_C(1) << i);
}

/* A Fibonacci tree's subtrees have Fibonacci numbers of endpoints, except for the rest of the whole
 * without its top's first children. */
void sg_peers_add_tops(struct sg_peers *peers, int32_t rank, int32_t size, int degree)
{
    if (degree > SG_TREE_BINOMIAL) {
        sg_peers_add_branches(peers, rank, size, size, degree);
        return;
    }
    if (degree == SG_TREE_BINOMIAL) {
        sg_peers_add_powers(peers, rank, size);
        return;
    }
    for (int i = 0; i < sg_branch_children(0, size, degree); i++)
        sg_peers_add_both(peers, rank, size, sg_branch_child(0, size, degree, i));
    for (int64_t number = 1, next = 2, last; number < size;
         last = number + next, number = next, next = last)
        sg_peers_add_both(peers, rank, size, (int32_t)number);
}

void sg_peers_add_hypercube(struct sg_peers *peers, int32_t rank, int32_t size)
{
    struct sg_hypercube cube = sg_hypercube_find(rank, size);

    for (uint32_t edge = 0; edge < sg_hypercube_edges(size); edge++) {
        int32_t partner = sg_hypercube_partner(&cube, size, edge);

        if (partner >= 0)
            sg_peers_add(peers, partner);
    }
}
