#include "bcs/program_run.h"

#include "algos/parameters.h"
#include "algos/tree.h"

#include <string.h>

/* The slice under way. */
struct slice {
    struct sg_sliced_state *slices;
    uint64_t number, begin_ns;
    uint32_t most_descriptors, most_matches; /* of any process; in total */
};

static uint64_t later(uint64_t left_ns, uint64_t right_ns)
{
    return left_ns > right_ns ? left_ns : right_ns;
}

/* Returns when endpoint 0 knows that all endpoints have finished the microphase that began at
 * begin_ns and ended at last_ns. */
static uint64_t known_ns(const struct slice *slice, uint64_t begin_ns, uint64_t last_ns)
{
    const struct sg_sliced_state *slices = slice->slices;
    uint64_t queries;

    if (slices->query_ns == 0)
        return last_ns + (uint64_t)slices->depth * slices->hop_ns;
    queries = (last_ns - begin_ns + slices->query_ns - 1) / slices->query_ns;
    if (queries == 0)
        queries = 1;
    return begin_ns + queries * slices->query_ns;
}

/* Opens the process's part of this slice, once. An agent on the host interrupts the process then,
 * unless every boundary has a strobe. */
static struct sg_sliced_process *part_of(struct slice *slice, int32_t process)
{
    struct sg_sliced_state *slices = slice->slices;
    struct sg_sliced_process *self = &slices->processes[process];

    if (self->stamp == slice->number + 1)
        return self;
    self->stamp = slice->number + 1;
    self->used_bytes = self->descriptors = 0;
    if (slices->setup->on_host && !slices->setup->always)
        sg_sliced_steal(slices, process,
                        sg_network_ns(slices->network.wake_us) + 2 * slices->overhead_ns);
    return self;
}

/* ---- descriptors */

static void match(struct slice *slice, const struct sg_run_post *post)
{
    struct sg_sliced_state *slices = slice->slices;
    struct sg_run *run = &slices->run;
    struct sg_run_process *receiver = &run->processes[post->to];
    struct sg_run_posts *others = post->data ? &receiver->receives : &receiver->sends;
    uint32_t found = sg_run_match(run, others, post->from, post->comm, post->tag);
    struct sg_run_post other;
    struct sg_sliced_work work = {.from = post->from, .to = post->to, .bytes = post->bytes};

    if (found == SG_RUN_NONE) {
        sg_run_append(run, post->data ? &receiver->sends : &receiver->receives, post);
        return;
    }
    other = run->posts[found];
    sg_run_free(run, found);
    work.send = post->data ? post->request : other.request;
    work.receive = post->data ? other.request : post->request;
    work.bytes = post->data ? post->bytes : other.bytes;
    slice->most_matches++;
    sg_sliced_add_work(slices, &work);
}

/* Exchanges the descriptors posted before the boundary; `fresh` has them first. */
static void exchange(struct slice *slice)
{
    struct sg_sliced_state *slices = slice->slices;
    uint32_t count = 0;

    while (count < slices->fresh_count && slices->fresh[count].time_ns < slice->begin_ns) {
        struct sg_run_post post = slices->fresh[count++];
        struct sg_sliced_process *self = part_of(slice, post.data ? post.from : post.to);

        if (++self->descriptors > slice->most_descriptors)
            slice->most_descriptors = self->descriptors;
        if (post.data && slices->setup->on_host)
            sg_sliced_steal(slices, post.to,
                            sg_network_ns(slices->network.wake_us) + slices->overhead_ns);
        match(slice, &post);
    }
    slices->fresh_count -= count;
    if (slices->fresh_count > 0)
        memmove(slices->fresh, slices->fresh + count, slices->fresh_count * sizeof *slices->fresh);
}

/* ---- messages */

/* Moves what the receiver's budget allows of a message: the receiver fetches it. Returns when it
 * has arrived; 0: the budget is used up. */
static uint64_t move(struct slice *slice, struct sg_sliced_work *work, uint64_t begin_ns)
{
    struct sg_sliced_state *slices = slice->slices;
    struct sg_sliced_process *from = &slices->processes[work->from];
    struct sg_sliced_process *to = part_of(slice, work->to);
    uint64_t latency_ns = sg_network_ns(slices->network.latency_us), gap_ns, left_ns;
    uint64_t room = slices->budget_bytes - to->used_bytes;
    uint64_t bytes = work->bytes < room ? work->bytes : room;

    if (bytes < work->bytes && bytes == 0)
        return 0;
    gap_ns = sg_network_gap_ns(&slices->network, bytes);
    left_ns = later(from->send_ns, begin_ns + slices->overhead_ns + latency_ns) + gap_ns;
    from->send_ns = left_ns;
    to->receive_ns = later(to->receive_ns, left_ns - gap_ns + latency_ns) + gap_ns;
    to->used_bytes += bytes;
    work->bytes -= bytes;
    work->finished = work->bytes == 0;
    work->second_ns = to->receive_ns + slices->overhead_ns;
    work->first_ns = work->second_ns + slices->hop_ns; /* the sender is notified */
    return work->second_ns;
}

