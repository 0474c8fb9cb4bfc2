/* Tests the decisions of `auto` on scripted costs. Ranks step side by side, as they do in a
 * segment, and after each call all have the same candidate. */
#include "core/learn.h"
#include "lib/unit.h"

#define RANKS 4
#define MANY_RANKS 1000
#define BLOCK 8

struct team {
    int ranks;
    struct sg_learn learn[MANY_RANKS];
    struct sg_learn_told all;           /* sums of what the ranks told last */
    uint64_t call;                      /* so many have been */
    uint64_t cost_ns;                   /* of all */
    uint64_t of_arm[SG_LEARN_ARMS_MAX]; /* calls */
    bool differ;
};

/* Cost of a call to a rank under a candidate (`arm`). */
typedef uint64_t (*cost_of)(uint64_t call, int arm, int rank);

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

/* A number of its own for each call and rank, alike for all arms. */
static uint64_t noise(uint64_t call, int rank, uint64_t below)
{
    random_state = call * RANKS + (uint64_t)rank;
    draw(below);
    draw(below);
    return draw(below);
}

static void start_ranks(struct team *team, int ranks, int arms, int first, uint32_t hold)
{
    const struct sg_learn_settings settings = {ranks, arms, first, BLOCK, hold};

    memset(team, 0, sizeof *team);
    team->ranks = ranks;
    for (int rank = 0; rank < ranks; rank++)
        sg_learn_start(&team->learn[rank], &settings);
}

static void start_with(struct team *team, int arms, int first, uint32_t hold)
{
    start_ranks(team, RANKS, arms, first, hold);
}

static void start(struct team *team)
{
    start_with(team, 3, 0, 1024);
}

static void add(struct sg_learn_told *all, const struct sg_learn_told *told)
{
    for (int i = 0; i < SG_LEARN_ARMS_MAX; i++)
        all->numbers[i] += told->numbers[i];
}

/* One call by all ranks. */
static void call(struct team *team, cost_of script)
{
    struct sg_learn_told told, all = {0};
    bool tell = false;
    int arm = 0;

    for (int rank = 0; rank < team->ranks; rank++) {
        struct sg_learn *learn = &team->learn[rank];
        struct sg_learn_step step = {.arm = learn->holds};

        if (!sg_learn_goes_on(learn))
            step = sg_learn_step(learn);
        if (step.decides) {
            sg_learn_decide(learn, &team->all);
            step = sg_learn_step(learn);
        }
        EXPECT(!step.decides);
        if (rank == 0)
            arm = step.arm;
        if (step.counts)
            sg_learn_add(learn, step.arm, script(team->call, step.arm, rank));
        team->cost_ns += script(team->call, step.arm, rank);
        team->differ = team->differ || step.arm != arm;
        if (step.tells) {
            told = sg_learn_tell(learn);
            add(&all, &told);
            tell = true;
        }
    }
    if (tell)
        team->all = all;
    team->call++;
    team->of_arm[arm]++;
}

static void calls(struct team *team, uint64_t count, cost_of script)
{
    for (uint64_t i = 0; i < count; i++)
        call(team, script);
    EXPECT(!team->differ);
}

static uint64_t of(cost_of script, uint64_t from, uint64_t to, int arm)
{
    uint64_t sum = 0;

    for (uint64_t i = from; i < to; i++) {
        for (int rank = 0; rank < RANKS; rank++)
            sum += script(i, arm, rank);
    }
    return sum;
}

/* ---- patterns --------------------------------------------------------------------------------*/

static uint64_t alike(uint64_t call, int arm, int rank)
{
    return 500 + noise(call, rank, 50);
}

/* The others wait for rank 3; arm 1 lets them leave. */
static uint64_t always_late(uint64_t call, int arm, int rank)
{
    static const uint64_t waits[] = {9000, 6000, 9500, 40000};

    return rank == 3 ? 500 : waits[arm] + noise(call, rank, 400);
}

