#include "bcs/program_patterns.h"

#include "algos/tree.h"
#include "sim/random.h"

#include <math.h>

/* Calls that wait in paper 001, table 5.3: all, waitalls, broadcasts. The rest are allreduces. */
#define SAGE_CALLS 9770u
#define SAGE_WAITALLS 2140u
#define SAGE_BROADCASTS 312u
#define REDUCED_BYTES 8

const char *const sg_pattern_names[SG_PATTERNS + 1] = {"barrier", "exchange", "sweep", "sage",
                                                       NULL};

/* The program steps of one step of a pattern; step_of returns one of them. */
struct row {
    struct sg_step list[16];
    uint32_t count;
};

static struct sg_step *add(struct row *row, enum sg_step_kind kind)
{
    struct sg_step *step = &row->list[row->count++];

    *step = (struct sg_step){.kind = (uint8_t)kind};
    return step;
}

static void add_message(struct row *row, const struct sg_pattern *pattern, enum sg_step_kind kind,
                        int32_t peer, uint32_t tag)
{
    struct sg_step *step;

    if (peer < 0)
        return;
    step = add(row, kind);
    step->peer = peer;
    step->tag = tag;
    step->bytes = pattern->bytes;
}

static bool is_noisy(const struct sg_pattern *pattern, int32_t process)
{
    int64_t noisy = pattern->noisy;

    return (process + 1) * noisy / pattern->processes != process * noisy / pattern->processes;
}

/* Returns how often noise comes in a computation: once per noise_every_ns of the process's
 * accumulated computation, at a random phase. */
static uint64_t noise_of(const struct sg_pattern *pattern, int32_t process, uint64_t step)
{
    double every = (double)pattern->noise_every_ns, own = (double)pattern->granularity_ns;
    double phase =
        sg_random_unit(sg_random(pattern->seed, SG_RANDOM_NOISE, (uint64_t)(uint32_t)process, 0));
    double before = floor((double)step * own / every + phase);

    return (uint64_t)(floor((double)(step + 1) * own / every + phase) - before);
}

/* Returns the length of the process's computation in a step, with its noise. */
static uint64_t sg_pattern_compute_ns(const struct sg_pattern *pattern, int32_t process,
                                      uint64_t step)
{
    double share = 0;
    uint64_t noise_ns = 0;

    if (pattern->imbalance > 0)
        share =
            pattern->imbalance * (2 * sg_random_unit(sg_random(pattern->seed, SG_RANDOM_SKEW,
                                                               (uint64_t)(uint32_t)process, step)) -
                                  1);
    if (pattern->noise_ns > 0 && is_noisy(pattern, process))
        noise_ns = noise_of(pattern, process, step) * pattern->noise_ns;
    return (uint64_t)((double)pattern->granularity_ns * (1 + share) + 0.5) + noise_ns;
}

static void add_compute(struct row *row, const struct sg_pattern *pattern, int32_t process,
                        uint64_t number)
{
    add(row, SG_STEP_COMPUTE)->ns = sg_pattern_compute_ns(pattern, process, number);
}

static void add_collective(struct row *row, int32_t process, enum sg_operation operation,
                           uint64_t bytes)
{
    struct sg_step *step = add(row, SG_STEP_COLLECTIVE);

    step->operation = (uint8_t)operation;
    step->bytes = bytes;
    step->own = process;
}

/* ---- exchange */

enum { RIGHTWARD, LEFTWARD };

/* Returns -1 beyond the end of a row. A ring needs an even number of processes, because neighbours
 * call in opposite order. */
static int32_t neighbour(const struct sg_pattern *pattern, int32_t process, int32_t by)
{
    int32_t other = process + by, size = pattern->processes;

    if (size < 2)
        return -1;
    if (size % 2 == 0)
        return (other + size) % size;
    return other < 0 || other >= size ? -1 : other;
}

static void add_exchange_posts(struct row *row, const struct sg_pattern *pattern, int32_t process)
{
    int32_t left = neighbour(pattern, process, -1), right = neighbour(pattern, process, 1);

    add_message(row, pattern, SG_STEP_IRECV, left, RIGHTWARD);
    add_message(row, pattern, SG_STEP_IRECV, right, LEFTWARD);
    add_message(row, pattern, SG_STEP_ISEND, right, RIGHTWARD);
    add_message(row, pattern, SG_STEP_ISEND, left, LEFTWARD);
}