/* Returns when the last message has arrived; 0: there are none. */
static uint64_t move_all(struct slice *slice, uint64_t begin_ns)
{
    struct sg_sliced_state *slices = slice->slices;
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < slices->work_count; i++) {
        if (!slices->work[i].collective)
            last_ns = later(last_ns, move(slice, &slices->work[i], begin_ns));
    }
    return last_ns;
}

static bool has_unfinished_messages(const struct sg_sliced_state *slices)
{
    for (uint32_t i = 0; i < slices->work_count; i++) {
        if (!slices->work[i].collective)
            return true;
    }
    return false;
}

/* ---- collectives */

static bool is_reduction(const struct sg_sliced_work *work)
{
    return work->operation == SG_OPERATION_REDUCE || work->operation == SG_OPERATION_ALLREDUCE;
}

static bool is_due(const struct slice *slice, const struct sg_sliced_work *work, bool reductions)
{
    return work->collective && is_reduction(work) == reductions && work->ready_ns < slice->begin_ns;
}

/* Returns the time in which partial results climb a binomial tree, level by level. */
static uint64_t climb_ns(const struct sg_sliced_state *slices, int32_t size, uint64_t bytes)
{
    const struct sg_network *network = &slices->network;

    return (uint64_t)sg_tree_levels(size) *
               (slices->hop_ns + sg_network_gap_ns(network, bytes) +
                sg_network_bytes_ns(network->copy_ns_per_byte + network->reduce_ns_per_byte,
                                    bytes)) +
           sg_network_bytes_ns(network->copy_ns_per_byte, bytes);
}

/* Runs a collective whose strobe is sent at begin_ns. Returns when all members are done. */
static uint64_t run_collective(struct slice *slice, struct sg_sliced_work *work, uint64_t begin_ns)
{
    struct sg_sliced_state *slices = slice->slices;
    int32_t size = slices->run.program->comms[work->comm].size;
    uint64_t bytes = work->bytes < slices->budget_bytes ? work->bytes : slices->budget_bytes;
    uint64_t strobed_ns = begin_ns + (size > 1 ? slices->strobe_ns : 0);
    uint64_t spread_ns = sg_network_multicast_ns(&slices->network, bytes) +
                         sg_network_bytes_ns(slices->network.copy_ns_per_byte, bytes);

    work->bytes -= bytes;
    work->finished = work->bytes == 0;
    work->first_ns = begin_ns; /* at the root, or for a barrier at endpoint 0 */
    work->second_ns = strobed_ns;
    if (size > 1 && bytes > 0 && is_reduction(work))
        work->first_ns = strobed_ns + climb_ns(slices, size, bytes);
    if (size > 1 && bytes > 0 && work->operation == SG_OPERATION_ALLREDUCE)
        work->second_ns = work->first_ns + spread_ns;
    if (size > 1 && bytes > 0 && work->operation == SG_OPERATION_BCAST) {
        work->first_ns = work->root == 0 ? begin_ns : strobed_ns;
        work->second_ns = work->first_ns + spread_ns;
    }
    return later(work->first_ns, work->second_ns);
}

static uint64_t run_collectives(struct slice *slice, bool reductions, uint64_t begin_ns)
{
    struct sg_sliced_state *slices = slice->slices;
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < slices->work_count; i++) {
        if (is_due(slice, &slices->work[i], reductions))
            last_ns = later(last_ns, run_collective(slice, &slices->work[i], begin_ns));
    }
    return last_ns;
}

/* ---- microphases */

/* Exchanges descriptors: with a strobe of its own, and an answer to each. Returns the end. */
static uint64_t run_exchange(struct slice *slice)
{
    struct sg_sliced_state *slices = slice->slices;
    uint64_t last_ns = slice->begin_ns + slices->strobe_ns +
                       slice->most_descriptors * slices->agent_ns +
                       (slice->most_descriptors > 0 ? 2 * slices->hop_ns : 0);

    return known_ns(slice, slice->begin_ns, last_ns);
}

