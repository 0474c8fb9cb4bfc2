/* Tests programs in virtual time: usual MPI and buffered coscheduling against cases worked by
 * hand, and against the protocol. */
#include "bcs/bcs_command.h"
#include "bcs/program_patterns.h"
#include "bcs/program_run.h"
#include "bcs/program_stock.h"
#include "lib/unit.h"
#include "sim/lists.h"

#include <math.h>

/* L = 5 us, o = 1 us, G = 3 ns, copies of 1 ns a byte. */
static const struct sg_network network = {
    .latency_us = 5,
    .overhead_us = 1,
    .gap_ns_per_byte = 3,
    .copy_ns_per_byte = 1,
    .reduce_ns_per_byte = 2,
};

/* ---- programs of arrays */

#define STEPS_MAX 12

struct script {
    struct sg_step steps[4][STEPS_MAX];
};

static void script_step(const struct sg_program *program, int32_t process, uint64_t index,
                        struct sg_step *out)
{
    const struct script *script = program->context;

    if (index < STEPS_MAX)
        *out = script->steps[process][index];
}

static struct sg_program program_of(const struct script *script, int32_t processes,
                                    struct sg_program_comm *world)
{
    *world = (struct sg_program_comm){processes, NULL};
    return (struct sg_program){processes, world, 1, script, script_step};
}

#define COMPUTE(us)                                                                                \
    {                                                                                              \
        .kind = SG_STEP_COMPUTE, .ns = (us)*1000                                                   \
    }
#define MESSAGE(what, who, size)                                                                   \
    {                                                                                              \
        .kind = SG_STEP_##what, .peer = (who), .bytes = (size)                                     \
    }
#define WAITALL                                                                                    \
    {                                                                                              \
        .kind = SG_STEP_WAITALL                                                                    \
    }
#define WAIT(n)                                                                                    \
    {                                                                                              \
        .kind = SG_STEP_WAIT, .request = (n)                                                       \
    }
#define BARRIER(rank)                                                                              \
    {                                                                                              \
        .kind = SG_STEP_COLLECTIVE, .operation = SG_OPERATION_BARRIER, .own = (rank)               \
    }

static struct sg_program_result stock(const struct script *script, int32_t processes)
{
    struct sg_program_comm world;
    struct sg_program program = program_of(script, processes, &world);
    struct sg_stock_setup setup = {.network = &network, .eager_bytes = 1000};
    struct sg_program_result result = {0};

    EXPECT(sg_stock_run(&setup, &program, &result) == SG_OK);
    return result;
}

/* ---- MPI as usual */

TEST("an eager message takes o + L + G + o, and a copy if it arrives first")
{
    static const struct script posted = {
        {{COMPUTE(20), MESSAGE(SEND, 1, 100)}, {MESSAGE(RECV, 0, 100)}}};
    static const struct script late = {
        {{MESSAGE(SEND, 1, 100)}, {COMPUTE(20), MESSAGE(RECV, 0, 100)}}};

    /* o, L, 100 G, o */
    EXPECT(stock(&posted, 2).run_ns == 20000 + 1000 + 5000 + 300 + 1000);
    /* It waits in the inbox: o, and a copy as it comes before its receive. */
    EXPECT(stock(&late, 2).run_ns == 20000 + 1000 + 100, stock(&late, 2).blocking_calls == 2);
}

TEST("a rendezvous continues only when both ranks are in a call")
{
    static const struct script posted = {{{MESSAGE(SEND, 1, 2000)}, {MESSAGE(RECV, 0, 2000)}}};
    static const struct script computes = {{{MESSAGE(ISEND, 1, 2000), COMPUTE(100), WAITALL},
                                            {MESSAGE(IRECV, 0, 2000), COMPUTE(50), WAITALL}}};

    /* Announced and asked for, o + L + o each, then o + L + 2000 G + o. */
    EXPECT(stock(&posted, 2).run_ns == 2 * 7000 + 7000 + 6000);
    /* The receiver asks at 51 us, the sender sends when it has computed, with its post 101 us. */
    EXPECT(stock(&computes, 2).run_ns == 101000 + 1000 + 1000 + 5000 + 6000 + 1000);
}