static void exchange(struct row *row, const struct sg_pattern *pattern, int32_t process,
                     uint64_t number)
{
    int32_t left = neighbour(pattern, process, -1), right = neighbour(pattern, process, 1);

    if (pattern->nonblocking) {
        add_exchange_posts(row, pattern, process);
        add_compute(row, pattern, process, number);
        add(row, SG_STEP_WAITALL);
        return;
    }
    add_compute(row, pattern, process, number);
    if (process % 2 == 0) {
        add_message(row, pattern, SG_STEP_SEND, right, RIGHTWARD);
        add_message(row, pattern, SG_STEP_RECV, right, LEFTWARD);
        add_message(row, pattern, SG_STEP_SEND, left, LEFTWARD);
        add_message(row, pattern, SG_STEP_RECV, left, RIGHTWARD);
    } else {
        add_message(row, pattern, SG_STEP_RECV, left, RIGHTWARD);
        add_message(row, pattern, SG_STEP_SEND, left, LEFTWARD);
        add_message(row, pattern, SG_STEP_RECV, right, LEFTWARD);
        add_message(row, pattern, SG_STEP_SEND, right, RIGHTWARD);
    }
}

/* ---- sweep */

/* Makes the grid as square as the number of processes allows. */
static int32_t width_of(int32_t processes)
{
    int32_t width = (int32_t)sqrt((double)processes);

    while (processes % width != 0)
        width--;
    return processes / width;
}

struct wave {
    int32_t from[2], to[2]; /* processes; -1: none */
};

/* Finds the neighbours in a step's sweep. The bits of the sweep's number choose its corner: bit
 * `axis` reverses the direction along that axis. */
static struct wave wave_of(const struct sg_pattern *pattern, int32_t process, uint64_t number)
{
    int32_t width = width_of(pattern->processes), height = pattern->processes / width;
    int32_t at[2] = {process % width, process / width}, size[2] = {width, height};
    uint64_t corner = number / SG_SWEEP_BLOCKS;
    struct wave wave;

    for (int axis = 0; axis < 2; axis++) {
        int32_t by = corner >> axis & 1 ? -1 : 1, stride = axis == 0 ? 1 : width;
        int32_t before = at[axis] - by, after = at[axis] + by;

        wave.from[axis] = before < 0 || before >= size[axis] ? -1 : process - by * stride;
        wave.to[axis] = after < 0 || after >= size[axis] ? -1 : process + by * stride;
    }
    return wave;
}

static void add_receives(struct row *row, const struct sg_pattern *pattern, int32_t process,
                         uint64_t number, enum sg_step_kind kind)
{
    struct wave wave = wave_of(pattern, process, number);

    for (uint32_t axis = 0; axis < 2; axis++)
        add_message(row, pattern, kind, wave.from[axis], axis);
}

static void add_sends(struct row *row, const struct sg_pattern *pattern, int32_t process,
                      uint64_t number, enum sg_step_kind kind)
{
    struct wave wave = wave_of(pattern, process, number);

    for (uint32_t axis = 0; axis < 2; axis++)
        add_message(row, pattern, kind, wave.to[axis], axis);
}

static void sweep(struct row *row, const struct sg_pattern *pattern, int32_t process,
                  uint64_t number)
{
    if (!pattern->nonblocking) {
        add_receives(row, pattern, process, number, SG_STEP_RECV);
        add_compute(row, pattern, process, number);
        add_sends(row, pattern, process, number, SG_STEP_SEND);
        return;
    }
    if (number == 0)
        add_receives(row, pattern, process, number, SG_STEP_IRECV);
    add(row, SG_STEP_WAITALL);
    if (number + 1 < pattern->steps)
        add_receives(row, pattern, process, number + 1, SG_STEP_IRECV);
    add_compute(row, pattern, process, number);
    add_sends(row, pattern, process, number, SG_STEP_ISEND);
    if (number + 1 == pattern->steps)
        add(row, SG_STEP_WAITALL);
}

/* ---- sage */

/* Returns true if call `number` is one of `count` that are spread evenly over all calls. */
static bool is_one_of(uint64_t number, uint32_t count)
{
    return (number + 1) * count / SAGE_CALLS != number * count / SAGE_CALLS;
}

static void sage(struct row *row, const struct sg_pattern *pattern, int32_t process,
                 uint64_t number)
{
    bool waits = is_one_of(number, SAGE_WAITALLS);
    bool broadcasts = !waits && is_one_of(number, SAGE_BROADCASTS);

    if (waits)
        add_exchange_posts(row, pattern, process);
    add_compute(row, pattern, process, number);
    if (waits)
        add(row, SG_STEP_WAITALL);
    else
        add_collective(row, process, broadcasts ? SG_OPERATION_BCAST : SG_OPERATION_ALLREDUCE,
                       REDUCED_BYTES);
}

/* ---- all patterns */

