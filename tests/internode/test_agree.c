/* Tests the choice of calls by ranks of one machine, and of several with a coordinator. The test
 * carries out the ranks' accesses, at once or later, as adapters do. Ranks are run one by one, or
 * as threads. */
#include "internode/agree.h"
#include "internode/endpoint.h"
#include "lib/unit.h"
#include "mpi/user_lines.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>

enum { RANKS_MAX = 4, MACHINES_MAX = 3, AHEAD = 1000, TRIES = 200, ROUNDS = 4, SEEDS = 3 };
/* So far ahead of another rank a nonblocking call may end rules by call site, and from the second
 * on it does.
 */
enum { NEAR = SG_INTERNODE_CHOICES - SG_INTERNODE_QUARTER, FAR = SG_INTERNODE_CHOICES };
#define CALLS (ROUNDS * SG_INTERNODE_CHOICES)

struct rank {
    struct sg_internode internode;
    _Atomic uint64_t made;  /* calls */
    uint64_t ended;         /* the first call by another choice than that of some rank; CALLS */
    uint8_t brought[CALLS]; /* by which rank the choice was */
    uint64_t random_state;
    bool has_answer; /* to an access that was LATER */
    struct sg_transport_message answer;
    /* A thread stays before call stays_at until rank 0 has made `until` calls. */
    uint64_t stays_at, until;
};

static struct rank *ranks;
static int rank_count, is_nonblocking, reports;
static struct sg_internode_header *segments[MACHINES_MAX];
static struct sg_ruleset *rules;
static bool is_threaded;
static jmp_buf given_up; /* a wait of the test's own thread */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- what the words need of the rest ----------------------------------------------------------
 */

static struct rank *rank_of(const struct sg_internode *internode)
{
    return &ranks[internode->rank];
}

void sg_endpoint_lock(struct sg_internode *internode)
{
}

void sg_endpoint_unlock(struct sg_internode *internode)
{
}

void sg_wait_wake(const struct sg_wait_queue *wait_queue)
{
}

bool sg_endpoint_poll(struct sg_internode *internode)
{
    struct rank *rank = rank_of(internode);

    if (!rank->has_answer || next_random(&rank->random_state) % 2)
        return false;
    rank->has_answer = false;
    sg_internode_keep_answer(&internode->asking, rank->answer.value[0]);
    return true;
}

/* The test's own thread gives up where nobody else is to come to anything. */
void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context)
{
    for (int tries = 0; !is_over(context); tries++) {
        if (internode->asking.is_under_way)
            continue;
        if (is_threaded)
            sched_yield();
        else if (tries > TRIES)
            longjmp(given_up, 1);
    }
}

void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser)
{
}

void sg_report_far_ahead(const struct sg_call *call, int rank, int calls)
{
    __atomic_fetch_add(&reports, 1, __ATOMIC_RELAXED);
}

static enum sg_transport_result reach_coordinator(struct sg_transport *transport, int self,
                                                  const struct sg_action *action,
                                                  const struct sg_transport_region *region,
                                                  void *local, uint64_t value[8])
{
    struct rank *rank = &ranks[self];
    _Atomic uint64_t *cell = (_Atomic uint64_t *)sg_internode_at(
                                 &ranks[0].internode, ranks[0].internode.coordinator_at) +
                             action->access.remote;

    if (action->access.remote >= region->cells_count || action->to != 0 || rank->has_answer)
        abort();
    if (action->kind == SG_ACTION_FETCH_ADD)
        value[0] = atomic_fetch_add(cell, action->access.value);
    else if (action->kind == SG_ACTION_WRITE_CELL)
        atomic_store(cell, action->access.value);
    else
        value[0] = atomic_load(cell);
    if (next_random(&rank->random_state) % 2)
        return SG_TRANSPORT_DONE;
    rank->has_answer = true;
    rank->answer.value[0] = value[0];
    return SG_TRANSPORT_LATER;
}

static const struct sg_transport_ops ops = {.name = "test", .access = reach_coordinator};
static const struct sg_transport_remote_ops remote;

/* ---- ranks ------------------------------------------------------------------------------------
 */