TEST("an MPI barrier takes the time of the late rank's message")
{
    static const struct script two = {{{COMPUTE(30), BARRIER(0)}, {BARRIER(1)}}};

    /* The late one's message comes first; it still sends its own. */
    EXPECT(stock(&two, 2).run_ns == 30000 + 1000 + 1000 + 5000 + 1000);
}

TEST("a wait for one request does not wait for another")
{
    static const struct script script = {
        {{MESSAGE(IRECV, 1, 8), MESSAGE(IRECV, 1, 8), WAIT(0), COMPUTE(10), WAIT(1)},
         {MESSAGE(SEND, 0, 8), COMPUTE(100), MESSAGE(SEND, 0, 8)}}};
    struct sg_program_result result = stock(&script, 2);

    EXPECT(result.run_ns == 1000 + 100000 + 1000 + 5000 + 24 + 1000);
}

TEST("a program that never ends is reported as stuck")
{
    static const struct script script = {{{MESSAGE(RECV, 1, 8)}, {COMPUTE(1)}}};
    struct sg_program_comm world;
    struct sg_program program = program_of(&script, 2, &world);
    struct sg_stock_setup setup = {.network = &network};
    struct sg_sliced_setup slices = {.network = &network, .slice_ns = 250000};
    struct sg_program_result result;

    EXPECT(sg_stock_run(&setup, &program, &result) == SG_OK, result.stuck,
           sg_sliced_run(&slices, &program, &result) == SG_OK, result.stuck);
}

/* Both send first: that takes buffers. */
TEST("two sends that both precede their receives need buffers")
{
    static const struct script script = {{{MESSAGE(SEND, 1, 2000), MESSAGE(RECV, 1, 2000)},
                                          {MESSAGE(SEND, 0, 2000), MESSAGE(RECV, 0, 2000)}}};
    struct sg_program_comm world;
    struct sg_program program = program_of(&script, 2, &world);
    struct sg_stock_setup setup = {.network = &network, .eager_bytes = 2000};
    struct sg_sliced_setup slices = {.network = &network, .slice_ns = 250000};
    struct sg_program_result result;

    EXPECT(sg_stock_run(&setup, &program, &result) == SG_OK, !result.stuck, stock(&script, 2).stuck,
           sg_sliced_run(&slices, &program, &result) == SG_OK, result.stuck);
}

/* Every message that a rank sends in its rounds is one that its receiver takes in its own. */
TEST("every message that a rank sends in its rounds is received in another's rounds")
{
    static const enum sg_operation operations[] = {SG_OPERATION_BARRIER, SG_OPERATION_REDUCE,
                                                   SG_OPERATION_ALLREDUCE, SG_OPERATION_BCAST};

    for (int32_t size = 1; size <= 17; size++) {
        for (int i = 0; i < 4; i++) {
            int messages[17][17] = {{0}}, sent = 0, folds = 0;

            for (int32_t rank = 0; rank < size; rank++) {
                struct sg_round_call call = {operations[i], rank, size, size / 2};
                struct sg_round round;

                for (int at = 0; sg_round_of(&call, at, &round); at++) {
                    if (round.to >= 0 && ++sent > 0)
                        messages[rank][round.to]++;
                    if (round.from >= 0)
                        messages[round.from][rank]--;
                    folds += round.folds;
                }
            }
            for (int32_t at = 0; at < size * size; at++)
                EXPECT(messages[at / size][at % size] == 0);
            if (operations[i] == SG_OPERATION_REDUCE || operations[i] == SG_OPERATION_BCAST)
                EXPECT(sent == size - 1);
            if (operations[i] == SG_OPERATION_REDUCE)
                EXPECT(folds == size - 1);
        }
    }
}

