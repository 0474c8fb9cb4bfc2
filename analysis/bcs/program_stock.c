#include "bcs/program_stock.h"

#include "algos/tree.h"
#include "bcs/program_patterns.h"
#include "core/room.h"

#include <stdlib.h>

/* Separates messages of collectives from the program's. */
#define COLLECTIVE_COMM 0x80000000u

enum { EVENT_ARRIVE = SG_RUN_OWN, EVENT_READY }; /* index: the packet's */

enum packet_kind { EAGER, ANNOUNCED, ASKED, DATA };

struct packet {
    struct sg_run_post message; /* request: the sender's */
    uint32_t receive;           /* the receiver's request, of ASKED and DATA */
    uint32_t next;              /* in an inbox, or in the free list */
    uint8_t kind;
};

struct process {
    uint64_t busy_ns;             /* when it will have handled everything so far */
    uint64_t send_ns, receive_ns; /* when its adapter is free to send, to receive */
    uint32_t inbox_first, inbox_last;
    struct sg_step call;
    int round; /* of a collective */
    bool folds;
};

struct stock {
    struct sg_run run;
    const struct sg_stock_setup *setup;
    struct process *processes;
    struct packet *packets;
    uint32_t used, free;
};

/* ---- the network */

static const struct sg_network *network_of(const struct stock *stock, int32_t from, int32_t to)
{
    const struct sg_stock_setup *setup = stock->setup;

    return setup->inside != NULL && setup->node != NULL && setup->node[from] == setup->node[to]
               ? setup->inside
               : setup->network;
}

static void take(struct stock *stock, int32_t process, uint64_t ns)
{
    stock->processes[process].busy_ns += ns;
    stock->run.result.busy_ns += (double)ns;
}

static uint32_t packet_new(struct stock *stock, const struct packet *packet)
{
    uint32_t index = stock->free;

    if (index != SG_RUN_NONE) {
        stock->free = stock->packets[index].next;
    } else if (SG_APPEND(stock->packets, stock->used, *packet)) {
        index = stock->used - 1;
    } else {
        sg_run_fail(&stock->run, SG_ERR_MEMORY, "out of memory");
        return SG_RUN_NONE;
    }
    stock->packets[index] = *packet;
    return index;
}

static void packet_free(struct stock *stock, uint32_t index)
{
    stock->packets[index].next = stock->free;
    stock->free = index;
}

static uint64_t bytes_of(const struct packet *packet)
{
    return packet->kind == EAGER || packet->kind == DATA ? packet->message.bytes : 0;
}

/* Sends the packet from `from`, which is busy with that. Returns when its last byte has left. */
static uint64_t launch(struct stock *stock, int32_t from, int32_t to, const struct packet *packet)
{
    const struct sg_network *network = network_of(stock, from, to);
    struct process *self = &stock->processes[from];
    uint64_t departure_ns;
    uint32_t index;

    take(stock, from, sg_network_ns(network->overhead_us));
    departure_ns = self->send_ns > self->busy_ns ? self->send_ns : self->busy_ns;
    self->send_ns = departure_ns + sg_network_gap_ns(network, bytes_of(packet));
    index = packet_new(stock, packet);
    if (index != SG_RUN_NONE)
        sg_run_push(&stock->run, departure_ns + sg_network_ns(network->latency_us), EVENT_ARRIVE,
                    index);
    return self->send_ns;
}

/* ---- messages */

static void done(struct stock *stock, int32_t process, uint32_t request, uint64_t time_ns);

static void ask(struct stock *stock, const struct sg_run_post *announced, uint32_t receive)
{
    struct packet packet = {.message = *announced, .receive = receive, .kind = ASKED};

    launch(stock, announced->to, announced->from, &packet);
}

static uint32_t post_send(struct stock *stock, const struct sg_run_post *message, bool own)
{
    bool eager = message->bytes <= stock->setup->eager_bytes;
    struct packet packet = {.message = *message, .kind = eager ? EAGER : ANNOUNCED};
    uint32_t request = sg_run_request(&stock->run, message->from, own);

    packet.message.request = request;
    packet.message.data = eager;
    launch(stock, message->from, message->to, &packet);
    if (eager)
        done(stock, message->from, request, stock->processes[message->from].busy_ns);
    return request;
}

static void post_receive(struct stock *stock, const struct sg_run_post *message, bool own)
{
    struct sg_run *run = &stock->run;
    uint32_t request = sg_run_request(run, message->to, own);
    struct sg_run_process *self = &run->processes[message->to];
    uint32_t found = sg_run_match(run, &self->sends, message->from, message->comm, message->tag);
    struct sg_run_post post = *message;

    post.request = request;
    if (found == SG_RUN_NONE) {
        sg_run_append(run, &self->receives, &post);
        return;
    }
    post = run->posts[found];
    sg_run_free(run, found);
    if (!post.data) {
        ask(stock, &post, request);
        return;
    }
    take(stock, message->to,
         sg_network_bytes_ns(network_of(stock, post.from, post.to)->copy_ns_per_byte, post.bytes));
    done(stock, message->to, request, stock->processes[message->to].busy_ns);
}

