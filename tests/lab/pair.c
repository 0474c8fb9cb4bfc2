/* Opens, uses and closes the queue pair that joins the lab's two ranks (pair.h). */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PORT = 1, REMOTE_WAIT_SECONDS = 60 };

int pair_poll(struct ibv_cq *cq, struct ibv_wc *completion, int seconds)
{
    time_t end = time(NULL) + seconds;
    int found;

    while ((found = ibv_poll_cq(cq, 1, completion)) == 0 && time(NULL) <= end)
        ;
    REQUIRE(found >= 0);
    return found;
}

/* RoCE v2 between the addresses of the RDMA network, which the table holds as mapped IPv4. */
static int gid_index(struct ibv_context *context)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct ibv_port_attr port;
    union ibv_gid gid;

    REQUIRE(ibv_query_port(context, PORT, &port) == 0 && port.state == IBV_PORT_ACTIVE);
    for (int index = 0; index < port.gid_tbl_len; index++)
        if (ibv_query_gid(context, PORT, index, &gid) == 0 &&
            memcmp(gid.raw, mapped, sizeof mapped) == 0)
            return index;
    REQUIRE(!"the port has an IPv4 address");
    return -1;
}

static void open_device(struct pair *pair)
{
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                 IBV_ACCESS_REMOTE_ATOMIC;
    int devices;
    struct ibv_device **list = ibv_get_device_list(&devices);

    REQUIRE(list && devices > 0);
    REQUIRE((pair->context = ibv_open_device(list[0])));
    ibv_free_device_list(list);
    REQUIRE((pair->pd = ibv_alloc_pd(pair->context)));
    REQUIRE((pair->channel = ibv_create_comp_channel(pair->context)));
    REQUIRE((pair->send_cq = ibv_create_cq(pair->context, PAIR_QUEUE, NULL, NULL, 0)));
    REQUIRE((pair->receive_cq = ibv_create_cq(pair->context, PAIR_QUEUE, NULL, pair->channel, 0)));
    REQUIRE((pair->buffer = calloc(1, PAIR_BUFFER_BYTES)));
    REQUIRE((pair->region = ibv_reg_mr(pair->pd, pair->buffer, PAIR_BUFFER_BYTES, access)));
}

static void create_queue_pair(struct pair *pair)
{
    struct ibv_qp_init_attr create = {
        .send_cq = pair->send_cq,
        .recv_cq = pair->receive_cq,
        .cap = {.max_send_wr = PAIR_QUEUE,
                .max_recv_wr = PAIR_QUEUE,
                .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT,
        .port_num = PORT,
        .qp_access_flags =
            IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    };

    REQUIRE((pair->queue_pair = ibv_create_qp(pair->pd, &create)));
    REQUIRE(ibv_modify_qp(pair->queue_pair, &init,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
            0);
}

static void connect_queue_pair(struct pair *pair, int index)
{
    struct ibv_qp_attr receive = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = pair->other.queue_pair,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1,
                    .port_num = PORT,
                    .grh = {.dgid = pair->other.gid, .sgid_index = (uint8_t)index, .hop_limit = 1}},
    };
    /* About 0.5 s a try: an emulated host may take its time to answer. */
    struct ibv_qp_attr send = {
        .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};

    REQUIRE(ibv_modify_qp(pair->queue_pair, &receive,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ==
            0);
    REQUIRE(ibv_modify_qp(pair->queue_pair, &send,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

void pair_open(struct pair *pair)
{
    int ranks;

    MUST(MPI_Init(NULL, NULL));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &pair->rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(ranks == 2);
    open_device(pair);
    create_queue_pair(pair);

    int index = gid_index(pair->context);
    struct pair_address own = (struct pair_address){.buffer = (uintptr_t)pair->buffer,
                                                    .rkey = pair->region->rkey,
                                                    .queue_pair = pair->queue_pair->qp_num};
    REQUIRE(ibv_query_gid(pair->context, PORT, index, &own.gid) == 0);
    MUST(MPI_Sendrecv(&own, sizeof own, MPI_BYTE, !pair->rank, 0, &pair->other, sizeof pair->other,
                      MPI_BYTE, !pair->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    REQUIRE(memcmp(&own.gid, &pair->other.gid, sizeof own.gid) != 0); /* two hosts */
    connect_queue_pair(pair, index);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

void pair_close(struct pair *pair)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    REQUIRE(ibv_destroy_qp(pair->queue_pair) == 0);
    REQUIRE(ibv_dereg_mr(pair->region) == 0);
    REQUIRE(ibv_destroy_cq(pair->send_cq) == 0 && ibv_destroy_cq(pair->receive_cq) == 0);
    REQUIRE(ibv_destroy_comp_channel(pair->channel) == 0);
    REQUIRE(ibv_dealloc_pd(pair->pd) == 0 && ibv_close_device(pair->context) == 0);
    free(pair->buffer);
    MUST(MPI_Finalize());
}

void pair_request(struct pair *pair, struct ibv_send_wr *request, size_t local, size_t size_bytes)
{
    struct ibv_sge piece = {(uintptr_t)pair->buffer + local, (uint32_t)size_bytes,
                            pair->region->lkey};
    struct ibv_send_wr *bad;
    struct ibv_wc completion;

    request->sg_list = &piece;
    request->num_sge = 1;
    request->send_flags |= IBV_SEND_SIGNALED;
    REQUIRE(ibv_post_send(pair->queue_pair, request, &bad) == 0);
    REQUIRE(pair_poll(pair->send_cq, &completion, REMOTE_WAIT_SECONDS) == 1);
    if (completion.status != IBV_WC_SUCCESS)
        fprintf(stderr, "the request failed: %s\n", ibv_wc_status_str(completion.status));
    REQUIRE(completion.status == IBV_WC_SUCCESS);
}
