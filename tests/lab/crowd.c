/* A transport of several endpoints for the contract tests (crowd.h). Each call goes to the
 * endpoint's own verbs transport; a call for another rank's endpoint is sent to that rank over MPI.
 */
#include "lab/crowd.h"

#include "lab/crowd_exchange.h"
#include "mpi/mpi_test.h"
#include "transport/payload.h"
#include "transport/world.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

enum { DATA_BYTES = 16384 };

static const struct sg_transport_ops *below;
static MPI_Comm comm; /* for calls; the exchange has its own */
static int own_rank, ranks;
static _Thread_local int last_self;

struct sg_transport {
    struct sg_transport_setup setup;
    size_t bytes;
    unsigned char *shared;
    struct sg_transport *inner[WORLD_ENDPOINTS]; /* NULL: elsewhere */
    struct sg_grouping by_endpoint, by_machine;  /* each endpoint is a rank of the exchange */
    struct sg_group_run turns[WORLD_ENDPOINTS];
};

/* ---- opening --------------------------------------------------------------------------------- */

static struct sg_transport_setup full(const struct sg_transport_setup *setup)
{
    struct sg_transport_setup result = *setup;

    result.here = (setup->endpoints + ranks - 1) / ranks;
    return result;
}

static size_t crowd_bytes(const struct sg_transport_setup *setup)
{
    struct sg_transport_setup all = full(setup);

    return setup->endpoints >= 1 && setup->endpoints <= WORLD_ENDPOINTS ? below->shared_bytes(&all)
                                                                        : 0;
}

/* An endpoint while it is opened. */
struct member {
    struct sg_transport *crowd;
    struct crowd_seat seat;
    struct sg_exchange exchange;
    enum sg_status status;
};

static void *open_one(void *argument)
{
    struct member *member = argument;
    struct sg_transport *crowd = member->crowd, **inner = &crowd->inner[member->seat.endpoint];
    struct sg_transport_location place = {.exchange = &member->exchange,
                                          .ranks = &crowd->by_endpoint,
                                          .machines = &crowd->by_machine,
                                          .servers_max = 1,
                                          .memory = crowd->shared,
                                          .memory_bytes = crowd->bytes + WORLD_REGION_BYTES,
                                          .self = member->seat.endpoint,
                                          .index = member->seat.endpoint / ranks,
                                          .servers = 1,
                                          .adds = true};
    struct sg_transport_setup setup = crowd->setup;
    int32_t all[WORLD_ENDPOINTS];

    setup.location = &place;
    for (int i = 0; i < setup.endpoints; i++)
        all[i] = i;
    member->status = below->open(&setup, crowd->shared, inner);
    if (member->status == SG_OK)
        member->status = below->remote->connect(*inner, all, setup.endpoints);
    return NULL;
}

static void close_here(struct sg_transport *crowd)
{
    for (int i = 0; i < crowd->setup.endpoints; i++) {
        if (crowd->inner[i] != NULL)
            below->close(crowd->inner[i]);
    }
    free(crowd);
}

/* Endpoints are dealt out among the hosts. */
static void place_endpoints(struct sg_transport *crowd)
{
    static const struct sg_group_run alone = {.width = 1};
    int endpoints = crowd->setup.endpoints, turns = 0;

    for (int first = 0; first < endpoints; first += ranks, turns++)
        crowd->turns[turns] = (struct sg_group_run){first, 0, turns, 1, turns == 0 ? 0 : ranks};
    crowd->by_endpoint = (struct sg_grouping){
        .items = endpoints, .groups = endpoints, .most = 1, .run_count = 1, .runs = &alone};
    crowd->by_machine = (struct sg_grouping){.items = endpoints,
                                             .groups = ranks,
                                             .most = turns,
                                             .run_count = turns,
                                             .runs = crowd->turns};
}

static struct sg_transport *open_here(const struct sg_transport_setup *setup, void *shared)
{
    struct sg_transport *crowd = calloc(1, sizeof *crowd);
    struct member members[WORLD_ENDPOINTS];
    pthread_t threads[WORLD_ENDPOINTS];
    unsigned here = 0;
    bool ok = true;

    REQUIRE(crowd != NULL);
    crowd->setup = full(setup);
    crowd->bytes = crowd_bytes(setup);
    crowd->shared = shared;
    place_endpoints(crowd);
    for (int i = own_rank; i < setup->endpoints; i += ranks)
        here++;
    crowd_exchange_open(here);
    for (int i = own_rank; i < setup->endpoints; i += ranks) {
        members[i] = (struct member){.crowd = crowd, .seat = {i, setup->endpoints}};
        crowd_exchange_of(&members[i].seat, &members[i].exchange);
        REQUIRE(pthread_create(&threads[i], NULL, open_one, &members[i]) == 0);
    }
    for (int i = own_rank; i < setup->endpoints; i += ranks) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        ok = ok && members[i].status == SG_OK;
    }
    crowd_exchange_close();
    if (ok)
        return crowd;
    close_here(crowd);
    return NULL;
}

