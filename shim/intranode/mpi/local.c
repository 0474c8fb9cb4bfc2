#include "intranode/mpi/local.h"

#include "core/hash.h"
#include "intranode/memory.h"
#include "intranode/mpi/local_parts.h"
#include "intranode/mpi/pool.h"
#include "intranode/reading.h"
#include "mpi/real.h"
#include "mpi/report.h"
#include "wait/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define SLOT_BYTES 4096u
/* The first wait is this many polls: a peer that comes at the same time needs no ladder. */
#define FIRST_POLLS 64

struct sg_local {
    struct sg_node node;
    struct sg_wait_bed bed;
    struct sg_user_fold user;
    void *segment;
    size_t segment_bytes;
    bool is_maker;
    struct sg_pool_rank **pool; /* by rank; NULL: none */
    struct sg_node_reader reader;
    int *processes; /* by rank; NULL: cannot be read */
    _Alignas(64) unsigned char scratch[SLOT_BYTES];
};

static uint32_t ring_depth = 8;
static uint64_t stall_ns;

void sg_local_start(uint32_t depth, int stall_s)
{
    ring_depth = depth;
    stall_ns = (uint64_t)stall_s * UINT64_C(1000000000);
}

struct sg_node *sg_local_node(struct sg_local *local)
{
    return &local->node;
}

struct sg_user_fold *sg_local_user_fold(struct sg_local *local)
{
    return &local->user;
}

/* Takes the segment over; frees it on failure. */
static enum sg_status attach(void *segment, size_t size_bytes, int rank, uint64_t nonce,
                             struct sg_local **out)
{
    struct sg_local *local = aligned_alloc(64, (sizeof *local + 63) / 64 * 64);

    if (local == NULL || !sg_node_attach(&local->node, segment, rank, nonce)) {
        free(local);
        sg_memory_free(segment, size_bytes, rank == 0);
        errno = local == NULL ? ENOMEM : EBADF;
        return SG_ERR_SYSTEM;
    }
    local->pool = NULL;
    local->processes = NULL;
    local->is_maker = rank == 0;
    local->segment = segment;
    local->segment_bytes = size_bytes;
    local->bed.sleepers = &local->node.header->sleepers;
    local->bed.wake = &local->node.header->wake;
    local->user.scratch = local->scratch;
    local->user.scratch_bytes = sizeof local->scratch;
    *out = local;
    return SG_OK;
}

enum sg_status sg_local_offer(const char *name, int ranks, struct sg_local **out,
                              struct sg_segment_ticket *ticket)
{
    size_t size_bytes = sg_node_bytes(ranks, ring_depth, SLOT_BYTES);
    void *segment;
    enum sg_status status = sg_memory_create(size_bytes, name, &segment, ticket);

    if (status != SG_OK)
        return status;
    sg_node_format(segment, ranks, ring_depth, SLOT_BYTES, ticket->nonce);
    status = attach(segment, size_bytes, 0, ticket->nonce, out);
    if (status != SG_OK)
        sg_segment_seal(ticket);
    return status;
}

enum sg_status sg_local_accept(const struct sg_segment_ticket *ticket, int rank,
                               struct sg_local **out)
{
    void *segment;
    enum sg_status status = sg_segment_open(ticket, &segment);

    return status != SG_OK ? status : attach(segment, ticket->size_bytes, rank, ticket->nonce, out);
}

static bool read_process(void *context, int rank, uint64_t address, void *to, size_t size_bytes)
{
    struct sg_local *local = context;
    struct iovec here = {to, size_bytes};
    struct iovec there = {(void *)(uintptr_t)address, size_bytes};

    while (here.iov_len > 0) {
        ssize_t got = process_vm_readv(local->processes[rank], &here, 1, &there, 1, 0);

        if (got <= 0)
            return false;
        here.iov_base = (char *)here.iov_base + got;
        there.iov_base = (char *)there.iov_base + got;
        here.iov_len -= (size_t)got;
        there.iov_len = here.iov_len;
    }
    return true;
}

