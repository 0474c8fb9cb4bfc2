/* UD multicast between hosts. Both ranks join a group through librdmacm; rank 0 sends numbered
 * messages to it and rank 1 receives each. Datagrams may be lost, though rarely here: rank 1 asks
 * again for a missing one. After rank 1 has left the group it receives none, although its host is
 * in another group on the same network.
 */
#include "mpi/mpi_test.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

enum {
    MESSAGES = 20,
    TRIES = 5,
    QUEUE = 2 * MESSAGES * TRIES,
    GRH_BYTES = 40, /* the header that a UD receive puts before the payload */
    SLOT_BYTES = 512,
    PAYLOAD_BYTES = 256,
    WAIT_SECONDS = 5,
};

struct member {
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
    struct ibv_mr *region;
    unsigned char *slots; /* QUEUE to receive in, one to send from */
    struct ibv_ah *group;
    uint32_t group_qp, group_key;
};

static struct sockaddr_in address(const char *text)
{
    struct sockaddr_in result = {.sin_family = AF_INET};

    REQUIRE(inet_pton(AF_INET, text, &result.sin_addr) == 1);
    return result;
}

static void expect_event(struct member *member, enum rdma_cm_event_type type,
                         struct rdma_ud_param *param)
{
    struct rdma_cm_event *event;

    REQUIRE(rdma_get_cm_event(member->events, &event) == 0);
    if (event->event != type || event->status != 0)
        fprintf(stderr, "%s: status %d\n", rdma_event_str(event->event), event->status);
    REQUIRE(event->event == type && event->status == 0);
    if (param)
        *param = event->param.ud;
    REQUIRE(rdma_ack_cm_event(event) == 0);
}

static void post_receives(struct member *member)
{
    struct ibv_recv_wr *bad;

    for (int i = 0; i < QUEUE; i++) {
        struct ibv_sge piece = {(uintptr_t)member->slots + (size_t)i * SLOT_BYTES, SLOT_BYTES,
                                member->region->lkey};
        struct ibv_recv_wr request = {.wr_id = (uint64_t)i, .sg_list = &piece, .num_sge = 1};

        REQUIRE(ibv_post_recv(member->id->qp, &request, &bad) == 0);
    }
}

static void join(struct member *member, const char *own, const char *group)
{
    struct sockaddr_in from = address(own), to = address(group);
    struct ibv_qp_init_attr queue_pair = {
        .cap = {.max_send_wr = 1, .max_recv_wr = QUEUE, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    struct rdma_ud_param joined;
    size_t size_bytes = (QUEUE + 1) * SLOT_BYTES;

    REQUIRE((member->events = rdma_create_event_channel()));
    REQUIRE(rdma_create_id(member->events, &member->id, NULL, RDMA_PS_UDP) == 0);
    REQUIRE(rdma_resolve_addr(member->id, (struct sockaddr *)&from, (struct sockaddr *)&to, 5000) ==
            0);
    expect_event(member, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    REQUIRE(rdma_create_qp(member->id, NULL, &queue_pair) == 0);
    REQUIRE((member->slots = calloc(1, size_bytes)));
    REQUIRE((member->region =
                 ibv_reg_mr(member->id->pd, member->slots, size_bytes, IBV_ACCESS_LOCAL_WRITE)));
    post_receives(member);
    REQUIRE(rdma_join_multicast(member->id, (struct sockaddr *)&to, NULL) == 0);
    expect_event(member, RDMA_CM_EVENT_MULTICAST_JOIN, &joined);
    REQUIRE((member->group = ibv_create_ah(member->id->pd, &joined.ah_attr)));
    member->group_qp = joined.qp_num;
    member->group_key = joined.qkey;
}

static void leave(struct member *member, const char *group)
{
    struct sockaddr_in to = address(group);

    REQUIRE(rdma_leave_multicast(member->id, (struct sockaddr *)&to) == 0);
}

static void close_member(struct member *member)
{
    REQUIRE(ibv_destroy_ah(member->group) == 0);
    rdma_destroy_qp(member->id);
    REQUIRE(ibv_dereg_mr(member->region) == 0);
    free(member->slots);
    REQUIRE(rdma_destroy_id(member->id) == 0);
    rdma_destroy_event_channel(member->events);
}

static int poll_until(struct ibv_cq *cq, struct ibv_wc *completion)
{
    time_t end = time(NULL) + WAIT_SECONDS;
    int found;

    while ((found = ibv_poll_cq(cq, 1, completion)) == 0 && time(NULL) <= end)
        ;
    REQUIRE(found == 0 || (found == 1 && completion->status == IBV_WC_SUCCESS));
    return found;
}

static void send_message(struct member *member, int number)
{
    unsigned char *payload = member->slots + (size_t)QUEUE * SLOT_BYTES;
    struct ibv_sge piece = {(uintptr_t)payload, PAYLOAD_BYTES, member->region->lkey};
    struct ibv_send_wr request = {
        .sg_list = &piece,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.ud = {member->group, member->group_qp, member->group_key},
    };
    struct ibv_send_wr *bad;
    struct ibv_wc completion;

    memset(payload, number + 1, PAYLOAD_BYTES);
    REQUIRE(ibv_post_send(member->id->qp, &request, &bad) == 0);
    REQUIRE(poll_until(member->id->send_cq, &completion) == 1);
}

/* Whether a message comes; it must be this one, whole. */
static int receive_message(struct member *member, int number)
{
    struct ibv_wc completion;

    if (!poll_until(member->id->recv_cq, &completion))
        return 0;
    REQUIRE(completion.byte_len == GRH_BYTES + PAYLOAD_BYTES);
    const unsigned char *payload = member->slots + completion.wr_id * SLOT_BYTES + GRH_BYTES;
    for (int i = 0; i < PAYLOAD_BYTES; i++)
        REQUIRE(payload[i] == number + 1);
    return 1;
}

/* Message by message, so that none is sent before the one before it has come: a late one would be
 * taken for the next and fail its check.
 */
static void deliver(int rank, struct member *member, struct member *before, int number)
{
    int came = 0;

    for (int try = 0; try < TRIES && !came; try++) {
        if (rank == 0 && before)
            send_message(before, number);
        if (rank == 0)
            send_message(member, number);
        else
            came = receive_message(member, number);
        MUST(MPI_Bcast(&came, 1, MPI_INT, 1, MPI_COMM_WORLD));
    }
    REQUIRE(came);
}

int main(void)
{
    static const char *const hosts[2] = {"10.78.0.1", "10.78.0.2"};
    static const char *const left = "239.1.1.1", *const kept = "239.1.1.2";
    struct member first = {0}, second = {0};
    struct ibv_wc completion;
    int rank, ranks;

    MUST(MPI_Init(NULL, NULL));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(ranks == 2);
    join(&first, hosts[rank], left);
    join(&second, hosts[rank], kept);
    MUST(MPI_Barrier(MPI_COMM_WORLD));

    for (int number = 0; number < MESSAGES; number++)
        deliver(rank, &first, NULL, number);
    if (rank == 1)
        leave(&first, left);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    deliver(rank, &second, &first, MESSAGES);
    REQUIRE(rank == 0 || ibv_poll_cq(first.id->recv_cq, 1, &completion) == 0);

    MUST(MPI_Barrier(MPI_COMM_WORLD));
    close_member(&first);
    close_member(&second);
    MUST(MPI_Finalize());
    return 0;
}
