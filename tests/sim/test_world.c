/* Tests which process handles a message, when, and who pays for it, on a protocol in which
 * endpoint 0 returns at once and every other endpoint sends it one message. */
#include "sim/world_support.h"

#include "core/capture.h"

struct toy {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t missing;
    bool solicits;
};

static bool toy_needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    *needs = (struct sg_algo_needs){.state_bytes = sizeof(struct toy)};
    return setup->size > 1;
}

static void toy_init(void *memory, const struct sg_algo_setup *setup)
{
    struct toy *state = memory;

    state->rank = setup->rank;
    state->size = setup->size;
    state->solicits = setup->parameters.degree != 1;
}

static struct sg_action *act(struct sg_actions *actions, enum sg_action_kind kind)
{
    struct sg_action *action = &actions->list[actions->count++];

    *action = (struct sg_action){.kind = kind};
    return action;
}

static void toy_finish(struct toy *state, struct sg_actions *actions)
{
    act(actions, SG_ACTION_FINISH)->instance.seq = state->head.seq;
    state->head.outstanding = 0;
}

static void toy_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct toy *state = memory;

    state->head.seq++;
    if (state->rank > 0) {
        struct sg_action *send = act(actions, SG_ACTION_SEND);

        send->to = 0;
        send->solicited = state->solicits;
        send->send.header = (struct sg_header){.seq = state->head.seq};
    } else {
        state->missing += (uint32_t)state->size - 1;
        state->head.outstanding = state->missing > 0;
    }
    act(actions, SG_ACTION_COMPLETE);
    if (state->missing == 0)
        toy_finish(state, actions);
}

static void toy_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct toy *state = memory;

    if (event->message.header.seq > state->head.seq)
        state->head.early++;
    else
        state->head.late++;
    /* Wraps below 0 for what is early, and comes back at the call. */
    if (--state->missing == 0)
        toy_finish(state, actions);
}

static void toy_nothing(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
}

static const struct sg_algo toy = {
    .name = "toy",
    .operations = 1 << SG_OPERATION_REDUCE,
    .needs = toy_needs,
    .init = toy_init,
    .on_call = toy_call,
    .on_message = toy_message,
    .on_timer = toy_nothing,
    .on_reply = toy_nothing,
    .on_drain = toy_nothing,
};

/* Ranks 1 and up are late by delay_us[rank - 1]. */
static struct sg_world_result run_toy(enum sg_sim_mode mode, bool solicits,
                                      const uint64_t *delay_us, uint32_t senders)
{
    struct sg_world_setup setup = world_of(&toy, SG_OPERATION_REDUCE, (int32_t)senders + 1, 0);
    struct sg_lateness late[4];

    for (uint32_t i = 0; i < senders; i++)
        late[i] = (struct sg_lateness){(int32_t)i + 1, (int32_t)i + 1, delay_us[i] * 1000};
    setup.late = late;
    setup.late_count = senders;
    setup.catchup_ns = 1000000;
    setup.mode = mode;
    setup.parameters.degree = solicits ? 0 : 1;
    return run_world(&setup);
}

#define SENDS(count) ((count)*O_NS)

TEST("a late message interrupts an armed computation, and the computation pays")
{
    struct sg_world_result result = run_toy(SG_SIM_SIGNAL, true, (uint64_t[]){100}, 1);

    EXPECT(result.signals == 1, result.late == 1,
           is_near(result.cpu_ns * 2, SENDS(1) + SIGNAL_NS + O_NS, 0.5));
}

TEST("in mode thread the computation pays for a wake-up instead")
{
    struct sg_world_result result = run_toy(SG_SIM_THREAD, true, (uint64_t[]){100}, 1);

    EXPECT(result.signals == 1, is_near(result.cpu_ns * 2, SENDS(1) + WAKE_NS + O_NS, 0.5));
}

TEST("in mode poll a late message waits")
{
    struct sg_world_result result = run_toy(SG_SIM_POLL, true, (uint64_t[]){100}, 1);

    EXPECT(result.signals == 0, result.late == 1, is_near(result.cpu_ns * 2, SENDS(1), 0.5));
}

TEST("an unsolicited message does not interrupt")
{
    struct sg_world_result result = run_toy(SG_SIM_SIGNAL, false, (uint64_t[]){100}, 1);

    EXPECT(result.signals == 0, result.late == 1);
}

TEST("one interrupt handles all messages that arrive while it runs")
{
    struct sg_world_result result = run_toy(SG_SIM_SIGNAL, true, (uint64_t[]){100, 110}, 2);

    EXPECT(result.signals == 1, result.ignored == 1, result.late == 2,
           is_near(result.cpu_ns * 3, SENDS(2) + SIGNAL_NS + 2 * O_NS, 0.5));
    result = run_toy(SG_SIM_SIGNAL, true, (uint64_t[]){100, 200}, 2);
    EXPECT(result.signals == 2, is_near(result.cpu_ns * 3, SENDS(2) + 2 * (SIGNAL_NS + O_NS), 0.5));
}

