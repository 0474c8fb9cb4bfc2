/* Tests the node's algorithms, driven from one thread: each rank is a row of calls, polled in an
 * order drawn from a seed, so that every order of arrival and every depth of run-ahead comes up.
 * Results are compared with a sequential evaluation of the shape, by an operation that is neither
 * commutative nor associative: a hash of (left, right). */
#include "intranode/node.h"
#include "intranode/outbox.h"
#include "intranode/ring.h"
#include "lib/unit.h"

#define RANKS_MAX 17
#define DEPTH 4
#define SLOT_BYTES 256
#define COUNT_MAX 101

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

static uint64_t mix(uint64_t left, uint64_t right)
{
    uint64_t value = left * UINT64_C(0x9e3779b97f4a7c15) + right;

    return (value ^ value >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
}

static void fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    uint64_t *c = out;

    for (size_t i = 0; i < count; i++)
        c[i] = mix(a[i], b[i]);
}

/* One collective of the script, the same for all ranks but for the buffers. */
struct collective {
    enum sg_operation operation;
    enum sg_node_method method;
    struct sg_shape shape;
    int root;
    size_t count;
    bool in_place;
    struct sg_nest_sizes sizes; /* of groups */
};

struct actor {
    struct sg_node node;
    struct sg_node_op op;
    uint64_t send[COUNT_MAX], receive[COUNT_MAX];
    int at; /* in the script */
    bool inside;
    bool asleep;
    int wakes; /* of other actors, by this one */
    struct sg_outbox outbox;
    struct sg_box *boxes[RANKS_MAX];
};

/* Fits two operands of the largest size, or several small ones. */
#define BOX_DATA_BYTES 2048
static bool has_boxes; /* the actors have */
static bool sleeping;  /* an actor that waits does so until another one wakes it */
static int wakes;      /* in the last run */
static int boxed;      /* calls that needed no slot */

static uint64_t contribution(int collective, int rank, size_t i)
{
    return mix((uint64_t)collective << 32 | (uint64_t)rank, i);
}

static uint64_t expected(const struct collective *what, int collective, size_t i)
{
    uint64_t waiting[RANKS_MAX] = {0};
    uint64_t value = 0;

    if (what->operation == SG_OPERATION_BCAST)
        return contribution(collective, what->root, i);
    for (int leaf = 0; leaf < what->shape.size; leaf++) {
        int rank = sg_shape_leaf(&what->shape, leaf);
        struct sg_climb climb = sg_climb_start(&what->shape, rank);
        bool right;
        int node;

        value = contribution(collective, rank, i);
        while (sg_climb_step(&what->shape, &climb, &node, &right)) {
            if (!right) {
                waiting[node] = value;
                break;
            }
            value = mix(waiting[node], value);
        }
    }
    return value;
}

static void begin(struct actor *actor, const struct collective *what, int rank)
{
    bool broadcast = what->operation == SG_OPERATION_BCAST;
    bool receives = what->operation == SG_OPERATION_ALLREDUCE || broadcast ||
                    (what->operation == SG_OPERATION_REDUCE && rank == what->root);
    uint64_t *own = (what->in_place && receives) || broadcast ? actor->receive : actor->send;
    struct sg_node_call call = {.operation = what->operation,
                                .method = what->method,
                                .shape = what->shape,
                                .sizes = what->sizes,
                                .root = what->root,
                                .send = own,
                                .receive = receives ? actor->receive : NULL,
                                .count = what->count,
                                .element_bytes = sizeof(uint64_t),
                                .fold = fold,
                                .arrival_ns = (uint64_t)actor->at + 1,
                                .site = 1,
                                .site_module = "module"};

    memset(actor->receive, 0, sizeof actor->receive);
    for (size_t i = 0; i < what->count && (!broadcast || rank == what->root); i++)
        own[i] = contribution(actor->at, rank, i);
    actor->op.call = call;
    sg_node_begin(&actor->op, &actor->node);
    actor->inside = true;
}