/* As many rules as ranks: each brings one of its own. */
static void make_rules(void)
{
    static char texts[RANKS_MAX][16] = {"barrier@a=tree", "barrier@b=tree", "barrier@c=tree",
                                        "barrier@d=tree"};
    static char source[] = "test";
    struct sg_config_rule given[RANKS_MAX];
    struct sg_config config = {.rules = given, .rule_count = RANKS_MAX};

    for (int i = 0; i < RANKS_MAX; i++)
        given[i] = (struct sg_config_rule){SG_CONFIG_RULE_RULES, source, source, texts[i]};
    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
}

/* 1 machine: no coordinator. */
static void start(int machines, int each, bool posts, uint64_t seed)
{
    size_t coordinator_at = (sizeof(struct sg_internode_header) + 63) & ~(size_t)63;
    size_t rank_states_at = coordinator_at + sizeof(struct sg_coordinator);

    rank_count = machines * each;
    is_nonblocking = posts;
    reports = 0;
    is_threaded = false;
    make_rules();
    ranks = calloc((size_t)rank_count, sizeof *ranks);
    ASSERT(ranks != NULL);
    for (int machine = 0; machine < machines; machine++) {
        size_t bytes = rank_states_at + (size_t)each * sizeof(struct sg_rank_state);

        ASSERT(posix_memalign((void **)&segments[machine], 64, bytes) == 0);
        memset((void *)segments[machine], 0, bytes);
    }
    for (int i = 0; i < rank_count; i++) {
        struct sg_internode *internode = &ranks[i].internode;

        ranks[i].random_state = (seed + 1) * 2654435761u + (uint64_t)i;
        ranks[i].ended = CALLS;
        internode->header = segments[i % machines];
        internode->coordinator_at = coordinator_at;
        internode->rank_states_at = rank_states_at;
        internode->rank = internode->endpoint = i;
        internode->ranks = rank_count;
        internode->by_machine.groups = machines;
        internode->index = i / machines;
        internode->here = each;
        internode->locals_max = 1;
        sg_internode_own_state(internode)->rank = i + 1;
        internode->ops = &ops;
        internode->has_coordinator = machines > 1;
        internode->remote = machines > 1 ? &remote : NULL;
    }
}

static void stop(int machines)
{
    for (int machine = 0; machine < machines; machine++)
        free(segments[machine]);
    free(ranks);
    sg_ruleset_destroy(rules);
}

static void make_call(struct rank *rank)
{
    MPI_Request request;
    struct sg_call call = {.rules = rules, .request = is_nonblocking ? &request : NULL};
    uint64_t number = atomic_load(&rank->made);

    if (sg_internode_agrees(&rank->internode)) {
        const struct sg_choice *choice = sg_internode_agree(
            &rank->internode, &call, sg_ruleset_choice(rules, rank->internode.rank));

        if (choice == NULL)
            rank->ended = number;
        else
            rank->brought[number] = (uint8_t)sg_ruleset_index(rules, choice);
    }
    atomic_store(&rank->made, number + 1);
}

/* False: it waits for another rank. */
static bool come_to(int which, uint64_t count)
{
    if (setjmp(given_up) != 0)
        return false;
    while (atomic_load(&ranks[which].made) < count)
        make_call(&ranks[which]);
    return true;
}

/* All ranks have found the choice of one, or all have ended before the same call. */
static bool are_alike(void)
{
    for (int i = 0; i < rank_count; i++) {
        if (ranks[i].ended != ranks[0].ended)
            return false;
        for (uint64_t call = 0; call < ranks[0].ended && call < atomic_load(&ranks[0].made);
             call++) {
            if (ranks[i].brought[call] >= rank_count ||
                ranks[i].brought[call] != ranks[0].brought[call])
                return false;
        }
    }
    return reports == (ranks[0].ended < CALLS);
}

static bool are_by(int which, uint64_t from, uint64_t to)
{
    for (uint64_t call = from; call < to; call++) {
        if (ranks[0].brought[call] != which)
            return false;
    }
    return true;
}

static bool all_come_to(uint64_t count)
{
    for (int i = 0; i < rank_count; i++) {
        if (!come_to(i, count))
            return false;
    }
    return are_alike();
}

