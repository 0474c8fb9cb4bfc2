/* Tests the choices of calls on one machine and the openings of their words
 * (shim/internode/agree.c) under the memory model, with four words: a quarter is one call. Ranks
 * that are ahead have made the first four calls; all find one choice for a call, or end before
 * the same one. */
#include "internode/agree.h"
#include "internode/coordinator.h"
#include "internode/endpoint.h"
#include "lib/unit.h"
#include "mpi/user_lines.h"
#include "weak/rules.h"
#include "weak/weak.h"

enum { RANKS_MAX = 3, AHEAD = SG_INTERNODE_CHOICES, CALLS = AHEAD + 2, ALIKE = RANKS_MAX };

static _Alignas(64) unsigned char segment[sizeof(struct sg_internode_header) + 64 +
                                          RANKS_MAX * sizeof(struct sg_rank_state)];
static struct sg_internode internodes[RANKS_MAX];
static int brought[RANKS_MAX][CALLS]; /* by which rank; ALIKE: all have ended */
static int ranks, reports;
static bool is_nonblocking;

/* ---- what the words need of the rest ---- */

void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context)
{
    weak_await(is_over, context);
}

bool sg_coordinator_tell(struct sg_internode *internode, uint64_t quarters)
{
    weak_fail("no coordinator");
}

bool sg_coordinator_ask_passed(struct sg_internode *internode, uint64_t quarter, bool *has_passed)
{
    weak_fail("no coordinator");
}

bool sg_coordinator_decide(struct sg_internode *internode, enum sg_agreement thing, uint64_t number,
                           uint64_t own, uint64_t *word)
{
    weak_fail("no coordinator");
}

void sg_wait_wake(const struct sg_wait_queue *wait_queue)
{
}

void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser)
{
}

void sg_report_far_ahead(const struct sg_call *call, int rank, int calls)
{
    reports++;
}

/* ---- ranks ---- */

static void make_calls(int rank, int from, int to)
{
    MPI_Request request;
    struct sg_call call = {.rules = weak_one_rule(), .request = is_nonblocking ? &request : NULL};
    struct sg_internode *internode = &internodes[rank];

    for (int number = from; number < to; number++) {
        const struct sg_choice *choice = NULL;

        if (sg_internode_agrees(internode))
            choice = sg_internode_agree(internode, &call, sg_ruleset_choice(call.rules, rank));
        brought[rank][number] = choice == NULL ? ALIKE : sg_ruleset_index(call.rules, choice);
    }
}

/* All but rank 1 are ahead. */
static void set_up(int ranks_wanted, bool posts)
{
    ranks = ranks_wanted;
    is_nonblocking = posts;
    reports = 0;
    memset(segment, 0, sizeof segment);
    memset(internodes, 0, sizeof internodes);
    for (int rank = 0; rank < ranks; rank++) {
        internodes[rank].header = (struct sg_internode_header *)segment;
        internodes[rank].rank_states_at = (sizeof(struct sg_internode_header) + 63) & ~(size_t)63;
        internodes[rank].rank = rank;
        internodes[rank].ranks = ranks;
        internodes[rank].local = rank;
        internodes[rank].locals_max = ranks;
        internodes[rank].here = 1;
        sg_internode_own_state(&internodes[rank])->rank = rank + 1;
    }
    for (int rank = 0; rank < ranks; rank++) {
        if (rank != 1)
            make_calls(rank, 0, AHEAD);
    }
}

static void set_up_nonblocking(void)
{
    set_up(2, true);
}

static void set_up_nonblocking_of_three(void)
{
    set_up(3, true);
}

static void set_up_blocking(void)
{
    set_up(2, false);
}

static void run(int thread)
{
    make_calls(thread, thread == 1 ? 0 : AHEAD, CALLS);
}

static void run_to_first(int thread)
{
    make_calls(thread, thread == 1 ? 0 : AHEAD, AHEAD + 1);
}

static void check_calls(int calls)
{
    bool has_ended = false;

    for (int number = 0; number < calls; number++) {
        WEAK_CHECK(number >= AHEAD || brought[1][number] == 0);
        WEAK_CHECK(!has_ended || brought[0][number] == ALIKE);
        has_ended = brought[0][number] == ALIKE;
        for (int rank = 1; rank < ranks; rank++)
            WEAK_CHECK(brought[rank][number] == brought[0][number]);
    }
    WEAK_CHECK(reports == has_ended && (is_nonblocking || !has_ended));
}

static void check(void)
{
    check_calls(CALLS);
}

static void check_first(void)
{
    check_calls(AHEAD + 1);
}

static const struct weak_scenario posts = {
    "a post that is ahead, and a rank that comes", 2, set_up_nonblocking, run, check, 0, 0};
static const struct weak_scenario three = {"two posts that are ahead, and a rank that comes",
                                           3,
                                           set_up_nonblocking_of_three,
                                           run_to_first,
                                           check_first,
                                           0,
                                           0};
static const struct weak_scenario blocking = {
    "a blocking call that is ahead, and a rank that comes", 2, set_up_blocking, run, check, 0, 0};

static const struct weak_scenario *const scenarios[] = {&posts, &three, &blocking, NULL};

TEST("ranks find one choice, or end before the same call, in every execution of the memory model")
{
    EXPECT(weak_holds(scenarios));
}
