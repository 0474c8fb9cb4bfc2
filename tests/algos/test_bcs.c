/* Tests buffered coscheduling on the mini host, and its functions alone. */
#include "algos/associations.h"
#include "bcs/state.h"
#include "lib/unit.h"

#define MARK(mark) (UINT64_C(1) << SG_MARK_##mark)
#define SIZE 9
#define SLICE_NS 100000u
#define INSTANCES 8

static const struct sg_algo_call barrier = {.operation = SG_OPERATION_BARRIER, .root = -1};
static const struct sg_algo_call broadcast = {
    .operation = SG_OPERATION_BCAST, .bytes = 16, .root = SIZE - 1};
static const struct sg_algo_call allreduce = {
    .operation = SG_OPERATION_ALLREDUCE, .bytes = 16, .root = -1};

static struct mini_host *open_host(struct sg_algo_parameters parameters)
{
    struct mini_setup setup = {
        .algo = &sg_algo_bcs, .size = SIZE, .parameters = parameters, .seed = 1};

    setup.parameters.slice_ns = SLICE_NS;
    setup.parameters.degree = 2;
    return mini_new(&setup);
}

static int strobes(const struct mini_host *host)
{
    return mini_actions(host, 0, SG_ACTION_MULTICAST);
}

/* The boundary comes, and everything that follows from it. */
static void begin_slice(struct mini_host *host)
{
    ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
    mini_settle(host);
}

/* ---- results --------------------------------------------------------------------------------- */

static struct sg_algo_call call_at(int i, int size)
{
    static const struct sg_algo_call calls[] = {
        {.operation = SG_OPERATION_ALLREDUCE, .bytes = 16, .root = -1},
        {.operation = SG_OPERATION_BARRIER, .root = -1},
        {.operation = SG_OPERATION_REDUCE, .bytes = 8},
        {.operation = SG_OPERATION_BCAST, .bytes = 16},
    };
    struct sg_algo_call call = calls[i % 4];

    if (sg_operation_has_root(call.operation))
        call.root = i * 5 % size;
    return call;
}

static void run(struct mini_setup *setup, uint64_t *marks)
{
    struct sg_algo_call calls[INSTANCES];
    struct mini_host *host = mini_new(setup);

    for (int i = 0; i < INSTANCES; i++)
        calls[i] = call_at(i, setup->size);
    mini_drive(host, calls, INSTANCES);
    for (uint32_t seq = 1; seq <= INSTANCES; seq++) {
        const struct sg_algo_call *call = &calls[seq - 1];
        struct association of = {.size = setup->size, .seq = seq, .flags = call->flags};

        for (int rank = 0; rank < setup->size && call->bytes > 0; rank++) {
            uint64_t expected = call->operation == SG_OPERATION_BCAST
                                    ? mini_operand(call->root, seq, 0)
                                    : association_doubling(&of);

            if (call->root == -1 || (call->root == rank) == (call->operation != SG_OPERATION_BCAST))
                ASSERT(mini_result(host, rank, seq, 0) == expected);
        }
    }
    *marks |= mini_marks(host, -1);
    mini_free(host);
}