static void check(const struct actor *actor, const struct collective *what)
{
    if (actor->op.call.receive == NULL)
        return;
    for (size_t i = 0; i < what->count; i++)
        ASSERT(actor->receive[i] == expected(what, actor->at, i));
}

static struct sg_box *make_box(void *context)
{
    struct actor *actor = context;
    size_t size_bytes = sizeof(struct sg_box) + BOX_DATA_BYTES;
    struct sg_box *box = aligned_alloc(64, size_bytes);

    ASSERT(box != NULL);
    memset(box, 0, size_bytes);
    box->data_bytes = BOX_DATA_BYTES;
    atomic_store(&actor->node.header->has_boxes, 1);
    return box;
}

/* The actors stand in a row. */
static struct sg_box *open_box(void *context, int rank)
{
    struct actor *actor = context;
    struct actor *other = actor - actor->node.rank + rank;

    return other->boxes[rank];
}

static void give_boxes(struct actor *actor)
{
    actor->outbox = (struct sg_outbox){
        .make = make_box, .open = open_box, .context = actor, .boxes = actor->boxes};
    actor->node.outbox = &actor->outbox;
}

static void free_actors(struct actor *actors, void *segment)
{
    int ranks = actors->node.ranks;

    for (int rank = 0; rank < ranks; rank++) {
        EXPECT(sg_outbox_is_empty(&actors[rank].node));
        free(actors[rank].boxes[rank]);
    }
    free(segment);
    free(actors);
}

/* The actors stand in a row; those that wait for a slot sleep apart. */
static void wake(struct actor *actor, bool stalled)
{
    struct actor *first = actor - actor->node.rank;

    for (int rank = 0; rank < actor->node.ranks; rank++) {
        actor->wakes += first[rank].asleep && first[rank].op.stalled == stalled;
        first[rank].asleep = first[rank].asleep && first[rank].op.stalled != stalled;
    }
}

/* One poll of one rank. Polluting the send buffer after a call shows whoever still reads it. */
static void step(struct actor *actor, const struct collective *script, int rank)
{
    if (!actor->inside)
        begin(actor, &script[actor->at], rank);
    enum sg_node_step got = sg_node_poll(&actor->op);
    ASSERT(got != SG_NODE_MISMATCH);
    if (has_boxes && actor->op.stalled && got == SG_NODE_WAIT && draw(4) == 0)
        sg_node_goes_on(&actor->op);
    if (sg_op_tells(&actor->op))
        wake(actor, false);
    if (sg_node_frees_slot(&actor->node))
        wake(actor, true);
    actor->asleep = sleeping && got == SG_NODE_WAIT;
    if (got != SG_NODE_DONE)
        return;
    boxed += actor->op.stalled;
    check(actor, &script[actor->at]);
    memset(actor->send, 0xa5, sizeof actor->send);
    actor->inside = false;
    actor->at++;
}

/* From the beginning, and a few rounds before the ends of a line's and of a word's bits. */
static uint64_t first_position(void)
{
    static const uint64_t firsts[] = {0, (UINT64_C(1) << 32) - 2 * DEPTH,
                                      (UINT64_C(1) << 36) - 2 * DEPTH};
    static unsigned made;

    return firsts[made++ % 3];
}

static struct actor *make_actors(int ranks, void **segment)
{
    struct actor *actors = calloc((size_t)ranks, sizeof *actors);
    size_t size_bytes = sg_node_bytes(ranks, DEPTH, SLOT_BYTES);

    *segment = aligned_alloc(64, size_bytes);
    ASSERT(actors != NULL, *segment != NULL);
    memset(*segment, 0, size_bytes);
    sg_node_format(*segment, ranks, DEPTH, SLOT_BYTES, 42);
    sg_node_count_from(*segment, first_position());
    for (int rank = 0; rank < ranks; rank++) {
        ASSERT(sg_node_attach(&actors[rank].node, *segment, rank, 42));
        if (has_boxes)
            give_boxes(&actors[rank]);
    }
    return actors;
}

