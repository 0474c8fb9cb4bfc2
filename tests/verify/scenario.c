#include "verify/scenario.h"

#include <string.h>

static void sg_explore_draw_messages(struct sg_explore_scenario *scenario, int64_t most);

#define DRAWS_MAX 16
#define FEW_INSTANCES (SG_EXPLORE_INSTANCES_MAX / 3)
/* Number of random choices before the faults end: up to most of a run. */
#define STEPS_LEAST 20
#define STEPS_EACH 12 /* per call of a process */
#define EAGER_BYTES 64

static const char *const fault_names[SG_FAULT_COUNT] = {
    [SG_FAULT_LOSS] = "loss",           [SG_FAULT_REPEAT] = "repeat",
    [SG_FAULT_REORDER] = "reorder",     [SG_FAULT_DELAY] = "delay",
    [SG_FAULT_TIMERS] = "timers",       [SG_FAULT_SLOW] = "slow",
    [SG_FAULT_INTERRUPT] = "interrupt", [SG_FAULT_POLL] = "poll",
};

/* Random streams of a seed. */
enum {
    STREAM_SHAPE,
    STREAM_FAULTS,
    STREAM_PARAMETERS,
    STREAM_COMM,
    STREAM_FIRST = 11,
    STREAM_INSTANCE = 16
};

