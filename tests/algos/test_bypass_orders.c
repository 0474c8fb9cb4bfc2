/* Tests bypass in random orders of calls and deliveries: results bit for bit, at every size and
 * root. */
#include "algos/bypass_support.h"

#define ROUNDS 12

/* Rounds with one root or with a root of each endpoint in turn, in one order of events. */
static uint64_t run(int size, struct sg_algo_parameters parameters, uint32_t flags, uint32_t bytes,
                    int root, uint64_t seed)
{
    struct mini_host *host = bypass_host(size, parameters, seed);
    struct sg_algo_call calls[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        calls[i] = bypass_call(flags, bytes, root < 0 ? (int)(seed + i) % size : root);
    mini_drive(host, calls, ROUNDS);
    for (uint32_t seq = 1; seq <= ROUNDS; seq++)
        bypass_check(host, size, &calls[seq - 1], seq);
    uint64_t marks = mini_marks(host, -1);
    mini_free(host);
    return marks;
}

static uint64_t run_all(struct sg_algo_parameters parameters, uint32_t flags, uint32_t bytes)
{
    uint64_t marks = 0;

    for (int size = 1; size <= BYPASS_SIZE_MAX; size++) {
        for (int root = -1; root < size; root += unit_step()) {
            for (uint64_t seed = 0; seed < 3; seed++)
                marks |= run(size, parameters, flags, bytes, root, seed);
        }
    }
    return marks;
}

TEST("an operation that does not commute keeps the order of ranks, at every root and size")
{
    struct sg_algo_parameters parameters = {.credits = 4};

    EXPECT((run_all(parameters, 0, 16) & MARK(EARLY)) == MARK(EARLY));
}

TEST("a commutative operation has the bits of the tree relative to its root")
{
    struct sg_algo_parameters parameters = {.credits = 3};
    uint64_t marks = run_all(parameters, SG_CALL_COMMUTATIVE, 8);

    EXPECT((marks & MARK(LATE)) && (marks & MARK(CREDIT_OUT)));
}

TEST("an exact operation is right in any order of arrival")
{
    struct sg_algo_parameters parameters = {.credits = 2};

    run_all(parameters, SG_CALL_COMMUTATIVE | SG_CALL_EXACT, 8);
}

TEST("contributions above the eager limit give the same bits")
{
    struct sg_algo_parameters parameters = {.credits = 3, .eager_bytes = 8, .pool = 1};
    uint64_t marks = run_all(parameters, 0, 24) | run_all(parameters, SG_CALL_COMMUTATIVE, 24);

    EXPECT((marks & MARK(PULLED)) && (marks & MARK(POOL_OUT)));
}

TEST("a split-phase root gets the same bits later")
{
    struct sg_algo_parameters eager = {.credits = 3, .split = 1};
    struct sg_algo_parameters large = {.credits = 2, .split = 1, .eager_bytes = 8, .pool = 1};

    EXPECT(run_all(eager, SG_CALL_COMMUTATIVE, 16) & MARK(SPLIT_FINISHED),
           run_all(eager, 0, 16) & MARK(SPLIT_FINISHED),
           run_all(large, 0, 16) & MARK(SPLIT_FINISHED));
}

TEST("an automatic linger changes no result")
{
    struct sg_algo_parameters parameters = {.credits = 4, .linger_ns = 50, .linger_auto = 1};
    uint64_t marks = run_all(parameters, 0, 16);

    EXPECT((marks & MARK(LINGER_PAID)) && (marks & MARK(LINGER_VAIN)));
}

/* It changes neither what is exact nor what does not commute. */
TEST("arrival order changes only the results it is allowed to change")
{
    struct sg_algo_parameters parameters = {.credits = 4, .arrival_order = 1};

    run_all(parameters, SG_CALL_COMMUTATIVE | SG_CALL_EXACT, 8);
    run_all(parameters, 0, 8);
}

TEST("an empty reduction names no data")
{
    struct sg_algo_parameters parameters = {.credits = 2, .split = 1};

    run_all(parameters, SG_CALL_COMMUTATIVE, 0);
    run_all(parameters, 0, 0);
}