/* ---- calls for other ranks ------------------------------------------------------------------- */

enum call_kind { OPEN, CLOSE, SEND, RECEIVE, RELEASE, ACCESS, PENDING, SETTLED, STOP };

struct call {
    enum call_kind kind;
    int self, to;
    struct sg_transport_setup setup;
    struct sg_transport_send send;
    struct sg_action action;
    struct sg_transport_region region; /* its pointers are offsets in the memory */
    struct sg_transport_message message;
    int result;
    uint64_t value[8];
    unsigned char data[DATA_BYTES];
};

static void say(struct call *call, int to)
{
    MUST(MPI_Send(call, sizeof *call, MPI_BYTE, to, 0, comm));
}

static void hear(struct call *call, int from)
{
    MUST(MPI_Recv(call, sizeof *call, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE));
}

static int ask(struct call *call, int rank)
{
    say(call, rank);
    hear(call, rank);
    return call->result;
}

static struct call new_call(enum call_kind kind, int self)
{
    return (struct call){.kind = kind, .self = self};
}

/* A message of another rank, until it is released: what the transport there gave. */
struct held {
    struct sg_transport_message message;
    unsigned char payload[];
};

static struct sg_transport_message keep(const struct call *call)
{
    size_t bytes = sg_transport_payload_bytes(&call->message.message.header);
    struct held *held = malloc(sizeof *held + bytes);
    struct sg_transport_message message = call->message;

    REQUIRE(held != NULL && sizeof *held % 16 == 0);
    held->message = call->message;
    memcpy(held->payload, call->data, bytes);
    message.parts = held->payload;
    message.handle = (uintptr_t)held;
    return message;
}

/* ---- what other ranks do --------------------------------------------------------------------- */

static struct sg_transport *served;

static void serve_open(struct call *call)
{
    size_t bytes = crowd_bytes(&call->setup) + WORLD_REGION_BYTES;
    void *shared = served != NULL ? served->shared
                                  : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    REQUIRE(shared != MAP_FAILED);
    struct sg_transport *crowd = open_here(&call->setup, shared);
    call->result = crowd != NULL;
    served = crowd != NULL ? crowd : served;
}

static void serve_close(void)
{
    void *shared = served->shared;
    size_t bytes = served->bytes + WORLD_REGION_BYTES;

    close_here(served);
    served = NULL;
    REQUIRE(munmap(shared, bytes) == 0);
}

static void serve_send(struct call *call)
{
    const void *parts[SG_PARTS_MAX];

    for (int i = 0; i < call->send.header.parts; i++)
        parts[i] = call->data + (size_t)i * sg_transport_stride(&call->send.header);
    call->send.parts = parts;
    call->result = (int)below->send(served->inner[call->self], call->self, call->to, &call->send);
}

static void serve_receive(struct call *call)
{
    call->result = below->receive(served->inner[call->self], call->self, &call->message);
    if (call->result && !call->message.is_reply && call->message.parts != NULL)
        memcpy(call->data, call->message.parts,
               sg_transport_payload_bytes(&call->message.message.header));
}

/* Buffer of a read that does not complete at once, in use until its reply arrives. */
static unsigned char serve_local[DATA_BYTES];

static void serve_access(struct call *call)
{
    struct sg_transport_region region = call->region;

    region.slots = served->shared + (uintptr_t)region.slots;
    region.cells = (_Atomic uint64_t *)(void *)(served->shared + (uintptr_t)region.cells);
    memcpy(serve_local, call->data, sizeof serve_local);
    call->result = (int)below->access(served->inner[call->self], call->self, &call->action, &region,
                                      serve_local, call->value);
}

void crowd_serve(void)
{
    static struct call call;

    for (;;) {
        hear(&call, 0);
        switch (call.kind) {
        case OPEN:
            serve_open(&call);
            break;
        case CLOSE:
            serve_close();
            break;
        case SEND:
            serve_send(&call);
            break;
        case RECEIVE:
            serve_receive(&call);
            if (call.result && call.message.is_reply)
                memcpy(call.data, serve_local, sizeof serve_local);
            break;
        case RELEASE:
            below->release(served->inner[call.self], call.self, &call.message);
            break;
        case ACCESS:
            serve_access(&call);
            break;
        case PENDING:
            call.result = below->pending(served->inner[call.self], call.self);
            break;
        case SETTLED:
            call.result = below->remote->settled(served->inner[call.self]);
            break;
        case STOP:
            return;
        }
        say(&call, 0);
    }
}

/* ---- the transport --------------------------------------------------------------------------- */

static enum sg_status crowd_open(const struct sg_transport_setup *setup, void *shared,
                                 struct sg_transport **out)
{
    static struct call call;