static void *run_rank(void *context)
{
    struct rank *rank = context;

    while (atomic_load(&rank->made) < CALLS) {
        while (atomic_load(&rank->made) == rank->stays_at &&
               atomic_load(&ranks[0].made) < rank->until)
            sched_yield();
        make_call(rank);
        if (next_random(&rank->random_state) % 512 == 0)
            sched_yield();
    }
    return NULL;
}

/* All but rank 0 stay somewhere until that is `ahead` calls further on at most, or by chance
 * further than that. */
static void run_threads(uint64_t ahead)
{
    pthread_t threads[RANKS_MAX];

    is_threaded = true;
    for (int i = 0; i < rank_count; i++) {
        struct rank *rank = &ranks[i];

        rank->stays_at =
            i == 0 ? CALLS : next_random(&rank->random_state) % (CALLS - 2 * SG_INTERNODE_CHOICES);
        rank->until = rank->stays_at + next_random(&rank->random_state) % ahead;
        ASSERT(pthread_create(&threads[i], NULL, run_rank, rank) == 0);
    }
    for (int i = 0; i < rank_count; i++)
        ASSERT(pthread_join(threads[i], NULL) == 0);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static const struct {
    int machines, each;
} shapes[] = {{1, 3}, {3, 1}, {2, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

TEST("a rank runs a thousand calls ahead of the others, and they find its choices")
{
    for (int i = 0; i < SHAPES; i++) {
        start(shapes[i].machines, shapes[i].each, true, 0);
        EXPECT(come_to(1, AHEAD), all_come_to(AHEAD) && are_by(1, 0, AHEAD));
        stop(shapes[i].machines);
    }
}

TEST("a post a whole ring ahead returns and ends rules by call site on every rank")
{
    for (int i = 0; i < SHAPES; i++) {
        start(shapes[i].machines, shapes[i].each, true, 0);
        EXPECT(come_to(1, CALLS) && ranks[1].ended == FAR, all_come_to(CALLS) && are_by(1, 0, FAR));
        stop(shapes[i].machines);
    }
}

TEST("rules by call site hold up to three quarters of the ring ahead")
{
    for (int i = 0; i < SHAPES; i++) {
        uint64_t common = SG_INTERNODE_CHOICES / 2;

        start(shapes[i].machines, shapes[i].each, true, 0);
        /* One more: who is in a call has read the quarter before it. */
        EXPECT(all_come_to(common + 1), come_to(1, common + NEAR) && ranks[1].ended == CALLS,
               come_to(1, CALLS) && ranks[1].ended == common + FAR,
               all_come_to(CALLS) && are_by(1, common + 1, common + FAR));
        stop(shapes[i].machines);
    }
}

TEST("a blocking call a whole ring ahead waits for the other ranks")
{
    for (int i = 0; i < SHAPES; i++) {
        start(shapes[i].machines, shapes[i].each, false, 0);
        EXPECT(!come_to(1, CALLS) && atomic_load(&ranks[1].made) == FAR);
        for (int rank = rank_count - 1; rank >= 0; rank--)
            EXPECT(rank == 1 || come_to(rank, FAR));
        EXPECT(come_to(1, FAR + AHEAD) && all_come_to(FAR + AHEAD), ranks[1].ended == CALLS);
        stop(shapes[i].machines);
    }
}

TEST("threads find one choice while words are reused")
{
    for (int i = 0; i < SHAPES; i++) {
        start(shapes[i].machines, shapes[i].each, false, 0);
        run_threads(AHEAD);
        EXPECT(are_alike() && ranks[0].ended == CALLS);
        stop(shapes[i].machines);
    }
}

TEST("posting threads find one choice, or end rules by call site before the same call")
{
    int ended = 0;

    for (int i = 0; i < SHAPES; i++) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            start(shapes[i].machines, shapes[i].each, true, seed);
            run_threads(2 * FAR);
            EXPECT(are_alike());
            ended += ranks[0].ended < CALLS;
            stop(shapes[i].machines);
        }
    }
    EXPECT(ended > 0);
}