static uint32_t pick(struct sg_explore_random *random, const uint32_t *values, uint32_t count)
{
    return values[sg_explore_below(random, count)];
}
#define PICK(random, ...)                                                                          \
    pick(random, (const uint32_t[]){__VA_ARGS__},                                                  \
         sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Draws small limits, so that runs reach them. */
static void draw_parameters(struct sg_explore_random *random, struct sg_algo_parameters *parameters)
{
    *parameters = (struct sg_algo_parameters){
        .degree = (uint8_t)PICK(random, 0, 1, 2, 2, 3, 4, 8),
        .tokens = (uint8_t)PICK(random, 0, 1, 1, 2, 2, 3, 4),
        .predict = (uint8_t)PICK(random, 0, 0, 1),
        .arrival_order = (uint8_t)PICK(random, 0, 0, 1),
        .credits = (uint8_t)PICK(random, 2, 2, 3, 4, 8),
        .linger_auto = (uint8_t)PICK(random, 0, 1),
        .split = (uint8_t)PICK(random, 0, 0, 0, 1),
        .linger_ns = PICK(random, 0, 0, 100, 5000),
        .eager_bytes = EAGER_BYTES,
        .pool = PICK(random, 1, 1, 2, 3),
        .timeout_ns = PICK(random, 500, 2000, 20000),
        .chunk_bytes = EAGER_BYTES,
        .slice_ns = PICK(random, 2000, 5000, 20000),
        .budget_bytes = PICK(random, 1, EAGER_BYTES, 4 * EAGER_BYTES),
        .restart_slice = (uint8_t)PICK(random, 0, 0, 1),
        .strobe_always = (uint8_t)PICK(random, 0, 0, 1),
        .microphases_separate = (uint8_t)PICK(random, 0, 0, 1),
        .shape = (uint8_t)sg_explore_below(random, SG_TREE_SHAPES),
    };
}

/* In half of all scenarios the instance numbers pass a limit: of srm's words, of handoff's tags, of
 * the sign of 32 bits, of 32 bits once and several times. */
static uint64_t draw_first(uint64_t seed)
{
    static const uint64_t ends[] = {1 << 24, 1 << 30, UINT64_C(1) << 31, UINT64_C(1) << 32,
                                    UINT64_C(5) << 32};
    struct sg_explore_random random = sg_explore_stream(seed, STREAM_FIRST);
    uint32_t end = sg_explore_below(&random, 2 * sizeof ends / sizeof *ends);
    uint32_t before = sg_explore_below(&random, SG_EXPLORE_INSTANCES_MAX);

    return end < sizeof ends / sizeof *ends ? ends[end] - before : 0;
}

/* Makes the operation user-defined. Such an operation runs in blocking calls only; parts of a long
 * call are still split if they overlap. */
static void make_users(const struct sg_explore_scenario *scenario, struct sg_algo_call *call)
{
    if (!(scenario->algo->uses & SG_ALGO_USER) ||
        (call->operation != SG_OPERATION_REDUCE && call->operation != SG_OPERATION_ALLREDUCE))
        return;
    call->flags = (call->flags & ~(uint32_t)SG_CALL_EXACT) | SG_CALL_USER;
    if (scenario->algo->uses & SG_ALGO_PIPELINED && call->flags & SG_CALL_SPLIT)
        call->flags |= SG_CALL_LONG;
    else
        call->flags &= ~(uint32_t)SG_CALL_SPLIT;
}

/* A communicator of all processes, or of some, in random order. */
static void draw_comm(struct sg_explore_random *random, int32_t nodes, bool all,
                      struct sg_explore_comm *comm)
{
    for (int32_t i = 0; i < nodes; i++) {
        int32_t j = all ? i : (int32_t)sg_explore_below(random, (uint32_t)i + 1);

        comm->process[i] = comm->process[j];
        comm->process[j] = i;
    }
    comm->size = nodes;
    if (!all && sg_explore_one_in(random, 2))
        comm->size = 1 + (int32_t)sg_explore_below(random, (uint32_t)nodes);
}

static enum sg_operation draw_operation(struct sg_explore_random *random, uint32_t operations)
{
    uint32_t operation;

    do
        operation = sg_explore_below(random, SG_OPERATION_COUNT);
    while (!(operations & 1u << operation));
    return (enum sg_operation)operation;
}

static void draw_instance(struct sg_explore_scenario *scenario, int32_t index)
{
    struct sg_explore_random random =
        sg_explore_stream(scenario->seed, STREAM_INSTANCE + (uint64_t)index);
    struct sg_explore_instance *instance = &scenario->instance[index];
    uint32_t comm = sg_explore_below(&random, (uint32_t)scenario->comms);
    uint32_t size = (uint32_t)scenario->comm[comm].size;
    enum sg_operation operation = draw_operation(&random, scenario->algo->operations);
    /* Tests both changing and constant roots. */
    uint32_t root = sg_explore_one_in(&random, 2) ? sg_explore_below(&random, size)
                                                  : (uint32_t)(scenario->seed % size);

    instance->comm = (int32_t)comm;
    instance->call = (struct sg_algo_call){
        .operation = operation,
        .flags = PICK(&random, 0, SG_CALL_COMMUTATIVE, SG_CALL_COMMUTATIVE,
                      SG_CALL_EXACT | SG_CALL_COMMUTATIVE),
        .bytes = PICK(&random, 8, 8, EAGER_BYTES, EAGER_BYTES * 4),
        .root = sg_operation_has_root(operation) ? (int32_t)root : -1,
        .site = sg_explore_below(&random, 2),
    };
    if (operation == SG_OPERATION_BARRIER)
        instance->call.bytes = instance->call.flags = 0;
    /* Some calls are split. */
    if (scenario->parameters.split && sg_explore_below(&random, 4) > 0)
        instance->call.flags |= SG_CALL_SPLIT;
}

static bool suits(const struct sg_explore_scenario *scenario)
{
    for (int32_t i = 0; i < scenario->comms; i++) {
        struct sg_algo_setup setup = {0, scenario->comm[i].size, scenario->parameters};

        for (setup.rank = 0; setup.rank < setup.size; setup.rank++) {
            struct sg_algo_needs needs;

            if (!scenario->algo->needs(&setup, &needs))
                return false;
        }
    }
    return true;
}

static int32_t keep(int64_t cut, int32_t drawn)
{
    return cut >= 1 && cut < drawn ? (int32_t)cut : drawn;
}

/* Draws small sizes more often than large ones. */
static void draw_shape(struct sg_explore_scenario *scenario, int32_t max_nodes,
                       const struct sg_explore_cut *cut)
{
    struct sg_explore_random random = sg_explore_stream(scenario->seed, STREAM_SHAPE);
    uint32_t most = 1 + sg_explore_below(&random, (uint32_t)max_nodes);
    uint32_t nodes = sg_explore_one_in(&random, 2) ? most : 1 + sg_explore_below(&random, most);
    uint32_t comms = PICK(&random, 1, 1, 1, 2, 3);
    uint32_t instances =
        1 + sg_explore_below(&random, sg_explore_one_in(&random, 4) ? SG_EXPLORE_INSTANCES_MAX
                                                                    : FEW_INSTANCES);

    scenario->nodes = keep(cut->nodes, (int32_t)nodes);
    scenario->comms = keep(cut->comms, (int32_t)comms);
    scenario->instances = keep(cut->instances, (int32_t)instances);
    scenario->steps = sg_explore_below(&random, STEPS_LEAST + STEPS_EACH * nodes * instances);
    if (cut->steps >= 0)
        scenario->steps = (uint32_t)cut->steps;
    scenario->priorities = sg_explore_one_in(&random, 3);
    scenario->relocate = sg_explore_one_in(&random, 8);
    scenario->schedule = cut->schedule >= 0 ? (uint64_t)cut->schedule : 0;
}

bool sg_explore_draw(const struct sg_explore_subject *subject, struct sg_explore_scenario *scenario)
{
    uint64_t seed = subject->seed;
    struct sg_explore_random random = sg_explore_stream(seed, STREAM_FAULTS);
    struct sg_explore_random parameters = sg_explore_stream(seed, STREAM_PARAMETERS);
    int draws = 0;

    memset(scenario, 0, sizeof *scenario);
    scenario->algo = subject->algo;
    scenario->seed = seed;
    scenario->faults = (uint32_t)sg_explore_next(&random) & subject->faults & SG_FAULTS_ALL;
    if (subject->cut.faults >= 0)
        scenario->faults &= (uint32_t)subject->cut.faults;
    draw_shape(scenario, subject->max_nodes, &subject->cut);
    for (int32_t i = 0; i < scenario->comms; i++) {
        struct sg_explore_random stream = sg_explore_stream(seed, STREAM_COMM + (uint64_t)i);

        draw_comm(&stream, scenario->nodes, i == 0, &scenario->comm[i]);
    }
    do {
        if (draws++ == DRAWS_MAX)
            return false;
        draw_parameters(&parameters, &scenario->parameters);
    } while (!suits(scenario));
    scenario->parameters.first = draw_first(seed);
    sg_explore_draw_messages(scenario, subject->cut.messages);
    if (scenario->posts > 0 && subject->cut.steps < 0)
        scenario->steps += sg_explore_below(&parameters, STEPS_EACH * (uint32_t)scenario->posts);
    for (int32_t i = 0; i < scenario->instances; i++) {
        draw_instance(scenario, i);
        if (subject->user)
            make_users(scenario, &scenario->instance[i].call);
    }
    return true;
}

bool sg_explore_faults_read(const char *text, char separator, uint32_t *faults, const char **wrong)
{
    uint32_t mask = 0;

    if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0) {
        *faults = text[0] == 'a' ? SG_FAULTS_ALL : 0;
        return true;
    }
    for (;;) {
        const char *end = strchrnul(text, separator);
        size_t length = (size_t)(end - text);
        int fault = 0;

        while (fault < SG_FAULT_COUNT && (strlen(fault_names[fault]) != length ||
                                          memcmp(fault_names[fault], text, length) != 0))
            fault++;
        if (fault == SG_FAULT_COUNT) {
            *wrong = text;
            return false;
        }
        mask |= 1u << fault;
        if (*end == '\0')
            break;
        text = end + 1;
    }
    *faults = mask;
    return true;
}