TEST("an early message costs its receipt at the call")
{
    struct sg_world_setup setup = world_of(&toy, SG_OPERATION_REDUCE, 2, 0);
    struct sg_lateness late = {0, 0, 100000};

    setup.late = &late;
    setup.late_count = 1;
    setup.catchup_ns = 1000000;
    struct sg_world_result result = run_world(&setup);
    EXPECT(result.signals == 0, result.early == 1,
           is_near(result.cpu_ns * 2, SENDS(1) + O_NS, 0.5));
}

TEST("skew is uniform and does not count as processor use")
{
    struct sg_world_setup setup = world_of(&toy, SG_OPERATION_REDUCE, 2, 0);

    setup.skew_ns = 1000000;
    setup.catchup_ns = 2000000;
    setup.iterations = 2000;
    struct sg_world_result result = run_world(&setup);
    EXPECT(is_near(result.signals, 0.5, 0.05), is_near(result.signals + result.early, 1, 0.02),
           result.cpu_ns * 2 < SENDS(1) + SIGNAL_NS + O_NS);
}

TEST("the seed decides the history")
{
    struct sg_world_setup setup = world_of(&sg_algo_bypass, SG_OPERATION_REDUCE, 13, 32);

    setup.skew_ns = 100000;
    setup.catchup_ns = 1000000;
    setup.iterations = 20;
    struct sg_world_result first = run_world(&setup);
    struct sg_world_result again = run_world(&setup);
    setup.seed = 2;
    struct sg_world_result other = run_world(&setup);
    EXPECT(first.history == again.history, first.history != other.history);
}

TEST("lost releases are recovered")
{
    struct sg_network network = round_network;
    struct sg_world_setup setup = world_of(&sg_algo_adaptive, SG_OPERATION_ALLREDUCE, 16, 64);

    network.multicast_loss = 0.2;
    network.jitter_us = 3;
    setup.network = &network;
    setup.iterations = 50;
    setup.skew_ns = 20000;
    setup.data = true;
    struct sg_world_result result = run_world(&setup);
    EXPECT(result.lost > 50, result.marks[SG_MARK_RELEASE_ANSWERED] > 0);
}

TEST("results hold every contribution once")
{
    static const struct {
        const struct sg_algo *algo;
        enum sg_operation operation;
    } cases[] = {
        {&sg_algo_bypass, SG_OPERATION_REDUCE},      {&sg_algo_tree, SG_OPERATION_REDUCE},
        {&sg_algo_handoff, SG_OPERATION_REDUCE},     {&sg_algo_tree, SG_OPERATION_ALLREDUCE},
        {&sg_algo_adaptive, SG_OPERATION_ALLREDUCE}, {&sg_algo_pairwise, SG_OPERATION_ALLREDUCE},
        {&sg_algo_handoff, SG_OPERATION_ALLREDUCE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int32_t nodes = 1; nodes <= 17; nodes += 4) {
            struct sg_world_setup setup = world_of(cases[i].algo, cases[i].operation, nodes, 64);

            setup.skew_ns = 50000;
            setup.catchup_ns = 1000000;
            setup.iterations = 12;
            setup.data = true;
            if (sg_world_accepts(&setup))
                run_world(&setup);
        }
    }
}

TEST("nodes of many ranks give every result")
{
    static const enum sg_operation operations[] = {SG_OPERATION_BARRIER, SG_OPERATION_REDUCE,
                                                   SG_OPERATION_ALLREDUCE, SG_OPERATION_BCAST};

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        for (int free_running = 0; free_running < 2; free_running++) {
            struct sg_world_setup setup = world_of(&sg_algo_tree, operations[i], 5, 64);

            if (operations[i] == SG_OPERATION_BARRIER)
                setup.call.bytes = 0;
            setup.ranks_per_node = 7;
            setup.call.root = sg_operation_has_root(operations[i]) ? 3 : -1;
            setup.node_level = free_running ? SG_NODE_LEVEL_CLIMB : SG_NODE_LEVEL_AUTO;
            setup.skew_ns = 50000;
            setup.free_running = free_running;
            setup.catchup_ns = 1000000;
            setup.iterations = 40;
            setup.data = true;
            run_world(&setup);
        }
    }
}

