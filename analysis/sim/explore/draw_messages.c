/* The messages of a scenario: sends, receives and probes, so that everything ends whatever the
 * schedule.
 *
 * A rank's receives all ask for the same (source and tag; source; tag; anything), so that every
 * match leaves one for every other message; or the first ones ask for their source and tag, and the
 * rest for anything.
 */
#include "sim/explore/scenario.h"

#define STREAM_MESSAGES 12
#define LOCALS 2

enum mode { MODE_BOTH, MODE_SOURCE, MODE_TAG, MODE_ANY, MODE_FIRST, MODES };

struct drawing {
    struct sg_explore_scenario *scenario;
    struct sg_explore_random random;
    int32_t before[SG_EXPLORE_NODES_MAX]; /* of each process's last post */
    uint32_t numbers[SG_EXPLORE_COMMS_MAX][SG_EXPLORE_NODES_MAX][LOCALS];
    bool floods; /* all messages are for one rank of each communicator, and come before receives */
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

/* Of a rank's receives. */
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
        /* One endpoint gets many. */
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

void sg_explore_draw_messages(struct sg_explore_scenario *scenario, int64_t most)
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
