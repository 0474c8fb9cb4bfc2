/* The decisions use integers only, so that they come out alike on every rank and machine. */
#include "core/learn.h"

#include <string.h>

/* A candidate gets no more turns if its best round costs more than this many quarters of the best
 * round of all. The first limit, after one round, is lenient: one rank may have had bad luck. */
#define FAR_QUARTERS_FIRST 16
#define FAR_QUARTERS 6
/* The winner must cost less than this percentage of the candidate that ran before. */
#define MARGIN_PERCENT 97
/* A rank's share of the cost is in units of 1/1024 of an even share. The pattern has changed if
 * some rank's share differs by SHARE_APART, or if the sum has grown or shrunk by SUM_FACTOR. */
#define EVEN_SHARE 1024
#define SHARE_APART 768
#define SUM_FACTOR 2
#define HOLD_MAX (1u << 20)
#define WATCH_FACTOR_MAX 64

/* ---- phases ----------------------------------------------------------------------------------*/

static int alive_count(const struct sg_learn *learn)
{
    return __builtin_popcount(learn->alive);
}

/* Candidate whose turn it is: each round begins one candidate later. */
static int arm_of_turn(const struct sg_learn *learn)
{
    int index = (learn->turn + learn->round) % alive_count(learn);

    for (int arm = 0; arm < learn->settings.arms; arm++) {
        if ((learn->alive & 1u << arm) != 0 && index-- == 0)
            return arm;
    }
    return learn->holds;
}

static void begin_round(struct sg_learn *learn)
{
    learn->phase = SG_LEARN_TRYING;
    learn->turn = 0;
    learn->left = learn->settings.block;
}

static void begin_learning(struct sg_learn *learn, bool by_change)
{
    learn->alive = (1u << learn->settings.arms) - 1;
    learn->round = 0;
    learn->by_change = by_change;
    learn->suspects = false;
    memset(learn->known, 0, sizeof learn->known);
    memset(&learn->own, 0, sizeof learn->own);
    begin_round(learn);
}

/* Starts the calls between telling and deciding. */
static void begin_telling(struct sg_learn *learn, enum sg_learn_about about)
{
    learn->phase = SG_LEARN_TELLING;
    learn->about = about;
    learn->left = SG_LEARN_LAG;
}

static void begin_holding(struct sg_learn *learn)
{
    learn->phase = SG_LEARN_HOLDING;
    learn->left = learn->suspects ? 1 : learn->watch;
}

void sg_learn_start(struct sg_learn *learn, const struct sg_learn_settings *settings)
{
    memset(learn, 0, sizeof *learn);
    learn->settings = *settings;
    learn->holds = settings->first;
    learn->hold = settings->hold;
    learn->watch = SG_LEARN_WATCH_BLOCKS * settings->block;
    begin_learning(learn, false);
}

/* ---- calls -----------------------------------------------------------------------------------*/

static struct sg_learn_step try(struct sg_learn *learn)
{
    struct sg_learn_step step = {.arm = arm_of_turn(learn),
                                 .counts = learn->left < learn->settings.block};

    if (--learn->left == 0) {
        learn->left = learn->settings.block;
        if (++learn->turn == alive_count(learn))
            begin_telling(learn, SG_LEARN_ROUND);
    }
    return step;
}

static struct sg_learn_step look(struct sg_learn *learn)
{
    struct sg_learn_step step = {.arm = learn->holds,
                                 .counts = learn->left < learn->settings.block};

    if (--learn->left == 0)
        begin_telling(learn, SG_LEARN_LOOK);
    return step;
}

static struct sg_learn_step hold(struct sg_learn *learn)
{
    if (--learn->left == 0) {
        learn->phase = SG_LEARN_LOOKING;
        learn->left = learn->settings.block;
    }
    return (struct sg_learn_step){.arm = learn->holds};
}

static struct sg_learn_step tell(struct sg_learn *learn)
{
    bool first = learn->left == SG_LEARN_LAG;

    if (learn->left == 0)
        return (struct sg_learn_step){.decides = true};
    learn->left--;
    return (struct sg_learn_step){.arm = learn->holds, .tells = first};
}