static uint64_t random_skew(uint64_t call, int arm, int rank)
{
    static const uint64_t own[] = {2000, 2300, 800, 6000};

    return own[arm] + noise(call, rank, 2000);
}

/* A reduce with a late root: the others need not wait, and do so by candidate 0 alone. */
static uint64_t root_late(uint64_t call, int arm, int rank)
{
    static const uint64_t waits[] = {7000, 300, 700, 8000};

    return rank == 0 ? 400 : waits[arm] + noise(call, rank, 100);
}

/* Another rank is late, and another arm the best, every 4000 calls. */
static uint64_t changing(uint64_t call, int arm, int rank)
{
    bool odd = call / 4000 % 2;
    int late = odd ? 0 : 3, best = odd ? 2 : 1;

    if (rank == late)
        return 500;
    return (arm == best ? 4000 : 7000) + noise(call, rank, 300);
}

static void is_found(cost_of script, int arms)
{
    struct team team;
    uint64_t best = UINT64_MAX, before;
    int arm = 0;

    start_with(&team, arms, 0, 1024);
    for (int i = 0; i < arms; i++) {
        uint64_t sum = of(script, 0, 200, i);

        if (sum < best) {
            best = sum;
            arm = i;
        }
    }
    calls(&team, 200, script);
    EXPECT(team.learn[0].learnings == 1, team.learn[0].holds == arm);
    before = team.cost_ns;
    calls(&team, 800, script);
    EXPECT(team.cost_ns - before == of(script, 200, 1000, arm));
}

TEST("the cheapest candidate runs after 200 calls, whichever rank is late")
{
    is_found(always_late, 3);
    is_found(random_skew, 3);
    is_found(root_late, 3);
    is_found(always_late, 2);
    is_found(random_skew, 4);
    is_found(root_late, 4);
}

TEST("with equal costs the first candidate stays, and learning becomes ever rarer")
{
    struct team team;

    start(&team);
    calls(&team, 20000, alike);
    EXPECT(team.learn[0].holds == 0, team.learn[0].changes == 0);
    /* Rarer and rarer: after 1024, 2048, 4096, 8192 calls. */
    EXPECT(team.learn[0].learnings >= 4 && team.learn[0].learnings <= 5,
           team.of_arm[1] + team.of_arm[2] ==
               (uint64_t)2 * SG_LEARN_ROUNDS * BLOCK * team.learn[0].learnings);
}

/* ---- ties and noise --------------------------------------------------------------------------*/

static uint64_t a_little(uint64_t call, int arm, int rank)
{
    return arm == 1 ? 980 : 1000;
}

static uint64_t a_tenth(uint64_t call, int arm, int rank)
{
    return arm == 1 ? 900 : 1000;
}

static uint64_t nothing(uint64_t call, int arm, int rank)
{
    return 0;
}

TEST("a candidate must win by more than the noise")
{
    struct team team;

    for (int first = 0; first < 3; first++) {
        start_with(&team, 3, first, 1024);
        calls(&team, 1000, a_little);
        EXPECT(team.learn[0].holds == first);
        start_with(&team, 3, first, 1024);
        calls(&team, 1000, a_tenth);
        EXPECT(team.learn[0].holds == 1);
        start_with(&team, 3, first, 1024);
        calls(&team, 5000, nothing);
        EXPECT(team.learn[0].holds == first);
    }
}

/* Two of five turns of arm 1 are disturbed, which would be the best. */
static uint64_t disturbed(uint64_t call, int arm, int rank)
{
    bool hit = call < 64 && arm == 1 && rank == 2;

    return (arm == 1 ? 700 : 1000) + (hit ? 900 : 0);
}

TEST("disturbed rounds do not decide")
{
    struct team team;

    start(&team);
    calls(&team, 200, disturbed);
    EXPECT(team.learn[0].holds == 1);
}

