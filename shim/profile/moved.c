/* Finds the positions of arguments once, and computes bytes and peers from them (moved.h), by the
 * function's flow.
 */
#include "profile/moved.h"

#include "mpi/operands.h"

#include <stdlib.h>

struct sg_argument_places sg_places[SG_FUNCTION_COUNT];

/* Returns the nth argument of either kind. */
static int8_t nth(const struct sg_function_facts *facts, enum sg_function_argument one,
                  enum sg_function_argument other, int n)
{
    for (int word = 0; word < facts->words; word++) {
        if ((facts->arguments[word] == one || facts->arguments[word] == other) && n-- == 0)
            return (int8_t)word;
    }
    return SG_NO_WORD;
}

static struct sg_operand_places operand_of(const struct sg_function_facts *facts, int n)
{
    return (struct sg_operand_places){
        nth(facts, SG_ARGUMENT_BUFFER, SG_ARGUMENT_BUFFER, n),
        nth(facts, SG_ARGUMENT_COUNT, SG_ARGUMENT_COUNTS, n),
        nth(facts, SG_ARGUMENT_TYPE, SG_ARGUMENT_TYPES, n),
    };
}

void sg_places_find(void)
{
    for (int function = 0; function < SG_FUNCTION_COUNT; function++) {
        const struct sg_function_facts *facts = &sg_functions[function];
        struct sg_argument_places *places = &sg_places[function];

#define FIRST(argument) nth(facts, SG_ARGUMENT_##argument, SG_ARGUMENT_##argument, 0)
        places->operands[0] = operand_of(facts, 0);
        places->operands[1] = operand_of(facts, 1);
        if (places->operands[1].amount == SG_NO_WORD)
            places->operands[1] = places->operands[0];
        places->parts = FIRST(PARTS);
        places->root = FIRST(ROOT);
        places->comm = FIRST(COMM);
        places->status = FIRST(STATUS);
        places->statuses = FIRST(STATUSES);
        places->handle = FIRST(HANDLE);
        places->flag = FIRST(FLAG);
        places->index = FIRST(INDEX);
        places->done = FIRST(DONE);
        places->indices = FIRST(INDICES);
        places->message = FIRST(MESSAGE);
        places->made = facts->class == SG_CLASS_COMMUNICATOR ? FIRST(NEW) : SG_NO_WORD;
        places->request = FIRST(REQUEST);
        places->requests = FIRST(REQUESTS);
        places->number = FIRST(NUMBER);
        places->win = FIRST(WIN);
        places->lock = FIRST(LOCK);
        places->group = FIRST(GROUP);
        places->op = facts->class == SG_CLASS_ONE_SIDED ? FIRST(OP) : SG_NO_WORD;
        places->made_win = facts->class == SG_CLASS_WINDOW ? FIRST(NEW) : SG_NO_WORD;
        places->file = FIRST(SHARED);
        places->made_file = facts->class == SG_CLASS_FILE ? FIRST(NEW) : SG_NO_WORD;
        for (int n = 0; n < 2; n++) {
            places->peers[n] = nth(facts, SG_ARGUMENT_PEER, SG_ARGUMENT_PEER, n);
            places->tags[n] = nth(facts, SG_ARGUMENT_TAG, SG_ARGUMENT_TAG, n);
        }
#undef FIRST
    }
}

/* ---- operands ---- */

static uint64_t type_bytes(MPI_Datatype type)
{
    MPI_Count size;

    if (sg_type_is_builtin(type))
        return sg_type_builtin_bytes(type);
    return type != MPI_DATATYPE_NULL && sg_real.Type_size_x(type, &size) == MPI_SUCCESS && size > 0
               ? (uint64_t)size
               : 0;
}

/* A call's operand. */
struct operand {
    const struct sg_function_facts *facts;
    const sg_word *words;
    struct sg_operand_places places;
};

static uint64_t not_negative(MPI_Count count)
{
    return count > 0 ? (uint64_t)count : 0;
}

/* Returns the bytes of the block for, or from, one rank. */
static uint64_t block_bytes(const struct operand *operand, int rank)
{
    sg_word amount = operand->words[operand->places.amount];
    sg_word type = operand->words[operand->places.type];
    MPI_Count count;

    if (operand->facts->arguments[operand->places.amount] == SG_ARGUMENT_COUNT)
        count = operand->facts->counts_wide ? (MPI_Count)amount : (int)amount;
    else if (amount == 0)
        count = 0;
    else
        count = operand->facts->counts_wide ? ((const MPI_Count *)amount)[rank]
                                            : ((const int *)amount)[rank];
    if (count <= 0)
        return 0;
    return not_negative(count) *
           type_bytes(operand->facts->arguments[operand->places.type] == SG_ARGUMENT_TYPE
                          ? (MPI_Datatype)type
                          : ((const MPI_Datatype *)type)[rank]);
}