/* Runs a script to its end; *stalls counts waits for credit, *ahead the greatest lead seen. */
static void run(const struct collective *script, int length, int ranks, unsigned *stalls,
                int *ahead)
{
    void *segment;
    struct actor *actors = make_actors(ranks, &segment);
    int finished = 0;

    while (finished < ranks) {
        /* Bursts: one rank runs while it can, so that others fall behind. */
        int rank = (int)draw((unsigned)ranks);
        int burst = 1 + (int)draw(12);
        int least = length, awake = 0;

        for (int i = 0; i < burst && actors[rank].at < length && !actors[rank].asleep; i++)
            step(&actors[rank], script, rank);
        for (int other = 0; other < ranks; other++)
            awake += actors[other].at < length && !actors[other].asleep;
        *stalls += actors[rank].op.stalls;
        finished = 0;
        for (int other = 0; other < ranks; other++) {
            finished += actors[other].at == length;
            if (actors[other].at < least)
                least = actors[other].at;
        }
        if (actors[rank].at - least > *ahead)
            *ahead = actors[rank].at - least;
        ASSERT(awake > 0 || finished == ranks);
    }
    wakes = 0;
    for (int rank = 0; rank < ranks; rank++)
        wakes += actors[rank].wakes;
    free_actors(actors, segment);
}

static const enum sg_node_method methods[] = {SG_NODE_FLAT, SG_NODE_HANDOFF, SG_NODE_GROUPS};

static void fill(struct collective *script, int length, int ranks, size_t greatest)
{
    for (int i = 0; i < length; i++) {
        struct collective *what = &script[i];

        what->operation = (enum sg_operation)draw(SG_OPERATION_COUNT);
        what->method = methods[draw(3)];
        what->sizes.group = 2 + (int)draw((unsigned)ranks);
        what->sizes.outer = (int)draw((unsigned)ranks);
        what->root = sg_operation_has_root(what->operation) ? (int)draw((unsigned)ranks) : -1;
        what->shape.kind = draw(2) ? SG_SHAPE_DOUBLING : SG_SHAPE_BINOMIAL;
        what->shape.size = ranks;
        what->shape.root = what->shape.kind == SG_SHAPE_BINOMIAL ? (int)draw((unsigned)ranks) : 0;
        what->count = what->operation == SG_OPERATION_BARRIER ? 0 : draw((unsigned)greatest + 1);
        what->in_place = draw(2);
        if (what->operation == SG_OPERATION_BCAST) {
            what->method = SG_NODE_BROADCAST;
            what->count++;
        }
    }
}

TEST("random scripts give the shape's result in every order of arrival")
{
    struct collective script[60];
    unsigned stalls = 0;
    int ahead = 0;

    for (int seed = 0; seed < 1500; seed += unit_step()) {
        int ranks = 2 + seed % (RANKS_MAX - 1);

        random_state = (uint64_t)seed;
        fill(script, 60, ranks, seed % 3 == 0 ? COUNT_MAX - 1 : seed % 3 == 1 ? 6 : 32);
        run(script, 60, ranks, &stalls, &ahead);
    }
    EXPECT(stalls > 0, ahead > 2);
}

TEST("a rank that sleeps is woken as soon as it can go on")
{
    struct collective script[60];
    unsigned stalls = 0;
    int ahead = 0;

    sleeping = true;
    for (int seed = 0; seed < 1500; seed += unit_step()) {
        int ranks = 2 + seed % (RANKS_MAX - 1);

        random_state = (uint64_t)seed;
        fill(script, 60, ranks, seed % 3 == 0 ? COUNT_MAX - 1 : seed % 3 == 1 ? 6 : 32);
        run(script, 60, ranks, &stalls, &ahead);
    }
    sleeping = false;
    EXPECT(stalls > 0, ahead > 2);
}