TEST("every endpoint gets recursive doubling's bits in every order, with losses")
{
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
    uint64_t marks = 0;

    for (uint64_t seed = 0; seed < 96; seed++) {
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct mini_setup setup = {.algo = &sg_algo_bcs, .size = sizes[i], .seed = seed};

            setup.parameters = (struct sg_algo_parameters){
                .slice_ns = seed & 1 ? 2000 : 50000,
                .credits = (uint8_t)(2 + seed % 5),
                .degree = (uint8_t)(seed % 5),
                .budget_bytes = 32,
                .split = seed >> 4 & 1,
                .restart_slice = seed >> 1 & 1,
                .strobe_always = seed >> 2 & 1,
                .microphases_separate = seed >> 3 & 1,
            };
            setup.loss_percent = seed % 7 == 6 ? 100 : seed % 3 ? 20 : 0;
            setup.repeat_percent = seed % 3 == 2 ? 20 : 0;
            run(&setup, &marks);
        }
    }
    EXPECT((marks & MARK(STROBE_REPEATED)) == MARK(STROBE_REPEATED),
           (marks & MARK(SLICE_OVERRUN)) == MARK(SLICE_OVERRUN),
           (marks & MARK(BUDGET_OUT)) == MARK(BUDGET_OUT),
           (marks & MARK(SPLIT_FINISHED)) == MARK(SPLIT_FINISHED),
           (marks & MARK(EARLY)) == MARK(EARLY));
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Nothing is sent to all, and no alarm set, before all have called. */
TEST("a collective runs once all endpoints have called it")
{
    for (int late = 0; late < SIZE; late++) {
        struct mini_host *host = open_host((struct sg_algo_parameters){0});

        for (int rank = 0; rank < SIZE; rank++) {
            if (rank != late)
                mini_call(host, rank, &allreduce);
        }
        mini_settle(host);
        EXPECT(!mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
        mini_call(host, late, &allreduce);
        mini_settle(host);
        EXPECT(strobes(host) == 0);
        for (int rank = 0; rank < SIZE; rank++)
            EXPECT(!mini_completed(host, rank, 1));
        begin_slice(host);
        /* The strobe and the result. */
        EXPECT(strobes(host) == 2);
        for (int rank = 0; rank < SIZE; rank++)
            EXPECT(mini_finished(host, rank, 1));
        /* Nothing to do: no next slice. */
        EXPECT(!mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
        mini_end(host);
    }
}

/* A computing endpoint is left alone: of those below it nobody hears before it calls itself. */
TEST("a computing endpoint is not interrupted")
{
    struct mini_host *host = open_host((struct sg_algo_parameters){0});
    int sent = 0;

    for (int rank = 2; rank < SIZE; rank++)
        mini_call(host, rank, &barrier);
    mini_settle(host);
    for (int rank = 0; rank < 2; rank++)
        sent += mini_actions(host, rank, SG_ACTION_SEND);
    EXPECT(sent == 0);
    mini_calls(host, &barrier, "0 1 .");
    begin_slice(host);
    EXPECT(mini_completed(host, 0, 1));
    mini_end(host);
}

/* CALLED and DONE of all but endpoint 0, and strobes: as many as the microphases. */
TEST("the number of messages is the one that the microphases require")
{
    static const struct {
        bool separate;
        const struct sg_algo_call *call;
        int multicasts, sends;
    } cases[] = {
        {false, &barrier, 1, 2 * (SIZE - 1)},
        {true, &barrier, 3, 4 * (SIZE - 1)},
        /* Seven partial results meet in a hypercube of eight, one comes into it and one goes out
         * to endpoint 0; the result is multicast. A broadcast's root is at depth 2. */
        {false, &allreduce, 2, 2 * (SIZE - 1) + 9},
        {true, &allreduce, 4, 4 * (SIZE - 1) + 9},
        {false, &broadcast, 1, 2 * (SIZE - 1) + 2},
        {true, &broadcast, 3, 4 * (SIZE - 1) + 2},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mini_host *host =
            open_host((struct sg_algo_parameters){.microphases_separate = cases[i].separate});

        mini_call_all(host, cases[i].call);
        mini_settle(host);
        begin_slice(host);
        EXPECT(strobes(host) == cases[i].multicasts,
               mini_actions(host, -1, SG_ACTION_SEND) == cases[i].sends,
               mini_finished(host, SIZE - 1, 1));
        mini_end(host);
    }
}

TEST("with restart_slice calls return at the next boundary")
{
    struct mini_host *host = open_host((struct sg_algo_parameters){.restart_slice = 1});

    mini_call_all(host, &barrier);
    mini_settle(host);
    begin_slice(host);
    for (int rank = 0; rank < SIZE; rank++)
        EXPECT(!mini_completed(host, rank, 1));
    begin_slice(host);
    for (int rank = 0; rank < SIZE; rank++)
        EXPECT(mini_finished(host, rank, 1));
    EXPECT(strobes(host) == 2, !mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
    mini_end(host);
}

/* Slices after which all of `count` nonblocking allreduces of 16 bytes are over. */
static int slices_of(int count, uint32_t budget_bytes)
{
    struct mini_host *host = open_host(
        (struct sg_algo_parameters){.budget_bytes = budget_bytes, .credits = 16, .split = 1});
    int slices = 0;

    for (int i = 0; i < count; i++)
        mini_call_all(host, &allreduce);
    mini_settle(host);
    for (; !mini_finished(host, 0, (uint32_t)count); slices++) {
        begin_slice(host);
        /* In their order, and in no later slice than they must. */
        for (int seq = 1; seq <= count; seq++) {
            int in_one = budget_bytes < 16 ? 1 : (int)budget_bytes / 16;
            int most = (slices + 1) * (in_one < SG_BCS_TOGETHER ? in_one : SG_BCS_TOGETHER);

            EXPECT(mini_finished(host, SIZE - 1, (uint32_t)seq) == (seq <= most));
        }
    }
    EXPECT(((mini_marks(host, 0) & MARK(BUDGET_OUT)) != 0) == (slices > 1));
    mini_end(host);
    return slices;
}

TEST("a slice moves at most its budget")
{
    EXPECT(slices_of(3, 64) == 1, slices_of(6, 32) == 3, slices_of(5, 47) == 3,
           slices_of(3, 1) == 3, slices_of(9, 1 << 20) == 3);
}

/* A strobe at each boundary, from the first collective to the drain. */
TEST("with strobe_always every slice has its strobes")
{
    struct mini_host *host = open_host((struct sg_algo_parameters){.strobe_always = 1});

    EXPECT(!mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
    mini_call_all(host, &barrier);
    mini_settle(host);
    for (int slice = 1; slice <= 4; slice++) {
        begin_slice(host);
        EXPECT(strobes(host) == slice, mini_finished(host, SIZE - 1, 1),
               mini_head(host, SIZE - 1)->outstanding == 1);
    }
    mini_drain(host);
    EXPECT(strobes(host) == 4);
    mini_free(host);
}

/* ---- what is told of slices ----------------------------------------------------------------- */

static uint32_t bits(enum sg_slice_metric first, enum sg_slice_metric last)
{
    return ((UINT32_C(2) << last) - 1) & ~((UINT32_C(1) << first) - 1);
}

/* Every endpoint tells of each slice, once and in order, with what is known there. */
TEST("every endpoint reports each slice with its local metrics, and the global ones if known")
{
    const uint32_t local =
        bits(SG_SLICE_LTDEM, SG_SLICE_LTTS) | 1u << SG_SLICE_NCOLLDEM | 1u << SG_SLICE_NCOLLMSM;
    const uint32_t global = bits(SG_SLICE_GTDEM, SG_SLICE_USRMSM);

    for (int separate = 0; separate < 2; separate++) {
        struct mini_host *host = open_host(
            (struct sg_algo_parameters){.strobe_always = 1, .microphases_separate = separate});

        mini_call_all(host, &allreduce);
        mini_settle(host);
        for (int slice = 1; slice <= 3; slice++) {
            uint64_t number = 0;

            begin_slice(host);
            for (int rank = 0; rank < SIZE; rank++) {
                const uint32_t since =
                    (rank == 0 ? 1u << SG_SLICE_GETTS : 0) | 1u << SG_SLICE_LETTS;
                struct sg_slice last;

                EXPECT(mini_slices(host, rank, &last) == slice, rank == 0 || last.number == number);
                number = last.number;
                EXPECT(last.known == (local | (rank == 0 ? global : 0) | (slice > 1 ? since : 0)),
                       sg_slice_value(&last, SG_SLICE_NCOLLDEM) == (slice == 1),
                       sg_slice_value(&last, SG_SLICE_NCOLLMSM) == (slice == 1),
                       last.first == (slice == 1));
                /* Two children, whose DONEs come one by one in each of the two microphases. */
                if (rank == 0)
                    EXPECT(sg_slice_value(&last, SG_SLICE_USRDEM) == 1);
            }
        }
        mini_end(host);
    }
}

/* The mini host's time goes on by 1 ns an event. */
static bool is_about(const struct sg_slice *slice, enum sg_slice_metric metric, uint64_t ns)
{
    uint64_t value = sg_slice_value(slice, metric);

    return sg_slice_knows(slice, metric) && value >= ns && value < ns + 500;
}

/* Until it has run here; at endpoint 0, until it is over everywhere. */
TEST("a slice's times end at this endpoint, and at endpoint 0 for all endpoints")
{
    for (unsigned separate = 0; separate < 2; separate++) {
        struct mini_host *host = open_host(
            (struct sg_algo_parameters){.microphases_separate = separate, .strobe_always = 1});
        struct sg_slice last;

        mini_call_all(host, &barrier);
        mini_settle(host);
        ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
        mini_advance(host, 7000);
        mini_settle(host);
        mini_slices(host, 0, &last);
        EXPECT(last.begin_ns == SLICE_NS, is_about(&last, SG_SLICE_GTDEM, 7000),
               is_about(&last, SG_SLICE_GTTS, 7000), is_about(&last, SG_SLICE_LTDEM, 0));
        /* In one strobe, or in one each. */
        EXPECT(is_about(&last, SG_SLICE_GTMSM, separate ? 0 : 7000));
        mini_slices(host, SIZE - 1, &last);
        EXPECT(last.begin_ns >= SLICE_NS + 7000, is_about(&last, SG_SLICE_LTTS, 0));
        /* One that lasts over two boundaries; the next one begins at the third. */
        ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
        mini_advance(host, 2 * SLICE_NS);
        mini_settle(host);
        mini_slices(host, 0, &last);
        EXPECT(sg_slice_value(&last, SG_SLICE_USRTS) == 0);
        begin_slice(host);
        mini_slices(host, 0, &last);
        EXPECT(sg_slice_value(&last, SG_SLICE_USRTS) == 2,
               sg_slice_value(&last, SG_SLICE_GETTS) == 3 * SLICE_NS);
        mini_end(host);
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

TEST("a lost strobe is sent again")
{
    for (int loser = 1; loser < SIZE; loser++) {
        struct mini_host *host = open_host((struct sg_algo_parameters){0});

        mini_call_all(host, &allreduce);
        mini_settle(host);
        ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY), mini_lose(host, 0, loser));
        mini_settle(host);
        EXPECT(!mini_completed(host, 0, 1));
        ASSERT(mini_fire(host, 0, SG_BCS_TIMER_REPEAT));
        mini_settle(host);
        int sent = mini_actions(host, -1, SG_ACTION_SEND);
        for (int rank = 0; rank < SIZE; rank++)
            EXPECT(mini_finished(host, rank, 1));
        EXPECT(mini_marks(host, 0) & MARK(STROBE_REPEATED));
        /* The repeat, and nothing of it a second time: sends and results do not grow. */
        EXPECT(!mini_fire(host, 0, SG_BCS_TIMER_REPEAT),
               mini_actions(host, -1, SG_ACTION_SEND) == sent,
               mini_actions(host, -1, SG_ACTION_COMPLETE) == SIZE);
        mini_end(host);
    }
}

/* The result is lost, for one or for a whole branch: the repeat brings it. */
TEST("a lost result is sent again")
{
    for (int first = 1; first < SIZE; first++) {
        for (int last = first; last < SIZE; last++) {
            struct mini_host *host = open_host((struct sg_algo_parameters){0});
            struct association of = {.size = SIZE, .seq = 1};

            mini_call_all(host, &allreduce);
            mini_settle(host);
            ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
            while (strobes(host) < 2)
                ASSERT(mini_deliver(host, -1, -1));
            for (int rank = first; rank <= last; rank++) {
                while (mini_in_flight(host, 0, rank) > 1)
                    mini_deliver(host, 0, rank);
                ASSERT(mini_lose(host, 0, rank));
            }
            mini_settle(host);
            EXPECT(!mini_completed(host, last, 1), mini_completed(host, 0, 1),
                   !mini_finished(host, 0, 1));
            ASSERT(mini_fire(host, 0, SG_BCS_TIMER_REPEAT));
            mini_settle(host);
            for (int rank = 0; rank < SIZE; rank++) {
                EXPECT(mini_finished(host, rank, 1),
                       mini_result(host, rank, 1, 0) == association_doubling(&of));
            }
            mini_end(host);
        }
    }
}

/* The data are lost for a whole branch, of which the root may be one: who is above the root has
 * them in any case, and endpoint 0 repeats them. */
TEST("lost data of a broadcast are sent again")
{
    for (int root = 0; root < SIZE; root++) {
        for (int first = 0; first < SIZE; first++) {
            struct mini_host *host = open_host((struct sg_algo_parameters){0});
            struct sg_algo_call call = broadcast;

            call.root = root;
            mini_call_all(host, &call);
            mini_settle(host);
            ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
            for (int rank = first; rank < SIZE; rank++) {
                while (rank > 0 && mini_lose(host, 0, rank))
                    ;
            }
            mini_settle(host);
            EXPECT(!mini_finished(host, 0, 1));
            ASSERT(mini_fire(host, 0, SG_BCS_TIMER_REPEAT));
            mini_settle(host);
            for (int rank = 0; rank < SIZE; rank++) {
                EXPECT(mini_finished(host, rank, 1));
                if (rank != root)
                    EXPECT(mini_result(host, rank, 1, 0) == mini_operand(root, 1, 0));
            }
            mini_end(host);
        }
    }
}

/* Nobody answers for long: one repeat, not a storm. */
TEST("a strobe is sent again once")
{
    struct mini_host *host = open_host((struct sg_algo_parameters){0});

    mini_call_all(host, &barrier);
    mini_settle(host);
    mini_hold(host, 1, true);
    ASSERT(mini_fire(host, 0, SG_BCS_TIMER_BOUNDARY));
    mini_settle(host);
    int sent = mini_actions(host, 0, SG_ACTION_SEND);
    ASSERT(mini_fire(host, 0, SG_BCS_TIMER_REPEAT));
    mini_settle(host);
    EXPECT(mini_actions(host, 0, SG_ACTION_SEND) == sent + 1,
           !mini_fire(host, 0, SG_BCS_TIMER_REPEAT));
    mini_hold(host, 1, false);
    mini_settle(host);
    EXPECT(mini_finished(host, 0, 1));
    mini_end(host);
}

/* ---- boundaries ------------------------------------------------------------------------------ */

static struct sg_action list[SG_ACTIONS_MAX];
static struct sg_data parts[2 * SG_ACTIONS_MAX];

/* The time of the last timer that these actions set. */
static uint64_t alarm_of(const struct sg_actions *actions)
{
    uint64_t time_ns = 0;

    for (uint32_t i = 0; i < actions->count; i++) {
        if (list[i].kind == SG_ACTION_SET_TIMER && list[i].id == SG_BCS_TIMER_BOUNDARY)
            time_ns = list[i].timer.time_ns;
    }
    return time_ns;
}

/* Boundaries are multiples of the slice from the epoch, the first one after the call's time; what
 * comes late begins the slice that it is in. */
TEST("boundaries count from the epoch")
{
    static const struct {
        uint64_t called_ns, fires_ns, alarm_ns, next_ns;
    } cases[] = {
        {7000, 107000, 107000, 207000},   {7001, 107000, 107000, 207000},
        {106999, 107000, 107000, 207000}, {107000, 207000, 207000, 307000},
        {107000, 555555, 207000, 607000},
    };
    struct sg_algo_setup setup = {
        .size = 1, .parameters = {.slice_ns = 100000, .epoch_ns = 7000, .restart_slice = 1}};
    struct sg_algo_needs needs;

    ASSERT(sg_algo_bcs.needs(&setup, &needs));
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sg_event event = {
            .kind = SG_EVENT_CALL, .time_ns = cases[i].called_ns, .call = barrier};
        struct sg_actions actions = {.list = list, .capacity = SG_ACTIONS_MAX, .parts = parts};
        void *state = calloc(1, needs.state_bytes);

        ASSERT(state != NULL);
        sg_algo_bcs.init(state, &setup);
        sg_algo_bcs.on_call(state, &event, &actions);
        EXPECT(alarm_of(&actions) == cases[i].alarm_ns);
        event = (struct sg_event){.kind = SG_EVENT_TIMER,
                                  .time_ns = cases[i].fires_ns,
                                  .timer = {.id = SG_BCS_TIMER_BOUNDARY}};
        actions.count = 0;
        sg_algo_bcs.on_timer(state, &event, &actions);
        EXPECT(alarm_of(&actions) == cases[i].next_ns);
        free(state);
    }
}

/* Setups within the limits of the rules fit; larger ones are refused. */
TEST("parameters and communicators outside the limits are refused")
{
    struct sg_algo_setup setup = {.size = SG_BCS_ENDPOINTS_MAX};
    struct sg_algo_needs needs;

    EXPECT(sg_algo_bcs.needs(&setup, &needs), needs.slots == SG_CREDITS_DEFAULT * SG_BCS_EDGES_MAX,
           needs.slot_bytes == 16384);
    setup.size++;
    EXPECT(!sg_algo_bcs.needs(&setup, &needs));
    setup.size = 3;
    setup.parameters.budget_bytes = 4096;
    EXPECT(sg_algo_bcs.needs(&setup, &needs), needs.slot_bytes == 1024);
    setup.parameters.budget_bytes = 1 << 26;
    EXPECT(sg_algo_bcs.needs(&setup, &needs), needs.slot_bytes == 65536);
    setup.parameters.credits = 1;
    EXPECT(!sg_algo_bcs.needs(&setup, &needs));
}