TEST("barriers of processes in step are computed as they run")
{
    for (int32_t processes = 1; processes <= 70; processes += 3) {
        struct sg_pattern pattern = {.kind = SG_PATTERN_BARRIER,
                                     .processes = processes,
                                     .steps = 5,
                                     .granularity_ns = 50000};
        struct sg_stock_setup setup = {.network = &network};
        struct sg_program_result result = {0};

        sg_pattern_make(&pattern);
        EXPECT(sg_stock_run(&setup, &pattern.program, &result) == SG_OK,
               sg_stock_lockstep_ns(&network, processes, 5, 50000) == result.run_ns);
    }
}

/* ---- slices */

static struct sg_program_result coscheduled(const struct script *script, int32_t processes,
                                            struct sg_sliced_setup setup)
{
    struct sg_program_comm world;
    struct sg_program program = program_of(script, processes, &world);
    struct sg_program_result result = {0};

    setup.network = &network;
    setup.slice_ns = 250000;
    EXPECT(sg_sliced_run(&setup, &program, &result) == SG_OK);
    return result;
}

TEST("a blocking message runs in the slice after both calls")
{
    static const struct script script = {
        {{COMPUTE(300), MESSAGE(SEND, 1, 100)}, {MESSAGE(RECV, 0, 100)}}};
    /* A strobe, a descriptor, its answer, and the end of that; a strobe, the request for the data,
     * they, and word to the sender. */
    uint64_t phase_ns = 4 * 5000 + 5000 + 5000 + 300 + 5000 + 5000;

    EXPECT(coscheduled(&script, 2, (struct sg_sliced_setup){0}).run_ns == 500000 + phase_ns,
           coscheduled(&script, 2, (struct sg_sliced_setup){.restart_slice = true}).run_ns ==
               750000 + 5000);
}

TEST("three slices hide a nonblocking message")
{
    static const struct script script = {{{MESSAGE(ISEND, 1, 100), COMPUTE(700), WAITALL},
                                          {MESSAGE(IRECV, 0, 100), COMPUTE(700), WAITALL}}};
    struct sg_program_result result =
        coscheduled(&script, 2, (struct sg_sliced_setup){.restart_slice = true});

    EXPECT(result.run_ns == 700000, is_near(result.blocked_ns, 0, 0));
}

/* 64 KiB in a slice of 250 us: 160 KiB take three. */
TEST("a message above the budget takes several slices")
{
    static const struct script script = {{{MESSAGE(SEND, 1, 163840)}, {MESSAGE(RECV, 0, 163840)}}};
    struct sg_program_result result = coscheduled(&script, 2, (struct sg_sliced_setup){0});

    EXPECT(result.run_ns > 750000 && result.run_ns < 1000000);
}

TEST("an agent on the host interrupts a computing rank")
{
    static const struct script script = {{{MESSAGE(ISEND, 1, 100), COMPUTE(700), WAITALL},
                                          {MESSAGE(IRECV, 0, 100), COMPUTE(700), WAITALL}}};
    struct sg_program_result result =
        coscheduled(&script, 2, (struct sg_sliced_setup){.on_host = true});

    /* One strobe and one DONE interrupt each; the receiver, the descriptor too. */
    EXPECT(result.run_ns == 700000 + 3000);
}

/* ---- against the protocol */

static uint64_t of_protocol(const char *text, const struct sg_network *on, int32_t nodes,
                            enum sg_operation operation, uint64_t granularity_ns, uint32_t calls)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_lateness work = {0, nodes - 1, granularity_ns};
    struct sg_world_setup setup = {
        .algo = algo.algo,
        .parameters = algo.parameters,
        .network = on,
        .endpoints = nodes,
        .ranks_per_node = 1,
        .call = {.operation = operation,
                 .root = -1,
                 .bytes = operation == SG_OPERATION_BARRIER ? 0 : 8},
        .iterations = calls,
        .late = &work,
        .late_count = 1,
        .free_running = true,
    };
    struct sg_world_result result = {0};

    EXPECT(sg_world_run(&setup, &result) == SG_OK);
    return (uint64_t)(result.period_ns * calls + 0.5);
}