/* Except for a reduce's root and others that run ahead, each rank sleeps once in each call. */
TEST("in a call of many ranks each rank is woken once")
{
    enum { LENGTH = 40 };
    static const enum sg_operation kinds[] = {SG_OPERATION_BARRIER, SG_OPERATION_ALLREDUCE,
                                              SG_OPERATION_REDUCE, SG_OPERATION_BCAST};
    struct collective script[LENGTH];
    unsigned stalls = 0;
    int ahead = 0;

    sleeping = true;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        bool has_root = sg_operation_has_root(kinds[kind]);

        for (int i = 0; i < LENGTH; i++)
            script[i] = (struct collective){
                .operation = kinds[kind],
                .method = kinds[kind] == SG_OPERATION_BCAST ? SG_NODE_BROADCAST : SG_NODE_HANDOFF,
                .root = has_root ? 0 : -1,
                .count = kinds[kind] == SG_OPERATION_BARRIER ? 0 : 6,
                .shape = {SG_SHAPE_DOUBLING, RANKS_MAX, 0}};
        random_state = 11;
        run(script, LENGTH, RANKS_MAX, &stalls, &ahead);
        EXPECT(wakes > 0, wakes <= LENGTH * RANKS_MAX);
    }
    sleeping = false;
}

/* The same, where ranks that are ahead go on into boxes, which get full. */
TEST("scripts without enough slots give the shape's result in every order of arrival")
{
    struct collective script[60];
    unsigned stalls = 0;
    int ahead = 0;

    has_boxes = true;
    boxed = 0;
    for (int seed = 0; seed < 400; seed += unit_step()) {
        int ranks = 2 + seed % (RANKS_MAX - 1);

        random_state = (uint64_t)seed;
        fill(script, 60, ranks, seed % 3 == 0 ? COUNT_MAX - 1 : seed % 3 == 1 ? 6 : 32);
        run(script, 60, ranks, &stalls, &ahead);
    }
    has_boxes = false;
    EXPECT(boxed * unit_step() > 1000, ahead > DEPTH);
}

/* Ranks that wait for nobody go on, whatever their calls are, until a box is full. */
TEST("ranks that wait for no other rank continue without slots")
{
    enum { LENGTH = DEPTH + 8 };
    struct collective script[LENGTH];
    struct actor *actors;
    void *segment;

    for (int kind = 0; kind < 3; kind++) {
        bool broadcasts = kind == 2;

        has_boxes = true;
        actors = make_actors(3, &segment);
        random_state = 7;
        for (int i = 0; i < LENGTH; i++) {
            script[i] = (struct collective){.operation = broadcasts ? SG_OPERATION_BCAST
                                                                    : SG_OPERATION_REDUCE,
                                            .method = broadcasts  ? SG_NODE_BROADCAST
                                                      : kind == 0 ? SG_NODE_FLAT
                                                                  : SG_NODE_HANDOFF,
                                            .root = 0,
                                            .count = 6,
                                            .shape = {SG_SHAPE_DOUBLING, 3, 0}};
        }
        /* Contributors, or the root and one reader; the other one does not call. */
        for (int i = 0; i < 100; i++) {
            for (int rank = broadcasts ? 0 : 1; rank < (broadcasts ? 2 : 3); rank++) {
                if (actors[rank].at < LENGTH)
                    step(&actors[rank], script, rank);
            }
        }
        EXPECT(actors[1].at == LENGTH, actors[broadcasts ? 0 : 2].at == LENGTH,
               !sg_outbox_is_empty(&actors[broadcasts ? 0 : 1].node));
        while (actors[broadcasts ? 2 : 0].at < LENGTH)
            step(&actors[broadcasts ? 2 : 0], script, broadcasts ? 2 : 0);
        free_actors(actors, segment);
        has_boxes = false;
    }
}

/* An allreduce, then reduces whose leaves run ahead: a reader of the allreduce that is slow must
 * still find its slots. */