struct sg_learn_step sg_learn_step(struct sg_learn *learn)
{
    struct sg_learn_step step;

    switch (learn->phase) {
    case SG_LEARN_TRYING:
        step = try(learn);
        break;
    case SG_LEARN_TELLING:
        step = tell(learn);
        break;
    case SG_LEARN_LOOKING:
        step = look(learn);
        break;
    default:
        step = hold(learn);
        break;
    }
    learn->calls += !step.decides;
    if (learn->until_learning > 0)
        learn->until_learning -= !step.decides;
    return step;
}

void sg_learn_add(struct sg_learn *learn, int arm, uint64_t ns)
{
    learn->own.numbers[arm] += ns;
}

struct sg_learn_told sg_learn_tell(struct sg_learn *learn)
{
    learn->told = learn->own;
    memset(&learn->own, 0, sizeof learn->own);
    return learn->told;
}

/* ---- decisions on a round --------------------------------------------------------------------*/

static uint64_t least_round(const struct sg_learn *learn, int arm)
{
    uint64_t least = UINT64_MAX;

    for (int round = 0; round <= learn->round; round++) {
        if (learn->round_ns[round][arm] < least)
            least = learn->round_ns[round][arm];
    }
    return least;
}

/* Keeps the candidate that runs by default, so that the result is compared with it. */
static void drop_arms(struct sg_learn *learn)
{
    uint64_t quarters = learn->round == 0 ? FAR_QUARTERS_FIRST : FAR_QUARTERS;
    uint64_t least = UINT64_MAX;

    for (int arm = 0; arm < learn->settings.arms; arm++) {
        if ((learn->alive & 1u << arm) != 0 && least_round(learn, arm) < least)
            least = least_round(learn, arm);
    }
    for (int arm = 0; arm < learn->settings.arms; arm++) {
        if (arm != learn->holds && (learn->alive & 1u << arm) != 0 &&
            least_round(learn, arm) / quarters > least / 4)
            learn->alive &= ~(1u << arm);
    }
}

