/* Rank 0 tells the other ranks of its machine, and its partners, what to do, one message (struct
 * order) at a time. A partner echoes messages or answers steps until the message, or the word in
 * shared memory, is marked as the last; the others sleep in shared memory until everything is over.
 */
#include "intranode/calibrate.h"

#include "core/clock.h"
#include "intranode/calibrate_local.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#define SMALL_BYTES 8
/* MPICH over UCX copies more by a system call, and ends the process where that is refused. */
#define LARGE_BYTES 8192

enum order_kind { ORDER_GO_ON, ORDER_ECHO, ORDER_STEP, ORDER_SLEEP };

struct order {
    int32_t kind;
    uint32_t bytes; /* of ECHO's messages */
    struct sg_segment_ticket ticket;
};

struct message {
    int32_t last; /* 1: the answer to this one ends it */
    char rest[LARGE_BYTES - sizeof(int32_t)];
};

struct caller {
    const struct sg_calibrate *setup;
    struct sg_calibration result;
    uint64_t end_ns;
    struct message *message;
    void *segment; /* that ranks of this machine may open; NULL: there is none */
    struct sg_segment_ticket ticket;
};

static double us(double ns)
{
    return ns * 1e-3;
}

/* ---- listeners */

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

/* Rank 0 learns whether this rank sees the memory before either of them waits there. */
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

/* A rank that cannot see the memory continues at once, and disturbs the measurements. */
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

/* ---- rank 0: messages */

struct trip {
    double there_ns; /* in the send */
    double round_ns;
};

/* A round trip of so many bytes, and the time in its send. */
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
    /* How long a send takes depends on the implementation: where messages are buffered, the round
     * trip counts. */
    trip->there_ns = sg_calibrate_typical(&there, &of_sends);
    trip->round_ns = sg_calibrate_typical(&round, &caller->result);
    return status;
}

/* Half a round trip is a latency and both overheads; if the send itself takes as long, the message
 * is in flight during the send. latency: the first of the three values. */
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

/* ---- rank 0: shared memory */

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

/* ---- rank 0: the whole */

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

/* To all ranks that listen, partners or not. */
static enum sg_status tell(const struct caller *caller, bool partners, enum order_kind kind)
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
    status = tell(&caller, false, caller.segment != NULL ? ORDER_SLEEP : ORDER_GO_ON);
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
        status = tell(&caller, true, ORDER_GO_ON);
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
