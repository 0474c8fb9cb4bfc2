/* Tests calibration among processes: all end, all get the same result, and everything that can be
 * measured is. No figure is expected: figures are the machine's. */
#include "intranode/calibrate.h"
#include "lib/exchange_fork.h"
#include "lib/unit.h"

#include <signal.h>

struct plan {
    int near, far, companion, signal;
    uint64_t within_ns;
    bool listens[8];
    struct sg_calibration result; /* rank 0's */
};

/* 0 where all is well; ranks but 0 compare what they got by its sum. */
static int run(const struct sg_exchange *exchange, void *context)
{
    struct plan *plan = context;
    struct sg_calibrate setup = {.exchange = exchange,
                                 .near = plan->near,
                                 .far = plan->far,
                                 .companion = plan->companion,
                                 .listens = plan->listens,
                                 .ranks = 2,
                                 .signal = plan->signal,
                                 .within_ns = plan->within_ns};
    int first_different;

    if (sg_calibrate(&setup, &plan->result) != SG_OK)
        return 1;
    struct sg_calibration zero = plan->result;
    if (exchange->broadcast(exchange->context, &zero, sizeof zero) != SG_OK)
        return 1;
    if (sg_exchange_agree(exchange, memcmp(&zero, &plan->result, sizeof zero) == 0,
                          &first_different) != SG_OK)
        return 1;
    return first_different >= 0;
}

TEST("all ranks get the same calibration, with the values that two nodes can measure")
{
    struct plan plan = {.near = 1,
                        .far = 2,
                        .companion = 1,
                        .listens = {true, true, true, true},
                        .within_ns = UINT64_C(60000000000)};
    const double *value = plan.result.value;

    /* Rank 3 sleeps meanwhile, rank 4 is on a machine that takes no part. */
    EXPECT(exchange_fork(5, run, &plan), value[SG_CALIBRATED_LATENCY] > 0,
           value[SG_CALIBRATED_OVERHEAD] > 0, value[SG_CALIBRATED_INSIDE_LATENCY] > 0,
           value[SG_CALIBRATED_COPY] > 0, value[SG_CALIBRATED_REDUCE] > 0,
           value[SG_CALIBRATED_LOCAL] > 0, value[SG_CALIBRATED_WAKE] > 0,
           value[SG_CALIBRATED_SPREAD] >= 1, value[SG_CALIBRATED_SAMPLES] >= 1,
           value[SG_CALIBRATED_SLICE] > 0, value[SG_CALIBRATED_PROCESSORS] >= 1,
           value[SG_CALIBRATED_RANKS] == 2, value[SG_CALIBRATED_SIGNAL] == 0);
}

static void measures_alone(int ranks, struct plan *plan)
{
    const double *value = plan->result.value;

    EXPECT(exchange_fork(ranks, run, plan), value[SG_CALIBRATED_LATENCY] == 0,
           value[SG_CALIBRATED_INSIDE_LATENCY] == 0, value[SG_CALIBRATED_LOCAL] == 0,
           value[SG_CALIBRATED_COPY] > 0);
}

TEST("nothing more is measured between ranks once the time is over")
{
    struct plan plan = {.near = 1, .far = 2, .companion = 1, .listens = {true, true, true}};

    measures_alone(3, &plan);
}

TEST("a single rank measures the values it can measure alone")
{
    struct plan plan = {.near = -1, .far = -1, .companion = -1, .listens = {true}};

    measures_alone(1, &plan);
}

static void on_signal(int number)
{
}

TEST("a signal that is in use or blocked is left alone")
{
    struct sigaction ours = {.sa_handler = on_signal}, usual = {.sa_handler = SIG_DFL}, now;
    struct sg_calibration unused = {{0}};
    sigset_t set;

    EXPECT(sg_calibrate_signal_ns(SIGRTMIN + 8, &unused) > 0,
           sigaction(SIGRTMIN + 8, NULL, &now) == 0, now.sa_handler == SIG_DFL);

    sigaction(SIGRTMIN + 8, &ours, NULL);
    EXPECT(sg_calibrate_signal_ns(SIGRTMIN + 8, &unused) == 0,
           sigaction(SIGRTMIN + 8, &usual, &now) == 0, now.sa_handler == on_signal);

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 8);
    sigprocmask(SIG_BLOCK, &set, NULL);
    EXPECT(sg_calibrate_signal_ns(SIGRTMIN + 8, &unused) == 0);
    sigpending(&set);
    EXPECT(sigismember(&set, SIGRTMIN + 8) == 0);
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

TEST("a cost is the first quartile of a bounded number of samples")
{
    struct sg_calibrate_samples samples = {.count = 0};
    struct sg_calibration out = {{0}};

    EXPECT(sg_calibrate_typical(&samples, &out) == 0);
    for (int i = 0; i < 2 * SG_CALIBRATE_SAMPLES; i++)
        sg_calibrate_add(&samples, 1000 - i);
    EXPECT(samples.count == SG_CALIBRATE_SAMPLES,
           sg_calibrate_typical(&samples, &out) ==
               1000 - SG_CALIBRATE_SAMPLES + 1 + SG_CALIBRATE_SAMPLES / 4,
           !sg_calibrate_wants_more(&samples, 0, 0));
    samples.count = SG_CALIBRATE_SAMPLES - 1;
    EXPECT(sg_calibrate_wants_more(&samples, 0, SG_CALIBRATE_BUDGET_NS - 1),
           !sg_calibrate_wants_more(&samples, 0, SG_CALIBRATE_BUDGET_NS));
    samples.count = 1;
    EXPECT(sg_calibrate_wants_more(&samples, 0, 3 * SG_CALIBRATE_BUDGET_NS - 1),
           !sg_calibrate_wants_more(&samples, 0, 3 * SG_CALIBRATE_BUDGET_NS));
}

/* The worst of all measurements stays. */
TEST("the greatest spread and the fewest samples of all measurements are kept")
{
    static const double swinging[] = {1, 2, 3, 8, 5, 7, 6, 4}, steady[] = {5, 5, 5, 5};
    struct sg_calibrate_samples samples = {.count = 0};
    struct sg_calibration out = {{0}};

    for (size_t i = 0; i < sizeof swinging / sizeof *swinging; i++)
        sg_calibrate_add(&samples, swinging[i]);
    EXPECT(sg_calibrate_typical(&samples, &out) == 3, out.value[SG_CALIBRATED_SPREAD] == 7.0 / 3,
           out.value[SG_CALIBRATED_SAMPLES] == 8);
    samples.count = 0;
    for (size_t i = 0; i < sizeof steady / sizeof *steady; i++)
        sg_calibrate_add(&samples, steady[i]);
    EXPECT(sg_calibrate_typical(&samples, &out) == 5, out.value[SG_CALIBRATED_SPREAD] == 7.0 / 3,
           out.value[SG_CALIBRATED_SAMPLES] == 4);
}
