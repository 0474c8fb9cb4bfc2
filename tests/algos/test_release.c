/* Tests the reliable multicast release, through both protocols that use it. */
#include "algos/associations.h"
#include "lib/unit.h"

#define MARK(mark) (UINT64_C(1) << SG_MARK_##mark)
#define SIZE 9

static const struct sg_algo *const algos[] = {&sg_algo_adaptive, &sg_algo_tree};
static const struct sg_algo_call barrier = {.operation = SG_OPERATION_BARRIER, .root = -1};
static const struct sg_algo_call allreduce = {
    .operation = SG_OPERATION_ALLREDUCE, .bytes = 16, .root = -1};

static struct mini_host *open_host(const struct sg_algo *algo, uint8_t tokens)
{
    struct mini_setup setup = {
        .algo = algo, .size = SIZE, .parameters = {.degree = 2, .tokens = tokens}, .seed = 1};

    return mini_new(&setup);
}

/* Everything up to the release, which is on its way to all; who makes it. */
static int up_to_release(struct mini_host *host, const struct sg_algo_call *call, int late)
{
    for (int rank = 0; rank < SIZE; rank++) {
        if (rank != late)
            mini_call(host, rank, call);
    }
    mini_settle(host);
    mini_call(host, late, call);
    for (int rank = 0; rank < SIZE; rank++) {
        if (mini_actions(host, rank, SG_ACTION_MULTICAST) > 0)
            return rank;
    }
    /* A tree that does not adapt: what is under way climbs to rank 0. */
    while (mini_actions(host, 0, SG_ACTION_MULTICAST) == 0)
        ASSERT(mini_deliver(host, -1, -1));
    return 0;
}

static bool fire_release_timer(struct mini_host *host, int rank)
{
    bool fired = mini_fire(host, rank, 0);

    mini_settle(host);
    return fired;
}

/* Any one copy is lost: the timer asks, the window answers, the results are right. */
TEST("an endpoint that loses a release asks for it and is answered")
{
    for (int a = 0; a < 2; a++) {
        for (int late = 0; late < SIZE; late++) {
            for (int loser = 0; loser < SIZE; loser++) {
                struct mini_host *host = open_host(algos[a], 1);
                int maker = up_to_release(host, &allreduce, late);
                struct association of = {.size = SIZE, .degree = 2, .seq = 1};

                if (loser != maker) {
                    ASSERT(mini_lose(host, maker, loser));
                    mini_settle(host);
                    EXPECT(!mini_completed(host, loser, 1), fire_release_timer(host, loser),
                           mini_marks(host, loser) & MARK(RELEASE_LOST),
                           mini_marks(host, -1) & MARK(RELEASE_ANSWERED));
                }
                mini_settle(host);
                for (int rank = 0; rank < SIZE; rank++)
                    ASSERT(mini_result(host, rank, 1, 0) == association_tree(&of));
                mini_end(host);
            }
        }
    }
}

/* Child and parent both lose it: the parent asks for the child, too. */
TEST("a parent that lost the release too asks its own parent and answers its child")
{
    for (int a = 0; a < 2; a++) {
        struct mini_host *host = open_host(algos[a], 1);
        int maker = up_to_release(host, &allreduce, 0);

        EXPECT(maker == 0);
        ASSERT(mini_lose(host, 0, 1), mini_lose(host, 0, 2));
        mini_settle(host);
        EXPECT(fire_release_timer(host, 2), mini_marks(host, 1) & MARK(RELEASE_FORWARDED),
               mini_completed(host, 1, 1), mini_completed(host, 2, 1),
               mini_result(host, 1, 1, 0) == mini_result(host, 0, 1, 0),
               mini_result(host, 2, 1, 0) == mini_result(host, 0, 1, 0));
        mini_end(host);
    }
}

/* Rank 1 misses a release; its child's contribution to the next one tells it so, without a timer.
 */
