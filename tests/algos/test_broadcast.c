/* Tests broadcasts on the mini host: tree in all its shapes, bypass and srm. */
#include "algos/mini_host.h"
#include "algos/tree.h"
#include "lib/unit.h"

#define MARK(mark) (UINT64_C(1) << SG_MARK_##mark)
#define CALLS 30

static const struct sg_algo *const algos[] = {&sg_algo_tree, &sg_algo_bypass, &sg_algo_srm};
#define ALGOS ((int)(sizeof algos / sizeof *algos))

static struct sg_algo_call broadcast(int root)
{
    return (struct sg_algo_call){.operation = SG_OPERATION_BCAST, .bytes = 16, .root = root};
}

static void check(const struct mini_host *host, int size, uint32_t seq,
                  const struct sg_algo_call *call)
{
    for (int rank = 0; rank < size; rank++) {
        if (rank == call->root)
            continue;
        for (int element = 0; element < 2; element++)
            ASSERT(mini_result(host, rank, seq, element) == mini_operand(call->root, seq, element));
    }
}

TEST("every root's data reach every endpoint")
{
    for (int a = 0; a < ALGOS; a++) {
        for (int size = 1; size <= 18; size++) {
            for (int root = 0; root < size; root += unit_step()) {
                struct mini_setup setup = {.algo = algos[a],
                                           .size = size,
                                           .parameters = {.shape = (uint8_t)(root % SG_TREE_SHAPES),
                                                          .chunk_bytes = root % 2 ? 8 : 0},
                                           .seed = (uint64_t)root};
                struct mini_host *host = mini_new(&setup);
                struct sg_algo_call call = broadcast(root);

                mini_drive(host, &call, 1);
                check(host, size, 1, &call);
                mini_free(host);
            }
        }
    }
}

/* The next call of a mixture with everything else that the protocol has. */
static struct sg_algo_call mixed(const struct sg_algo *algo, uint64_t seed, int i, int size)
{
    int root = (int)(seed * 5 + (seed % 3 ? (uint64_t)i * (uint64_t)i : 0)) % size;
    struct sg_algo_call call = broadcast(root);

    if (i % 4 == 1) {
        call.operation = SG_OPERATION_REDUCE;
        call.flags = seed % 2 ? SG_CALL_COMMUTATIVE : 0;
    } else if (i % 7 == 3 && algo->operations & 1u << SG_OPERATION_ALLREDUCE) {
        call.operation = SG_OPERATION_ALLREDUCE;
        call.root = -1;
    } else if (i % 7 == 5 && algo->operations & 1u << SG_OPERATION_BARRIER) {
        call = (struct sg_algo_call){.operation = SG_OPERATION_BARRIER, .root = -1};
    }
    return call;
}

static uint64_t drive_mixture(const struct sg_algo *algo, uint64_t seed)
{
    int size = seed % 20 == 19 ? 64 : 1 + (int)(seed % 17);
    struct mini_setup setup = {
        .algo = algo,
        .size = size,
        .parameters = {.shape = (uint8_t)(seed % SG_TREE_SHAPES),
                       .credits = (uint8_t)(seed % 7 + 2),
                       .split = algo != &sg_algo_tree && seed % 5 == 0,
                       .chunk_bytes = seed % 3 == 0 ? 8 : 0},
        .seed = seed,
        .loss_percent = seed % 4 == 1 ? 30 : 0,
    };
    struct mini_host *host = mini_new(&setup);
    struct sg_algo_call calls[CALLS];

    for (int i = 0; i < CALLS; i++)
        calls[i] = mixed(algo, seed, i, size);
    mini_drive(host, calls, CALLS);
    for (int i = 0; i < CALLS; i++) {
        if (calls[i].operation == SG_OPERATION_BCAST)
            check(host, size, (uint32_t)i + 1, &calls[i]);
    }
    uint64_t marks = mini_marks(host, -1);
    mini_free(host);
    return marks;
}

TEST("broadcasts among other operations deliver their data, with changing roots and few credits")
{
    for (int a = 0; a < ALGOS; a++) {
        uint64_t marks = 0;

        for (uint64_t seed = 0; seed < 400; seed += (uint64_t)unit_step())
            marks |= drive_mixture(algos[a], seed);
        EXPECT(marks & MARK(CREDIT_OUT));
        if (algos[a] != &sg_algo_srm)
            EXPECT(marks & MARK(EARLY));
        EXPECT(((marks & MARK(PASSED_ON)) != 0) == (algos[a] == &sg_algo_bypass));
    }
}

/* Among 4 endpoints 3 is below 2, in bypass's tree. Who has not called passes on all the same. */
TEST("in bypass an endpoint forwards data before its own call")
{
    struct mini_setup setup = {.algo = &sg_algo_bypass, .size = 4, .seed = 1};
    struct mini_host *host = mini_new(&setup);
    struct sg_algo_call call = broadcast(0);

    mini_calls(host, &call, "0 3");
    EXPECT(mini_completed(host, 0, 1));
    mini_settle(host);
    EXPECT(mini_completed(host, 3, 1), mini_head(host, 2)->seq == 0,
           mini_head(host, 2)->forwarded == 1);
    mini_call(host, 2, &call);
    EXPECT(mini_completed(host, 2, 1));
    mini_call(host, 1, &call);
    check(host, 4, 1, &call);
    mini_end(host);
}