TEST("a slow reader's slots are not reused")
{
    struct collective script[DEPTH + 8];
    void *segment;
    struct actor *actors = make_actors(3, &segment);

    random_state = 7;
    fill(script, DEPTH + 8, 3, 6);
    for (int i = 0; i < DEPTH + 8; i++) {
        script[i].operation = i == 0 ? SG_OPERATION_ALLREDUCE : SG_OPERATION_REDUCE;
        script[i].method = SG_NODE_FLAT;
        script[i].root = i == 0 ? -1 : 0;
        script[i].count = 6;
        script[i].shape = (struct sg_shape){SG_SHAPE_DOUBLING, 3, 0};
    }
    /* All enter the allreduce, 1 and 2 complete it, 0 does not look. */
    for (int rank = 0; rank < 3; rank++)
        step(&actors[rank], script, rank);
    for (int i = 0; i < 100; i++) {
        step(&actors[1], script, 1);
        step(&actors[2], script, 2);
    }
    /* Rank 0 has left nothing: the place of instance 0 is not taken again. */
    EXPECT(actors[1].at == DEPTH, actors[2].at == DEPTH, actors[1].op.stalls == 1);
    while (actors[0].at < DEPTH + 8) {
        step(&actors[0], script, 0);
        for (int rank = 1; rank < 3; rank++) {
            if (actors[rank].at < DEPTH + 8)
                step(&actors[rank], script, rank);
        }
    }
    free(segment);
    free(actors);
}

/* Large operands: a few collectives in a row, every step of every rank in a random order. */
static int moves_until_failure; /* 0: none fails */
static int moves_failed, reads, writes;
static size_t bytes_moved;
static bool is_writing; /* roots write to others' memory */

static bool fails(void)
{
    if (moves_until_failure == 0 || --moves_until_failure > 0)
        return false;
    moves_failed++;
    return true;
}