    if (crowd_bytes(setup) == 0) {
        errno = EINVAL;
        return SG_ERR_ARGUMENT;
    }
    call = new_call(OPEN, 0);
    call.setup = *setup;
    for (int rank = 1; rank < ranks; rank++)
        say(&call, rank);
    struct sg_transport *crowd = open_here(setup, shared);
    for (int rank = 1; rank < ranks; rank++) {
        hear(&call, rank);
        REQUIRE(call.result == (crowd != NULL)); /* on all or on none */
    }
    if (crowd == NULL)
        return SG_ERR_SYSTEM;
    *out = crowd;
    return SG_OK;
}

static void crowd_close(struct sg_transport *crowd)
{
    static struct call call;

    call = new_call(CLOSE, 0);
    for (int rank = 1; rank < ranks; rank++)
        ask(&call, rank);
    close_here(crowd);
}

static enum sg_transport_result crowd_send(struct sg_transport *crowd, int self, int to,
                                           const struct sg_transport_send *send)
{
    static struct call call;

    if (crowd->inner[self] != NULL)
        return below->send(crowd->inner[self], self, to, send);
    call = new_call(SEND, self);
    call.to = to;
    call.send = *send;
    sg_transport_gather(send, call.data);
    return (enum sg_transport_result)ask(&call, crowd_rank_of(self));
}

static void *read_into; /* by the access of another rank whose reply is to come */
static uint32_t read_bytes;

static bool crowd_receive(struct sg_transport *crowd, int self, struct sg_transport_message *out)
{
    static struct call call;
    struct sg_transport_fault fault;

    if (crowd->inner[self] != NULL) {
        if (below->remote->fault(crowd->inner[self], &fault))
            fprintf(stderr, "endpoint %d, to %d: %s\n", self, fault.peer, fault.what);
        REQUIRE(!below->remote->fault(crowd->inner[self], &fault));
        return below->receive(crowd->inner[self], self, out);
    }
    call = new_call(RECEIVE, self);
    if (!ask(&call, crowd_rank_of(self)))
        return false;
    if (call.message.is_reply) {
        memcpy(read_into, call.data, read_bytes);
        read_bytes = 0;
        *out = call.message;
    } else {
        *out = keep(&call);
    }
    return true;
}

static void crowd_release(struct sg_transport *crowd, int self,
                          const struct sg_transport_message *message)
{
    static struct call call;
    struct held *held;

    if (crowd->inner[self] != NULL) {
        below->release(crowd->inner[self], self, message);
        return;
    }
    held = (struct held *)(uintptr_t)message->handle;
    call = new_call(RELEASE, self);
    call.message = held->message;
    ask(&call, crowd_rank_of(self));
    free(held);
}

static enum sg_transport_result crowd_access(struct sg_transport *crowd, int self,
                                             const struct sg_action *action,
                                             const struct sg_transport_region *region, void *local,
                                             uint64_t value[8])
{
    static struct call call;

    last_self = self;
    if (crowd->inner[self] != NULL)
        return below->access(crowd->inner[self], self, action, region, local, value);
    call = new_call(ACCESS, self);
    call.action = *action;
    call.region = *region;
    call.region.slots = (void *)(uintptr_t)((unsigned char *)region->slots - crowd->shared);
    call.region.cells =
        (_Atomic uint64_t *)(uintptr_t)((unsigned char *)region->cells - crowd->shared);
    if (action->kind == SG_ACTION_WRITE)
        memcpy(call.data, local, action->access.bytes);
    read_into = local;
    read_bytes = action->kind == SG_ACTION_READ ? action->access.bytes : 0;
    return (enum sg_transport_result)ask(&call, crowd_rank_of(self));
}

static bool crowd_pending(const struct sg_transport *crowd, int self)
{
    static struct call call;

    if (crowd->inner[self] != NULL)
        return below->pending(crowd->inner[self], self);
    call = new_call(PENDING, self);
    return ask(&call, crowd_rank_of(self)) != 0;
}

static bool crowd_settled(struct sg_transport *crowd)
{
    static struct call call;

    if (crowd->inner[last_self] != NULL)
        return below->remote->settled(crowd->inner[last_self]);
    call = new_call(SETTLED, last_self);
    return ask(&call, crowd_rank_of(last_self)) != 0;
}

static const struct sg_transport_remote_ops wire = {.settled = crowd_settled};

const struct sg_transport_ops crowd_verbs = {
    .name = "verbs",
    .capabilities = SG_TRANSPORT_ONE_SIDED,
    .remote = &wire,
    .shared_bytes = crowd_bytes,
    .open = crowd_open,
    .close = crowd_close,
    .send = crowd_send,
    .receive = crowd_receive,
    .release = crowd_release,
    .access = crowd_access,
    .pending = crowd_pending,
};

void crowd_start(const struct sg_transport_ops *verbs)
{
    below = verbs;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    crowd_exchange_start();
    MUST(MPI_Comm_rank(comm, &own_rank));
    MUST(MPI_Comm_size(comm, &ranks));
}

void crowd_stop(void)
{
    static struct call call;

    call = new_call(STOP, 0);
    for (int rank = 1; rank < ranks; rank++)
        say(&call, rank);
}