const char *sg_explore_faults_text(uint32_t faults, char separator, char *text)
{
    char *end = text;

    for (int i = 0; i < SG_FAULT_COUNT; i++) {
        if (!(faults & 1u << i))
            continue;
        if (end > text)
            *end++ = separator;
        end = stpcpy(end, fault_names[i]);
    }
    if (end == text)
        strcpy(text, "none");
    return text;
}

void sg_explore_describe(const struct sg_explore_scenario *scenario, FILE *out)
{
    const struct sg_algo_parameters *p = &scenario->parameters;
    char faults[SG_EXPLORE_FAULTS_BYTES];

    fprintf(out, "  %s, seed %llu: %d processes, %d communicators, %d instances; faults: %s\n",
            scenario->algo->name, (unsigned long long)scenario->seed, scenario->nodes,
            scenario->comms, scenario->instances,
            sg_explore_faults_text(scenario->faults, ',', faults));
    fprintf(out,
            "  degree %u, shape %u, tokens %u, predict %u, arrival_order %u, credits %u, "
            "linger_auto %u, split %u,\n  linger_ns %u, eager_bytes %u, pool %u, timeout_ns %u; "
            "numbers begin after %llu\n",
            p->degree, p->shape, p->tokens, p->predict, p->arrival_order, p->credits,
            p->linger_auto, p->split, p->linger_ns, p->eager_bytes, p->pool, p->timeout_ns,
            (unsigned long long)p->first);
    for (int32_t i = 0; i < scenario->comms; i++) {
        fprintf(out, "  communicator %d: processes", i);
        for (int32_t rank = 0; rank < scenario->comm[i].size; rank++)
            fprintf(out, " %d", scenario->comm[i].process[rank]);
        fputc('\n', out);
    }
    if (scenario->posts > 0)
        fprintf(out, "  %d messages, tables of %u posts, %u bytes a slice\n", scenario->messages,
                p->posts, p->budget_bytes);
}