static bool use_reader(struct sg_local *local, const int *world_ranks)
{
    size_t ranks = (size_t)local->node.ranks;

    local->processes = malloc(ranks * sizeof *local->processes);
    local->reader.scratch = sg_reading_scratch();
    if (local->processes == NULL || local->reader.scratch == NULL)
        return false;
    for (size_t rank = 0; rank < ranks; rank++)
        local->processes[rank] = sg_reading_process_of(world_ranks[rank]);
    local->reader.read = read_process;
    local->reader.context = local;
    local->node.reader = &local->reader;
    return true;
}

bool sg_local_use_pool(struct sg_local *local, const int *world_ranks)
{
    int ranks = local->node.ranks;

    if (sg_pool_of(world_ranks[0]) == NULL)
        return true;
    local->pool = calloc((size_t)ranks, sizeof *local->pool);
    if (local->pool == NULL)
        return false;
    for (int rank = 0; rank < ranks; rank++)
        local->pool[rank] = sg_pool_of(world_ranks[rank]);
    local->node.pool = local->pool;
    return sg_reading_process_of(world_ranks[0]) == 0 || use_reader(local, world_ranks);
}

void sg_local_seal(const struct sg_segment_ticket *ticket)
{
    sg_segment_seal(ticket);
}

void sg_local_free(struct sg_local *local)
{
    sg_memory_free(local->segment, local->segment_bytes, local->is_maker);
    free(local->pool);
    free(local->processes);
    free(local);
}

/* A wait under way, for the ladder. */
struct waiting {
    struct sg_local *local;
    const struct sg_call *call;
    struct sg_node_op *op; /* NULL: waits for a slot to choose in */
    enum sg_node_step step;
    struct sg_wait wait;
    bool reported;
};

static bool op_is_ready(void *context)
{
    struct waiting *waiting = context;

    waiting->step = sg_node_poll(waiting->op);
    return waiting->step != SG_NODE_WAIT;
}

/* What a wait that takes long is looked at for. */
static void look(struct waiting *waiting)
{
    struct sg_node_op *op = waiting->op;
    uint64_t position = waiting->local->node.position;

    if (op != NULL && sg_node_disagrees(op))
        sg_local_report_mismatch(waiting->local, waiting->call, op->position, op->mismatch_rank);
    if (stall_ns > 0 && !waiting->reported && sg_wait_elapsed_ns(&waiting->wait) > stall_ns) {
        waiting->reported = true;
        sg_local_report_stall(waiting->local, waiting->call, position,
                              (int)(stall_ns / UINT64_C(1000000000)));
    }
}

/* Polls until done. The first poll has published this rank's part, so it also wakes sleepers. */
static void complete(struct sg_local *local, const struct sg_call *call, struct sg_node_op *op)
{
    struct waiting waiting = {.local = local, .call = call, .op = op};

    for (int i = 0; i < FIRST_POLLS; i++) {
        waiting.step = sg_node_poll(op);
        if (i == 0 || waiting.step != SG_NODE_WAIT)
            sg_wait_wake(&local->bed);
        if (waiting.step != SG_NODE_WAIT)
            break;
        __builtin_ia32_pause();
    }
    while (waiting.step == SG_NODE_WAIT) {
        uint64_t position = op->position;
        uint32_t state = op->state;

        bool slow = sg_wait_step(&waiting.wait, &local->bed, op_is_ready, &waiting);

        if (waiting.step == SG_NODE_WAIT)
            waiting.step = sg_node_poll(op);
        if (slow && waiting.step == SG_NODE_WAIT)
            look(&waiting);
        if (waiting.step != SG_NODE_WAIT || op->position != position || op->state != state)
            sg_wait_wake(&local->bed);
    }
    if (waiting.step == SG_NODE_MISMATCH)
        sg_local_report_mismatch(local, call, op->position, op->mismatch_rank);
}