static uint64_t of_slices(bool restart, bool separate, const struct sg_network *on, int32_t nodes,
                          enum sg_operation operation, uint64_t granularity_ns, uint32_t calls)
{
    struct sg_pattern pattern = {.kind = SG_PATTERN_BARRIER,
                                 .processes = nodes,
                                 .steps = calls,
                                 .granularity_ns = granularity_ns,
                                 .operation = operation,
                                 .bytes = 8};
    struct sg_sliced_setup setup = {.network = on,
                                    .slice_ns = 250000,
                                    .restart_slice = restart,
                                    .separate = separate,
                                    .always = separate};
    struct sg_program_result result = {0};

    sg_pattern_make(&pattern);
    EXPECT(sg_sliced_run(&setup, &pattern.program, &result) == SG_OK);
    return result.run_ns;
}

/* Interrupts are estimated. */
TEST("barriers with an agent on the host take the computed time within 1 %")
{
    struct sg_network host = network;
    struct sg_sim_algo algo = sg_sim_algo_of("bcs(slice=250)");

    host.wake_us = 12;
    for (int32_t nodes = 2; nodes <= 32; nodes *= 4) {
        struct sg_pattern pattern = {
            .kind = SG_PATTERN_BARRIER, .processes = nodes, .steps = 50, .granularity_ns = 1000000};
        struct sg_sliced_setup setup = {.network = &host, .slice_ns = 250000, .on_host = true};
        struct sg_lateness work = {0, nodes - 1, 1000000};
        struct sg_world_setup world = {
            .algo = algo.algo,
            .parameters = algo.parameters,
            .network = &host,
            .mode = SG_SIM_THREAD,
            .endpoints = nodes,
            .ranks_per_node = 1,
            .call = {.operation = SG_OPERATION_BARRIER, .root = -1},
            .iterations = 50,
            .late = &work,
            .late_count = 1,
            .free_running = true,
        };
        struct sg_world_result protocol = {0};
        struct sg_program_result slices = {0};

        sg_pattern_make(&pattern);
        EXPECT(
            sg_world_run(&world, &protocol) == SG_OK,
            sg_sliced_run(&setup, &pattern.program, &slices) == SG_OK,
            is_near((double)slices.run_ns, protocol.period_ns * 50, 0.01 * (double)slices.run_ns));
    }
}

TEST("barriers take the protocol's time, allreduces within 0.1 %")
{
    static const int32_t sizes[] = {1, 2, 9, 32, 100};
    struct sg_network on_card = network;

    on_card.overhead_us = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int way = 0; way < 4; way++) {
            bool restart = way & 1, separate = way & 2;
            char text[100];

            snprintf(text, sizeof text, "bcs(slice=250%s%s)", restart ? ",restart=slice" : "",
                     separate ? ",strobe=always,microphases=separate" : "");
            for (uint64_t work_ns = 100000; work_ns <= 1900000;
                 work_ns += 145000 * (uint64_t)unit_step()) {
                uint64_t protocol =
                    of_protocol(text, &on_card, sizes[i], SG_OPERATION_BARRIER, work_ns, 20);

                EXPECT(of_slices(restart, separate, &on_card, sizes[i], SG_OPERATION_BARRIER,
                                 work_ns, 20) == protocol);
                protocol =
                    of_protocol(text, &on_card, sizes[i], SG_OPERATION_ALLREDUCE, work_ns, 20);
                EXPECT(is_near((double)of_slices(restart, separate, &on_card, sizes[i],
                                                 SG_OPERATION_ALLREDUCE, work_ns, 20),
                               (double)protocol, 0.001 * (double)protocol));
            }
        }
    }
}