/* Gives each microphase a strobe of its own. Returns the end of the last one. */
static uint64_t run_apart(struct slice *slice)
{
    struct sg_sliced_state *slices = slice->slices;
    uint64_t over_ns = run_exchange(slice), last_ns;

    last_ns = over_ns + slices->strobe_ns + (slice->most_matches > 0 ? slices->agent_ns : 0);
    over_ns = known_ns(slice, over_ns, last_ns);
    last_ns = move_all(slice, over_ns + slices->strobe_ns);
    if (last_ns > 0)
        over_ns = known_ns(slice, over_ns, last_ns);
    for (int reductions = 0; reductions < 2; reductions++) {
        last_ns = run_collectives(slice, reductions, over_ns);
        if (last_ns > 0)
            over_ns = known_ns(slice, over_ns, last_ns);
    }
    return over_ns;
}

/* Merges the microphases into one strobe, except the exchange of descriptors, which all endpoints
 * must have finished first. */
static uint64_t run_together(struct slice *slice)
{
    struct sg_sliced_state *slices = slice->slices;
    bool has_messages = slice->most_descriptors > 0 || has_unfinished_messages(slices);
    uint64_t begin_ns = has_messages ? run_exchange(slice) : slice->begin_ns;
    uint64_t matched_ns =
        begin_ns + slices->strobe_ns + (slice->most_matches > 0 ? slices->agent_ns : 0);
    uint64_t last_ns = later(matched_ns, move_all(slice, matched_ns));

    last_ns = later(last_ns, run_collectives(slice, false, begin_ns));
    last_ns = later(last_ns, run_collectives(slice, true, begin_ns));
    return known_ns(slice, begin_ns, last_ns);
}

/* ---- completion */

/* Returns when a waiting process continues: at done_ns, or at the next slice's strobe. */
static uint64_t return_ns(const struct sg_sliced_state *slices, int32_t process, uint64_t done_ns)
{
    uint64_t next_ns = (slices->end_ns / slices->slice_ns + 1) * slices->slice_ns;

    if (!slices->setup->restart_slice)
        return done_ns;
    return process == 0 ? next_ns : next_ns + slices->strobe_ns;
}

/* Returns the host's time for DONE messages. A rank that continues before its slice is over
 * receives those of its children, and sends its own, while it computes. */
static uint64_t done_cost_ns(const struct sg_sliced_state *slices, int32_t rank, int32_t size)
{
    struct sg_tree_place place = sg_tree_find(rank, size, SG_DEGREE_BARRIER);
    uint64_t children = (uint64_t)sg_tree_children(&place, SG_DEGREE_BARRIER);

    if (!slices->setup->on_host || slices->setup->restart_slice || slices->query_ns > 0)
        return 0;
    return slices->overhead_ns * (children + (rank > 0)) +
           (children > 0 ? sg_network_ns(slices->network.wake_us) : 0);
}

static void finish(struct sg_sliced_state *slices, const struct sg_sliced_work *work)
{
    const struct sg_program *program = slices->run.program;
    /* Endpoint 0 is the first to know the result of a barrier or an allreduce. */
    int32_t root = sg_operation_has_root(work->operation) ? work->root : 0;

    if (!work->collective) {
        sg_sliced_done(slices, work->from, work->send,
                       return_ns(slices, work->from, work->first_ns));
        sg_sliced_done(slices, work->to, work->receive,
                       return_ns(slices, work->to, work->second_ns));
        return;
    }
    for (int32_t rank = 0; rank < program->comms[work->comm].size; rank++) {
        int32_t process = sg_program_member(program, work->comm, rank);
        uint64_t done_ns = rank == root ? work->first_ns : work->second_ns;

        slices->processes[process].owed_ns +=
            done_cost_ns(slices, rank, program->comms[work->comm].size);
        sg_sliced_done(slices, process, slices->comms[work->comm].requests[rank],
                       return_ns(slices, process, done_ns));
    }
}

static void finish_all(struct sg_sliced_state *slices)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < slices->work_count; i++) {
        if (slices->work[i].finished)
            finish(slices, &slices->work[i]);
        else
            slices->work[kept++] = slices->work[i];
    }
    slices->work_count = kept;
}

void sg_sliced_begin(struct sg_sliced_state *slices)
{
    struct slice slice = {.slices = slices,
                          .number = slices->run.now_ns / slices->slice_ns,
                          .begin_ns = slices->run.now_ns};

    exchange(&slice);
    slices->end_ns = slices->setup->separate ? run_apart(&slice) : run_together(&slice);
    finish_all(slices);
    if (slices->fresh_count > 0)
        sg_sliced_want(slices, slices->fresh[0].time_ns);
    for (uint32_t i = 0; i < slices->work_count; i++)
        sg_sliced_want(slices, slices->work[i].ready_ns);
}