static void name_site(struct sg_node_call *node_call, const struct sg_call *call)
{
    if (call->site == NULL)
        return;
    node_call->site = call->site->id;
    node_call->site_offset = call->site->offset;
    node_call->site_module = call->site->module;
}

/* MPI_Reduce_local has told the error handler of MPI_COMM_WORLD; MPICH's own collective would tell
 * that of its communicator, and return the error on the rank where it came up. */
static int give_error(const struct sg_call *call, int error)
{
    if (call->comm != MPI_COMM_WORLD)
        sg_real.Comm_call_errhandler(call->comm, error);
    return error;
}

int sg_local_run(struct sg_local *local, const struct sg_call *call,
                 const struct sg_local_plan *plan, enum sg_node_method method,
                 struct sg_outcome *outcome)
{
    struct sg_node_op op;
    struct sg_node_call node_call = {
        .operation = call->operation,
        .method = method,
        .shape = plan->shape,
        .root = call->root,
        .send = plan->own,
        .receive = plan->result,
        .count = (size_t)call->count,
        .element_bytes = plan->element_bytes,
        .copy = plan->copy,
        .fold = plan->fold,
        .fold_context = plan->fold_context,
        .arrival_ns = call->arrival_ns,
        .algorithm = (uint8_t)sg_ran_algorithm(outcome->ran),
    };

    name_site(&node_call, call);
    local->user.error = MPI_SUCCESS;
    if (method == SG_NODE_SINGLE)
        sg_reading_open();
    sg_node_begin(&op, &local->node, &node_call);
    complete(local, call, &op);
    outcome->early = op.early;
    outcome->late = op.late;
    outcome->stalls = op.stalls;
    outcome->copies = op.copies;
    outcome->skew_known = op.skew_known;
    outcome->skew_ns = op.skew_ns;
    return local->user.error == MPI_SUCCESS ? MPI_SUCCESS : give_error(call, local->user.error);
}

static void fold_any(void *context, const void *left, const void *right, void *out, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)out)[i] =
            ((const unsigned char *)left)[i] | ((const unsigned char *)right)[i];
}

bool sg_local_any(struct sg_local *local, const struct sg_call *call, bool own)
{
    unsigned char mine = own, any = own;
    struct sg_node_op op;
    struct sg_node_call node_call = {
        .operation = SG_OPERATION_ALLREDUCE,
        .method = SG_NODE_HANDOFF,
        .shape = {SG_SHAPE_DOUBLING, local->node.ranks, 0},
        .root = -1,
        .send = &mine,
        .receive = &any,
        .count = 1,
        .element_bytes = 1,
        .fold = fold_any,
        .algorithm = SG_ALGORITHM_HANDOFF,
    };

    name_site(&node_call, call);
    sg_node_begin(&op, &local->node, &node_call);
    complete(local, call, &op);
    return any;
}

struct choosing {
    struct sg_node *node;
    uint32_t choice, chosen;
    int chooser;
    bool done;
};

static bool choose(void *context)
{
    struct choosing *choosing = context;

    choosing->done = choosing->done || sg_node_choose(choosing->node, choosing->choice,
                                                      &choosing->chosen, &choosing->chooser);
    return choosing->done;
}

const struct sg_choice *sg_local_agree(struct sg_local *local, const struct sg_call *call,
                                       const struct sg_choice *own)
{
    struct choosing choosing = {.node = &local->node,
                                .choice = (uint32_t)sg_ruleset_index(call->rules, own)};
    struct waiting waiting = {.local = local, .call = call};
    const struct sg_choice *choice;

    while (!choose(&choosing)) {
        if (sg_wait_step(&waiting.wait, &local->bed, choose, &choosing))
            look(&waiting);
    }
    choice = sg_ruleset_choice(call->rules, (int)choosing.chosen);
    sg_report_choice(local->node.header->warned, call, local->node.rank, own->algorithm,
                     choice->algorithm, choosing.chooser);
    return choice;
}

void sg_local_skip(struct sg_local *local)
{
    sg_node_skip(&local->node);
}