static bool read_memory(void *context, int rank, uint64_t address, void *to, size_t size_bytes)
{
    if (fails())
        return false;
    reads++;
    bytes_moved += size_bytes;
    memcpy(to, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

static bool write_memory(void *context, int rank, uint64_t address, const void *from,
                         size_t size_bytes)
{
    if (fails())
        return false;
    writes++;
    bytes_moved += size_bytes;
    memcpy((void *)(uintptr_t)address, from, size_bytes);
    return true;
}

static void run_large(int ranks, size_t count, bool in_place, enum sg_shape_kind kind,
                      enum sg_node_method method)
{
    struct sg_node_access access = {.read = read_memory, .write = write_memory};
    struct sg_pool_rank *pool = aligned_alloc(64, (size_t)ranks * sizeof *pool);
    struct sg_pool_rank *places[RANKS_MAX];
    struct large {
        uint64_t *send, *receive;
    } buffers[RANKS_MAX];
    void *segment;
    struct actor *actors = make_actors(ranks, &segment);
    enum { LENGTH = 4 };
    struct collective what[LENGTH];
    int finished = 0;

    ASSERT(pool != NULL);
    access.scratch = malloc((size_t)ranks * SG_NODE_READ_BYTES);
    for (int rank = 0; rank < ranks; rank++) {
        places[rank] = &pool[rank];
        actors[rank].node.pool = places;
        actors[rank].node.access = &access;
        buffers[rank].send = malloc(count * sizeof(uint64_t));
        buffers[rank].receive = malloc(count * sizeof(uint64_t));
    }
    for (int i = 0; i < LENGTH; i++) {
        bool reduce = i % 2 == 1 && method != SG_NODE_SINGLE;
        bool broadcast = method == SG_NODE_PULL;

        what[i] = (struct collective){broadcast ? SG_OPERATION_BCAST
                                      : reduce  ? SG_OPERATION_REDUCE
                                                : SG_OPERATION_ALLREDUCE,
                                      method,
                                      {kind, ranks, 0},
                                      reduce || broadcast ? i % ranks : -1,
                                      count,
                                      in_place,
                                      {0, 0}};
    }
    while (finished < ranks * LENGTH) {
        int rank = (int)draw((unsigned)ranks);
        struct actor *actor = &actors[rank];

        if (actor->at == LENGTH)
            continue;
        if (!actor->inside) {
            struct collective none = what[actor->at];

            /* The buffers of struct actor are too small: begin with none, then set ours. */
            none.count = 0;
            begin(actor, &none, rank);
            actor->op.call.count = count;
            actor->op.chunk_count = count;
            actor->op.call.root_writes = is_writing;
            if (actor->op.call.receive != NULL)
                actor->op.call.receive = buffers[rank].receive;
            actor->op.call.send = in_place && actor->op.call.receive != NULL ? buffers[rank].receive
                                                                             : buffers[rank].send;
            for (size_t i = 0;
                 i < count && (none.root < 0 || method != SG_NODE_PULL || rank == none.root); i++)
                ((uint64_t *)actor->op.call.send)[i] = contribution(actor->at, rank, i);
        }
        if (sg_node_poll(&actor->op) != SG_NODE_DONE)
            continue;
        for (size_t i = 0; actor->op.call.receive != NULL && i < count; i++)
            ASSERT(buffers[rank].receive[i] == expected(&what[actor->at], actor->at, i));
        memset(buffers[rank].send, 0xa5, count * sizeof(uint64_t));
        memset(buffers[rank].receive, 0xa5, count * sizeof(uint64_t));
        memset(places[rank], 0x5a, sizeof *pool); /* nobody looks at it any more */
        actor->inside = false;
        actor->at++;
        finished++;
    }
    for (int rank = 0; rank < ranks; rank++) {
        free(buffers[rank].send);
        free(buffers[rank].receive);
    }
    free(access.scratch);
    free(pool);
    free(segment);
    free(actors);
}

static const size_t counts[] = {1, 2, 7, 100, 16384, 16385, 70000};

TEST("large operands are folded share by share, in any order of steps")
{

    random_state = 11;
    for (int ranks = 2; ranks <= 9; ranks++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            run_large(ranks, ranks > 3 && counts[i] > 20000 ? 20000 : counts[i], i % 2 == 0,
                      ranks % 2 == 0 ? SG_SHAPE_DOUBLING : SG_SHAPE_BINOMIAL, SG_NODE_CHUNKS);
    }
}

TEST("large operands are read in place, in any order of steps")
{
    random_state = 13;
    moves_until_failure = 0;
    for (int ranks = 2; ranks <= 5; ranks++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            run_large(ranks, counts[i] > 20000 ? 20000 : counts[i], false, SG_SHAPE_DOUBLING,
                      SG_NODE_SINGLE);
    }
}

/* Broadcasts of all lengths, with a number of blocks that is even or odd, or of a part of one. */
static void pull_all(bool root_writes)
{
    random_state = 19;
    moves_until_failure = 0;
    is_writing = root_writes;
    reads = writes = 0;
    bytes_moved = 0;
    for (int ranks = 2; ranks <= 5; ranks++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            run_large(ranks, counts[i] > 20000 ? 20000 : counts[i], true, SG_SHAPE_DOUBLING,
                      SG_NODE_PULL);
    }
}

TEST("a large broadcast is copied once, by its readers and its root")
{
    pull_all(false);
    EXPECT(writes == 0 && bytes_moved > 0);
    size_t all = bytes_moved;
    /* Each byte is copied once, by the one or the other. */
    pull_all(true);
    EXPECT(reads > writes / 4 && writes > reads / 4, bytes_moved == all);
}

/* A rank that sleeps until another has come is woken after that one's first poll, so before a
 * long copy. */
TEST("a large broadcast is copied after every rank has announced itself")
{
    static const int order[] = {1, 0, 2}; /* a reader, the root, a reader */
    const struct collective what = {
        SG_OPERATION_BCAST, SG_NODE_PULL, {SG_SHAPE_DOUBLING, 3, 0}, 0, COUNT_MAX, false, {0, 0}};
    struct sg_node_access access = {.read = read_memory, .write = write_memory};
    void *segment;
    struct actor *actors = make_actors(3, &segment);

    moves_until_failure = reads = writes = 0;
    for (int i = 0; i < 3; i++) {
        struct actor *actor = &actors[order[i]];

        actor->node.access = &access;
        begin(actor, &what, order[i]);
        actor->op.call.root_writes = true;
        EXPECT(sg_node_poll(&actor->op) == SG_NODE_WAIT, reads + writes == 0);
    }
    for (int rank = 0, done = 0; done < 3; rank = (rank + 1) % 3) {
        if (actors[rank].inside)
            step(&actors[rank], &what, rank);
        done = !actors[0].inside + !actors[1].inside + !actors[2].inside;
    }
    EXPECT(reads + writes == 2, (int)actors[0].op.copies == writes,
           (int)(actors[1].op.copies + actors[2].op.copies) == reads);
    free(segment);
    free(actors);
}

/* Whatever copy fails, of a fold or a fetch, or of the root's, on whatever rank: the result is
 * right. */
TEST("after a failed copy all data go through the shared buffers")
{
    random_state = 17;
    moves_failed = 0;
    for (int failure = 1; failure <= 12; failure++) {
        moves_until_failure = failure;
        run_large(3, 9000, false, SG_SHAPE_DOUBLING, SG_NODE_SINGLE);
    }
    EXPECT(moves_failed == 12);
    /* Fails each copy of four broadcasts to two ranks, made as wholes or in three blocks each. */
    for (int failure = 1; failure <= 32; failure++) {
        is_writing = failure > 8;
        moves_until_failure = is_writing ? failure - 8 : failure;
        run_large(3, 9000, true, SG_SHAPE_DOUBLING, SG_NODE_PULL);
    }
    moves_until_failure = 0;
    EXPECT(moves_failed == 44);
}

TEST("both ranks detect that they disagree on size")
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        void *segment;
        struct actor *actors = make_actors(2, &segment);
        struct collective eight = {
            SG_OPERATION_ALLREDUCE, methods[i], {SG_SHAPE_DOUBLING, 2, 0}, -1, 1, false, {0, 0}};
        struct collective sixteen = eight;

        sixteen.count = 2;
        begin(&actors[0], &eight, 0);
        begin(&actors[1], &sixteen, 1);
        EXPECT(sg_node_poll(&actors[0].op) == SG_NODE_WAIT, !sg_node_disagrees(&actors[0].op),
               sg_node_poll(&actors[1].op) == SG_NODE_MISMATCH, actors[1].op.mismatch_rank == 0,
               sg_node_disagrees(&actors[0].op), actors[0].op.mismatch_rank == 1);
        uint64_t at = actors[0].op.position;
        EXPECT(sg_node_call_info(&actors[0].node, at, 1)->bytes == 16,
               sg_node_call_info(&actors[1].node, at, 0)->bytes == 8,
               text_is(sg_node_call_info(&actors[1].node, at, 0)->module, "module"));
        free(segment);
        free(actors);
    }
}

TEST("the first arriver's choice applies to all ranks")
{
    void *segment;
    struct actor *actors = make_actors(3, &segment);
    uint32_t chosen;
    int chooser;

    for (uint32_t round = 0; round < 3 * DEPTH; round++) {
        int first = (int)round % 3;

        for (int i = 0; i < 3; i++) {
            int rank = (first + i) % 3;

            EXPECT(sg_node_choose(&actors[rank].node, (uint32_t)rank + 5, &chosen, &chooser),
                   chosen == (uint32_t)first + 5, chooser == first);
        }
        for (int rank = 0; rank < 3; rank++)
            sg_node_skip(&actors[rank].node);
    }
    for (int i = 0; i < DEPTH; i++) {
        EXPECT(sg_node_choose(&actors[0].node, 1, &chosen, &chooser));
        sg_node_skip(&actors[0].node);
    }
    EXPECT(!sg_node_choose(&actors[0].node, 1, &chosen, &chooser));
    free(segment);
    free(actors);
}

TEST("a segment without the magic is not attached")
{
    unsigned char segment[sizeof(struct sg_node_header)] = {0};
    struct sg_node node;

    EXPECT(!sg_node_attach(&node, segment, 0, 42));
}