TEST("a barrier between nodes waits for its last rank")
{
    struct sg_network network = round_network;
    struct sg_world_setup setup = world_of(&sg_algo_dissemination, SG_OPERATION_BARRIER, 2, 0);
    struct sg_lateness late = {5, 5, 100000};

    network.local_us = 0.1;
    setup.network = &network;
    setup.ranks_per_node = 4;
    setup.late = &late;
    setup.late_count = 1;
    /* It arrives and sees the others, a message to the other node, the release there. */
    EXPECT(is_near(run_world(&setup).delay_ns, 2 * 100 + 2 * O_NS + L_NS + 100, 0.5));
    /* Its arrival and two folds. */
    setup.node_level = SG_NODE_LEVEL_CLIMB;
    EXPECT(is_near(run_world(&setup).delay_ns, 3 * 100 + 2 * O_NS + L_NS + 100, 0.5));
}

static struct sg_network with_steps(void)
{
    struct sg_network network = round_network;

    network.local_us = 0.1;
    network.copy_ns_per_byte = 0.5;
    return network;
}

/* In one node the protocol has nothing to do. */
TEST("in one node a call takes the formulas' time")
{
    static const uint64_t bytes[] = {8, 1024, 2048, 4096, 8192};
    struct sg_network network = with_steps();

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct sg_world_setup setup =
            world_of(&sg_algo_srm, SG_OPERATION_ALLREDUCE, 1, (uint32_t)bytes[i]);
        uint64_t flat_ns = sg_node_flat_ns(&network, 4, bytes[i]);
        uint64_t chunks_ns = sg_node_chunks_ns(&network, 4, bytes[i]);
        uint64_t climb_ns = sg_node_climb_part_ns(&network, 2, false, bytes[i]) +
                            sg_node_copy_ns(&network, bytes[i]) + 100;
        struct sg_lateness late = {3, 3, 1000000};

        setup.network = &network;
        setup.ranks_per_node = 4;
        setup.late = &late;
        setup.late_count = 1;
        EXPECT(run_world(&setup).delay_ns ==
                   sg_node_call_ns(&network, 4, SG_OPERATION_ALLREDUCE, bytes[i]),
               run_world(&setup).delay_ns == (bytes[i] <= 1024   ? flat_ns
                                              : bytes[i] <= 4096 ? climb_ns
                                                                 : chunks_ns));
        setup.node_level = SG_NODE_LEVEL_FLAT;
        EXPECT(run_world(&setup).delay_ns == flat_ns);
        setup.node_level = SG_NODE_LEVEL_CHUNKS;
        EXPECT(run_world(&setup).delay_ns == chunks_ns);
    }
}

/* A late root of a flat reduce: the others have stored and gone. */
TEST("a contributor to a flat reduce leaves at once")
{
    static const uint64_t root_late_ns[] = {1000000, 0, 0, 0}, other_late_ns[] = {0, 0, 0, 1000000};
    struct sg_network network = with_steps();
    struct sg_world_setup setup = world_of(&sg_algo_srm, SG_OPERATION_REDUCE, 1, 1000);
    struct sg_world_cost cost = {0};
    uint64_t store_ns = sg_node_store_ns(&network, 1000);
    uint64_t flat_ns = sg_node_flat_ns(&network, 4, 1000);

    setup.network = &network;
    setup.ranks_per_node = 4;
    setup.arrivals_ns = root_late_ns;
    setup.costs = &cost;
    run_world(&setup);
    EXPECT(cost.blocked_ns == 3 * store_ns + flat_ns);
    cost = (struct sg_world_cost){0};
    setup.arrivals_ns = other_late_ns;
    run_world(&setup);
    EXPECT(cost.blocked_ns == 3 * store_ns + 1000000 + flat_ns);
}

TEST("a broadcast in one node delays other ranks only by a single copy")
{
    static const uint32_t bytes[] = {1000, 12288, 65536};
    struct sg_network network = with_steps();

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct sg_world_setup setup = world_of(&sg_algo_srm, SG_OPERATION_BCAST, 1, bytes[i]);
        struct sg_lateness late = {0, 0, 1000000};
        uint64_t fill_ns = sg_node_fill_ns(&network, bytes[i]);
        bool single = bytes[i] >= 65536;

        setup.call.root = 0;
        setup.network = &network;
        setup.ranks_per_node = 4;
        setup.late = &late;
        setup.late_count = 1;
        EXPECT(run_world(&setup).delay_ns ==
               (single ? sg_node_read_ns(&network, bytes[i])
                       : fill_ns + sg_node_fetch_ns(&network, bytes[i], false)));
        /* A rank that comes after the root finds the data; a single copy holds up the root. */
        late = (struct sg_lateness){2, 2, 1000000};
        EXPECT(run_world(&setup).delay_ns == (single ? sg_node_read_ns(&network, bytes[i])
                                                     : sg_node_fetch_ns(&network, bytes[i], true)),
               run_world(&setup).latency_ns ==
                   (single ? 1000000 + sg_node_read_ns(&network, bytes[i]) : fill_ns));
    }
}