/* ... and in the tree that does not, what is below it waits for its call. */
TEST("in tree an endpoint does not forward data before its own call")
{
    struct mini_setup setup = {.algo = &sg_algo_tree,
                               .size = 4,
                               .parameters = {.shape = SG_TREE_SHAPE_BINOMIAL},
                               .seed = 1};
    struct mini_host *host = mini_new(&setup);
    struct sg_algo_call call = broadcast(0);

    mini_calls(host, &call, "0 3");
    EXPECT(mini_completed(host, 0, 1));
    mini_settle(host);
    EXPECT(!mini_completed(host, 3, 1));
    mini_calls(host, &call, "2 1 .");
    check(host, 4, 1, &call);
    mini_end(host);
}

/* A root has room for so many broadcasts ahead of an endpoint that does not call; then it waits. */
TEST("a root runs ahead by its credits and then waits for the slowest endpoint")
{
    static const struct {
        const struct sg_algo *algo;
        int ahead;
    } cases[] = {{&sg_algo_tree, 3}, {&sg_algo_bypass, 3}, {&sg_algo_srm, 4}};

    for (int i = 0; i < ALGOS; i++) {
        struct mini_setup setup = {
            .algo = cases[i].algo, .size = 2, .parameters = {.credits = 3}, .seed = 1};
        struct mini_host *host = mini_new(&setup);
        struct sg_algo_call call = broadcast(0);
        uint32_t ahead = 0;

        do {
            mini_calls(host, &call, "0 .");
            ahead++;
        } while (mini_completed(host, 0, ahead));
        EXPECT(ahead == (uint32_t)cases[i].ahead + 1);
        for (uint32_t seq = 1; seq <= ahead; seq++) {
            mini_calls(host, &call, "1 .");
            check(host, 2, seq, &call);
        }
        EXPECT(mini_completed(host, 0, ahead));
        mini_end(host);
    }
}

/* A call of srm's in chunks: addresses first, then puts into results, and no copy anywhere. */
TEST("a large broadcast of srm is written into offered result buffers")
{
    for (int size = 2; size <= 17; size++) {
        struct mini_setup setup = {
            .algo = &sg_algo_srm, .size = size, .parameters = {.chunk_bytes = 8}, .seed = 5};
        struct mini_host *host = mini_new(&setup);
        struct sg_algo_call call = broadcast(size / 3);

        mini_call(host, call.root, &call);
        mini_settle(host);
        EXPECT(mini_actions(host, -1, SG_ACTION_WRITE_RESULT) == 0,
               !mini_completed(host, call.root, 1));
        for (int rank = 0; rank < size; rank++) {
            if (rank != call.root)
                mini_call(host, rank, &call);
        }
        mini_settle(host);
        check(host, size, 1, &call);
        EXPECT(mini_actions(host, -1, SG_ACTION_WRITE_RESULT) == size - 1,
               mini_actions(host, -1, SG_ACTION_WRITE) == 0,
               mini_actions(host, -1, SG_ACTION_COPY) == 0);
        mini_end(host);
    }
}

/* Among four endpoints, 0 has two partners below it: 2, which comes late, and 1. */
TEST("data is written into result buffers in any order, and no endpoint waits for a sibling")
{
    struct mini_setup setup = {
        .algo = &sg_algo_srm, .size = 4, .parameters = {.chunk_bytes = 8}, .seed = 3};
    struct mini_host *host = mini_new(&setup);
    struct sg_algo_call call = broadcast(0);

    mini_calls(host, &call, "0 . 1 .");
    EXPECT(mini_finished(host, 1, 1), !mini_finished(host, 0, 1));
    mini_calls(host, &call, "2 . 3 .");
    EXPECT(mini_finished(host, 0, 1));
    check(host, 4, 1, &call);
    mini_finish(host);
    mini_free(host);
}

/* Broadcasts without data, of one endpoint, and messages: one for each that is not the root. */
TEST("a tree sends one message to each endpoint but the root")
{
    for (int shape = 0; shape < SG_TREE_SHAPES; shape++) {
        for (int size = 1; size < 40; size++) {
            struct mini_setup setup = {.algo = &sg_algo_tree,
                                       .size = size,
                                       .parameters = {.shape = (uint8_t)shape, .credits = 64},
                                       .seed = 3};
            struct mini_host *host = mini_new(&setup);
            struct sg_algo_call call = broadcast(size / 2);

            call.bytes = size % 2 ? 0 : 8;
            mini_drive(host, &call, 1);
            EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == size - 1);
            mini_free(host);
        }
    }
}

/* The Fibonacci tree by its definition: in every step each endpoint that has the message passes it
 * on, and it is there two steps later. */
TEST("the Fibonacci tree completes in its optimal time")
{
    for (int size = 1; size <= 400; size++) {
        int there[400] = {0}, least = 0, last = 0, total = 1;

        for (int before = 1, count = 1; count < size; least++) {
            int next = least == 0 ? 1 : count + before;

            before = count;
            count = next;
        }
        for (int rank = 0; rank < size; rank++) {
            int children = sg_branch_children(rank, size, SG_TREE_FIBONACCI);

            for (int i = 0; i < children; i++) {
                int child = sg_branch_child(rank, size, SG_TREE_FIBONACCI, i);

                ASSERT(child > rank && child < size);
                EXPECT(sg_branch_parent(child, size, SG_TREE_FIBONACCI) == rank);
                there[child] = there[rank] + i + 2;
                last = there[child] > last ? there[child] : last;
                total++;
            }
        }
        EXPECT(total == size, last <= least);
    }
    EXPECT(sg_branch_parent(0, 5, SG_TREE_FIBONACCI) == -1);
}
