/* Calibration at the start of a recorded run. Rank 0 sends orders to the other ranks of its machine
 * and to its partners, one message (struct order) at a time. A partner echoes messages or answers
 * steps until the message, or the word in shared memory, is marked as the last. The others sleep in
 * shared memory until the calibration is over. */
#include "intranode/calibrate.h"

#include "algos/kernels/kernel.h"
#include "core/clock.h"
#include "core/cpu/cpu.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In a step, one process writes a word, and the other, which waits for it, answers; the answer to a
 * number is the next number. */

#define OPERAND_BYTES 16384
#define STEPS_A_SAMPLE 8
#define SPINS 100 /* then yield, as oversubscribed collectives do */
#define PATIENCE_NS UINT64_C(1000000000)

/* ---- samples ---- */

bool sg_calibrate_wants_more(const struct sg_calibrate_samples *samples, uint64_t began_ns,
                             uint64_t now_ns)
{
    uint64_t budgets = samples->count < SG_CALIBRATED_FEW ? 3 : 1;

    return samples->count < SG_CALIBRATE_SAMPLES &&
           now_ns - began_ns < budgets * SG_CALIBRATE_BUDGET_NS;
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

/* ---- one process ---- */

typedef void (*work)(void *context);

static double time_work(work once, void *context, struct sg_calibration *out)
{
    struct sg_calibrate_samples samples = {.count = 0};
    uint64_t began_ns = sg_clock_ns(), start_ns = began_ns, now_ns;

    once(context); /* warms the cache */
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
    atomic_signal_fence(memory_order_seq_cst); /* prevents removal of the copy */
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

/* ns per byte of an operand in cache. Here and below, out gets spread and samples as above. */
static double sg_calibrate_copy_ns(struct sg_calibration *out)
{
    return time_operands(copy_once, out);
}

static double sg_calibrate_reduce_ns(struct sg_calibration *out)
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

/* A blocked signal would arrive later, when it has no handler any more. */
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

/* The used part of sched_getattr's result (sched_setattr(2)). */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Time for which a process keeps a shared processor: the kernel's slice, which the kernel checks at
 * its timer ticks. 0: not known. */
static double sg_calibrate_slice_ns(void)
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

/* ---- two processes ---- */

struct word {
    _Alignas(128) _Atomic uint32_t value;
};

/* One word for each direction. */
struct words {
    struct word to_answer, to_ask;
    _Alignas(128) _Atomic uint32_t sleeps; /* 1: waiters sleep */
    _Alignas(128) _Atomic uint32_t over;   /* 1: the measurement is over */
};

_Static_assert(sizeof(struct words) <= SG_CALIBRATE_SEGMENT_BYTES, "the segment holds the words");

#define STOP UINT32_MAX

static void sleep_for(_Atomic uint32_t *word, uint32_t seen, uint64_t most_ns)
{
    const struct timespec timeout = {.tv_nsec = (long)most_ns};

    syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

/* Waits for the next value of the word; STOP if none comes. */
static uint32_t wait_for(struct words *words, _Atomic uint32_t *word, uint32_t seen)
{
    uint64_t began_ns = sg_clock_ns();
    uint32_t value = seen;

    for (int looks = 0; value == seen; looks++) {
        /* Acquire: reads of the data that accompanies the word come after. */
        value = atomic_load_explicit(word, memory_order_acquire);
        if (value != seen)
            break;
        if (atomic_load_explicit(&words->sleeps, memory_order_relaxed))
            sleep_for(word, seen, SG_CALIBRATE_BUDGET_NS);
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

/* Sleeps in the segment until sg_calibrate_rouse, or for a second. */
static void sg_calibrate_sleep(void *segment)
{
    struct words *words = segment;
    uint64_t began_ns = sg_clock_ns();

    while (atomic_load(&words->over) == 0 && sg_clock_ns() - began_ns < PATIENCE_NS)
        sleep_for(&words->over, 0, 10 * SG_CALIBRATE_BUDGET_NS);
}

static void sg_calibrate_rouse(void *segment)
{
    struct words *words = segment;

    atomic_store(&words->over, 1);
    syscall(SYS_futex, &words->over, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The two sides of a step measurement, in a zeroed segment; the asking side gets the costs. It
 * gives up on a partner that does not answer for a second. */
static void sg_calibrate_ask(void *segment, struct sg_calibrate_steps *steps,
                             struct sg_calibration *out)
{
    struct words *words = segment;
    uint32_t number = 0;

    steps->step_ns = time_rounds(words, STEPS_A_SAMPLE, &number, out);
    atomic_store(&words->sleeps, 1);
    steps->wake_ns = time_rounds(words, 1, &number, out);
    tell(words, &words->to_answer.value, STOP);
}

static void sg_calibrate_answer(void *segment)
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

#define SMALL_BYTES 8
/* For larger messages, MPICH over UCX copies by a system call, and ends the process if that is
 * refused. */
#define LARGE_BYTES 8192

enum order_kind { ORDER_GO_ON, ORDER_ECHO, ORDER_STEP, ORDER_SLEEP };

struct order {
    int32_t kind;
    uint32_t bytes; /* size of ECHO's messages */
    struct sg_segment_ticket ticket;
};

struct message {
    int32_t last; /* 1: the answer to this message ends the echo */
    char rest[LARGE_BYTES - sizeof(int32_t)];
};

struct caller {
    const struct sg_calibrate *setup;
    struct sg_calibration result;
    uint64_t end_ns;
    struct message *message;
    void *segment; /* ranks of this machine may open it; NULL: none */
    struct sg_segment_ticket ticket;
};

static double us(double ns)
{
    return ns * 1e-3;
}

/* ---- listeners ---- */

static enum sg_status echo(const struct sg_exchange *exchange, struct message *message,
                           uint32_t bytes)
{
    enum sg_status status;

    if (bytes < sizeof message->last || bytes > sizeof *message)
        return SG_ERR_FORMAT;
    do {
        status = exchange->receive(exchange->context, 0, message, bytes);
        if (status == SG_OK)
            status = exchange->send(exchange->context, 0, message, bytes);
    } while (status == SG_OK && message->last == 0);
    return status;
}

/* Tells rank 0 whether this rank can map the memory, before either of them waits there. */
static enum sg_status step(const struct sg_exchange *exchange, const struct order *order)
{
    void *segment = NULL;
    int32_t seen = sg_segment_open(&order->ticket, &segment) == SG_OK;
    enum sg_status status = exchange->send(exchange->context, 0, &seen, sizeof seen);

    if (seen) {
        sg_calibrate_answer(segment);
        sg_segment_unmap(segment, order->ticket.size_bytes);
    }
    return status;
}

/* A rank that cannot map the memory continues at once, and disturbs the measurements. */
static void sleep_through(const struct order *order)
{
    void *segment;

    if (sg_segment_open(&order->ticket, &segment) != SG_OK)
        return;
    sg_calibrate_sleep(segment);
    sg_segment_unmap(segment, order->ticket.size_bytes);
}

static enum sg_status listen_to(const struct sg_exchange *exchange, struct message *message)
{
    enum sg_status status = SG_OK;
    struct order order = {.kind = ORDER_ECHO};

    while (status == SG_OK && order.kind != ORDER_GO_ON && order.kind != ORDER_SLEEP) {
        status = exchange->receive(exchange->context, 0, &order, sizeof order);
        if (status == SG_OK && order.kind == ORDER_ECHO)
            status = echo(exchange, message, order.bytes);
        else if (status == SG_OK && order.kind == ORDER_STEP)
            status = step(exchange, &order);
    }
    if (status == SG_OK && order.kind == ORDER_SLEEP)
        sleep_through(&order);
    return status;
}

/* ---- rank 0: messages ---- */

struct trip {
    double there_ns; /* time in the send */
    double round_ns;
};

/* Measures round trips of messages of `bytes`, and the time in their sends. */
static enum sg_status measure_trip(struct caller *caller, int partner, uint32_t bytes,
                                   struct trip *trip)
{
    const struct sg_exchange *exchange = caller->setup->exchange;
    struct order order = {.kind = ORDER_ECHO, .bytes = bytes};
    struct sg_calibrate_samples there = {.count = 0}, round = {.count = 0};
    struct sg_calibration of_sends = {{0}};
    uint64_t began_ns = sg_clock_ns(), sent_ns, start_ns, now_ns;
    enum sg_status status = exchange->send(exchange->context, partner, &order, sizeof order);
    bool more = true;

    while (status == SG_OK && more) {
        start_ns = sg_clock_ns();
        more = sg_calibrate_wants_more(&round, began_ns, start_ns);
        caller->message->last = !more;
        status = exchange->send(exchange->context, partner, caller->message, bytes);
        sent_ns = sg_clock_ns();
        if (status == SG_OK)
            status = exchange->receive(exchange->context, partner, caller->message, bytes);
        now_ns = sg_clock_ns();
        sg_calibrate_add(&there, (double)(sent_ns - start_ns));
        sg_calibrate_add(&round, (double)(now_ns - start_ns));
    }
    /* The time of a send depends on the implementation, which may buffer messages; only the round
     * trip enters the result's spread. */
    trip->there_ns = sg_calibrate_typical(&there, &of_sends);
    trip->round_ns = sg_calibrate_typical(&round, &caller->result);
    return status;
}

/* Half a round trip is a latency and both overheads. If the send itself takes that long, the
 * message is in flight during the send. latency: the first of the three values to set. */
static enum sg_status measure_messages(struct caller *caller, int partner,
                                       enum sg_calibrated latency)
{
    double *value = &caller->result.value[latency];
    struct trip small, large;
    double half_ns, overhead_ns;
    enum sg_status status;

    if (partner < 0 || sg_clock_ns() > caller->end_ns)
        return SG_OK;
    status = measure_trip(caller, partner, SMALL_BYTES, &small);
    if (status == SG_OK)
        status = measure_trip(caller, partner, LARGE_BYTES, &large);
    if (status != SG_OK)
        return status;
    half_ns = small.round_ns / 2;
    overhead_ns = small.there_ns < half_ns / 3 ? small.there_ns : half_ns / 3;
    value[0] = us(half_ns - 2 * overhead_ns);
    value[1] = us(overhead_ns);
    value[2] = large.round_ns > small.round_ns
                   ? (large.round_ns - small.round_ns) / 2 / (LARGE_BYTES - SMALL_BYTES)
                   : 0;
    return SG_OK;
}

/* ---- rank 0: shared memory ---- */

static enum sg_status measure_steps(struct caller *caller)
{
    const struct sg_exchange *exchange = caller->setup->exchange;
    struct order order = {.kind = ORDER_STEP, .ticket = caller->ticket};
    int32_t partner_sees = 0;
    enum sg_status status;

    if (caller->setup->companion < 0 || sg_clock_ns() > caller->end_ns || caller->segment == NULL)
        return SG_OK;
    status = exchange->send(exchange->context, caller->setup->companion, &order, sizeof order);
    if (status == SG_OK)
        status = exchange->receive(exchange->context, caller->setup->companion, &partner_sees,
                                   sizeof partner_sees);
    if (status == SG_OK && partner_sees) {
        struct sg_calibrate_steps steps;

        sg_calibrate_ask(caller->segment, &steps, &caller->result);
        caller->result.value[SG_CALIBRATED_LOCAL] = us(steps.step_ns);
        caller->result.value[SG_CALIBRATED_WAKE] = us(steps.wake_ns);
    }
    return status;
}

/* ---- rank 0: the calibration ---- */

static void describe(struct caller *caller)
{
    double *value = caller->result.value;
    cpu_set_t mask;

    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        value[SG_CALIBRATED_PROCESSORS] = CPU_COUNT(&mask);
    value[SG_CALIBRATED_RANKS] = caller->setup->ranks;
    value[SG_CALIBRATED_SLICE] = us(sg_calibrate_slice_ns());
}

static bool is_partner(const struct sg_calibrate *setup, int rank)
{
    return rank == setup->near || rank == setup->far;
}

/* Sends an order to all listening ranks that are, or are not, partners. */
static enum sg_status calibrate_tell(const struct caller *caller, bool partners,
                                     enum order_kind kind)
{
    const struct sg_calibrate *setup = caller->setup;
    const struct order order = {.kind = (int32_t)kind, .ticket = caller->ticket};
    enum sg_status status = SG_OK;

    for (int rank = 1; rank < setup->exchange->size && status == SG_OK; rank++) {
        if (setup->listens[rank] && is_partner(setup, rank) == partners)
            status = setup->exchange->send(setup->exchange->context, rank, &order, sizeof order);
    }
    return status;
}

static enum sg_status measure(const struct sg_calibrate *setup, struct message *message,
                              struct sg_calibration *out)
{
    struct caller caller = {.setup = setup, .message = message};
    enum sg_status status;

    if (sg_segment_create(SG_CALIBRATE_SEGMENT_BYTES, &caller.segment, &caller.ticket) != SG_OK)
        caller.segment = NULL;
    status = calibrate_tell(&caller, false, caller.segment != NULL ? ORDER_SLEEP : ORDER_GO_ON);
    caller.end_ns = sg_clock_ns() + setup->within_ns;
    describe(&caller);
    caller.result.value[SG_CALIBRATED_COPY] = sg_calibrate_copy_ns(&caller.result);
    caller.result.value[SG_CALIBRATED_REDUCE] = sg_calibrate_reduce_ns(&caller.result);
    if (status == SG_OK)
        status = measure_steps(&caller);
    if (status == SG_OK)
        status = measure_messages(&caller, setup->near, SG_CALIBRATED_INSIDE_LATENCY);
    if (status == SG_OK)
        status = measure_messages(&caller, setup->far, SG_CALIBRATED_LATENCY);
    if (setup->signal > 0)
        caller.result.value[SG_CALIBRATED_SIGNAL] =
            us(sg_calibrate_signal_ns(setup->signal, &caller.result));
    if (status == SG_OK)
        status = calibrate_tell(&caller, true, ORDER_GO_ON);
    if (caller.segment != NULL) {
        sg_calibrate_rouse(caller.segment);
        sg_segment_seal(&caller.ticket);
        sg_segment_unmap(caller.segment, caller.ticket.size_bytes);
    }
    *out = caller.result;
    return status;
}

enum sg_status sg_calibrate(const struct sg_calibrate *setup, struct sg_calibration *out)
{
    const struct sg_exchange *exchange = setup->exchange;
    struct message *message = calloc(1, sizeof *message);
    struct sg_calibration result = {{0}};
    enum sg_status status;
    int first_failed;

    status = sg_exchange_agree(exchange, message != NULL, &first_failed);
    if (status == SG_OK && first_failed >= 0)
        status = SG_ERR_MEMORY;
    if (status == SG_OK && exchange->rank == 0)
        status = measure(setup, message, &result);
    else if (status == SG_OK && setup->listens[exchange->rank])
        status = listen_to(exchange, message);
    free(message);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, &result, sizeof result);
    if (status == SG_OK)
        *out = result;
    return status;
}