/* Compares messages with the protocol's, to the nanosecond. */
static void compare_messages(const struct script *script, int32_t processes)
{
    struct sg_network on_card = network;
    struct sg_program_comm world;
    struct sg_program program = program_of(script, processes, &world);

    on_card.overhead_us = on_card.copy_ns_per_byte = 0;
    for (int way = 0; way < 8; way++) {
        bool restart = way & 1, separate = way & 2, always = way & 4;
        struct sg_sliced_setup setup = {.network = &on_card,
                                        .slice_ns = 250000,
                                        .restart_slice = restart,
                                        .separate = separate,
                                        .always = always};
        struct sg_world_setup world_setup = {.parameters = {.slice_ns = 250000,
                                                            .restart_slice = restart,
                                                            .microphases_separate = separate,
                                                            .strobe_always = always},
                                             .network = &on_card,
                                             .mode = SG_SIM_SIGNAL};
        struct sg_program_result slices = {0}, protocol = {0};

        EXPECT(sg_sliced_run(&setup, &program, &slices) == SG_OK,
               sg_bcs_protocol_run(&world_setup, &program, &protocol) == SG_OK,
               protocol.run_ns == slices.run_ns, protocol.blocking_calls == slices.blocking_calls,
               is_near(protocol.blocked_ns, slices.blocked_ns, 0));
    }
}

/* Computing processes are interrupted: endpoint 0 to send strobes, the last process to answer
 * them. */
TEST("messages wait as long as in the protocol, even if others compute")
{
    static const struct script script = {
        {{COMPUTE(20000)},
         {COMPUTE(300), MESSAGE(SEND, 2, 64), COMPUTE(100), MESSAGE(RECV, 2, 10000)},
         {MESSAGE(RECV, 1, 64), MESSAGE(SEND, 1, 10000)},
         {COMPUTE(20000)}}};

    compare_messages(&script, 4);
}

/* The waits come before the slice, within it behind the data, and behind the next one's begin. */
TEST("waits for nonblocking messages last as long as in the protocol, at any time")
{
    static const uint64_t computed_us[] = {100, 240, 300, 440, 460, 600};

    for (size_t i = 0; i < sizeof computed_us / sizeof *computed_us; i++) {
        const struct script script = {
            {{COMPUTE(2000)},
             {COMPUTE(300), MESSAGE(ISEND, 2, 100), COMPUTE(computed_us[i]), WAITALL},
             {COMPUTE(300), MESSAGE(IRECV, 1, 100), COMPUTE(computed_us[i]), WAITALL}}};

        compare_messages(&script, 3);
    }
}

/* ---- patterns */

TEST("all patterns end under both models, with the same calls")
{
    static const int32_t sizes[] = {1, 2, 3, 4, 7, 12, 64};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < SG_PATTERNS; kind++) {
            for (int way = 0; way < 2; way++) {
                struct sg_pattern pattern = {.kind = (enum sg_pattern_kind)kind,
                                             .nonblocking = way == 1,
                                             .processes = sizes[i],
                                             .steps = 40,
                                             .granularity_ns = 1000000,
                                             .bytes = 20000};
                struct sg_stock_setup stock_setup = {.network = &network, .eager_bytes = 1000};
                struct sg_sliced_setup setup = {.network = &network, .slice_ns = 250000};
                struct sg_program_result usual = {0}, slices = {0};

                sg_pattern_make(&pattern);
                EXPECT(sg_stock_run(&stock_setup, &pattern.program, &usual) == SG_OK,
                       sg_sliced_run(&setup, &pattern.program, &slices) == SG_OK,
                       is_near(usual.compute_ns, slices.compute_ns, 0),
                       usual.run_ns >= 40 * 1000000 && slices.run_ns >= 40 * 1000000,
                       usual.blocking_calls == slices.blocking_calls,
                       !(usual.stuck || slices.stuck));
            }
        }
    }
}