/* The messages of a scenario: sends, receives and probes, drawn so that everything ends under any
 * schedule.
 *
 * A rank's receives all ask for the same (source and tag; source; tag; anything), so that every
 * match leaves a receive for every other message; or the first ones ask for their source and tag,
 * and the rest for anything. */

#define STREAM_MESSAGES 12
#define LOCALS 2

enum mode { MODE_BOTH, MODE_SOURCE, MODE_TAG, MODE_ANY, MODE_FIRST, MODES };

struct drawing {
    struct sg_explore_scenario *scenario;
    struct sg_explore_random random;
    int32_t before[SG_EXPLORE_NODES_MAX]; /* of each process's last post */
    uint32_t numbers[SG_EXPLORE_COMMS_MAX][SG_EXPLORE_NODES_MAX][LOCALS];
    bool floods; /* all messages go to one rank of each communicator, and before receives */
};

static uint32_t below(struct drawing *drawing, uint32_t limit)
{
    return sg_explore_below(&drawing->random, limit);
}

static bool one_in(struct drawing *drawing, uint32_t times)
{
    return sg_explore_one_in(&drawing->random, times);
}

static void add(struct drawing *drawing, int32_t comm, int32_t rank, struct sg_algo_post post)
{
    struct sg_explore_scenario *scenario = drawing->scenario;
    int32_t *before = &drawing->before[scenario->comm[comm].process[rank]];

    if (one_in(drawing, 3))
        *before += (int32_t)below(drawing, 3);
    post.handle = (uint32_t)scenario->posts;
    post.number = scenario->parameters.first + ++drawing->numbers[comm][rank][post.local];
    scenario->post[scenario->posts++] = (struct sg_explore_post){comm, rank, *before, post};
}

/* The mode of a rank's receives. */
static enum mode mode_of(const struct sg_explore_scenario *scenario, int32_t comm, int32_t rank,
                         uint16_t local)
{
    uint64_t name = scenario->seed ^ (uint64_t)comm << 48 ^ (uint64_t)rank << 32 ^ local;

    return (enum mode)(sg_hash_mix(name) % MODES);
}

