/* A step is a word that one process writes and the other, which waits for it, answers; the answer
 * to a number is the next number. */
#include "intranode/calibrate_local.h"

#include "algos/kernels/kernel.h"
#include "core/clock.h"
#include "core/cpu/cpu.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUDGET_NS UINT64_C(1000000)
#define OPERAND_BYTES 16384
#define STEPS_A_SAMPLE 8
#define SPINS 100 /* then yield, as waits of collectives do where processors are short */
#define PATIENCE_NS UINT64_C(1000000000)

/* ---- samples */

bool sg_calibrate_wants_more(const struct sg_calibrate_samples *samples, uint64_t began_ns,
                             uint64_t now_ns)
{
    uint64_t budget_ns = samples->count < SG_CALIBRATED_FEW ? 3 * BUDGET_NS : BUDGET_NS;

    return samples->count < SG_CALIBRATE_SAMPLES && now_ns - began_ns < budget_ns;
}

void sg_calibrate_add(struct sg_calibrate_samples *samples, double ns)
{
    if (samples->count < SG_CALIBRATE_SAMPLES)
        samples->ns[samples->count++] = ns;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double sg_calibrate_typical(struct sg_calibrate_samples *samples, struct sg_calibration *out)
{
    double *fewest = &out->value[SG_CALIBRATED_SAMPLES];
    double *spread = &out->value[SG_CALIBRATED_SPREAD];
    double first, third;

    if (samples->count == 0)
        return 0;
    qsort(samples->ns, (size_t)samples->count, sizeof samples->ns[0], compare);
    first = samples->ns[samples->count / 4];
    third = samples->ns[samples->count * 3 / 4];
    if (*fewest == 0 || samples->count < *fewest)
        *fewest = samples->count;
    if (first > 0 && third / first > *spread)
        *spread = third / first;
    return first;
}

/* ---- alone */

typedef void (*work)(void *context);

static double time_work(work once, void *context, struct sg_calibration *out)
{
    struct sg_calibrate_samples samples = {.count = 0};
    uint64_t began_ns = sg_clock_ns(), start_ns = began_ns, now_ns;

    once(context); /* brings what it touches */
    for (bool more = true; more; more = sg_calibrate_wants_more(&samples, began_ns, now_ns)) {
        start_ns = sg_clock_ns();
        once(context);
        now_ns = sg_clock_ns();
        sg_calibrate_add(&samples, (double)(now_ns - start_ns));
    }
    return sg_calibrate_typical(&samples, out);
}

struct operands {
    double left[OPERAND_BYTES / sizeof(double)], right[OPERAND_BYTES / sizeof(double)];
    sg_kernel kernel;
};

static void copy_once(void *context)
{
    struct operands *operands = context;

    memcpy(operands->right, operands->left, OPERAND_BYTES);
    atomic_signal_fence(memory_order_seq_cst); /* it is not left out */
}

static void reduce_once(void *context)
{
    struct operands *operands = context;

    operands->kernel(operands->left, operands->right, operands->right,
                     OPERAND_BYTES / sizeof(double));
}

static double time_operands(work once, struct sg_calibration *out)
{
    struct operands *operands = calloc(1, sizeof *operands);
    double ns = 0;

    if (operands == NULL)
        return 0;
    operands->kernel = sg_kernel_find(SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE);
    if (operands->kernel != NULL)
        ns = time_work(once, operands, out) / OPERAND_BYTES;
    free(operands);
    return ns;
}

double sg_calibrate_copy_ns(struct sg_calibration *out)
{
    return time_operands(copy_once, out);
}

double sg_calibrate_reduce_ns(struct sg_calibration *out)
{
    return time_operands(reduce_once, out);
}

static void signal_once(void *context)
{
    pthread_kill(pthread_self(), *(const int *)context);
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    signals++;
}

/* If the signal is blocked it would arrive later, when nothing handles it any more. */
double sg_calibrate_signal_ns(int number, struct sg_calibration *out)
{
    struct sigaction before, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t blocked;
    double ns;

    if (pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 || sigismember(&blocked, number) != 0 ||
        sigaction(number, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
        before.sa_handler != SIG_DFL || sigaction(number, &ours, NULL) != 0)
        return 0;
    signals = 0;
    ns = time_work(signal_once, &number, out);
    sigaction(number, &before, NULL);
    return signals > 0 ? ns : 0; /* the queue of signals may be full */
}

/* The part of sched_getattr's result that is needed (sched_setattr(2)). */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

double sg_calibrate_slice_ns(void)
{
    struct attributes attributes = {.size = sizeof attributes};
    struct timespec tick;
    double slice_ns = 0, tick_ns = 0;

    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0)
        slice_ns = (double)attributes.runtime_ns;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
        tick_ns = (double)tick.tv_sec * 1e9 + (double)tick.tv_nsec;
    return slice_ns > tick_ns ? slice_ns : tick_ns;
}

/* ---- two processes */

struct word {
    _Alignas(128) _Atomic uint32_t value;
};

/* From one side, and from the other. */
struct words {
    struct word to_answer, to_ask;
    _Alignas(128) _Atomic uint32_t sleeps; /* 1: waits sleep */
    _Alignas(128) _Atomic uint32_t over;   /* 1: the measurement is over */
};

_Static_assert(sizeof(struct words) <= SG_CALIBRATE_SEGMENT_BYTES, "the segment holds the words");

#define STOP UINT32_MAX

static void sleep_for(_Atomic uint32_t *word, uint32_t seen, uint64_t most_ns)
{
    const struct timespec timeout = {.tv_nsec = (long)most_ns};

    syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

/* The next value of the word; STOP if none comes. */
static uint32_t wait_for(struct words *words, _Atomic uint32_t *word, uint32_t seen)
{
    uint64_t began_ns = sg_clock_ns();
    uint32_t value = seen;

    for (int looks = 0; value == seen; looks++) {
        /* Acquire: what comes with the word is seen after it. */
        value = atomic_load_explicit(word, memory_order_acquire);
        if (value != seen)
            break;
        if (atomic_load_explicit(&words->sleeps, memory_order_relaxed))
            sleep_for(word, seen, BUDGET_NS);
        else if (looks < SPINS)
            sg_cpu_pause();
        else
            sched_yield();
        if (looks >= SPINS && sg_clock_ns() - began_ns > PATIENCE_NS)
            return STOP;
    }
    return value;
}

static void tell(struct words *words, _Atomic uint32_t *word, uint32_t value)
{
    /* Release: pairs with wait_for. */
    atomic_store_explicit(word, value, memory_order_release);
    if (atomic_load_explicit(&words->sleeps, memory_order_relaxed))
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* False: the partner does not answer. */
static bool go_round(struct words *words, uint32_t *number)
{
    uint32_t seen = *number;

    tell(words, &words->to_answer.value, ++*number);
    return wait_for(words, &words->to_ask.value, seen) == *number;
}

static double time_rounds(struct words *words, int rounds, uint32_t *number,
                          struct sg_calibration *out)
{
    struct sg_calibrate_samples samples = {.count = 0};
    uint64_t began_ns = sg_clock_ns(), start_ns, now_ns = began_ns;
    bool answered = go_round(words, number);

    while (answered && sg_calibrate_wants_more(&samples, began_ns, now_ns)) {
        start_ns = sg_clock_ns();
        for (int i = 0; i < rounds && answered; i++)
            answered = go_round(words, number);
        now_ns = sg_clock_ns();
        if (answered)
            sg_calibrate_add(&samples, (double)(now_ns - start_ns) / rounds / 2);
    }
    return sg_calibrate_typical(&samples, out);
}

void sg_calibrate_sleep(void *segment)
{
    struct words *words = segment;
    uint64_t began_ns = sg_clock_ns();

    while (atomic_load(&words->over) == 0 && sg_clock_ns() - began_ns < PATIENCE_NS)
        sleep_for(&words->over, 0, 10 * BUDGET_NS);
}

void sg_calibrate_rouse(void *segment)
{
    struct words *words = segment;

    atomic_store(&words->over, 1);
    syscall(SYS_futex, &words->over, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sg_calibrate_ask(void *segment, struct sg_calibrate_steps *steps, struct sg_calibration *out)
{
    struct words *words = segment;
    uint32_t number = 0;

    steps->step_ns = time_rounds(words, STEPS_A_SAMPLE, &number, out);
    atomic_store(&words->sleeps, 1);
    steps->wake_ns = time_rounds(words, 1, &number, out);
    tell(words, &words->to_answer.value, STOP);
}

void sg_calibrate_answer(void *segment)
{
    struct words *words = segment;
    uint32_t seen = 0;

    for (;;) {
        seen = wait_for(words, &words->to_answer.value, seen);
        if (seen == STOP)
            return;
        tell(words, &words->to_ask.value, seen);
    }
}