static uint64_t all_bytes(const struct operand *operand, int ranks)
{
    uint64_t sum = 0;

    if (operand->facts->arguments[operand->places.amount] == SG_ARGUMENT_COUNT)
        return ranks > 0 ? (uint64_t)ranks * block_bytes(operand, 0) : 0;
    for (int rank = 0; rank < ranks; rank++)
        sum += block_bytes(operand, rank);
    return sum;
}

static bool is_in_place(const struct operand *operand)
{
    return operand->words[operand->places.buffer] == (sg_word)MPI_IN_PLACE;
}

/* ---- calls ---- */

struct call {
    const sg_word *words;
    const struct sg_argument_places *places;
    const struct sg_profile_comm *comm;
    struct operand sent, received;
    bool is_root; /* root of a collective */
    bool is_peer; /* root is in the other group, or in a communicator of one group */
};

static void find_root(struct call *call)
{
    int root =
        call->places->root == SG_NO_WORD ? MPI_PROC_NULL : (int)call->words[call->places->root];

    call->is_root = call->comm->is_inter ? root == MPI_ROOT : root == call->comm->rank;
    call->is_peer = root >= 0;
}

static void gather(const struct call *call, struct sg_moved *moved)
{
    if (call->is_root)
        moved->received_bytes = all_bytes(&call->received, call->comm->peers);
    if (call->is_peer)
        moved->sent_bytes = is_in_place(&call->sent)
                                ? block_bytes(&call->received, call->comm->rank)
                                : block_bytes(&call->sent, 0);
}

static void scatter(const struct call *call, struct sg_moved *moved)
{
    if (call->is_root)
        moved->sent_bytes = all_bytes(&call->sent, call->comm->peers);
    if (call->is_peer)
        moved->received_bytes = is_in_place(&call->received)
                                    ? block_bytes(&call->sent, call->comm->rank)
                                    : block_bytes(&call->received, 0);
}

static void collective(enum sg_function_flow flow, struct call *call, struct sg_moved *moved)
{
    const struct sg_profile_comm *comm = call->comm;

    find_root(call);
    switch (flow) {
    case SG_FLOW_BCAST:
        moved->sent_bytes = call->is_root ? block_bytes(&call->sent, 0) : 0;
        moved->received_bytes =
            !call->is_root && call->is_peer ? block_bytes(&call->received, 0) : 0;
        break;
    case SG_FLOW_GATHER:
        gather(call, moved);
        break;
    case SG_FLOW_SCATTER:
        scatter(call, moved);
        break;
    case SG_FLOW_ALLGATHER:
        moved->sent_bytes = is_in_place(&call->sent) ? block_bytes(&call->received, comm->rank)
                                                     : block_bytes(&call->sent, 0);
        moved->received_bytes = all_bytes(&call->received, comm->peers);
        break;
    case SG_FLOW_ALLTOALL:
        moved->received_bytes = all_bytes(&call->received, comm->peers);
        moved->sent_bytes =
            is_in_place(&call->sent) ? moved->received_bytes : all_bytes(&call->sent, comm->peers);
        break;
    case SG_FLOW_REDUCE:
        moved->sent_bytes = call->is_peer ? block_bytes(&call->sent, 0) : 0;
        moved->received_bytes = call->is_root ? block_bytes(&call->received, 0) : 0;
        break;
    case SG_FLOW_ALLREDUCE:
        moved->sent_bytes = moved->received_bytes = block_bytes(&call->sent, 0);
        break;
    case SG_FLOW_REDUCE_SCATTER:
        moved->sent_bytes = all_bytes(&call->sent, comm->size);
        moved->received_bytes = block_bytes(&call->received, comm->rank);
        break;
    case SG_FLOW_NEIGHBOR_ALLGATHER:
        moved->sent_bytes = block_bytes(&call->sent, 0);
        moved->received_bytes = all_bytes(&call->received, comm->in_degree);
        break;
    case SG_FLOW_NEIGHBOR_ALLTOALL:
        moved->sent_bytes = all_bytes(&call->sent, comm->out_degree);
        moved->received_bytes = all_bytes(&call->received, comm->in_degree);
        break;
    default:
        break;
    }
}

/* Returns a message's peer, or its source from the status. */
static int peer_of(const struct call *call, int n, const MPI_Status *status)
{
    int word = call->places->peers[n];
    int peer = status != NULL ? status->MPI_SOURCE : word >= 0 ? (int)call->words[word] : SG_NOBODY;

    return peer >= 0 ? peer : SG_NOBODY;
}

static uint64_t parts_of(const struct call *call)
{
    return call->places->parts != SG_NO_WORD ? not_negative((int)call->words[call->places->parts])
                                             : 1;
}

