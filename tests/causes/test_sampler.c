/* Tests samplers against threads with made-up times and costs. */
#include "causes/sampler.h"
#include "core/hash.h"
#include "lib/unit.h"

#define SHARE 0.005
#define COST_NS 7000

/* A thread that comes to chances, each some time after the one before. */
struct run {
    struct sg_sampler sampler;
    uint64_t now_ns, number, taken, paid_ns;
    unsigned deepest; /* the greatest level seen */
    double worst;     /* paid, by what there was to be spent, from the first payment on */
};

static void start(struct run *run, uint64_t since_ns, uint64_t now_ns)
{
    *run = (struct run){.now_ns = now_ns};
    sg_sampler_start(&run->sampler, SHARE, since_ns);
}

static void come(struct run *run, uint64_t chances, uint64_t each_ns, uint64_t cost_ns)
{
    for (uint64_t i = 0; i < chances; i++) {
        run->now_ns += each_ns;
        if (!sg_sampler_takes(&run->sampler, sg_hash_mix(++run->number), run->now_ns))
            continue;
        run->taken++;
        run->paid_ns += cost_ns;
        run->now_ns += cost_ns;
        sg_sampler_pay(&run->sampler, cost_ns);
        if (run->sampler.level > run->deepest)
            run->deepest = run->sampler.level;
        if ((double)(run->paid_ns - cost_ns) > run->worst * SHARE * (double)run->now_ns)
            run->worst = (double)(run->paid_ns - cost_ns) / (SHARE * (double)run->now_ns);
    }
}

static double share_of(const struct run *run)
{
    return (double)run->paid_ns / (double)run->now_ns;
}

TEST("without a share every candidate is taken")
{
    struct sg_sampler sampler;

    sg_sampler_start(&sampler, 0, 1000);
    for (uint64_t i = 0; i < 100000; i++) {
        ASSERT(sg_sampler_takes(&sampler, sg_hash_mix(i), 1000 + i));
        sg_sampler_pay(&sampler, 1000000);
    }
}

TEST("the first candidates are all taken if the share allows it")
{
    struct run run;

    start(&run, 0, 200000000);
    come(&run, 50, 20000, COST_NS);
    EXPECT(run.taken == 50);
}

TEST("at any pace the sampler spends at most its share, and at least a quarter of it")
{
    static const uint64_t times_ns[] = {100, 1000, 20000, 1000000, 50000000};

    for (unsigned i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
        struct run run;

        start(&run, 0, 10000000);
        come(&run, 20000000000 / times_ns[i] < 20000000 ? 20000000000 / times_ns[i] : 20000000,
             times_ns[i], COST_NS);
        EXPECT(share_of(&run) < SHARE + (double)COST_NS / (double)run.now_ns, run.worst <= 1);
        /* ... and is made use of, where there is enough to do. */
        EXPECT(times_ns[i] >= 50000000 ? run.taken == run.number : share_of(&run) > SHARE / 4);
    }
}

TEST("expensive candidates are taken less often")
{
    struct run run;

    start(&run, 0, 0);
    come(&run, 100000, 100000, 200);
    EXPECT(run.taken == run.number);
    /* A hundred times as much: the share holds all the same. */
    come(&run, 1000000, 100000, 200000);
    EXPECT(share_of(&run) < SHARE * 1.01, run.sampler.level >= 9);
}

TEST("rare candidates are soon taken more often")
{
    struct run run;

    start(&run, 0, 0);
    come(&run, 10000000, 1000, COST_NS);
    EXPECT(run.sampler.level >= 10);
    /* One a second: not all of the next thousand are missed. */
    uint64_t before = run.taken;
    come(&run, 1000, 1000000000, COST_NS);
    EXPECT(run.taken - before >= 900, run.sampler.level == 0);
}

/* Two ranks, of which one has less to spend: what it takes, the other takes, once both are past
 * their first ones. */
TEST("a lower level takes every candidate that a higher level takes")
{
    for (uint64_t hash = 0; hash < 100000; hash++) {
        uint64_t mixed = sg_hash_mix(hash);

        for (unsigned level = 1; level < 12; level++) {
            struct sg_sampler more = {
                .share = 0, .mask = (UINT64_C(1) << (level - 1)) - 1, .review_ns = UINT64_MAX};
            struct sg_sampler fewer = {
                .share = 0, .mask = (UINT64_C(1) << level) - 1, .review_ns = UINT64_MAX};

            if (sg_sampler_takes(&fewer, mixed, 1))
                EXPECT(sg_sampler_takes(&more, mixed, 1));
        }
    }
}

TEST("ranks with similar costs reach the same level")
{
    struct run one, two;

    start(&one, 0, 100000000);
    start(&two, 0, 100000000);
    come(&one, 1000000, 5000, COST_NS);
    come(&two, 1000000, 5100, COST_NS + 90);
    EXPECT(one.sampler.level == two.sampler.level);
}