static uint64_t one_is_far(uint64_t call, int arm, int rank)
{
    return arm == 2 ? 50000 : 1000;
}

static uint64_t one_is_dearer(uint64_t call, int arm, int rank)
{
    return arm == 2 ? 2000 : 1000;
}

TEST("a candidate that costs far more gets few calls")
{
    struct team team;

    start(&team);
    calls(&team, 200, one_is_far);
    EXPECT(team.of_arm[2] == BLOCK, team.of_arm[1] == SG_LEARN_ROUNDS * BLOCK,
           team.learn[0].cost_ns[2] == 50000);
    start(&team);
    calls(&team, 200, one_is_dearer);
    EXPECT(team.of_arm[2] == 2 * BLOCK);
}

/* It is the sum over the ranks that counts: what one arm saves one rank it costs the others. */
static uint64_t moved(uint64_t call, int arm, int rank)
{
    if (arm == 1)
        return rank == 0 ? 100 : 1500;
    return 1000;
}

TEST("the sum over all ranks counts")
{
    struct team team;

    start(&team);
    calls(&team, 200, moved);
    EXPECT(team.learn[0].holds == 0);
}

/* ---- change ----------------------------------------------------------------------------------*/

TEST("another late rank starts new learning, at little more than the best candidate's cost")
{
    struct team team;
    uint64_t best = 0;

    start(&team);
    calls(&team, 4000, changing);
    EXPECT(team.learn[0].holds == 1, team.learn[0].changes == 0);
    /* A look every 128 calls, two that are unlike, and a learning. */
    calls(&team,
          128 + 2 * (BLOCK + 2 * SG_LEARN_LAG + 1) + 3 * SG_LEARN_ROUNDS * BLOCK +
              SG_LEARN_ROUNDS * SG_LEARN_LAG + BLOCK,
          changing);
    EXPECT(team.learn[0].holds == 2, team.learn[0].changes == 1);
    calls(&team, 8000 - team.call, changing);
    calls(&team, 12000, changing);
    EXPECT(team.learn[0].changes == 4);
    for (uint64_t from = 0; from < 20000; from += 4000)
        best += of(changing, from, from + 4000, from / 4000 % 2 ? 2 : 1);
    EXPECT(team.cost_ns < best + best / 20);
}

static uint64_t one_of_many(uint64_t call, int arm, int rank)
{
    return rank == (call < 500 ? 700 : 300) ? 500 : 4000 + noise(call, rank, 300);
}

TEST("another late rank among 1000 is seen")
{
    struct team team;

    start_ranks(&team, MANY_RANKS, 2, 0, 1024);
    calls(&team, 1000, one_of_many);
    EXPECT(team.learn[0].changes == 1);
}

static uint64_t suddenly_longer(uint64_t call, int arm, int rank)
{
    return call < 1000 ? 1000 : arm == 1 ? 3000 : 5000;
}

TEST("longer calls start new learning")
{
    struct team team;

    start(&team);
    calls(&team, 1600, suddenly_longer);
    EXPECT(team.learn[0].holds == 1, team.learn[0].changes == 1);
}

/* Shares that go up and down without a reason make it learn less and less often. */
static uint64_t wild(uint64_t call, int arm, int rank)
{
    return call / 50 % RANKS == (uint64_t)rank ? 20000 : 500;
}

TEST("patterns that keep changing make learning rare")
{
    struct team team;

    start(&team);
    calls(&team, 100000, wild);
    EXPECT(team.of_arm[1] + team.of_arm[2]<5000, team.learn[0].changes> 0);
}

/* One look that is unlike is none. */
static uint64_t once(uint64_t call, int arm, int rank)
{
    return call / 150 == 2 && rank == 1 ? 90000 : 1000;
}

TEST("a single look does not change the choice")
{
    struct team team;

    start(&team);
    calls(&team, 1000, once);
    EXPECT(team.learn[0].changes == 0);
}