static struct sg_algo_post receive_of(struct drawing *drawing, int32_t comm, int32_t from,
                                      const struct sg_algo_post *send, bool is_first)
{
    enum mode mode = mode_of(drawing->scenario, comm, send->peer, send->peer_local);
    struct sg_algo_post receive = {
        .kind = SG_POST_RECEIVE,
        .local = send->peer_local,
        .peer = from,
        .peer_local = send->local,
        .tag = send->tag,
        .bytes = one_in(drawing, 6) ? 1 + below(drawing, 1600) : 8192,
    };

    if (mode == MODE_FIRST)
        mode = is_first ? MODE_BOTH : MODE_ANY;
    if (mode == MODE_TAG || mode == MODE_ANY)
        receive.peer = SG_ANY;
    if (mode == MODE_SOURCE || mode == MODE_ANY)
        receive.tag = SG_ANY;
    return receive;
}

static void draw_message(struct drawing *drawing, bool is_first)
{
    static const uint32_t sizes[] = {0, 8, 8, 8, 64, 1000, 1024, 1500, 5000};
    const struct sg_explore_scenario *scenario = drawing->scenario;
    int32_t comm = (int32_t)below(drawing, (uint32_t)scenario->comms);
    uint32_t size = (uint32_t)scenario->comm[comm].size;
    int32_t from = (int32_t)below(drawing, size);
    struct sg_algo_post send = {
        .kind = SG_POST_SEND,
        .local = one_in(drawing, 4),
        /* One endpoint gets many messages. */
        .peer = (int32_t)(drawing->floods || one_in(drawing, 2) ? scenario->seed % size
                                                                : below(drawing, size)),
        .peer_local = !drawing->floods && one_in(drawing, 4),
        .tag = (int32_t)below(drawing, 3),
        .bytes = sizes[below(drawing, sizeof sizes / sizeof *sizes)],
    };
    struct sg_algo_post receive = receive_of(drawing, comm, from, &send, is_first);
    struct sg_algo_post probe = receive;
    bool receive_first = !drawing->floods && one_in(drawing, 2);

    if (!receive_first)
        add(drawing, comm, from, send);
    probe.kind = one_in(drawing, 2) ? SG_POST_PROBE : SG_POST_IPROBE;
    probe.bytes = 0;
    if (one_in(drawing, 4))
        add(drawing, comm, send.peer, probe);
    add(drawing, comm, send.peer, receive);
    if (receive_first)
        add(drawing, comm, from, send);
}

/* Draws messages, if the protocol takes any: at most `most`; -1: all that the seed draws. */
static void sg_explore_draw_messages(struct sg_explore_scenario *scenario, int64_t most)
{
    static const uint32_t tables[] = {4, 4, 5, 8, 16};
    struct drawing drawing = {.scenario = scenario,
                              .random = sg_explore_stream(scenario->seed, STREAM_MESSAGES)};
    int32_t messages;

    if (!(scenario->algo->uses & SG_ALGO_POSTS) || one_in(&drawing, 2))
        return;
    scenario->parameters.posts = tables[below(&drawing, sizeof tables / sizeof *tables)];
    if (one_in(&drawing, 2))
        scenario->parameters.budget_bytes = 1024 * (1 + below(&drawing, 4));
    drawing.floods = one_in(&drawing, 3);
    messages = 1 + (int32_t)below(&drawing, one_in(&drawing, 2) ? SG_EXPLORE_MESSAGES_MAX : 6);
    scenario->messages = messages;
    if (most >= 0 && most < messages)
        scenario->messages = (int32_t)most;
    if (scenario->messages == 0)
        scenario->parameters.posts = 0;
    for (int32_t i = 0; i < scenario->messages; i++)
        draw_message(&drawing, i < messages / 2);
}