/* A second chunk begins at both nodes when the first is over. */
TEST("chunks of a call are instances, one after the other")
{
    struct sg_world_setup setup = world_of(&sg_algo_pairwise, SG_OPERATION_ALLREDUCE, 2, 1000);
    double one_ns = run_world(&setup).delay_ns;

    setup.data = true;
    setup.call.bytes = 3000;
    setup.chunk_bytes = 1000;
    EXPECT(run_world(&setup).delay_ns == 3 * one_ns);
    setup.call.bytes = 2001;
    EXPECT(run_world(&setup).delay_ns > 2 * one_ns, run_world(&setup).delay_ns < 3 * one_ns);
    /* As the library: in 1 KiB. */
    setup.call.bytes = 2048;
    setup.chunk_bytes = 1024;
    one_ns = run_world(&setup).delay_ns;
    setup.chunk_bytes = SG_WORLD_CHUNKS_AUTO;
    EXPECT(run_world(&setup).delay_ns == one_ns);
}

/* Side by side, chunks take less than one by one; all results are whole, and nobody leaves early.
 */
TEST("chunks of srm run concurrently")
{
    static const enum sg_operation operations[] = {SG_OPERATION_ALLREDUCE, SG_OPERATION_REDUCE,
                                                   SG_OPERATION_BCAST};

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        for (int32_t ranks = 1; ranks <= 3; ranks += 2) {
            struct sg_world_setup setup = world_of(&sg_algo_srm, operations[i], 8, 1024);

            setup.call.root = sg_operation_has_root(operations[i]) ? 5 : -1;
            setup.ranks_per_node = ranks;
            setup.parameters.chunk_bytes = 1024;
            setup.data = true;
            setup.iterations = 5;
            double one_ns = run_world(&setup).delay_ns;
            setup.call.bytes = 32 * 1024;
            setup.chunk_bytes = SG_WORLD_CHUNKS_AUTO;
            double all_ns = run_world(&setup).delay_ns;
            EXPECT(all_ns > one_ns, all_ns < 32 * one_ns);
            setup.skew_ns = 100000;
            setup.free_running = true;
            run_world(&setup);
        }
    }
}

/* Their instances could not be numbered. */
TEST("more chunks than the numbers allow are refused")
{
    struct sg_world_setup setup = world_of(&sg_algo_tree, SG_OPERATION_ALLREDUCE, 2, 1u << 30);
    struct sg_world_result result;
    struct capture capture;

    setup.chunk_bytes = 1;
    setup.iterations = 4;
    capture_begin(&capture);
    EXPECT(sg_world_run(&setup, &result) == SG_ERR_ARGUMENT);
    char *log = capture_end(&capture);
    EXPECT(text_is(log, "stagger: sim: too many calls of 1073741824 chunks\n"));
    free(log);
}

TEST("a setup that the protocol does not support is refused in one line")
{
    struct sg_world_setup setup = world_of(&toy, SG_OPERATION_REDUCE, 1, 0);
    struct sg_world_result result;
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_world_run(&setup, &result) == SG_ERR_ARGUMENT);
    setup = world_of(&toy, SG_OPERATION_BARRIER, 2, 0);
    EXPECT(sg_world_run(&setup, &result) == SG_ERR_ARGUMENT);
    char *log = capture_end(&capture);
    EXPECT(text_is(log, "stagger: sim: toy does not take these parameters with 1 nodes\n"
                        "stagger: sim: toy has no barrier\n"));
    free(log);
}

/* The rank that is 3000 late sends until 3500 and has the other's message, which is there at 5500,
 * at 6000; the other has its own at 9000: 3000 + 9000. */
TEST("recorded arrivals replace drawn ones, and each iteration's cost is reported")
{
    static const uint64_t arrivals_ns[] = {0, 3000, 3000, 0, 0, 0};
    struct sg_world_cost costs[3] = {{0}};
    struct sg_world_setup setup = world_of(&sg_algo_dissemination, SG_OPERATION_BARRIER, 2, 0);

    setup.iterations = 3;
    setup.arrivals_ns = arrivals_ns;
    setup.costs = costs;
    struct sg_world_result result = run_world(&setup);
    EXPECT(costs[0].blocked_ns == 12000, costs[1].blocked_ns == 12000);
    EXPECT(costs[2].blocked_ns == 12000); /* 500 + 5000 + 500, of both */
    for (int i = 0; i < 3; i++)
        EXPECT(costs[i].processor_ns == costs[i].blocked_ns);
    EXPECT(result.cpu_ns == 6000);
}