TEST("a contribution to the next instance reveals a lost release")
{
    for (int a = 0; a < 2; a++) {
        struct mini_host *host = open_host(algos[a], 1);

        up_to_release(host, &barrier, 0);
        ASSERT(mini_lose(host, 0, 1));
        mini_settle(host);
        mini_calls(host, &barrier, "3 2 .");
        EXPECT(mini_completed(host, 1, 1), mini_marks(host, 1) & MARK(RELEASE_LOST));
        for (int rank = 0; rank < SIZE; rank++) {
            if (rank != 2 && rank != 3)
                mini_call(host, rank, &barrier);
        }
        mini_settle(host);
        EXPECT(mini_actions(host, -1, SG_ACTION_COMPLETE) == 2 * SIZE);
        mini_end(host);
    }
}

/* The last release of all is lost by anyone while the others drain: they wait and answer. */
TEST("the last release reaches every endpoint while others drain")
{
    for (int a = 0; a < 2; a++) {
        for (int loser = 1; loser < SIZE; loser++) {
            struct mini_host *host = open_host(algos[a], 1);

            up_to_release(host, &allreduce, 0);
            ASSERT(mini_lose(host, 0, loser));
            mini_settle(host);
            mini_drain(host);
            EXPECT(mini_completed(host, loser, 1),
                   mini_result(host, loser, 1, 0) == mini_result(host, 0, 1, 0));
            mini_free(host);
        }
    }
}

TEST("a duplicate release counts once")
{
    for (int a = 0; a < 2; a++) {
        struct mini_host *host = open_host(algos[a], 1);

        up_to_release(host, &barrier, 0);
        ASSERT(mini_repeat(host, 0, 5));
        mini_settle(host);
        EXPECT(mini_marks(host, 5) & MARK(RELEASE_REPEATED),
               mini_actions(host, 5, SG_ACTION_COMPLETE) == 1);
        mini_end(host);
    }
}

/* Two late ones, two tokens, and any one copy of either piece lost. */
TEST("any lost chunk of two is answered")
{
    for (int loser = 0; loser < SIZE; loser++) {
        for (int which = 0; which < 2; which++) {
            static const int late[2] = {2, 6};
            struct mini_host *host = open_host(&sg_algo_adaptive, 2);
            struct association of = {.size = SIZE, .degree = 2, .seq = 1};

            for (int rank = 0; rank < SIZE; rank++) {
                if (rank != late[0] && rank != late[1])
                    mini_call(host, rank, &allreduce);
            }
            mini_settle(host);
            mini_call(host, late[0], &allreduce);
            mini_call(host, late[1], &allreduce);
            EXPECT(mini_actions(host, -1, SG_ACTION_MULTICAST) == 2,
                   mini_lose(host, late[which], loser) == (loser != late[which]));
            mini_settle(host);
            EXPECT(mini_completed(host, loser, 1) == (loser == late[which]));
            fire_release_timer(host, loser);
            for (int rank = 0; rank < SIZE; rank++)
                EXPECT(mini_result(host, rank, 1, 0) == association_tree(&of));
            mini_end(host);
        }
    }
}

/* In the common case an instance costs its contributions and the multicast, and nothing else. */
TEST("acknowledgements need no messages of their own")
{
    for (int a = 0; a < 2; a++) {
        struct mini_host *host = open_host(algos[a], 1);

        for (int i = 0; i < 20; i++) {
            for (int rank = SIZE; rank-- > 0;) {
                mini_call(host, rank, &barrier);
                mini_settle(host);
            }
        }
        EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == 20 * (SIZE - 1),
               mini_actions(host, -1, SG_ACTION_MULTICAST) == 20);
        mini_end(host);
    }
}

/* Nobody asks before its contribution has gone, and a late endpoint does not answer too early. */
TEST("a request for an instance that is not released yet gets no answer")
{
    struct mini_host *host = open_host(&sg_algo_tree, 1);

    for (int rank = 1; rank < SIZE; rank++)
        mini_call(host, rank, &barrier);
    mini_settle(host);
    for (int i = 0; i < 10; i++) {
        EXPECT(fire_release_timer(host, 1), !mini_completed(host, 1, 1));
    }
    EXPECT((mini_marks(host, -1) & MARK(RELEASE_ANSWERED)) == 0);
    mini_calls(host, &barrier, "0 .");
    EXPECT(mini_actions(host, -1, SG_ACTION_COMPLETE) == SIZE);
    mini_end(host);
}