/* Handles an EAGER or ANNOUNCED packet. */
static void take_send(struct stock *stock, const struct packet *packet)
{
    struct sg_run *run = &stock->run;
    const struct sg_run_post *message = &packet->message;
    struct sg_run_process *self = &run->processes[message->to];
    uint32_t found = sg_run_match(run, &self->receives, message->from, message->comm, message->tag);
    uint32_t request;

    if (found == SG_RUN_NONE) {
        sg_run_append(run, &self->sends, message);
        return;
    }
    request = run->posts[found].request;
    sg_run_free(run, found);
    if (packet->kind == ANNOUNCED)
        ask(stock, message, request);
    else
        done(stock, message->to, request, stock->processes[message->to].busy_ns);
}

static int32_t receiver_of(const struct packet *packet)
{
    return packet->kind == ASKED ? packet->message.from : packet->message.to;
}

/* Handles a packet whose process is in a call or has ended. */
static void handle(struct stock *stock, uint32_t index)
{
    struct packet packet = stock->packets[index];
    int32_t process = receiver_of(&packet);
    struct process *self = &stock->processes[process];
    const struct sg_network *network = network_of(stock, packet.message.from, packet.message.to);
    uint64_t left_ns;

    packet_free(stock, index);
    if (self->busy_ns < stock->run.now_ns)
        self->busy_ns = stock->run.now_ns;
    take(stock, process, sg_network_ns(network->overhead_us));
    switch (packet.kind) {
    case ASKED:
        packet.kind = DATA;
        left_ns = launch(stock, process, packet.message.to, &packet);
        done(stock, process, packet.message.request, left_ns);
        break;
    case DATA:
        done(stock, process, packet.receive, self->busy_ns);
        break;
    default:
        take_send(stock, &packet);
    }
}

static void arrive(struct stock *stock, uint32_t kind, uint32_t index)
{
    struct packet *packet = &stock->packets[index];
    int32_t to = receiver_of(packet);
    struct process *self = &stock->processes[to];
    const struct sg_run_process *runs = &stock->run.processes[to];
    uint64_t bytes = bytes_of(packet);

    if (kind == EVENT_ARRIVE && bytes > 0) {
        const struct sg_network *network =
            network_of(stock, packet->message.from, packet->message.to);

        if (self->receive_ns < stock->run.now_ns)
            self->receive_ns = stock->run.now_ns;
        self->receive_ns += sg_network_gap_ns(network, bytes);
        sg_run_push(&stock->run, self->receive_ns, EVENT_READY, index);
    } else if (runs->in_call || runs->ended) {
        handle(stock, index);
    } else {
        packet->next = SG_RUN_NONE;
        if (self->inbox_first == SG_RUN_NONE)
            self->inbox_first = index;
        else
            stock->packets[self->inbox_last].next = index;
        self->inbox_last = index;
    }
}

/* ---- calls */

static struct sg_run_post message_of(const struct stock *stock, int32_t process,
                                     const struct sg_step *call, bool sends, int32_t peer)
{
    bool collective = call->kind == SG_STEP_COLLECTIVE;

    return (struct sg_run_post){
        .bytes = call->bytes,
        .from = sends ? process : peer,
        .to = sends ? peer : process,
        .comm = call->comm | (collective ? COLLECTIVE_COMM : 0),
        .tag = call->tag,
        .time_ns = stock->run.now_ns,
    };
}

/* Adds the time to reduce what the round received. */
static void end_round(struct stock *stock, int32_t process)
{
    struct process *self = &stock->processes[process];

    if (self->folds)
        take(stock, process,
             sg_network_bytes_ns(stock->setup->network->reduce_ns_per_byte, self->call.bytes));
}

/* Begins rounds until one has to wait; false: the collective is over. */
static bool go_round(struct stock *stock, int32_t process)
{
    struct process *self = &stock->processes[process];
    const struct sg_program *program = stock->run.program;
    const struct sg_step *call = &self->call;
    struct sg_round_call rounds = {call->operation, call->own, program->comms[call->comm].size,
                                   call->peer};
    struct sg_round round;

    while (sg_round_of(&rounds, self->round, &round)) {
        self->round++;
        self->folds = round.folds;
        if (round.to >= 0) {
            struct sg_run_post message = message_of(
                stock, process, call, true, sg_program_member(program, call->comm, round.to));

            post_send(stock, &message, true);
        }
        if (round.from >= 0) {
            struct sg_run_post message = message_of(
                stock, process, call, false, sg_program_member(program, call->comm, round.from));

            post_receive(stock, &message, true);
        }
        if (!sg_run_wait_for(&stock->run, process, call, self->busy_ns))
            return true;
        if (stock->run.processes[process].return_ns > self->busy_ns)
            self->busy_ns = stock->run.processes[process].return_ns;
        end_round(stock, process);
    }
    return false;
}