static void barrier(struct row *row, const struct sg_pattern *pattern, int32_t process,
                    uint64_t number)
{
    add_compute(row, pattern, process, number);
    add_collective(row, process, pattern->operation,
                   pattern->operation == SG_OPERATION_BARRIER ? 0 : pattern->bytes);
}

typedef void (*filler)(struct row *row, const struct sg_pattern *pattern, int32_t process,
                       uint64_t number);

static const filler fillers[SG_PATTERNS] = {barrier, exchange, sweep, sage};

/* An index is the pattern's step times ROW_MAX plus the position in the step's row. */
#define ROW_MAX 16u

static void step_of(const struct sg_program *program, int32_t process, uint64_t index,
                    struct sg_step *out)
{
    const struct sg_pattern *pattern = program->context;
    uint64_t number = index / ROW_MAX, place = index % ROW_MAX;
    struct row row = {.count = 0};

    if (number >= pattern->steps)
        return;
    fillers[pattern->kind](&row, pattern, process, number);
    *out = place < row.count ? row.list[place] : (struct sg_step){.kind = SG_STEP_COMPUTE};
}

void sg_pattern_make(struct sg_pattern *pattern)
{
    pattern->world = (struct sg_program_comm){pattern->processes, NULL};
    pattern->program = (struct sg_program){.processes = pattern->processes,
                                           .comms = &pattern->world,
                                           .comm_count = 1,
                                           .context = pattern,
                                           .step = step_of};
}

/* ---- collectives as rounds of messages */

/* In each round rank r sends to r + 2^round and receives from r - 2^round. */
static bool rounds_barrier(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t by;

    if (round >= sg_tree_levels(call->size))
        return false;
    by = (int32_t)1 << round;
    out->to = (call->rank + by) % call->size;
    out->from = (call->rank - by + call->size) % call->size;
    return true;
}

/* Recursive doubling. With `rest` ranks beyond a power of two, the even ones of the first 2 * rest
 * ranks are folded into their neighbours first, and receive the result from them at the end. */
static bool allreduce(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t power = sg_tree_power(call->size), rest = call->size - power;
    int levels = sg_tree_levels(power);
    bool folded = call->rank < 2 * rest && call->rank % 2 == 0;
    bool folds = call->rank < 2 * rest && call->rank % 2 == 1;
    int32_t position, partner;

    if (round > levels + 1)
        return false;
    if (round == 0 || round == levels + 1) {
        bool first = round == 0;

        if (folded)
            *(first ? &out->to : &out->from) = call->rank + 1;
        if (folds)
            *(first ? &out->from : &out->to) = call->rank - 1;
        out->folds = folds && first;
        return true;
    }
    if (folded)
        return true;
    position = folds ? call->rank / 2 : call->rank - rest;
    partner = position ^ (int32_t)1 << (round - 1);
    out->to = out->from = partner < rest ? 2 * partner + 1 : partner + rest;
    out->folds = true;
    return true;
}

static bool reduce(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t relative = sg_tree_relative(call->rank, call->root, call->size);
    int32_t bit = (int32_t)1 << round;

    if (round >= sg_tree_levels(call->size) || relative & (bit - 1))
        return false;
    if (relative & bit) {
        out->to = sg_tree_absolute(relative - bit, call->root, call->size);
    } else if (relative + bit < call->size) {
        out->from = sg_tree_absolute(relative + bit, call->root, call->size);
        out->folds = true;
    }
    return true;
}

/* Round 0 receives; the later rounds send, to the largest subtree first. */
static bool broadcast(const struct sg_round_call *call, int round, struct sg_round *out)
{
    int32_t relative = sg_tree_relative(call->rank, call->root, call->size);
    int levels = relative == 0 ? sg_tree_levels(call->size) : __builtin_ctz((unsigned)relative);
    int32_t bit;

    if (round > levels)
        return false;
    if (round == 0) {
        if (relative > 0)
            out->from = sg_tree_absolute(relative & (relative - 1), call->root, call->size);
        return true;
    }
    bit = (int32_t)1 << (levels - round);
    if (relative + bit < call->size)
        out->to = sg_tree_absolute(relative + bit, call->root, call->size);
    return true;
}

bool sg_round_of(const struct sg_round_call *call, int round, struct sg_round *out)
{
    *out = (struct sg_round){-1, -1, false};
    switch (call->operation) {
    case SG_OPERATION_REDUCE:
        return reduce(call, round, out);
    case SG_OPERATION_ALLREDUCE:
        return allreduce(call, round, out);
    case SG_OPERATION_BCAST:
        return broadcast(call, round, out);
    default:
        return rounds_barrier(call, round, out);
    }
}