static uint64_t median(const struct sg_learn *learn, int arm)
{
    uint64_t sorted[SG_LEARN_ROUNDS];

    for (int i = 0; i < SG_LEARN_ROUNDS; i++) {
        int at = i;

        for (; at > 0 && sorted[at - 1] > learn->round_ns[i][arm]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = learn->round_ns[i][arm];
    }
    return sorted[SG_LEARN_ROUNDS / 2];
}

static int winner(const struct sg_learn *learn)
{
    uint64_t holds_ns = median(learn, learn->holds), least_ns = UINT64_MAX;
    int least = learn->holds;

    for (int arm = 0; arm < learn->settings.arms; arm++) {
        uint64_t ns = median(learn, arm);

        if ((learn->alive & 1u << arm) == 0 || ns >= least_ns)
            continue;
        least_ns = ns;
        least = arm;
    }
    return least_ns / MARGIN_PERCENT < holds_ns / 100 ? least : learn->holds;
}

/* Records each candidate's cost: the median of its rounds; for a dropped one, its best round. */
static void keep_costs(struct sg_learn *learn)
{
    double calls = (double)(learn->settings.block - 1) * learn->settings.ranks;

    for (int arm = 0; arm < learn->settings.arms; arm++) {
        uint64_t ns =
            (learn->alive & 1u << arm) != 0 ? median(learn, arm) : least_round(learn, arm);

        learn->cost_ns[arm] = ns < UINT64_MAX ? (double)ns / calls : 0;
    }
}

static void end_learning(struct sg_learn *learn)
{
    int before = learn->holds;
    uint32_t watch = SG_LEARN_WATCH_BLOCKS * learn->settings.block;

    learn->round = SG_LEARN_ROUNDS - 1;
    learn->holds = winner(learn);
    keep_costs(learn);
    learn->learnings++;
    learn->changes += learn->by_change;
    if (learn->holds != before) {
        learn->hold = learn->settings.hold;
        learn->watch = watch;
    } else if (learn->by_change && learn->watch < WATCH_FACTOR_MAX * watch) {
        learn->watch *= 2; /* a learning that changes nothing makes looks rarer */
    } else if (!learn->by_change && learn->learnings > 1 && learn->hold < HOLD_MAX) {
        learn->hold *= 2;
    }
    learn->until_learning = learn->hold;
    begin_holding(learn);
}

static void add_told(const struct sg_learn *learn, const struct sg_learn_told *all, int arm,
                     struct sg_learn_cost *cost)
{
    cost->own_ns += learn->told.numbers[arm];
    cost->all_ns += all->numbers[arm];
    cost->calls += learn->settings.block - 1;
}

static bool decide_round(struct sg_learn *learn, const struct sg_learn_told *all)
{
    for (int arm = 0; arm < learn->settings.arms; arm++) {
        add_told(learn, all, arm, &learn->known[arm]);
        /* A candidate without a turn cannot win the round. */
        learn->round_ns[learn->round][arm] =
            (learn->alive & 1u << arm) != 0 ? all->numbers[arm] : UINT64_MAX;
    }
    drop_arms(learn);
    if (learn->round + 1 == SG_LEARN_ROUNDS || alive_count(learn) == 1) {
        for (int round = learn->round + 1; round < SG_LEARN_ROUNDS; round++)
            memcpy(learn->round_ns[round], learn->round_ns[learn->round],
                   sizeof learn->round_ns[round]);
        end_learning(learn);
        return true;
    }
    learn->round++;
    begin_round(learn);
    return false;
}

/* ---- decisions on a look ---------------------------------------------------------------------*/

/* A rank's votes, by index. */
enum { LAST_IS_UNLIKE, LOOKS_ARE_UNLIKE };

/* The rank's vote: true if its share of the cost, or the sum over all ranks, has changed. */
static bool is_unlike(const struct sg_learn *learn, const struct sg_learn_cost *now)
{
    const struct sg_learn_cost *known = &learn->known[learn->holds];
    uint64_t even = EVEN_SHARE * (uint64_t)learn->settings.ranks, was, is, was_call_ns, call_ns;

    if (known->all_ns == 0 || now->all_ns == 0)
        return known->all_ns != now->all_ns;
    was = known->own_ns * even / known->all_ns;
    is = now->own_ns * even / now->all_ns;
    was_call_ns = known->all_ns / known->calls;
    call_ns = now->all_ns / now->calls;
    return (was < is ? is - was : was - is) > SHARE_APART || call_ns > was_call_ns * SUM_FACTOR ||
           call_ns < was_call_ns / SUM_FACTOR;
}

/* A change needs two consecutive looks, because a single one may be noise; their sum has less
 * noise. */
static void decide_look(struct sg_learn *learn, const struct sg_learn_told *all)
{
    struct sg_learn_cost last = {0};

    if (!learn->suspects)
        learn->looks = last;
    add_told(learn, all, learn->holds, &last);
    add_told(learn, all, learn->holds, &learn->looks);
    learn->own.numbers[LAST_IS_UNLIKE] = is_unlike(learn, &last);
    learn->own.numbers[LOOKS_ARE_UNLIKE] = is_unlike(learn, &learn->looks);
    begin_telling(learn, SG_LEARN_VOTES);
}

static void decide_votes(struct sg_learn *learn, const struct sg_learn_told *all)
{
    bool unlike = all->numbers[LAST_IS_UNLIKE] > 0 && all->numbers[LOOKS_ARE_UNLIKE] > 0;
    bool again = learn->suspects;

    learn->suspects = unlike && !again;
    if (unlike && again)
        begin_learning(learn, true);
    else if (learn->until_learning == 0)
        begin_learning(learn, false);
    else
        begin_holding(learn);
}

bool sg_learn_decide(struct sg_learn *learn, const struct sg_learn_told *all)
{
    if (learn->about == SG_LEARN_ROUND)
        return decide_round(learn, all);
    if (learn->about == SG_LEARN_LOOK)
        decide_look(learn, all);
    else
        decide_votes(learn, all);
    return false;
}