/* Continues a call whose posts have all completed. */
static void go_on(struct stock *stock, int32_t process)
{
    struct process *self = &stock->processes[process];

    if (stock->run.processes[process].return_ns > self->busy_ns)
        self->busy_ns = stock->run.processes[process].return_ns;
    if (self->call.kind == SG_STEP_COLLECTIVE) {
        end_round(stock, process);
        if (go_round(stock, process))
            return;
    }
    sg_run_leave(&stock->run, process, self->busy_ns);
}

static void done(struct stock *stock, int32_t process, uint32_t request, uint64_t time_ns)
{
    if (sg_run_done(&stock->run, process, request, time_ns))
        go_on(stock, process);
}

static void begin(struct stock *stock, int32_t process)
{
    struct process *self = &stock->processes[process];
    const struct sg_step *call = &self->call;
    bool sends = call->kind == SG_STEP_SEND || call->kind == SG_STEP_ISEND;
    bool own = call->kind == SG_STEP_SEND || call->kind == SG_STEP_RECV;
    struct sg_run_post message = message_of(stock, process, call, sends, call->peer);

    switch (call->kind) {
    case SG_STEP_SEND:
    case SG_STEP_ISEND:
        post_send(stock, &message, own);
        break;
    case SG_STEP_RECV:
    case SG_STEP_IRECV:
        post_receive(stock, &message, own);
        break;
    case SG_STEP_COLLECTIVE:
        if (!go_round(stock, process))
            sg_run_leave(&stock->run, process, self->busy_ns);
        return;
    default:
        break;
    }
    if (call->kind == SG_STEP_ISEND || call->kind == SG_STEP_IRECV)
        sg_run_leave(&stock->run, process, self->busy_ns);
    else if (sg_run_wait_for(&stock->run, process, call, self->busy_ns))
        go_on(stock, process);
}

static void resume(struct stock *stock, int32_t process)
{
    struct process *self = &stock->processes[process];
    struct sg_step step = sg_run_next(&stock->run, process);

    self->busy_ns = stock->run.now_ns;
    if (step.kind == SG_STEP_COMPUTE) {
        sg_run_push(&stock->run, stock->run.now_ns + step.ns, SG_RUN_RESUME, (uint32_t)process);
        return;
    }
    self->call = step;
    self->round = 0;
    if (step.kind != SG_STEP_END) {
        sg_run_enter(&stock->run, process);
        stock->run.result.blocking_calls += sg_step_waits(&step);
    }
    while (self->inbox_first != SG_RUN_NONE) {
        uint32_t index = self->inbox_first;

        self->inbox_first = stock->packets[index].next;
        handle(stock, index);
    }
    if (step.kind != SG_STEP_END)
        begin(stock, process);
}

/* Each round is one message that its receiver waits for. */
uint64_t sg_stock_lockstep_ns(const struct sg_network *network, int32_t processes, uint32_t steps,
                              uint64_t granularity_ns)
{
    uint64_t round_ns =
        sg_network_ns(network->latency_us) + 2 * sg_network_ns(network->overhead_us);

    return steps * (granularity_ns + (uint64_t)sg_tree_levels(processes) * round_ns);
}

enum sg_status sg_stock_run(const struct sg_stock_setup *setup, const struct sg_program *program,
                            struct sg_program_result *result)
{
    struct stock stock = {.setup = setup, .free = SG_RUN_NONE};
    enum sg_status status = sg_run_open(program, &stock.run);
    struct sg_queue_entry entry;

    stock.processes = calloc((size_t)program->processes, sizeof *stock.processes);
    if (status == SG_OK && stock.processes == NULL)
        sg_run_fail(&stock.run, SG_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; i < program->processes && stock.processes != NULL; i++)
        stock.processes[i].inbox_first = SG_RUN_NONE;
    while (stock.processes != NULL && sg_run_pop(&stock.run, &entry)) {
        if (entry.kind == SG_RUN_RESUME)
            resume(&stock, (int32_t)entry.index);
        else
            arrive(&stock, entry.kind, entry.index);
    }
    status = sg_run_finish(&stock.run, result);
    sg_run_close(&stock.run);
    free(stock.processes);
    free(stock.packets);
    return status;
}