static void message(const struct sg_function_facts *facts, struct call *call,
                    const MPI_Status *status, struct sg_moved *moved)
{
    bool is_message = facts->class == SG_CLASS_MESSAGE;

    if (facts->flow == SG_FLOW_SEND || facts->flow == SG_FLOW_EXCHANGE) {
        moved->to = is_message ? peer_of(call, 0, NULL) : SG_NOBODY;
        if (!is_message || moved->to != SG_NOBODY)
            moved->sent_bytes = parts_of(call) * block_bytes(&call->sent, 0);
    }
    if (facts->flow == SG_FLOW_SEND)
        return;
    if (status != NULL) {
        moved->from = is_message ? peer_of(call, 0, status) : SG_NOBODY;
        if (!is_message || moved->from != SG_NOBODY)
            moved->received_bytes = sg_moved_received_bytes(status);
    }
}

/* Nothing is moved if the target is MPI_PROC_NULL. */
static void one_sided(enum sg_function_flow flow, struct call *call, struct sg_moved *moved)
{
    moved->target = peer_of(call, 0, NULL);
    if (moved->target == SG_NOBODY)
        return;
    if (flow == SG_FLOW_ELEMENT) {
        moved->sent_bytes = moved->received_bytes =
            type_bytes((MPI_Datatype)call->words[call->places->operands[0].type]);
        return;
    }
    if (flow != SG_FLOW_RECEIVE)
        moved->sent_bytes = block_bytes(&call->sent, 0);
    if (flow != SG_FLOW_SEND)
        moved->received_bytes = block_bytes(&call->received, 0);
}

void sg_moved_by(struct sg_moved *moved, enum sg_function function, const sg_word *words,
                 const struct sg_profile_comm *comm, const MPI_Status *status)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_argument_places *places = &sg_places[function];
    struct call call;

    if (facts->flow == SG_FLOW_NONE)
        return;
    call = (struct call){.words = words,
                         .places = places,
                         .comm = comm,
                         .sent = {facts, words, places->operands[0]},
                         .received = {facts, words, places->operands[1]}};
    if (facts->class == SG_CLASS_ONE_SIDED)
        one_sided(facts->flow, &call, moved);
    else if (facts->class != SG_CLASS_COLLECTIVE)
        message(facts, &call, status, moved);
    else if (comm != NULL)
        collective(facts->flow, &call, moved);
}

static bool has_sources(const struct sg_function_facts *facts, const struct call *call)
{
    if (call->received.places.amount == SG_NO_WORD || call->comm == NULL || call->comm->is_inter ||
        call->comm->size > SG_SOURCES_MOST ||
        facts->arguments[call->received.places.amount] != SG_ARGUMENT_COUNTS)
        return false;
    return facts->flow == SG_FLOW_ALLGATHER || facts->flow == SG_FLOW_ALLTOALL ||
           (facts->flow == SG_FLOW_GATHER &&
            (int)call->words[call->places->root] == call->comm->rank);
}

int *sg_moved_sources(enum sg_function function, const sg_word *words,
                      const struct sg_profile_comm *comm, int *count)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_argument_places *places = &sg_places[function];
    const struct call call = {.words = words,
                              .places = places,
                              .comm = comm,
                              .received = {facts, words, places->operands[1]}};
    int *sources = NULL, found = 0, first_none = 0;

    if (!has_sources(facts, &call))
        return NULL;
    while (first_none < comm->size &&
           (first_none == comm->rank || block_bytes(&call.received, first_none) > 0))
        first_none++;
    if (first_none < comm->size)
        sources = malloc(2 * (size_t)comm->size * sizeof *sources);
    for (int rank = 0; rank < comm->size && sources != NULL; rank++) {
        if (rank == comm->rank || block_bytes(&call.received, rank) > 0)
            sources[found++] = rank;
    }
    *count = found;
    return sources;
}

uint64_t sg_moved_asked(enum sg_function function, const sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];
    const struct operand operand = {&sg_functions[function], words, places->operands[1]};
    uint64_t parts =
        places->parts != SG_NO_WORD ? not_negative((int)words[places->parts]) : UINT64_C(1);

    return places->operands[1].amount != SG_NO_WORD ? parts * block_bytes(&operand, 0) : 0;
}

void sg_moved_received(enum sg_function function, const MPI_Status *status, uint64_t *bytes,
                       int *from)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    if ((facts->flow != SG_FLOW_RECEIVE && facts->flow != SG_FLOW_EXCHANGE) ||
        facts->class == SG_CLASS_ONE_SIDED || facts->class == SG_CLASS_COLLECTIVE)
        return;
    /* MPICH's MPI_Isendrecv leaves the status unchanged. */
    if (facts->class == SG_CLASS_MESSAGE &&
        (status->MPI_SOURCE < 0 || facts->flow == SG_FLOW_EXCHANGE))
        return;
    *from = facts->class == SG_CLASS_MESSAGE ? status->MPI_SOURCE : SG_NOBODY;
    *bytes = sg_moved_received_bytes(status);
}
